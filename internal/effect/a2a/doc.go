// Package a2a calls agents of the Agent2Agent protocol 0.3, as JSON-RPC over HTTP (Open Workflow §A2A Call). The
// arguments of a call are {method, agentCard, server, parameters}; its result is the result of JSON-RPC as it came,
// and that of message/stream and tasks/resubscribe the array of all results of the stream.
//
// # Where a call goes
//
// To the JSON-RPC interface of the agent card, which is pinned when the definition is deployed (card.go), else to
// server. Where both are given the card decides, and the authentication of server is used only if its address has
// the same scheme, host and port: credentials go nowhere else.
//
// # Decisions
//
//   - message/send and message/stream: message.role is user, message.kind is message, and message.messageId a UUID
//     that is made of the idempotency key of the call, where they are not given. An agent that gets a call twice
//     can recognize that. The key also goes out as the header Idempotency-Key.
//   - A stream (stream.go) is read until the agent closes it, or until the event that is the last: a message, or a
//     status update with final. The first answer must come within the limit call-timeout; after that the task's
//     timeout counts. A stream that ends before a last event is a failure. It is not resumed; a definition can do
//     that with tasks/resubscribe.
//
// # Failures
//
// A failure is named runtime; authentication and authorization where there were no credentials. Code is the code
// of JSON-RPC, or what went wrong on the way (the codes of package http); Status is that of an HTTP answer that
// says so.
package a2a
