package asyncapi

import (
	"errors"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// FuzzDocument: whatever a document says, reading it ends, and what it gives can be used.
func FuzzDocument(f *testing.F) {
	f.Add(string(files["api.yaml"]), "send", true)
	f.Add(string(files["two.yaml"]), "a", true)
	f.Add(natsDocument("127.0.0.1:4222"), "receive", false)
	f.Add("asyncapi: 3.0.0\noperations: {a: {channel: {$ref: '#/operations/a/channel'}}}", "a", true)
	f.Add("asyncapi: 3.0.0\nchannels: {c: {address: 'x{y', servers: [1, {$ref: /}]}}\noperations: {a: {channel: {$ref: '#/channels/c'}}}", "a", false)
	f.Fuzz(func(t *testing.T, text, name string, publish bool) {
		way := receives
		if publish {
			way = sends
		}
		lib := newLibrary(func(ref string) ([]byte, error) {
			if ref == "api.yaml" {
				return []byte(text), nil
			}
			return nil, errors.New("there is no other")
		})
		o, _, err := lib.compile("api.yaml", name, way)
		if err != nil {
			return
		}
		msg := expr.Object(expr.Member{Key: "payload", Value: expr.Object(expr.Member{Key: "id", Value: expr.Int(1)})})
		_ = o.check(msg)
		o.inbound(msg, nil)
		s, err := o.choose("", "")
		if err != nil {
			return
		}
		base, err := s.address(expr.Null)
		if err != nil {
			return
		}
		at := target{operation: o, server: s, base: base}
		if s.kind() == protocolNATS {
			_, _ = at.subject(msg, way)
		} else if r, err := at.request("GET", msg); err == nil && r.URL.Host != base.Host {
			t.Errorf("%s is not at %s", r.URL, base)
		}
	})
}

// FuzzGuard: a guard sees the same, wherever what was read is cut.
func FuzzGuard(f *testing.F) {
	f.Add([]byte("INFO {}\r\nMSG a 1 3\r\nabc\r\nHMSG a 1 2 3\r\nabc\r\n"), 3)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		whole, parts := &guard{most: 64, ahead: 64}, &guard{most: 64, ahead: 64}
		want := whole.look(text)
		size = max(size, 1)
		for rest := text; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if got := parts.look(rest[:min(size, len(rest))]); got != nil {
				if want == nil {
					t.Fatal(got)
				}
				return
			}
		}
		if want != nil {
			t.Fatalf("in parts there is nothing wrong, at once: %v", want)
		}
	})
}
