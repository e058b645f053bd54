// Package def is `lockstep def`: deploy and read the definitions of a server.
package def
