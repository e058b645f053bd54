package memory

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/store"
)

func TestWake(t *testing.T) {
	s := New()
	for i, at := range []core.Time{30, 10, 20, 10} {
		commit(t, s, store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), Wake: at, HasWake: true, Status: core.Waiting}})
	}
	if at, ok, _ := s.Next(ctx, 0); !ok || at != 10 {
		t.Errorf("next %v", at)
	}
	if at, ok, _ := s.Next(ctx, 10); !ok || at != 20 {
		t.Errorf("next after the first %v", at)
	}
	if ready, _ := s.Ready(ctx, 9, 10); len(ready) != 0 {
		t.Errorf("early: %v", ready)
	}
	for range 2 { // what was not handled stays
		if ready, _ := s.Ready(ctx, 20, 10); !slices.Equal(ready, []string{"1", "3", "2"}) {
			t.Errorf("ready %v", ready)
		}
	}
	if ready, _ := s.Ready(ctx, 20, 2); !slices.Equal(ready, []string{"1", "3"}) {
		t.Errorf("two of them: %v", ready)
	}
	r := row(t, s, "1")
	r.Wake = 40
	commit(t, s, store.Commit{Instance: r})
	r = row(t, s, "3")
	r.HasWake = false
	commit(t, s, store.Commit{Instance: r})
	if ready, _ := s.Ready(ctx, 35, 10); !slices.Equal(ready, []string{"2", "0"}) {
		t.Errorf("later %v", ready)
	}
}

// TestBusyInstanceGoesFirstForEver: what is still ready after a commit goes behind.
func TestBusyInstanceGoesFirstForEver(t *testing.T) {
	s := New()
	for _, id := range []string{"a", "b", "c"} {
		commit(t, s, store.Commit{Instance: store.Instance{ID: id, Status: core.Running, More: true}})
	}
	want := func(ids ...string) {
		t.Helper()
		if ready, _ := s.Ready(ctx, 0, 10); !slices.Equal(ready, ids) {
			t.Errorf("ready %v, want %v", ready, ids)
		}
	}
	want("a", "b", "c")
	commit(t, s, store.Commit{Instance: row(t, s, "a")})
	want("b", "c", "a")
	commit(t, s, store.Commit{Instance: row(t, s, "b"), Messages: []store.Message{{To: "c"}, {To: "a"}}})
	want("c", "a", "b") // a message to one that is ready already changes nothing
	if ready, _ := s.Ready(ctx, 0, 1); !slices.Equal(ready, []string{"c"}) {
		t.Errorf("the first is %v", ready)
	}
}

// TestEndedInstanceKeepsItsCalls: they go with the commit that ends it.
func TestEndedInstanceKeepsItsCalls(t *testing.T) {
	s := New()
	for _, id := range []string{"a", "b"} {
		commit(t, s, store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}, Calls: []store.Call{
			{Invoke: core.Invoke{Ticket: 2}}, {Invoke: core.Invoke{Ticket: 1}},
		}})
	}
	calls := func(id string) (out []string) {
		list, err := s.Calls(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			out = append(out, fmt.Sprint(c.Instance, uint64(c.Ticket)))
		}
		return out
	}
	if got := calls("b"); !slices.Equal(got, []string{"b2", "b1"}) {
		t.Errorf("calls of one: %v", got)
	}
	if got := calls(""); !slices.Equal(got, []string{"a2", "a1", "b2", "b1"}) {
		t.Errorf("calls of all: %v", got)
	}
	end := row(t, s, "a")
	end.Status = core.Terminated
	commit(t, s, store.Commit{Instance: end})
	if got := calls("a"); len(got) != 0 {
		t.Errorf("after its end: %v", got)
	}
	if got := calls(""); len(got) != 2 {
		t.Errorf("left: %v", got)
	}
}

// TestIndexesGrowForEver: what an index held for a row goes with what the row was.
func TestIndexesGrowForEver(t *testing.T) {
	s := New()
	for i := range 100 {
		id := fmt.Sprint(i)
		in := store.Instance{ID: id, Definition: "d", Status: core.Waiting, Keys: []core.Key{{Name: "k", Value: id, Fixed: true}}, HasWake: true}
		sub := store.Subscription{Ticket: 1, Filter: event.Filter{Type: id}}
		commit(t, s, store.Commit{Instance: in, Subscribe: []store.Subscription{sub}})
		for k := range 10 {
			r := row(t, s, id)
			r.Wake = core.Time(k)
			commit(t, s, store.Commit{Instance: r})
		}
		if s.wakes.size != 1 {
			t.Fatalf("%d wake times of one instance", s.wakes.size)
		}
		r := row(t, s, id)
		r.Status, r.HasWake = core.Completed, false
		commit(t, s, store.Commit{Instance: r})
	}
	if n := len(s.owners) + s.wakes.size + s.ready.size + s.unchecked.size + len(s.subs.buckets) + len(s.subs.types) + len(s.calling); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}

// BenchmarkReady is a batch of many that wait: it costs what it returns.
func BenchmarkReady(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := New()
			for i := range n {
				_ = s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), HasWake: true}})
			}
			for b.Loop() {
				if ready, _ := s.Ready(ctx, 0, 100); len(ready) != 100 {
					b.Fatal(len(ready))
				}
			}
		})
	}
}

// BenchmarkNear is what an event that nobody gets costs beside many that wait.
func BenchmarkNear(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := New()
			for i := range n {
				f := event.Filter{Type: "t", Keys: []event.Key{{Name: "k", Value: fmt.Sprint(i), Fixed: true}}}
				_ = s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(i)}, Subscribe: []store.Subscription{{Ticket: 1, Filter: f}}})
			}
			for b.Loop() {
				if near := (view{s}).Near(ev("1"), 10); len(near) != 10 {
					b.Fatal(len(near))
				}
			}
		})
	}
}
