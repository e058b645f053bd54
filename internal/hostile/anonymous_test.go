package hostile

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// anonymous is an attacker without a credential. Where a server takes so many bodies at a time,
// it sends more.
type anonymous struct{ s *target }

// attacks lists what it does, each again and again.
func (a *anonymous) attacks() map[string]func(context.Context, int) {
	return map[string]func(context.Context, int){
		"slow bodies of devices": a.flood(func() string { return a.s.node.Devices }, unfinished("PUT", "/api/wfx/v1/jobs/x/status", ""), 2_200),
		"slow logins":            a.flood(func() string { return a.s.node.URL }, unfinished("POST", "/api/v1/session", ""), 2_200),
		"slow headers":           a.flood(func() string { return a.s.node.URL }, "GET / HTTP/1.1\r\nHost: local", 300),
	}
}

func (a *anonymous) flood(to func() string, request string, connections int) func(context.Context, int) {
	return func(ctx context.Context, _ int) {
		each(connections, func(int) { hold(ctx, "127.0.0.3", to(), request) })
	}
}

// unfinished is a request whose body begins and does not go on.
func unfinished(method, path, header string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%sContent-Length: 1000000\r\n\r\n{", method, path, header)
}

// hold sends a request and keeps the connection, without reading more than the beginning of the
// answer, until the server closes it or the attack is over.
func hold(ctx context.Context, from, to, request string) {
	conn, err := dialerOf(from).DialContext(ctx, "tcp", strings.TrimPrefix(to, "http://"))
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(2048)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, request); err != nil {
		return
	}
	for beginning := make([]byte, 1); ; { // a byte now and then: who reads, but slowly
		if _, err := conn.Read(beginning); err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Second):
		}
	}
}
