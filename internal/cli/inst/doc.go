// Package inst is `lockstep inst`: start, follow and control the instances of a server.
package inst
