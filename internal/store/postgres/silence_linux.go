package postgres

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is an option of Linux, of which syscall has no name.
const tcpUserTimeout = 0x12

// giveUpUnacknowledged ends a connection on which what was sent is not acknowledged.
func giveUpUnacknowledged(network, _ string, c syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	if failed := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(answerLimit.Milliseconds()))
	}); failed != nil {
		return failed
	}
	return err
}
