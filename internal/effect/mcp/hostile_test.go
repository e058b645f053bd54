package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// hostile is a server that answers initialize as it must, and the request of the workflow with misbehave.
func hostile(t *testing.T, misbehave http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`)
		case strings.Contains(string(body), `"tools/list"`):
			misbehave(w, r)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

// events writes texts as the data of events, and sends them.
func events(w http.ResponseWriter, data ...string) error {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range data {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", d); err != nil {
			return err
		}
	}
	return http.NewResponseController(w).Flush()
}

func plain(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		fmt.Fprint(w, body)
	}
}

const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`

// TestHostileServers: each is a failure that says why, within the limits.
func TestHostileServers(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`
	for name, c := range map[string]struct {
		misbehave http.HandlerFunc
		want      string
	}{
		"not JSON":       {plain("application/json", "<html>"), "invalid-response POST SERVER: a message is not JSON"},
		"another media":  {plain("text/html", "<html>"), `invalid-response POST SERVER: the answer is neither JSON nor a stream of events: its media type is "text/html"`},
		"no message":     {plain("application/json", `{"tools":[]}`), "invalid-response POST SERVER: a message is not one of JSON-RPC 2.0"},
		"neither":        {plain("application/json", `{"jsonrpc":"2.0","id":2}`), "invalid-response POST SERVER: a message has neither"},
		"another id":     {plain("application/json", `{"jsonrpc":"2.0","id":7,"result":{}}`), "invalid-response POST SERVER: an answer is for the request 7, and not for 2"},
		"empty array":    {plain("application/json", `[]`), "invalid-response POST SERVER: the stream ended before the answer"},
		"empty":          {plain("application/json", ``), "invalid-response POST SERVER: the answer is empty"},
		"error":          {plain("application/json", `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"boom","data":{"a":1}}}`), "-32603 boom"},
		"error, no id":   {plain("application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`), "-32700 Parse error"},
		"event not JSON": {plain("text/event-stream", "data: hello\n\n"), "invalid-response POST SERVER: a message is not JSON"},
		"no event":       {plain("text/event-stream", "hello\nworld\n\n"), "invalid-response POST SERVER: the stream ended before the answer"},
		"event cut off":  {plain("text/event-stream", "data: "+answer), "invalid-response POST SERVER: the stream ended before the answer"},
		"huge JSON":      {plain("application/json", `"`+strings.Repeat("x", 1<<17)+`"`), "response-too-large POST SERVER: the answer is larger than"},
		"huge event":     {plain("text/event-stream", "data: "+strings.Repeat("x", 1<<17)), "response-too-large POST SERVER: the answer is larger than"},
		"huge header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<17))
			fmt.Fprint(w, answer)
		}, "response-too-large POST SERVER: the answer's headers are larger than"},
		"endless events": {func(w http.ResponseWriter, _ *http.Request) {
			for events(w, progress) == nil {
			}
		}, "response-too-large POST SERVER: the answer is larger than"},
		"endless comments": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for err := error(nil); err == nil; {
				_, err = fmt.Fprint(w, ": alive\n\n")
			}
		}, "response-too-large POST SERVER: the answer is larger than"},
		"disconnect": {func(w http.ResponseWriter, _ *http.Request) {
			_ = events(w, progress)
			panic(http.ErrAbortHandler)
		}, "unreachable POST SERVER: unexpected EOF"},
		"status": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusNotFound) }, "POST SERVER answered 404 Not Found 404"},
		"JSON-RPC status": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Bad Request"}}`)
		}, "-32600 Bad Request 400"},
		"upgrade": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Upgrade", "x")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}, "invalid-response POST SERVER: the answer is 101 Switching Protocols"},
	} {
		t.Run(name, func(t *testing.T) {
			url := hostile(t, c.misbehave)
			i := New(client(t, effecthttp.Limits{ResponseBytes: 1 << 16, HeaderBytes: 1 << 16}), false)
			f := called(t, i, "call:mcp", url, `{"method":"tools/list"`+transport).Failure
			if f == nil {
				t.Fatal("no failure")
			}
			want := strings.ReplaceAll(c.want, "SERVER", url)
			if got := strings.TrimSpace(strings.TrimSpace(f.Code+" "+f.Detail) + " " + f.Status); f.Name != effect.Runtime || !strings.HasPrefix(got, want) {
				t.Errorf("%s\n got %s\nwant %s", f.Name, got, want)
			}
		})
	}
}

// TestManyMessages: a stream of small messages ends at the limit stream-messages.
func TestManyMessages(t *testing.T) {
	url := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
		for events(w, `[`+strings.TrimSuffix(strings.Repeat(progress+",", 1000), ",")+`]`) == nil {
		}
	})
	f := called(t, New(client(t, effecthttp.Limits{}), false), "call:mcp", url, `{"method":"tools/list"`+transport).Failure
	if f == nil || f.Code != effecthttp.CodeTooLarge || !strings.Contains(f.Detail, "limit stream-messages") {
		t.Errorf("%+v", f)
	}
}

