package asyncapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/lockstep-workflows/lockstep/effect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// endless writes a text again and again until nobody reads it.
func endless(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		if f, ok := w.(nethttp.Flusher); ok {
			f.Flush()
		}
	}
}

// TestHostileStreams: whatever a server does with a stream, the call fails within its limits.
func TestHostileStreams(t *testing.T) {
	for name, c := range map[string]struct {
		media  string
		answer func(w io.Writer)
		says   string
	}{
		"an event in one endless line":    {"text/event-stream", func(w io.Writer) { endless(w, "data: xxxxxxxxx") }, effecthttp.CodeTooLarge},
		"an event of endless lines":       {"text/event-stream", func(w io.Writer) { endless(w, "data: x\n") }, effecthttp.CodeTooLarge},
		"an endless comment":              {"text/event-stream", func(w io.Writer) { endless(w, ":xxxxxxx") }, effecthttp.CodeTooLarge},
		"an endless line of JSON":         {"application/x-ndjson", func(w io.Writer) { endless(w, "[[[[[[[[[[[[[") }, effecthttp.CodeTooLarge},
		"an endless document":             {"application/json", func(w io.Writer) { endless(w, "[1,1,1,1,") }, effecthttp.CodeTooLarge},
		"a line that is not JSON":         {"application/x-ndjson", func(w io.Writer) { _, _ = io.WriteString(w, "{]\n{}\n") }, effecthttp.CodeInvalid},
		"a document that is not JSON":     {"application/json", func(w io.Writer) { _, _ = io.WriteString(w, "<html>") }, effecthttp.CodeInvalid},
		"a page":                          {"text/html", func(io.Writer) {}, effecthttp.CodeInvalid},
		"disconnects in the middle":       {"application/x-ndjson", func(w io.Writer) { _, _ = io.WriteString(w, `{"half":`); panic(nethttp.ErrAbortHandler) }, effecthttp.CodeUnreachable},
		"disconnects in front":            {"", func(io.Writer) { panic(nethttp.ErrAbortHandler) }, effecthttp.CodeUnreachable},
		"an event that never is complete": {"text/event-stream", func(w io.Writer) { _, _ = io.WriteString(w, "data: 1\n"); panic(nethttp.ErrAbortHandler) }, effecthttp.CodeUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
				if c.media != "" {
					w.Header().Set("Content-Type", c.media)
					w.WriteHeader(200)
					w.(nethttp.Flusher).Flush()
				}
				c.answer(w)
			}))
			defer s.Close()
			defer s.CloseClientConnections()
			document := fmt.Sprintf("asyncapi: 2.6.0\nservers: {main: {url: %q, protocol: http}}\nchannels: {x: {subscribe: {}}}", s.URL)
			fails(t, subscribe(t, document, `"channel":"x",`).next(invoker(t, effecthttp.Limits{ResponseBytes: 4096})), effect.Communication, c.says)
		})
	}
}

// TestSilentServers: a server that is connected and says nothing is given up after call-timeout.
func TestSilentServers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
	}()
	for _, protocol := range []string{"nats", "http"} {
		document := fmt.Sprintf("asyncapi: 2.6.0\nservers: {main: {url: %q, protocol: %s}}\nchannels: {x: {publish: {}, subscribe: {}}}", l.Addr(), protocol)
		i := invoker(t, effecthttp.Limits{Timeout: 50 * time.Millisecond})
		fails(t, subscribe(t, document, `"channel":"x",`).next(i), effect.Communication, effecthttp.CodeTimeout)
		fails(t, invoke(t, i, call(t, document, `{"channel":"x","message":{}}`)), effect.Communication, effecthttp.CodeTimeout)
	}
}

// TestCancelledWaits: a call that nobody waits for ends, however the server behaves.
func TestCancelledWaits(t *testing.T) {
	address, _ := newBroker(t, nil)
	silent, _ := streamer(t, "text/event-stream\n: nothing\n")
	for document, with := range map[string]string{natsDocument(address): `"operation":"receive",`, silent: `"channel":"prices",`} {
		i := invoker(t, effecthttp.Limits{})
		ctx, cancel := context.WithCancel(context.Background())
		out := i.Invoke(ctx, subscribe(t, document, with).call())
		if out.Wait == nil {
			t.Fatal(out.Failure)
		}
		cancel()
		fails(t, out.Wait(ctx), effect.Communication, effecthttp.CodeCancelled)
		if len(i.sessions.all) > 0 {
			t.Error("its session is kept")
		}
	}
}

