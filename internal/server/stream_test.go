package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// reader is an open stream.
type reader struct {
	t     *testing.T
	body  io.Closer
	lines *bufio.Scanner
}

// message is one event of a stream; data is held to the contract.
type message struct {
	id, event string
	data      expr.Value
}

func (w *world) stream(params string, headers ...string) *reader {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), "GET", w.url+"/api/v1/stream"+params, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if a.StatusCode != 200 {
		w.t.Fatalf("stream: %d", a.StatusCode)
	}
	w.t.Cleanup(func() { _ = a.Body.Close() })
	return &reader{w.t, a.Body, bufio.NewScanner(a.Body)}
}

// next reads the next event; ok is false where the stream ended. Comments have no event.
func (r *reader) next() (m message, ok bool) {
	for r.lines.Scan() {
		key, value, _ := strings.Cut(r.lines.Text(), ": ")
		switch key {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			v, err := expr.ParseJSON([]byte(value))
			if err != nil {
				r.t.Errorf("data is not JSON: %s", value)
			}
			m.data = v
			if m.event == "change" {
				if err := theContract().CheckNamed("StreamChange", v); err != nil {
					r.t.Error(err)
				}
			}
		case "":
			return m, true // a comment has a key of nothing too
		}
	}
	return m, false
}

// want reads the next event, which must be of that kind.
func (r *reader) want(event string) message {
	r.t.Helper()
	for {
		m, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended, want %s", event)
		}
		if m.event == "" {
			continue
		}
		if m.event != event {
			r.t.Fatalf("the stream has %s %s, want %s", m.event, m.data, event)
		}
		return m
	}
}

func (m message) get(key string) string {
	v, _ := m.data.Get(key)
	return v.Str()
}

func TestStream(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello", "await")
		w.start("hello", `{}`)
		all := w.stream("")
		all.want("ready")
		one := w.start("await", `{"order":"1"}`)
		m := all.want("change")
		if m.get("instance") != one || m.get("definition") != "await" || m.get("status") != "waiting" {
			t.Errorf("change %s", m.data)
		}
		if end, err := w.engine.FeedEnd(t.Context()); err != nil || m.id != itoa(end) {
			t.Errorf("its position is %s, want %d, %v", m.id, end, err)
		}
		// From the very beginning, with filters.
		from := w.stream("?last-event-id=0&definition=hello")
		from.want("ready")
		if m := from.want("change"); m.get("status") != "completed" {
			t.Errorf("change %s", m.data)
		}
		only := w.stream("?instance=" + one)
		only.want("ready")
		failed := w.stream("?q=status:cancelled")
		failed.want("ready")
		two := w.start("await", `{"order":"2"}`)
		w.do("POST", "/api/v1/instances/"+two+"/cancel", "").want(200)
		w.do("POST", "/api/v1/instances/"+one+"/pause", "").want(200)
		if m := only.want("change"); m.get("instance") != one || m.get("status") != "paused" {
			t.Errorf("change %s", m.data)
		}
		if m := failed.want("change"); m.get("instance") != two {
			t.Errorf("change %s", m.data)
		}
		w.do("HEAD", "/api/v1/stream", "").want(200)
		w.get("/api/v1/stream?q=is:y").problem(api.CodeBadFilter)
		w.get("/api/v1/stream?last-event-id=x").problem(api.CodeBadParameter)
		w.do("GET", "/api/v1/stream", "", "Last-Event-ID", "-1").problem(api.CodeBadParameter)
	})
}

// TestStreamResumesWithoutGap cuts a stream again and again while things happen: every
// change is seen exactly once, in order.
func TestStreamResumesWithoutGap(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("await")
		first := w.stream("")
		last := first.want("ready").id
		const n = 60
		ids := make(chan string, n)
		go func() {
			defer close(ids)
			for i := range n {
				id, err := w.engine.Start(t.Context(), engine.StartRequest{Definition: "await", Input: expr.Object(expr.Member{Key: "order", Value: expr.Int(int64(i))})})
				if err != nil {
					t.Error(err)
					return
				}
				ids <- id
			}
		}()
		var seen []string
		for len(seen) < n {
			r := w.stream("", "Last-Event-ID", last)
			r.want("ready")
			for range min(7, n-len(seen)) {
				m := r.want("change")
				seen, last = append(seen, m.get("instance")), m.id
			}
			_ = r.body.Close()
		}
		i := 0
		for id := range ids {
			if seen[i] != id {
				t.Fatalf("change %d is of %s, want %s", i, seen[i], id)
			}
			i++
		}
	})
}

