// Package local has the commands that need neither a server nor an engine of their own: test, validate, graph,
// explain, schema, fmt and convert.
package local