// between stands between clients and a server of NATS. When a client subscribes, it gets what inject writes.
func between(t *testing.T, address string, inject func(client net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", address)
				if err != nil {
					return
				}
				defer server.Close()
				go func() { _, _ = io.Copy(client, server) }()
				buf := make([]byte, 64<<10)
				var all []byte
				for {
					n, err := client.Read(buf)
					if err != nil {
						return
					}
					if all = append(all, buf[:n]...); bytes.Contains(all, []byte("SUB orders.* ")) {
						inject(client)
						return
					}
					if _, err := server.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestHostileBrokers: a server of NATS that claims too much, never ends a line, or goes away again and again.
func TestHostileBrokers(t *testing.T) {
	address, _ := newBroker(t, nil)
	for name, c := range map[string]struct {
		inject func(net.Conn)
		says   string
	}{
		"a message larger than memory": {func(c net.Conn) { _, _ = io.WriteString(c, "MSG orders.1 1 9000000000000000000\r\nx") }, effecthttp.CodeTooLarge},
		"a message that is too large":  {func(c net.Conn) { endless(c, "MSG orders.1 1 100000\r\nx") }, effecthttp.CodeTooLarge},
		"no size":                      {func(c net.Conn) { _, _ = io.WriteString(c, "MSG orders.1 1 x\r\n") }, effecthttp.CodeInvalid},
		"headers without a size":       {func(c net.Conn) { _, _ = io.WriteString(c, "HMSG orders.1 1 99 5\r\n") }, effecthttp.CodeInvalid},
		"a line without an end":        {func(c net.Conn) { endless(c, "MSG orders.1 1 1 1 1 1") }, effecthttp.CodeTooLarge},
		"an error without an end":      {func(c net.Conn) { endless(c, "-ERR ") }, effecthttp.CodeTooLarge},
		"goes away":                    {func(net.Conn) {}, effecthttp.CodeUnreachable},
		"garbage":                      {func(c net.Conn) { _, _ = io.WriteString(c, "XXXX\r\n") }, effecthttp.CodeUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			i := invoker(t, effecthttp.Limits{ResponseBytes: 64 << 10})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			fails(t, subscribe(t, natsDocument(between(t, address, c.inject)), `"operation":"receive",`).next(i), effect.Communication, c.says)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
				t.Errorf("%d bytes were allocated", took)
			}
		})
	}
}

// TestGreetingWithoutEnd: the first line of a server is bounded as all others.
func TestGreetingWithoutEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go endless(conn, "INFO {")
		}
	}()
	i := invoker(t, effecthttp.Limits{})
	fails(t, invoke(t, i, call(t, natsDocument(l.Addr().String()), `{"operation":"send","message":{"payload":{"id":1}}}`)), effect.Communication, effecthttp.CodeTooLarge)
}

// TestGuardFollowsMessages: payloads are not looked at, wherever what was read is cut.
func TestGuardFollowsMessages(t *testing.T) {
	text := "INFO {}\r\nMSG a 1 8\r\nMSG b 1 \r\nHMSG a 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\nmsg a b 0\r\n\r\nPING\r\nMSG a 1 99\r\n"
	for size := 1; size <= len(text); size++ {
		g := &guard{most: 64, ahead: 64}
		var bad *effecthttp.Error
		for rest := text; rest != "" && bad == nil; rest = rest[min(size, len(rest)):] {
			bad = g.look([]byte(rest[:min(size, len(rest))]))
		}
		if bad == nil || bad.Code != effecthttp.CodeTooLarge {
			t.Errorf("by %d: %v", size, bad)
		}
		g = &guard{most: 64, ahead: 64}
		if bad := g.look([]byte(strings.TrimSuffix(text, "MSG a 1 99\r\n"))); bad != nil {
			t.Error(bad)
		}
	}
}

// TestTLS: a server whose certificate nobody vouches for is not connected to. Of one that is trusted no more is believed
// than of others.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	address, _ := newBroker(t, func(o *natsserver.Options) {
		o.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
		o.TLS, o.TLSTimeout = true, patience.Seconds()
	})
	for _, url := range []string{"nats://" + address, "tls://" + address} {
		document := fmt.Sprintf("asyncapi: 2.6.0\nservers: {main: {url: %q, protocol: nats}}\nchannels: {x: {publish: {}}}", url)
		fails(t, invoke(t, invoker(t, effecthttp.Limits{}), call(t, document, `{"channel":"x","message":{}}`)), effect.Communication, "certificate")

		trusting := invoker(t, effecthttp.Limits{})
		trusting.tls.RootCAs = x509.NewCertPool()
		trusting.tls.RootCAs.AddCert(web.Certificate())
		if out := invoke(t, trusting, call(t, document, `{"channel":"x","message":{}}`)); out.Failure != nil {
			t.Error(out.Failure)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, `INFO {"tls_required":true,"max_payload":9}`+"\r\n")
				server := tls.Server(conn, web.TLS)
				_, _ = server.Read(make([]byte, 64<<10))
				_, _ = io.WriteString(server, "PONG\r\nMSG x 1 9000000000000000000\r\nx")
			}
		}()
		document = strings.ReplaceAll(document, address, l.Addr().String())
		fails(t, invoke(t, trusting, call(t, document, `{"channel":"x","message":{}}`)), effect.Communication, effecthttp.CodeTooLarge)
	}
}
