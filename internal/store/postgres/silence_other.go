//go:build !linux

package postgres

import "syscall"

// giveUpUnacknowledged needs Linux; elsewhere keep-alive and the limits do.
func giveUpUnacknowledged(string, string, syscall.RawConn) error { return nil }
