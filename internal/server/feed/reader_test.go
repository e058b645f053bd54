package feed

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// client is one that reads all that is written, at once.
type client struct {
	mu   sync.Mutex
	got  [][]byte
	came []time.Time
}

func (c *client) Header() http.Header              { return http.Header{} }
func (c *client) WriteHeader(int)                  {}
func (c *client) Flush()                           {}
func (c *client) SetWriteDeadline(time.Time) error { return nil }

func (c *client) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got, c.came = append(c.got, text), append(c.came, time.Now())
	return len(text), nil
}

func (c *client) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.got)
}

// world is an engine whose instances end at once, and the tail of its feed.
type world struct {
	t      *testing.T
	engine *engine.Engine
	tail   *Tail
	made   atomic.Int64 // frames
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c, ds := dialect.NewRegistry(sw05.FrontEnd{}).Compile("w.yaml", []byte(`
id: w
version: "1.0"
name: w
states:
- {name: S, type: inject, start: {kind: default}, data: {a: 1}, end: {kind: default}}
`), nil, dialect.Options{})
	if c.Program == nil {
		t.Fatal(ds)
	}
	e, err := engine.New(engine.Config{Store: memory.New(), Languages: languages.All()})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Deploy(t.Context(), c.Program); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, engine: e}
	w.tail = NewTail(e, func(item *store.FeedItem) ([]byte, error) {
		w.made.Add(1)
		return []byte(item.Instance), nil
	})
	return w
}

// start starts an instance, which is one item of the feed.
func (w *world) start() {
	w.t.Helper()
	if _, err := w.engine.Start(w.t.Context(), engine.StartRequest{Definition: "w"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) reader() *Reader {
	return &Reader{
		Tail: w.tail, Clock: engine.RealClock{}, Heartbeat: time.Hour, Within: time.Hour,
		Frames: func(_ context.Context, to [][]byte, it *Item) ([][]byte, error) { return append(to, it.Frame), nil },
	}
}

// follow runs so many readers from the end of the feed on, until the test is over.
func (w *world) follow(readers int) (all []*client, stop func()) {
	w.t.Helper()
	end, err := w.tail.Position(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	for range readers {
		c, r := &client{}, w.reader()
		r.Pos = end
		all = append(all, c)
		running.Go(func() {
			if err := r.Run(ctx, c, nil); err != nil {
				w.t.Error(err)
			}
		})
	}
	synctest.Wait()
	return all, func() { cancel(); running.Wait() }
}

// TestFramesAreMadeOnce: however many readers there are, the frame of an item is made once, and all write the same one.
func TestFramesAreMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all, stop := w.follow(100)
		defer stop()
		const items = 20
		for range items {
			w.start()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if made := w.made.Load(); made != items {
			t.Errorf("%d frames were made for %d items", made, items)
		}
		for i, c := range all {
			if len(c.got) != items {
				t.Fatalf("reader %d got %d of %d items", i, len(c.got), items)
			}
			for k, text := range c.got {
				if &text[0] != &all[0].got[k][0] {
					t.Fatalf("reader %d has a frame %d of its own", i, k)
				}
			}
		}
	})
}

// TestChangesGoAtOnce: a change after a pause is sent without waiting for anything, and one right after it hardly waits while
// there are few readers. No number of readers makes it wait longer than longestPause.
func TestChangesGoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct {
			readers int
			most    time.Duration
		}{{1, readerPause}, {100, 100 * readerPause}, {4000, longestPause}} {
			w := newWorld(t)
			all, stop := w.follow(x.readers)
			time.Sleep(time.Second)
			began := time.Now()
			w.start()
			synctest.Wait()
			w.start()
			time.Sleep(time.Second)
			synctest.Wait()
			for i, c := range all {
				if len(c.came) != 2 || c.came[0].After(began) || c.came[1].Sub(began) > x.most {
					t.Fatalf("%d readers: reader %d got changes at %s after %s", x.readers, i, c.came, began)
				}
			}
			stop()
		}
	})
}

// TestHeartbeatOfIdleStreams: a heartbeat is sent when nothing else was for so long, and only then.
func TestHeartbeatOfIdleStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all, stop := w.follow(1)
		defer stop()
		time.Sleep(40 * time.Minute)
		w.start()
		time.Sleep(59 * time.Minute)
		if got := all[0].count(); got != 1 {
			t.Errorf("%d texts, of one", got)
		}
		time.Sleep(2 * time.Minute)
		if got := all[0].count(); got != 2 {
			t.Errorf("%d texts, of a change and a heartbeat", got)
		}
	})
}

// TestReadersAllocateNothing: what is sent costs a reader no memory of its own.
func TestReadersAllocateNothing(t *testing.T) {
	w := newWorld(t)
	if _, err := w.tail.Position(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		w.start()
	}
	r, sink := w.reader(), &unread{}
	r.writer = sink
	allocations := testing.AllocsPerRun(100, func() {
		r.Pos = 0
		if more, err := r.part(t.Context(), false); more || err != nil {
			t.Fatal(more, err)
		}
	})
	if allocations > 0 || sink.bytes == 0 {
		t.Errorf("a reader allocates %.1f times for 10 items", allocations)
	}
}

// unread is a client that keeps nothing.
type unread struct {
	client
	bytes int
}

func (u *unread) Write(text []byte) (int, error) {
	u.bytes += len(text)
	return len(text), nil
}
