package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// socketScheme begins the address of a unix socket, as servers print it.
const socketScheme = "unix:"

// socketHost is the host of requests that go through a socket.
const socketHost = "http://localhost"

// address reads the address of a server: the prefix of requests, the address for messages, and
// the socket to go through, if there is one.
func address(text string) (base, shown, socket string, err error) {
	if socket, ok := strings.CutPrefix(text, socketScheme); ok {
		if socket == "" {
			return "", "", "", fmt.Errorf("%q names no socket; it must be like unix:/run/lockstep/north.sock", text)
		}
		return socketHost, text, socket, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", "", "", fmt.Errorf("the address of the server: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", "", "", fmt.Errorf("%q is not the address of a server; it must be like http://127.0.0.1:8081 or unix:/run/lockstep/north.sock", text)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return "", "", "", fmt.Errorf("%q is not the address of a server: it has more than a host and a path", u.Redacted())
	}
	base = strings.TrimSuffix(u.String(), "/")
	return base, base, "", nil
}

// overSocket is a client whose connections all go to a socket.
func overSocket(c *http.Client, socket string) (*http.Client, error) {
	transport, ok := c.Transport.(*http.Transport)
	if c.Transport == nil {
		transport, ok = http.DefaultTransport.(*http.Transport)
	}
	if !ok {
		return nil, errors.New("a unix socket needs an HTTP client whose transport is an *http.Transport")
	}
	out := *c
	own := transport.Clone()
	own.Proxy = nil
	own.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	out.Transport = own
	return &out, nil
}
