// Package jsonrpc speaks JSON-RPC 2.0 for the protocols that are made of it, MCP and A2A: messages
// (message.go), requests over HTTP whose answers are JSON or server-sent events (post.go, events.go), and what
// goes wrong with them (failure.go).
//
// It is a client of our own because the libraries of both protocols read results into types of theirs, which
// lose what they do not know, while the output of a call is the result as it came.
package jsonrpc
