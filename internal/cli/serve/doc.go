// Package serve has the commands that run or prepare a server: serve, dev, doctor, token.
package serve
