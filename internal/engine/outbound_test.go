package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// receiver is a sink that remembers what it was given.
type receiver struct {
	mu     sync.Mutex
	got    []string // taken: ids
	tries  int
	answer func(event.Event) error // nil: it takes everything
}

func (r *receiver) take(_ context.Context, e event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	if r.answer != nil {
		if err := r.answer(e); err != nil {
			return err
		}
	}
	r.got = append(r.got, e.ID)
	return nil
}

func (r *receiver) set(answer func(event.Event) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) ids() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// producer emits that many events and ends.
func producer(n int) *ir.Program {
	b := build("producer")
	var steps []stepOp
	for range n {
		steps = append(steps, b.emit("made", ""))
	}
	return b.main(steps...)
}

func produce(t *testing.T, e *Engine, id string) {
	t.Helper()
	if _, err := e.Start(context.Background(), StartRequest{Definition: "producer", ID: id, Input: parse(t, `{}`)}); err != nil {
		t.Fatal(err)
	}
}

var errDown = errors.New("it is down")

// refusal is an error of a sink that will never take an event.
type refusal struct{ error }

func (refusal) Refused() bool { return true }

func TestSinkGetsWhatInstancesProduce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		listener := build("listener")
		listener.p.Start.Events = []ir.EventID{listener.event("made")}
		e, stop := running(t, Config{Sink: r.take}, producer(3), listener.main(await("Made", 0, 0)))
		produce(t, e, "p")
		synctest.Wait()
		if got := fmt.Sprint(r.ids()); got != "[p/1.1 p/1.2 p/1.3]" && len(r.ids()) != 3 || !slices.IsSorted(r.ids()) {
			t.Errorf("the sink has %s", got)
		}
		if list, _ := e.List(t.Context()); len(list) != 4 {
			t.Errorf("%d instances: the events did not come back", len(list))
		}
		if f, ok := e.SinkFigures(); !ok || f != (SinkFigures{Sent: 3}) {
			t.Errorf("figures %+v", f)
		}
		stop()
		if left, _ := e.store.Outbound(t.Context(), 10); len(left) != 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

// TestSinkIsDown: instances go on, nothing is set aside, attempts become rare; when it is
// back it gets everything in order under the ids of before.
func TestSinkIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{answer: func(event.Event) error { return errDown }}
		var mu sync.Mutex
		var told []error
		tell := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err)
		}
		listener := build("listener")
		listener.p.Start.Events = []ir.EventID{listener.event("made")}
		e, stop := running(t, Config{Sink: r.take, OnError: tell}, producer(3), listener.main(await("Made", 0, 0)))
		produce(t, e, "p")
		<-time.After(30 * time.Minute)
		synctest.Wait()
		list, _ := e.List(t.Context())
		if len(list) != 4 || slices.ContainsFunc(list, func(in Instance) bool { return in.Status != core.Completed || in.Quarantine != "" }) {
			t.Errorf("instances %+v", list)
		}
		if r.tries < 20 || r.tries > 40 || len(told) > 32 || len(told) < 2 || !errors.Is(told[0], errDown) {
			t.Errorf("%d attempts, told %d times: %v", r.tries, len(told), told)
		}
		if f, _ := e.SinkFigures(); f.Waiting != 3 || f.Sent != 0 || f.Failed != int64(r.tries) {
			t.Errorf("figures %+v", f)
		}
		r.set(nil)
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if got := r.ids(); len(got) != 3 || !slices.IsSorted(got) || !strings.HasPrefix(got[0], "p~") {
			t.Errorf("the sink has %v", got)
		}
		stop()
	})
}

// TestSinkFailsForOne: others' events do not wait for it.
func TestSinkFailsForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{answer: func(e event.Event) error {
			if strings.HasPrefix(e.ID, "sick~") {
				return errDown
			}
			return nil
		}}
		e, stop := running(t, Config{Sink: r.take, OnError: func(error) {}}, producer(2))
		produce(t, e, "sick")
		for i := range 100 {
			produce(t, e, fmt.Sprint("well", i))
		}
		<-time.After(time.Second / 2)
		synctest.Wait()
		if got := len(r.ids()); got != 200 {
			t.Errorf("the sink has %d events", got)
		}
		stop()
	})
}

// TestSinkRefuses: what it will never take is dropped, told and counted.
func TestSinkRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		r.answer = func(event.Event) error {
			if r.tries == 1 {
				return fmt.Errorf("sink: %w", refusal{errors.New("400 Bad Request")})
			}
			return nil
		}
		var told []string
		e, stop := running(t, Config{Sink: r.take, OnError: func(err error) { told = append(told, err.Error()) }}, producer(2))
		produce(t, e, "p")
		synctest.Wait()
		if f, _ := e.SinkFigures(); f != (SinkFigures{Sent: 1, Refused: 1}) || r.tries != 2 {
			t.Errorf("figures %+v after %d attempts", f, r.tries)
		}
		if len(told) != 1 || !strings.Contains(told[0], "dropped") || !strings.Contains(told[0], "400 Bad Request") {
			t.Errorf("told %q", told)
		}
		stop()
	})
}