// TestStreamReset: a position that is not kept any more, or that never was, is told.
func TestStreamReset(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello")
		for range 3 {
			w.start("hello", `{}`)
		}
		if _, err := s.PurgeFeed(t.Context(), core.TimeOf(time.Now().Add(time.Hour)), 2); err != nil {
			t.Fatal(err)
		}
		r := w.stream("?last-event-id=0")
		r.want("ready")
		r.want("reset")
		m := r.want("change")
		beyond := w.stream("?last-event-id=999999")
		if got := beyond.want("reset"); got.id != m.id {
			t.Errorf("reset to %s, want %s", got.id, m.id)
		}
		w.start("hello", `{}`)
		r.want("change")
		beyond.want("change")
	})
}

func TestStreamHeartbeat(t *testing.T) {
	clock := engine.NewVirtualClock(time.Now())
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Clock = clock })
	r := w.stream("")
	r.want("ready")
	done := make(chan struct{})
	go func() { // its timer may not be set yet
		for {
			select {
			case <-done:
				return
			default:
				clock.Advance(clock.Now().Add(time.Second))
			}
		}
	}()
	if m, ok := r.next(); !ok || m.event != "" {
		t.Errorf("%v, want a comment", m)
	}
	close(done)
}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	r := w.stream("")
	r.want("ready")
	w.server.Stop()
	if m, ok := r.next(); ok {
		t.Errorf("the stream goes on with %v", m)
	}
}

// pipes is a listener of connections without any buffer: who does not read, blocks the
// other side at once.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

// stall opens a stream from the beginning and reads no more than its first byte.
func (p *pipes) stall(t *testing.T) net.Conn {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _ = here.Close() })
	p.conns <- there
	if _, err := io.WriteString(here, "GET /api/v1/stream?last-event-id=0 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return here
}

// serve serves a world on pipes until the test is over.
func (w *world) serve(p *pipes) {
	ctx, cancel := context.WithCancel(w.t.Context())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, p) }()
	w.t.Cleanup(func() { cancel(); <-served })
}

// TestStalledReaders: a thousand streams that nobody reads keep nobody from working, and
// hold no memory to speak of.
func TestStalledReaders(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) {
		c.Limits.WriteTimeout, c.Limits.Drain = time.Hour, time.Millisecond
	})
	p := newPipes()
	w.serve(p)
	w.deploy("hello")
	const readers = 1000
	for range readers {
		p.stall(t)
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	start := func(n int) {
		for range n {
			if _, err := w.engine.Start(t.Context(), engine.StartRequest{Definition: "hello"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	start(100)
	before := heap()
	start(1000)
	perReader := (heap() - before) / readers
	w.get("/metrics").want(200).says(fmt.Sprintf("lockstep_http_streams %d\n", readers))
	w.get("/api/v1/instances/count").want(200).is("count", "1100")
	if perReader > 32<<10 { // the instances themselves are in it too
		t.Errorf("a thousand changes cost %d bytes for each reader", perReader)
	}
	t.Logf("%d readers that do not read: a thousand changes cost %d bytes for each", readers, perReader)
}

// TestStalledReaderIsCutOff: and comes back with its position.
func TestStalledReaderIsCutOff(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.WriteTimeout = 20 * time.Millisecond })
	p := newPipes()
	w.serve(p)
	w.deploy("hello")
	c := p.stall(t)
	id := w.start("hello", `{}`)
	for w.server.north.streams.Used() > 0 { // until it is cut off
		w.get("/healthz").want(200)
	}
	_ = c.Close()
	again := w.stream("?last-event-id=0")
	again.want("ready")
	if m := again.want("change"); m.get("instance") != id {
		t.Errorf("change %s", m.data)
	}
}

// TestTailAndStore: whoever reads the tail, and whoever is behind it and reads the
// store, see the same.
func TestTailAndStore(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello")
		ctx := t.Context()
		tail := feed.NewTail(w.engine, encodeChange)
		if _, err := tail.Position(ctx); err != nil {
			t.Fatal(err)
		}
		const n = feed.MaxItems + 3*feed.Batch
		for range n {
			if _, err := w.engine.Start(ctx, engine.StartRequest{Definition: "hello"}); err != nil {
				t.Fatal(err)
			}
		}
		var pos int64
		seen, stored := 0, 0
		for {
			got, err := tail.After(ctx, pos, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, begin := tail.Kept(); pos < begin {
				stored++
			}
			want, err := tail.Stored(ctx, pos)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Items) != len(want.Items) || got.Oldest != want.Oldest {
				t.Fatalf("after %d: %d changes, want %d", pos, len(got.Items), len(want.Items))
			}
			for i := range got.Items {
				if got.Items[i].Pos != want.Items[i].Pos || string(got.Items[i].Frame) != string(want.Items[i].Frame) {
					t.Fatalf("after %d: %+v, want %+v", pos, got.Items[i].FeedItem, want.Items[i].FeedItem)
				}
			}
			seen += len(got.Items)
			if pos = got.Next; len(got.Items) == 0 {
				break
			}
		}
		if kept, _ := tail.Kept(); seen != n || stored < 2 || kept > feed.MaxItems {
			t.Errorf("%d changes, %d parts from the store, %d in the tail", seen, stored, kept)
		}
	})
}

