package memory

import (
	"container/heap"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

// Ready lists instances that have something to do.
func (s *Store) Ready(ctx context.Context, now core.Time, limit int) ([]string, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for {
		in, at := s.wakes.first()
		if in == nil || at > now {
			break
		}
		heap.Pop(&s.wakes)
		in.due = true
		s.file(in)
	}
	return oldest(s.ready, limit), nil
}

// Messages lists an inbox.
func (s *Store) Messages(ctx context.Context, id string) ([]store.Message, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if in := s.instances[id]; in != nil {
		return slices.Clone(in.inbox), nil
	}
	return nil, nil
}

// Calls lists the calls without an answer.
func (s *Store) Calls(ctx context.Context) ([]store.Call, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Call
	for _, in := range s.calling {
		for _, c := range in.calls {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b store.Call) int { return compare(a.Seq, b.Seq) })
	return out, nil
}

// Emits lists the events that are yet to be ingested.
func (s *Store) Emits(ctx context.Context, limit int) ([]store.Emit, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.emits[:min(limit, len(s.emits))]), nil
}

// Unchecked lists the instances that have fresh subscriptions.
func (s *Store) Unchecked(ctx context.Context, limit int) ([]string, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return oldest(s.unchecked, limit), nil
}

// Again lists the events that must be routed again.
func (s *Store) Again(ctx context.Context, limit int) ([]int64, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]int64, 0, len(s.again))
	for seq := range s.again {
		out = append(out, seq)
	}
	slices.Sort(out)
	return out[:min(limit, len(out))], nil
}

// Expired lists the gatherings whose time is up.
func (s *Store) Expired(ctx context.Context, now core.Time, limit int) ([]store.Gathering, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Gathering
	for _, g := range s.gatherings {
		if g.Until <= now {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b store.Gathering) int { return compare(a.Seq, b.Seq) })
	return out[:min(limit, len(out))], nil
}

// Schedules lists those that are due.
func (s *Store) Schedules(ctx context.Context, now core.Time) ([]store.Schedule, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Schedule
	for _, c := range s.schedules {
		if c.Next <= now {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b store.Schedule) int {
		if c := compare(a.Next, b.Next); c != 0 {
			return c
		}
		return strings.Compare(a.Definition, b.Definition)
	})
	return out, nil
}

// Advance moves a schedule to its next fire time.
func (s *Store) Advance(ctx context.Context, definition string, from core.Time, next *core.Time) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	c, ok := s.schedules[definition]
	if !ok || c.Next != from {
		return fmt.Errorf("schedule of %s: %w", definition, store.ErrConflict)
	}
	if next == nil {
		delete(s.schedules, definition)
		return nil
	}
	c.Next = *next
	s.schedules[definition] = c
	return nil
}

// Next is when something is due.
func (s *Store) Next(ctx context.Context) (core.Time, bool, error) {
	if err := s.begin(ctx); err != nil {
		return 0, false, err
	}
	defer s.mu.Unlock()
	if len(s.ready)+len(s.unchecked)+len(s.again)+len(s.emits) > 0 {
		return 0, true, nil
	}
	var at core.Time
	found := false
	earlier := func(t core.Time) {
		if !found || t < at {
			at, found = t, true
		}
	}
	if in, t := s.wakes.first(); in != nil {
		earlier(t)
	}
	for _, c := range s.schedules {
		earlier(c.Next)
	}
	for _, g := range s.gatherings {
		earlier(g.Until)
	}
	return at, found, nil
}

// wakes orders instances by wake time. An entry counts only while it is what the
// instance's row says; others are dropped when they come to the front.
type wakes []wake

type wake struct {
	at  core.Time
	rev int64
	in  *instance
}

func (w *wakes) set(in *instance) {
	if in.row.HasWake && in.row.Quarantine == "" {
		heap.Push(w, wake{in.row.Wake, in.row.Rev, in})
	}
}

// first is the instance that wakes first; nil if none does.
func (w *wakes) first() (*instance, core.Time) {
	for len(*w) > 0 {
		top := (*w)[0]
		if top.rev == top.in.row.Rev {
			return top.in, top.at
		}
		heap.Pop(w)
	}
	return nil, 0
}

func (w wakes) Len() int      { return len(w) }
func (w wakes) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w wakes) Less(i, j int) bool {
	if w[i].at != w[j].at {
		return w[i].at < w[j].at
	}
	return w[i].in.row.Seq < w[j].in.row.Seq
}
func (w *wakes) Push(x any) { *w = append(*w, x.(wake)) }
func (w *wakes) Pop() any {
	old := *w
	last := old[len(old)-1]
	*w = old[:len(old)-1]
	return last
}