// TestSinkHangs: the engine goes on, others wait for a place at most, and the end is not
// held up longer than by calls; the next engine sends what was not taken.
func TestSinkHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		hang := func(ctx context.Context, _ event.Event) error { <-ctx.Done(); return ctx.Err() }
		e, stop := running(t, Config{Store: s, Sink: hang}, producer(2))
		const n = maxSends + 8
		for i := range n {
			produce(t, e, fmt.Sprint("p", i))
		}
		<-time.After(time.Hour)
		synctest.Wait()
		stats, _ := e.Stats(t.Context())
		if len(stats) != 1 || stats[0].Status != core.Completed || stats[0].Count != n {
			t.Errorf("stats %+v", stats)
		}
		if e.outbox.flying != maxSends {
			t.Errorf("%d are on their way", e.outbox.flying)
		}
		began := time.Now()
		stop()
		if took := time.Since(began); took > drainTime {
			t.Errorf("the end took %v", took)
		}
		r := &receiver{}
		_, stop = running(t, Config{Store: s, Sink: r.take})
		<-time.After(time.Second)
		synctest.Wait()
		if got := len(r.ids()); got != 2*n {
			t.Errorf("the next one sends %d events", got)
		}
		stop()
	})
}

// forgetful is a store that cannot note what was sent.
type forgetful struct {
	store.Store
	fails int
}

func (s *forgetful) Sent(ctx context.Context, seq int64) error {
	if s.fails--; s.fails >= 0 {
		return errors.New("the disk is full")
	}
	return s.Store.Sent(ctx, seq)
}

// TestSentCannotBeNoted: the event is not given again for that, nor is the next one before.
func TestSentCannotBeNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		s := &forgetful{memory.New(), 3}
		e, stop := running(t, Config{Store: s, Sink: r.take, OnError: func(error) {}}, producer(2))
		produce(t, e, "p")
		<-time.After(time.Minute)
		synctest.Wait()
		if got := r.ids(); len(got) != 2 || r.tries != 2 || !slices.IsSorted(got) {
			t.Errorf("the sink has %v after %d attempts", got, r.tries)
		}
		stop()
	})
}

// TestSinkGetsManyMore than are in memory at a time, each once, in order.
func TestSinkGetsManyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{answer: func(event.Event) error { return errDown }}
		e, stop := running(t, Config{Sink: r.take, OnError: func(error) {}}, producer(10))
		const n = 3 * outboundWindow / 10
		for i := range n {
			produce(t, e, fmt.Sprint("p", i))
		}
		<-time.After(5 * time.Minute)
		r.set(nil)
		<-time.After(20 * time.Minute)
		synctest.Wait()
		last := map[string]string{}
		for _, id := range r.ids() {
			instance, ticket, _ := strings.Cut(id, "/")
			if old := last[instance]; len(old) > len(ticket) || len(old) == len(ticket) && old >= ticket {
				t.Fatalf("%s after %s", id, old)
			}
			last[instance] = ticket
		}
		if got := len(r.ids()); got != 10*n {
			t.Errorf("the sink has %d events, want %d", got, 10*n)
		}
		stop()
	})
}

// TestSinkInline: under virtual time it is part of Poll.
func TestSinkInline(t *testing.T) {
	r := &receiver{}
	h := newHarness(t, nil, func(c *Config) { c.Sink = r.take })
	h.deploy(producer(2))
	h.start("producer", `{}`)
	r.answer = func(event.Event) error { return errDown }
	h.poll()
	if next, ok := h.Next(); !ok || next.Sub(t0) != firstRest {
		t.Errorf("next %v %t", next, ok)
	}
	r.answer = nil
	h.run(time.Minute)
	if got := r.ids(); len(got) != 2 {
		t.Errorf("the sink has %v", got)
	}
	if _, ok := h.Next(); ok {
		t.Error("there is more to do")
	}
}

// stale is a store that answers with what was true before the sink took something.
type stale struct {
	store.Store
	looks   int
	release chan struct{}
}

func (s *stale) Outbound(ctx context.Context, limit int) ([]store.Emit, error) {
	list, err := s.Store.Outbound(ctx, limit)
	if s.looks++; len(list) == 2 {
		close(s.release)
		synctest.Wait() // until the first one is sent, and noted
	}
	return list, err
}

// TestSentWhileLooking: what goes while the store is read does not go again.
func TestSentWhileLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		s := &stale{Store: memory.New(), release: make(chan struct{})}
		e, stop := running(t, Config{Store: s, Sink: func(ctx context.Context, ev event.Event) error {
			<-s.release
			return r.take(ctx, ev)
		}}, producer(1))
		produce(t, e, "a")
		<-time.After(time.Minute)
		produce(t, e, "b")
		<-time.After(time.Minute)
		synctest.Wait()
		if got := r.ids(); len(got) != 2 || got[0] == got[1] || s.looks < 2 {
			t.Errorf("the sink has %v after %d looks", got, s.looks)
		}
		stop()
	})
}