// TestSlowServers: a server that does not come to its end is a failure after the timeout, whatever it sends, and
// the end of the session is not waited for much longer.
func TestSlowServers(t *testing.T) {
	for name, misbehave := range map[string]http.HandlerFunc{
		"never": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"never ends": func(w http.ResponseWriter, r *http.Request) {
			_ = events(w, progress)
			<-r.Context().Done()
		},
		"trickles": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil && events(w, progress) == nil {
				select {
				case <-r.Context().Done():
				case <-time.After(10 * time.Millisecond):
				}
			}
		},
		"refuses slowly": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = events(w, progress)
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := hostile(t, misbehave)
			i := New(client(t, effecthttp.Limits{Timeout: 300 * time.Millisecond}), false)
			f := called(t, i, "call:mcp", url, `{"method":"tools/list"`+transport).Failure
			if f == nil || f.Name != effect.Runtime || f.Code != effecthttp.CodeTimeout || !strings.HasSuffix(f.Detail, "within 300ms (limit call-timeout)") {
				t.Errorf("%+v", f)
			}
			i = New(client(t, effecthttp.Limits{}), false)
			f = called(t, i, "call:mcp", url, `{"method":"tools/list","timeout":{"milliseconds":300}`+transport).Failure
			if f == nil || f.Code != effecthttp.CodeTimeout || !strings.HasSuffix(f.Detail, "within 300ms (its timeout)") {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestSilentInitialize: a server that does not answer the first request, and one that never answers at all.
func TestSilentInitialize(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client is gone
		<-r.Context().Done()
	}))
	defer srv.Close()
	defer srv.CloseClientConnections()
	i := New(client(t, effecthttp.Limits{Timeout: 100 * time.Millisecond}), false)
	f := called(t, i, "call:mcp", srv.URL, `{"method":"tools/list"`+transport).Failure
	if f == nil || f.Code != effecthttp.CodeTimeout {
		t.Errorf("%+v", f)
	}
}

// TestUnknownVersion: a server that chooses a version of which nothing is known.
func TestUnknownVersion(t *testing.T) {
	srv := httptest.NewServer(plain("application/json", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2030-01-01"}}`))
	defer srv.Close()
	f := called(t, New(client(t, effecthttp.Limits{}), false), "call:mcp", srv.URL, `{"method":"tools/list"`+transport).Failure
	if f == nil || f.Code != effecthttp.CodeInvalid || !strings.Contains(f.Detail, `the version "2030-01-01" of the protocol`) {
		t.Errorf("%+v", f)
	}
}

// TestCancelled: a call whose workflow does not wait any more ends.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := hostile(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	args := value(t, strings.ReplaceAll(`{"method":"tools/list"`+transport, "SERVER", url))
	f := New(client(t, effecthttp.Limits{}), false).Invoke(ctx, effect.Call{Operation: "call:mcp", Args: args}).Failure
	if f == nil || f.Code != effecthttp.CodeCancelled {
		t.Errorf("%+v", f)
	}
}

// TestSecretsStay: what holds a secret does not follow a redirect to another host; what does not, does.
func TestSecretsStay(t *testing.T) {
	reached := make(chan string, 10)
	other := hostile(t, func(w http.ResponseWriter, r *http.Request) {
		reached <- r.Header.Get("Authorization") + r.Header.Get("X-A")
		plain("application/json", `{"jsonrpc":"2.0","id":2,"result":{}}`)(w, r)
	})
	url := hostile(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	c, err := effecthttp.New(effecthttp.Options{Allow: []string{"127.0.0.0/8"}, Holds: func(v expr.Value) bool { return strings.Contains(v.String(), "s3cret") }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const to = `,"transport":{"http":{"endpoint":{"uri":"SERVER","authentication":{"bearer":{"token":"t0"}}},"headers":{"X-A":"1"}}}}`
	out := called(t, New(c, false), "call:mcp", url, `{"method":"tools/list"`+to)
	if out.Failure != nil || <-reached != "" {
		t.Errorf("%+v", out.Failure)
	}
	for _, secret := range []string{`"parameters":{"q":"s3cret"}`, `"client":{"name":"s3cret","version":"1"}`} {
		out = called(t, New(c, false), "call:mcp", url, `{"method":"tools/list",`+secret+to)
		if f := out.Failure; f == nil || f.Code != effecthttp.CodeRefused || len(reached) > 0 {
			t.Errorf("%s: %+v", secret, f)
		}
	}
}