func TestTooManyStreams(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.Streams = 1 })
	r := w.stream("")
	r.want("ready")
	w.get("/api/v1/stream").problem(api.CodeBusy).is("limit", `"open-streams"`)
	_ = r.body.Close()
}

// TestFeedEnd finds the end of feeds with and without gaps.
func TestFeedEnd(t *testing.T) {
	for _, positions := range [][]int64{nil, {1}, {1, 2}, {5}, {1, 2, 3, 1000, 1001, 70000}, {1 << 40}} {
		e, err := engine.New(engine.Config{Store: gappy{newMemory(), positions}})
		if err != nil {
			t.Fatal(err)
		}
		var want int64
		if n := len(positions); n > 0 {
			want = positions[n-1]
		}
		if got, err := e.FeedEnd(t.Context()); err != nil || got != want {
			t.Errorf("%v: the end is %d, %v, want %d", positions, got, err, want)
		}
	}
}

// gappy is a store whose feed has these positions.
type gappy struct {
	store.Store
	positions []int64
}

// Feed lists the positions.
func (g gappy) Feed(_ context.Context, after int64, limit int) (store.Feed, error) {
	out := store.Feed{Next: after}
	if n := len(g.positions); n > 0 {
		out.Last = g.positions[n-1]
	}
	for _, p := range g.positions {
		if p > after && len(out.Items) < limit {
			out.Items = append(out.Items, store.FeedItem{Pos: p})
			out.Next = p
		}
	}
	return out, nil
}

// counting counts how often the feed is read.
type counting struct {
	store.Store
	feeds atomic.Int64
}

// Feed implements store.Store.
func (c *counting) Feed(ctx context.Context, after int64, limit int) (store.Feed, error) {
	c.feeds.Add(1)
	return c.Store.Feed(ctx, after, limit)
}

// TestTailIsReadOnceForAll: however many follow, a change costs the store one read.
func TestTailIsReadOnceForAll(t *testing.T) {
	s := &counting{Store: newMemory()}
	w := newWorldAtRest(t, s, nil)
	w.deploy("hello")
	tail := w.server.tail
	pos, err := tail.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		w.start("hello", `{}`)
		before := s.feeds.Load()
		for range 100 {
			p, err := tail.After(t.Context(), pos, false)
			if err != nil || len(p.Items) != round+1 {
				t.Fatalf("%d changes, %v", len(p.Items), err)
			}
		}
		if got := s.feeds.Load() - before; got != 1 {
			t.Errorf("the feed is read %d times", got)
		}
	}
}
