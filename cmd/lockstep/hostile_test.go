package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	stdhttp "net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/cli/serve"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
)

// hostile is an endpoint whose answers do not end. It never closes a connection: only
// clients do.
type hostile struct {
	net.Listener
	conns  sync.WaitGroup
	answer func(w io.Writer, r *stdhttp.Request)
}

func newHostile(t *testing.T, answer func(w io.Writer, r *stdhttp.Request)) *hostile {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{Listener: l, answer: answer}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h.conns.Go(func() { h.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		accepting.Wait()
	})
	return h
}

func (h *hostile) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		r, err := stdhttp.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		h.answer(conn, r)
	}
}

func (h *hostile) url() string { return "http://" + h.Addr().String() }

// unending are ways in which an answer does not end, up to its body.
var unending = map[string]string{
	"upgrade": "HTTP/1.1 %d X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
	"length":  "HTTP/1.1 %d X\r\nContent-Length: 1000000000\r\n\r\n",
	"chunk":   "HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\n40000000\r\n",
	"old":     "HTTP/1.0 %d X\r\n\r\n",
	"header":  "HTTP/1.1 %d X\r\nX: ",
}

// bodyOf is as much of a body as an endpoint sends. Of some statuses it is more than what
// fits between two sockets: once it is written, the client reads the body.
func bodyOf(status int) []byte {
	switch status {
	case 101, 200:
		return make([]byte, 16<<20)
	}
	return []byte("abc")
}

// TestEndlessAnswers: every client that we have, every status, every way not to end. When
// the context ends all calls are over and no connection is left.
func TestEndlessAnswers(t *testing.T) {
	for way, head := range unending {
		t.Run(way, func(t *testing.T) {
			var mu sync.Mutex
			cancels := map[string]context.CancelFunc{}
			h := newHostile(t, func(w io.Writer, r *stdhttp.Request) {
				key := r.Header.Get("Idempotency-Key")
				if key == "" {
					parts := strings.Split(r.URL.Path, "/")
					key = parts[len(parts)-1]
				}
				_, number, _ := strings.Cut(key, "-")
				status, _ := strconv.Atoi(number)
				fmt.Fprintf(w, head, status)
				_, _ = w.Write(bodyOf(status))
				mu.Lock()
				defer mu.Unlock()
				if cancel := cancels[key]; cancel != nil {
					cancel() // the call has what it will ever get
				}
			})
			clients, done := everyClient(t, h.url())
			slots := make(chan struct{}, 16)
			var calls sync.WaitGroup
			for name, call := range clients {
				for status := 100; status < 600; status++ {
					key := fmt.Sprintf("%s-%d", name, status)
					ctx, cancel := context.WithCancel(t.Context())
					mu.Lock()
					cancels[key] = cancel
					mu.Unlock()
					slots <- struct{}{}
					calls.Go(func() {
						defer func() { <-slots }()
						for ctx.Err() == nil {
							// Again until the endpoint has answered: a request is lost on a kept connection that
							// closes under it, and some clients do not wait for the end.
							call(ctx, key)
						}
					})
				}
			}
			calls.Wait()
			done()
			_ = h.Close()
			h.conns.Wait()
		})
	}
}

