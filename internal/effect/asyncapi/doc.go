// Package asyncapi sends and receives messages as AsyncAPI documents describe: `call: asyncapi` of Open Workflow 1.0,
// over HTTP and NATS.
//
// [Kind] runs when a definition is deployed: it opens the document and those that it refers to, and checks the calls
// against them. [Invoker] makes calls from what was pinned, and opens nothing.
//
// Read the files in the order of the data: document.go (texts and $ref), operation.go, message.go and server.go (what a
// call names), pin.go, then invoke.go, http.go and nats.go for a message that is sent, subscribe.go, receive_http.go and
// receive_nats.go for those that are received; guard.go bounds what a NATS server may claim.
//
// # What is read
//
// AsyncAPI 2.0 to 2.6, where a call names a channel, and 3.0, where it names an operation. Of both: servers with
// variables, the address of the channel with parameters, messages with schemas, content types and correlation ids, and
// the HTTP binding (method, query). A document is read with package dialect, as package openapi does.
//
// # Decisions
//
// The reference of Open Workflow says what a call has, not how a protocol carries it.
//
//   - The server is the named one, else the first of the channel with the protocol, else the first whose protocol can
//     be used.
//   - A parameter of the address has the value at its location in the message, else its default. A subscription over NATS
//     hears every value of a parameter without one.
//   - In AsyncAPI 2, message needs the channel's publish, subscription its subscribe, as the reference says. In AsyncAPI 3 a
//     document of either side will do: the workflow sends what it sends, or what the other side receives.
//   - The output of a call that sends is the message.
//   - A message that is received has payload, headers and, where there are such, correlationId and id. The payload is
//     JSON if it is valid JSON, else text, else base64. id is what a subscription is resumed by: the sequence in a
//     stream of JetStream, the id of a server-sent event.
//
// # Subscriptions
//
// A call gets one message: its arguments say which (id, since, number, after), and the program around it loops. That is
// how every message is a durable step. Between two calls a process keeps the connection as a session; without it,
// after a crash or on another node, messages with an id are resumed without loss and without a duplicate. Others (a
// subject that no stream captures, lines of JSON) are heard from then on.
package asyncapi
