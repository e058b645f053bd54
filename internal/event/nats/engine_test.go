package nats

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// onMade is started by an event, and produces another.
const onMade = `id: onmade
name: On made
version: "1"
events:
- {name: Made, type: made, source: shop}
- {name: Done, type: done, source: hall, kind: produced}
states:
- name: Take
  type: event
  start: {kind: default}
  onEvents: [{eventRefs: [Made], actions: []}]
  end: {kind: event, produceEvents: [{eventRef: Done, data: "{{ $ }}"}]}
`

// newEngine is a real one on a file, that runs until the test ends.
func newEngine(t *testing.T, sink event.Sink) *engine.Engine {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "lockstep.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	e, err := engine.New(engine.Config{Store: db.Namespace("default"), Languages: jsonpath.Languages(), Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	c, found := dialect.NewRegistry(sw05.FrontEnd{}).Compile("onmade.yaml", []byte(onMade), nil, dialect.Options{})
	if c.Program == nil {
		t.Fatal(found)
	}
	if err := e.Deploy(t.Context(), c.Program); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return e
}

// into is an ingest into an engine.
func into(e *engine.Engine) event.Ingest {
	return func(ctx context.Context, ev event.Event) error {
		_, err := e.Send(ctx, ev)
		var conflict *engine.EventConflictError
		if errors.As(err, &conflict) {
			return &event.RefusedError{Err: err}
		}
		return err
	}
}

// data are the messages of a stream, by the value n of their data.
func data(t *testing.T, js jetstream.JetStream, name string) map[string]int {
	t.Helper()
	s, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for seq := uint64(1); seq <= s.CachedInfo().State.LastSeq; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		e, err := readMessage(m.Header, m.Data, maxEvent)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := e.Data.Get("n")
		out[n.Str()]++
	}
	return out
}

// TestThousandEvents: a thousand events each start one instance and produce one event,
// although a node dies between commit and acknowledgement, the broker is restarted, and
// events are published twice.
func TestThousandEvents(t *testing.T) {
	const all = 1000
	b := newBroker(t, nil)
	js := b.stream("IN")
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out.>"}, Storage: jetstream.FileStorage}); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, b.sink(b.address(), "/OUT?subject=out.{type}").Send)
	for i := range all {
		publish(t, js, fmt.Sprintf("in.%d", i%8), text(fmt.Sprint(i)))
	}
	publish(t, js, "in.again", text("7"))
	publish(t, js, "in.other", `{"id":"7","source":"shop","type":"made","data":{"n":"another"}}`)

	// A node that is cut off when it has stored 200 events, before it can say so.
	wire := b.proxy()
	var committed atomic.Int64
	dying := b.source(wire.address(), "", nil)
	stop := run(t, dying, func(ctx context.Context, ev event.Event) error {
		err := into(e)(ctx, ev)
		if err == nil && committed.Add(1) == 200 {
			wire.cut()
		}
		return err
	})
	until(t, "200 events are stored", func() bool { return committed.Load() >= 200 })
	stop()

	// The next node; the broker is restarted when it is in the middle.
	half := make(chan struct{})
	var taken atomic.Int64
	next := b.source(b.address(), "", nil)
	run(t, next, func(ctx context.Context, ev event.Event) error {
		err := into(e)(ctx, ev)
		if taken.Add(1) == 300 {
			close(half)
		}
		return err
	})
	<-half
	b.stop()
	b.start()
	settled(t, js, "lockstep")
	if f := next.Figures(); f.Refused != 1 || f.Redelivered == 0 {
		t.Errorf("%+v", f)
	}

	until(t, "all events are sent", func() bool { f, _ := e.SinkFigures(); return f.Sent >= all })
	stats, err := e.Stats(t.Context())
	if err != nil || len(stats) != 1 || stats[0].Count != all || stats[0].Status != core.Completed {
		t.Errorf("%v, instances: %+v", err, stats)
	}
	found := data(t, js, "OUT")
	for i := range all {
		if n := found[fmt.Sprint(i)]; n != 1 {
			t.Errorf("event %d was produced %d times", i, n)
		}
	}
	if len(found) != all {
		t.Errorf("%d events were produced", len(found))
	}
}

// TestOwnEventsComeBack: a sink and a source over the same stream are no loop: what an
// engine produced it knows.
func TestOwnEventsComeBack(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	e := newEngine(t, b.sink(b.address(), "/IN?subject=in.{type}").Send)
	s := b.source(b.address(), "", nil)
	run(t, s, into(e))
	publish(t, js, "in.made", text("1"))
	until(t, "both events came", func() bool { return s.Figures().Taken == 2 })
	settled(t, js, "lockstep")
	page, err := e.EventPage(t.Context(), store.EventQuery{})
	if err != nil || len(page.Events) != 2 || s.Figures().Refused != 0 {
		t.Errorf("%v, %+v, %+v", err, page.Events, s.Figures())
	}
}
