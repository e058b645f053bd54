package a2a

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
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

func hostile(t *testing.T, misbehave http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client is gone
		misbehave(w, r)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

// events writes results as events, and sends them.
func events(w http.ResponseWriter, results ...string) error {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, result := range results {
		if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", result); err != nil {
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

func stream(results ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _ = events(w, results...) }
}

const (
	working  = `{"kind":"status-update","status":{"state":"working"},"final":false}`
	artifact = `{"kind":"artifact-update","artifact":{"parts":[]}}`
)

// TestHostileAgents: each is a failure that says why, within the limits, of both kinds of calls.
func TestHostileAgents(t *testing.T) {
	for name, c := range map[string]struct {
		misbehave http.HandlerFunc
		want      string
	}{
		"not JSON":       {plain("text/html", "<html>"), `invalid-response POST SERVER: the answer is neither JSON nor a stream of events: its media type is "text/html"`},
		"empty":          {plain("application/json", ""), "invalid-response POST SERVER: the answer is empty"},
		"no message":     {plain("application/json", `{"kind":"message"}`), "invalid-response POST SERVER: a message is not one of JSON-RPC 2.0"},
		"another id":     {plain("application/json", `{"jsonrpc":"2.0","id":"1","result":{}}`), `invalid-response POST SERVER: an answer is for the request "1", and not for 1`},
		"error":          {plain("application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"unsupported"}}`), "-32004 unsupported"},
		"error event":    {plain("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\r\ndata: \"error\":{\"code\":-32004,\"message\":\"unsupported\"}}\r\n\r\n"), "-32004 unsupported"},
		"event not JSON": {plain("text/event-stream", "data: hello\n\n"), "invalid-response POST SERVER: a message is not JSON"},
		"no event":       {plain("text/event-stream", "hello\n\n"), "invalid-response POST SERVER: the stream ended before"},
		"event cut off":  {plain("text/event-stream", "data: {}"), "invalid-response POST SERVER: the stream ended before"},
		"huge JSON":      {plain("application/json", `"`+strings.Repeat("x", 1<<17)+`"`), "response-too-large POST SERVER: the answer is larger than"},
		"huge event":     {plain("text/event-stream", "data: "+strings.Repeat("x", 1<<17)), "response-too-large POST SERVER: the answer is larger than"},
		"status":         {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) }, "POST SERVER answered 503 Service Unavailable 503"},
		"disconnect": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": hello\n\n")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "unreachable POST SERVER: unexpected EOF"},
	} {
		for _, method := range []string{methodSend, methodStream} {
			t.Run(name+" "+method, func(t *testing.T) {
				url := hostile(t, c.misbehave)
				failed(t, New(client(t, effecthttp.Limits{ResponseBytes: 1 << 16})), url, method, c.want)
			})
		}
	}
}

func failed(t *testing.T, i *Invoker, url, method, want string) {
	t.Helper()
	f := called(t, i, url, "", message(method, "x")).Failure
	if f == nil {
		t.Fatal("no failure")
	}
	want = strings.ReplaceAll(want, "SERVER", url)
	if got := strings.TrimSpace(strings.TrimSpace(f.Code+" "+f.Detail) + " " + f.Status); f.Name != effect.Runtime || !strings.HasPrefix(got, want) {
		t.Errorf("%s\n got %s\nwant %s", f.Name, got, want)
	}
}

// TestHostileStreams: streams that do not end, or too early.
func TestHostileStreams(t *testing.T) {
	for name, c := range map[string]struct {
		misbehave http.HandlerFunc
		want      string
	}{
		"ends while it works": {stream(`{"kind":"task","status":{"state":"submitted"}}`, working), "invalid-response POST SERVER: the stream ended before its last event; tasks/resubscribe can go on"},
		"ends in an artifact": {stream(working, artifact), "invalid-response POST SERVER: the stream ended before its last event"},
		"another id":          {plain("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n"), "invalid-response POST SERVER: an answer is for the request 2"},
		"many small results":  {endless(`[` + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"result":1},`, 1000), ",") + `]`), "response-too-large POST SERVER: more than 10000 messages came for one request (limit stream-messages)"},
		"endless artifacts":   {endless(`{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","artifact":"` + strings.Repeat("x", 1<<12) + `"}}`), "response-too-large POST SERVER: the answer is larger than the limit response-bytes"},
		"disconnects mid-way": {func(w http.ResponseWriter, _ *http.Request) {
			_ = events(w, working)
			panic(http.ErrAbortHandler)
		}, "unreachable POST SERVER: unexpected EOF"},
		"fails mid-way": {func(w http.ResponseWriter, _ *http.Request) {
			_ = events(w, working)
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"boom\"}}\n\n")
		}, "-32603 boom"},
	} {
		t.Run(name, func(t *testing.T) {
			url := hostile(t, c.misbehave)
			failed(t, New(client(t, effecthttp.Limits{})), url, methodStream, c.want)
		})
	}
}