// everyClient are all that make HTTP requests, by name, and what closes them.
func everyClient(t *testing.T, url string) (map[string]func(ctx context.Context, key string), func()) {
	t.Helper()
	c, err := http.New(http.Options{Allow: []string{"127.0.0.1"}, Limits: http.Limits{ResponseBytes: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	api := openapi.New(c)
	document := "openapi: 3.1.0\nservers: [{url: " + url + "}]\npaths: {/f: {post: {operationId: op}}}\n"
	known, _, found := catalogue.Read(t.Context(), "functions.yaml", []byte("functions:\n  f: {http: {url: "+url+"/f, method: POST}}\n"), catalogue.Options{Client: c, OpenAPI: api})
	if len(found) > 0 {
		t.Fatal(found)
	}
	sink, err := (&serve.SinkFlags{URL: url + "/sink", Mode: &cli.Choice{Value: "binary"}}).HTTP(c)
	if err != nil {
		t.Fatal(err)
	}
	remote, err := client.New(client.Options{URL: url, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(context.Context, string){
		"function": func(ctx context.Context, key string) {
			c.Invoke(ctx, effect.Call{Key: key, Operation: url + "/f", Args: expr.EmptyObject})
		},
		"openapi": func(ctx context.Context, key string) {
			api.Invoke(ctx, effect.Call{Key: key, Operation: "api.yaml#op", Args: expr.EmptyObject, Documents: effect.Documents{Key: "d", Root: 1, All: []effect.Document{{Ref: "api.yaml", Text: document}}}})
		},
		"catalogue": func(ctx context.Context, key string) {
			known.Invoke(ctx, effect.Call{Key: key, Function: "f", Args: expr.EmptyObject})
		},
		"sink": func(ctx context.Context, key string) {
			_ = sink(ctx, event.Event{ID: key, Source: "s", Type: "t"})
		},
		"document": func(ctx context.Context, key string) {
			_, _ = load.Bundle(ctx, "w.yaml", c).Open(url + "/" + key)
		},
		"remote": func(ctx context.Context, key string) {
			_, _ = remote.GetInstance(ctx, key, 0)
		},
	}, func() { c.Close(); remote.Close() }
}

// TestSwitchingProtocolsHoldsNothing: functions, the sink and the documents of a definition
// behind 101 are refused; a healthy function of the same host is called, nothing stays in
// flight, and the server ends when it is told to.
func TestSwitchingProtocolsHoldsNothing(t *testing.T) {
	sunk := make(chan struct{}, 1000)
	h := newHostile(t, func(w io.Writer, r *stdhttp.Request) {
		switch r.URL.Path {
		case "/well":
			fmt.Fprint(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
			return
		case "/sink":
			sunk <- struct{}{}
		}
		fmt.Fprint(w, "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	})
	p, err := launch(t.TempDir(), nil, "serve", "--north", "127.0.0.1:0", "--outbound-allow", "127.0.0.1", "--event-sink", h.url()+"/sink", "--max-calls-per-endpoint", "2")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	c, err := client.New(client.Options{URL: p.url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	const text = `
id: ID
name: N
functions: [{name: f, operation: "OPERATION"}]
events: [{name: Made, type: made, source: s, kind: produced}]
states:
- {name: Tell, type: inject, data: {x: 1}, start: {kind: default}, transition: {nextState: Call, produceEvents: [{eventRef: Made}]}}
- {name: Call, type: operation, actions: [{functionRef: {refName: f}}], end: {kind: default}}
`
	deploy := func(id, operation string) error {
		_, _, err := c.DeployDefinition(t.Context(), []byte(strings.NewReplacer("ID", id, "OPERATION", operation).Replace(text)), client.Deploy{})
		return err
	}
	if err := deploy("described", h.url()+"/openapi.yaml#op"); err != nil && !strings.Contains(err.Error(), "101") {
		t.Error(err)
	}
	for id, path := range map[string]string{"upgraded": "/upgrade", "well": "/well"} {
		if err := deploy(id, h.url()+path); err != nil {
			t.Fatal(err)
		}
	}
	run := func(id string, n int) api.Instance {
		t.Helper()
		in, err := c.StartInstance(t.Context(), id, client.Start{Key: fmt.Sprint(id, n)})
		if err != nil {
			t.Fatal(err)
		}
		if in, err = c.GetInstance(t.Context(), in.ID, time.Minute); err != nil {
			t.Fatal(err)
		}
		return in
	}
	for n := range 5 { // more than the slots of the host
		if in := run("upgraded", n); in.Status != api.Failed || in.Error == nil || !strings.Contains(in.Error.Detail, "101 Switching Protocols") {
			t.Fatalf("%+v %+v", in, in.Error)
		}
	}
	if in := run("well", 0); in.Status != api.Completed {
		t.Errorf("%+v %+v", in, in.Error)
	}
	<-sunk
	<-sunk // it was sent again
	figures, err := c.Metrics(t.Context())
	if err != nil || !strings.Contains(string(figures), "\nlockstep_calls_in_flight 0\n") {
		t.Errorf("%v %s", err, figures)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, err := p.wait(); code != 0 || err != nil {
		t.Errorf("the server ended with %d, %v:\n%s", code, err, p.stderr())
	}
	_ = h.Close()
	h.conns.Wait()
}
