package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A service manager may open sockets and pass them on (socket activation): LISTEN_FDS is their number, from
// descriptor 3 on, LISTEN_FDNAMES has their names, and LISTEN_PID is the process that they are for.
const firstInherited = 3

// maxInherited is the maximum number of inherited sockets.
const maxInherited = 1024

// Inherited lists the names of the sockets that a service manager passed to this process; a socket
// without a name has its number.
func Inherited() []string {
	if pid, err := strconv.Atoi(os.Getenv("LISTEN_PID")); err != nil || pid != os.Getpid() {
		return nil
	}
	count, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil || count < 0 {
		return nil
	}
	var given []string
	if text := os.Getenv("LISTEN_FDNAMES"); text != "" {
		given = strings.Split(text, ":")
	}
	out := make([]string, min(count, maxInherited))
	for i := range out {
		out[i] = strconv.Itoa(firstInherited + i)
		if i < len(given) && given[i] != "" {
			out[i] = given[i]
		}
	}
	return out
}

// inheritedFile returns the descriptor of systemd:NAME or fd:N.
func inheritedFile(kind, name string) (fd int, err error) {
	if kind == "fd" {
		fd, err := strconv.Atoi(name)
		if err != nil || fd < firstInherited {
			return 0, fmt.Errorf("fd:%s is not the number of an inherited socket; they begin with %d", name, firstInherited)
		}
		return fd, nil
	}
	known := Inherited()
	if i := slices.Index(known, name); i >= 0 {
		return firstInherited + i, nil
	}
	if len(known) == 0 {
		return 0, fmt.Errorf("systemd:%s: no sockets were passed to this process (LISTEN_FDS, LISTEN_PID)", name)
	}
	return 0, fmt.Errorf("systemd:%s: no socket with this name was passed to this process; there are %s", name, strings.Join(known, ", "))
}

// inherit listens on an inherited socket.
func inherit(kind, name string) (net.Listener, error) {
	fd, err := inheritedFile(kind, name)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), kind+":"+name)
	if file == nil {
		return nil, fmt.Errorf("%s:%s is not a socket", kind, name)
	}
	listener, err := net.FileListener(file)
	if err := errors.Join(err, file.Close()); err != nil { // the listener has a duplicate, which child processes do not inherit
		return nil, fmt.Errorf("%s:%s is not a listening socket: %w", kind, name, err)
	}
	return listener, nil
}
