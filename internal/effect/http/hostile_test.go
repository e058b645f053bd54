package http

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// serve answers each request on a connection with text, and never closes it. It ends when
// the other side does.
func serve(conn net.Conn, text string) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := nethttp.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

// TestNoBodyOutlivesItsCall: whatever the status, and however the body fails to end, a call
// is over after call-timeout, and nothing of it is left. A bubble of synctest does not end
// while a goroutine is left in it.
func TestNoBodyOutlivesItsCall(t *testing.T) {
	for name, answer := range map[string]string{
		"no length":        "HTTP/1.1 %d X\r\nContent-Type: text/plain\r\n\r\nabc",
		"nothing":          "HTTP/1.1 %d X\r\nContent-Type: text/plain\r\n\r\n",
		"half of a length": "HTTP/1.1 %d X\r\nContent-Length: 10\r\n\r\nabc",
		"half of a chunk":  "HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc",
		"HTTP/1.0":         "HTTP/1.0 %d X\r\n\r\nabc",
		"upgrade":          "HTTP/1.1 %d X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nabc",
		"gzip":             "HTTP/1.1 %d X\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00",
		"no end of header": "HTTP/1.1 %d X\r\nContent-Type",
	} {
		t.Run(name, func(t *testing.T) {
			for status := 100; status < 600; status++ {
				synctest.Test(t, func(t *testing.T) {
					c, err := New(Options{})
					if err != nil {
						t.Fatal(err)
					}
					c.http.Transport.(*transport).base.DialContext = func(context.Context, string, string) (net.Conn, error) {
						here, there := net.Pipe()
						go serve(there, fmt.Sprintf(answer, status))
						return here, nil
					}
					began := time.Now()
					out := c.Invoke(t.Context(), effect.Call{Key: "k", Function: "f", Operation: "http://x/f", Args: expr.EmptyObject})
					if took := time.Since(began); took > DefaultLimits.Timeout {
						t.Errorf("%d: the call took %s", status, took)
					}
					if out.Failure == nil && status != 204 && status != 205 {
						t.Errorf("%d: %+v", status, out)
					}
					c.Close()
				})
			}
			t.Log("500 statuses: each call over after call-timeout at most")
		})
	}
}

// TestSwitchingProtocolsIsAFault: it says so, and does not wait for anything.
func TestSwitchingProtocolsIsAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		status := 101
		c.http.Transport.(*transport).base.DialContext = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go serve(there, fmt.Sprintf("HTTP/1.1 %03d X\r\nContent-Length: 2\r\n\r\n{}", status))
			return here, nil
		}
		began := time.Now()
		out := c.Invoke(t.Context(), effect.Call{Operation: "http://x/f", Args: expr.EmptyObject})
		if f := out.Failure; f == nil || f.Code != CodeInvalid || !strings.Contains(f.Detail, "101 Switching Protocols") {
			t.Errorf("%+v", out)
		}
		status = 42
		out = c.Invoke(t.Context(), effect.Call{Operation: "http://x/f", Args: expr.EmptyObject})
		if f := out.Failure; f == nil || f.Code != CodeInvalid || !strings.Contains(f.Detail, "status 42") {
			t.Errorf("%+v", out)
		}
		if _, err := c.Fetch(t.Context(), "http://x/f"); err == nil {
			t.Error("a document with the status 42 is fetched")
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %s", took)
		}
		c.Close()
	})
}
