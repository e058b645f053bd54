// Package request makes the HTTP calls of functions that a definition of Serverless Workflow 0.6 to 0.9 describes:
// an [ir.Request] in the operation, and in the arguments of a call what the author wrote there. So mocks and
// history see the author's arguments, not a request that was made of them.
//
// # Protocols
//
//	http     {name} in the address from the arguments; body, headers and cookies are reserved; all others are the query
//	rest     likewise, without reserved names; the others are the body (POST, PUT, PATCH) or the query
//	graphql  {arguments, selectionSet}; the result is the member data of the answer
//	odata    {key, queryOptions}; the result is the answer
//
// # Data stays in its place
//
// An argument is at most one step of a path, one value of a query, one header, one cookie or one literal of a
// query of GraphQL. It chooses a host only where the request is guarded, and then only one of the operator's
// allow-list.
//
// # Failures
//
// Answers mean what they do for plain URLs (package effect/http). InvalidArguments says that nothing was sent,
// FunctionNotFound that the definition describes no request. [GraphQLError] is the name of what an answer of
// GraphQL lists as errors.
package request
