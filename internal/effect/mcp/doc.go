// Package mcp calls servers of the Model Context Protocol (Open Workflow §MCP Call). The arguments of a call are
// {protocolVersion, method, parameters, timeout, transport, client}; its result is the result of JSON-RPC as it
// came.
//
// # One call, one session
//
// A call begins a session (initialize, notifications/initialized), makes its request and ends the session. Over
// HTTP (http.go) that is the transport "streamable HTTP": each message is a POST, whose answer is JSON or a stream
// of events; a session that has an id ends with DELETE. A stream that breaks off is not resumed, and no stream of
// its own is opened for notifications. Over stdio (stdio.go) the server is a program that is started for the call,
// and ends with it.
//
// The server may choose another version of the protocol, of those in [versions]. Its notifications are ignored,
// a ping is answered, and its other requests (sampling, elicitation, roots) are answered with "Method not found":
// the client declares no capabilities.
//
// # Decisions
//
//   - A list is the page that the server gave, with its nextCursor. parameters.cursor asks for another one.
//   - A result of tools/call with isError is a failure: the text of its content is the detail, the result the data.
//   - The request of tools/call has the idempotency key of the call in _meta.idempotencyKey, and over HTTP every
//     method has it as a header. What the definition gives itself takes precedence.
//   - timeout takes the place of the limit call-timeout, and covers the session. A call that may take longer than
//     call-timeout takes no place among those in flight, and one of a program has a place among programs instead.
//   - transport.options has no meaning, and is ignored with a warning.
//
// # Failures
//
// A failure is named runtime; authentication and authorization where there were no credentials. Code is the code
// of JSON-RPC, tool-error, or what went wrong on the way (the codes of package http); Status is that of an HTTP
// answer that says so.
package mcp
