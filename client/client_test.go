package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
)

// serve answers the requests one after the other; the last answer repeats.
func serve(t *testing.T, answers ...http.HandlerFunc) (*Client, func() []*http.Request) {
	t.Helper()
	var mu sync.Mutex
	var got []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got = append(got, r)
		answer := answers[min(len(got), len(answers))-1]
		mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	c, err := New(Options{URL: server.URL + "/", Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.pause = func(int) time.Duration { return 0 }
	return c, func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got)
	}
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if status >= 400 {
			w.Header().Set("Content-Type", "application/problem+json")
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// breaks ends the connection without an answer.
func breaks(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestRepeatedStartHasTheSameKey(t *testing.T) {
	c, got := serve(t, breaks, says(503, `{"code":"busy"}`), says(202, `{"id":"i"}`))
	in, err := c.StartInstance(t.Context(), "hello", Start{})
	if err != nil || in.ID != "i" {
		t.Fatalf("%+v %v", in, err)
	}
	var keys []string
	for _, r := range got() {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}
	if len(keys) != 3 || keys[0] == "" || len(slices.Compact(keys)) != 1 {
		t.Errorf("the keys are %q", keys)
	}
	if auth := got()[0].Header.Get("Authorization"); auth != "Bearer secret" {
		t.Errorf("Authorization: %s", auth)
	}
}

// What may have happened is sent again only where a second time has no effect of its own.
func TestOutcomeUnknown(t *testing.T) {
	c, got := serve(t, says(504, `{"status":504,"code":"outcome-unknown"}`), says(202, `{"id":"i"}`))
	if in, err := c.StartInstance(t.Context(), "hello", Start{}); err != nil || in.ID != "i" {
		t.Errorf("%+v %v", in, err)
	}
	if list := got(); len(list) != 2 || list[0].Header.Get("Idempotency-Key") != list[1].Header.Get("Idempotency-Key") {
		t.Errorf("%d requests", len(list))
	}
	c, got = serve(t, says(504, `{"status":504,"code":"outcome-unknown"}`), says(200, `{"id":"i"}`))
	var problem *Problem
	if _, err := c.RetryInstance(t.Context(), "i", nil, Control{}); !errors.As(err, &problem) || len(got()) != 1 {
		t.Errorf("%d requests, %v", len(got()), err)
	}
}

// A retry that was received and not answered may have happened.
func TestInterventionsAreNotRepeatedBlindly(t *testing.T) {
	c, got := serve(t, breaks)
	_, err := c.RetryInstance(t.Context(), "i", nil, Control{})
	var cut *UnreachableError
	if !errors.As(err, &cut) || len(got()) != 1 {
		t.Errorf("%v after %d requests", err, len(got()))
	}
	c, got = serve(t, says(429, `{"code":"busy"}`), says(200, `{"id":"i"}`))
	var why []error
	c.onRetry = func(err error, _ time.Duration) { why = append(why, err) }
	if _, err := c.RetryInstance(t.Context(), "i", nil, Control{}); err != nil || len(got()) != 2 {
		t.Errorf("429: %v after %d requests", err, len(got()))
	}
	if problem := new(Problem); len(why) != 1 || !errors.As(why[0], &problem) || problem.Status != 429 {
		t.Errorf("OnRetry was told %v", why)
	}
}

func TestDeletedByTheAttemptBefore(t *testing.T) {
	c, _ := serve(t, breaks, says(404, `{"code":"not-found"}`))
	if err := c.DeleteInstance(t.Context(), "i", 0); err != nil {
		t.Error(err)
	}
	c, _ = serve(t, says(404, `{"code":"not-found"}`))
	var p *Problem
	if err := c.DeleteInstance(t.Context(), "i", 0); !errors.As(err, &p) || p.Code != "not-found" {
		t.Error(err)
	}
}

func TestProblems(t *testing.T) {
	c, got := serve(t, says(409, `{"type":"/problems/x","title":"No","status":409,"code":"not-allowed","detail":"it is over","allowed":["restart"],"errors":[{"message":"m","line":3}]}`))
	_, err := c.PauseInstance(t.Context(), "i", Control{})
	var p *Problem
	if !errors.As(err, &p) || p.Code != "not-allowed" || p.Error() != "it is over" || p.Allowed[0] != "restart" || p.Errors[0].Line != 3 || len(got()) != 1 {
		t.Errorf("%+v after %d requests", p, len(got()))
	}
	c, _ = serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) })
	if _, err := c.GetStats(t.Context()); !errors.As(err, &p) || p.Status != 502 || !strings.Contains(p.Detail, "not as a Lockstep server does") {
		t.Errorf("%+v", err)
	}
	c, _ = serve(t, says(200, "<html>"))
	if _, err := c.GetStats(t.Context()); err == nil || !strings.Contains(err.Error(), "is "+c.URL()+" a Lockstep server?") {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "localhost:8081", "ftp://x", "http://", "http://u:p@x", "http://x?a=b"} {
		if _, err := New(Options{URL: bad}); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAllReadsEveryPage(t *testing.T) {
	c, got := serve(t, says(200, `{"items":[{"id":"1"},{"id":"2"}],"next":"n"}`), says(200, `{"items":[{"id":"3"}]}`))
	var ids []string
	for in, err := range All(func(after string) (api.Page[api.Instance], error) {
		return c.ListInstances(t.Context(), InstanceQuery{Paging: Paging{After: after}})
	}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, in.ID)
	}
	if fmt.Sprint(ids) != "[1 2 3]" || got()[1].URL.Query().Get("after") != "n" {
		t.Errorf("%v", ids)
	}
}

// TestStreamGoesOnWhereItBroke: each connection after the first begins at the last id.
func TestStreamGoesOnWhereItBroke(t *testing.T) {
	c, got := serve(t,
		says(200, "event: ready\nid: 5\n\n: alive\n\nevent: change\nid: 6\ndata: {\"instance\":\"i\",\ndata: \"status\":\"running\"}\n\nevent: change\nid: 7\ndata: {\"inst"),
		breaks,
		says(503, `{"code":"stopping"}`),
		says(200, "event: reset\r\nid: 9\r\n\r\nevent: change\nid: 10\ndata: {\"instance\":\"i\",\"status\":\"completed\",\"records\":[{\"type\":\"finished\"}]}\n\n"))
	var seen []string
	for ch, err := range c.Stream(t.Context(), StreamQuery{Instance: "i"}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, ch.Kind+ch.Position+string(ch.Status))
		if ch.Status.Final() {
			break
		}
	}
	if want := "[ready5 change6running reset9 change10completed]"; fmt.Sprint(seen) != want {
		t.Errorf("%v, want %s", seen, want)
	}
	var from []string
	for _, r := range got() {
		from = append(from, r.Header.Get("Last-Event-ID"))
	}
	if fmt.Sprint(from) != "[ 6 6 6]" {
		t.Errorf("asked from %q", from)
	}
}

func TestStreamEnds(t *testing.T) {
	c, _ := serve(t, says(404, `{"code":"not-found"}`))
	for _, err := range c.Stream(t.Context(), StreamQuery{}) {
		var p *Problem
		if !errors.As(err, &p) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, _ = serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "event: ready\nid: 1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	n := 0
	for _, err := range c.Stream(ctx, StreamQuery{}) {
		if n++; n == 1 {
			cancel()
			continue
		}
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d items", n)
	}
}

func TestDataThatIsNotJSONIsNotSent(t *testing.T) {
	c, got := serve(t, says(200, `{}`))
	_, err := c.RetryInstance(t.Context(), "i", api.Data(`{`), Control{})
	if err == nil || !strings.HasPrefix(err.Error(), "write the request: ") || len(got()) != 0 {
		t.Errorf("%v, after %d requests", err, len(got()))
	}
}