func endless(data string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for err := error(nil); err == nil; {
			_, err = fmt.Fprintf(w, "data: %s\n\n", data)
		}
	}
}

// TestLastEvents: a stream is over with its last event, though the agent never closes it.
func TestLastEvents(t *testing.T) {
	for last, n := range map[string]int{
		`{"kind":"status-update","status":{"state":"completed"},"final":true}`: 2,
		`{"kind":"message","parts":[]}`:                                        2,
	} {
		url := hostile(t, func(w http.ResponseWriter, r *http.Request) {
			_ = events(w, working, last)
			<-r.Context().Done()
		})
		if out := called(t, New(client(t, effecthttp.Limits{})), url, "", message(methodStream, "x")); out.Failure != nil || out.Value.Len() != n {
			t.Errorf("%s: %s %+v", last, out.Value, out.Failure)
		}
	}
	for _, last := range []string{`{"kind":"task","status":{"state":"completed"}}`, `{"kind":"status-update","status":{"state":"auth-required"}}`, `{"task":{}}`} {
		url := hostile(t, stream(working, last))
		if out := called(t, New(client(t, effecthttp.Limits{})), url, "", message(methodStream, "x")); out.Failure != nil || out.Value.Len() != 2 {
			t.Errorf("%s: %s %+v", last, out.Value, out.Failure)
		}
	}
}

// TestSlowAgents: an agent that does not begin to answer is a failure after call-timeout; one that does not come
// to the end of its answer too, unless that is a stream, which ends with what the workflow waits for.
func TestSlowAgents(t *testing.T) {
	never := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	trickles := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil && events(w, working) == nil {
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	half := func(w http.ResponseWriter, r *http.Request) {
		plain("application/json", `{"jsonrpc":`)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	const want = "timeout POST SERVER: no answer came within 200ms (limit call-timeout)"
	limits := effecthttp.Limits{Timeout: 200 * time.Millisecond}
	failed(t, New(client(t, limits)), hostile(t, never), methodSend, want)
	failed(t, New(client(t, limits)), hostile(t, half), methodSend, want)
	failed(t, New(client(t, limits)), hostile(t, never), methodStream, want)

	url := hostile(t, trickles)
	args := value(t, strings.ReplaceAll(message(methodStream, "x"), "SERVER", url))
	out := New(client(t, effecthttp.Limits{})).Invoke(t.Context(), effect.Call{Operation: "call:a2a", Args: args})
	if out.Wait == nil {
		t.Fatalf("%+v", out.Failure)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if f := out.Wait(ctx).Failure; f == nil || f.Code != effecthttp.CodeTimeout {
		t.Errorf("%+v", f)
	}
}

// TestCancelledStream: a stream that nobody waits for is closed, which the agent notices.
func TestCancelledStream(t *testing.T) {
	gone := make(chan struct{})
	url := hostile(t, func(w http.ResponseWriter, r *http.Request) {
		_ = events(w, working)
		<-r.Context().Done()
		close(gone)
	})
	args := value(t, strings.ReplaceAll(message(methodStream, "x"), "SERVER", url))
	out := New(client(t, effecthttp.Limits{})).Invoke(t.Context(), effect.Call{Operation: "call:a2a", Args: args})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := out.Wait(ctx).Failure; f == nil || f.Code != effecthttp.CodeCancelled {
		t.Errorf("%+v", f)
	}
	<-gone
}
