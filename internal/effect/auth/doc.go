// Package auth authenticates requests as a policy says: basic, bearer, digest (RFC 7616), oauth2
// (RFC 6749, RFC 8693) and oidc (OpenID Connect Discovery 1.0), with the members that Open
// Workflow 1.0 gives them. The catalogue has the same policies.
//
//	basic:  {username: ada, password: …}
//	bearer: {token: …}
//	digest: {use: SECRET}                       # a secret with these members
//	oauth2: {authority: https://id.example, grant: client_credentials, client: {id: …, secret: …}}
//	oidc:   {authority: https://id.example/realms/a, grant: …}
//
// A [Keeper] has the tokens and the digest challenges of a process. It asks for a token once for
// all that need it, again before it expires, and once more when a service answers 401.
//
// A token that cannot be got is an *[Error], which says how a fault of it is named. Its text never
// has a credential in it.
package auth
