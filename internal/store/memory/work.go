package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Ready lists instances that have work to do.
func (s *Store) Ready(ctx context.Context, now core.Time, limit int) ([]string, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	s.wake(now)
	return ids(s.ready.head(limit)), nil
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
func (s *Store) Calls(ctx context.Context, id string) ([]store.Call, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Call
	list := func(in *instance) {
		for _, c := range in.calls {
			out = append(out, c)
		}
	}
	if id == "" {
		for _, in := range s.calling {
			list(in)
		}
	} else if in := s.calling[id]; in != nil {
		list(in)
	}
	slices.SortFunc(out, func(a, b store.Call) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

// Emits lists the events that are yet to be ingested.
func (s *Store) Emits(ctx context.Context, limit int) ([]store.Emit, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return rowsOf(s.emits.head(limit)), nil
}

// Outbound lists the events that the sink has not accepted yet.
func (s *Store) Outbound(ctx context.Context, limit int) ([]store.Emit, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return rowsOf(s.sends.head(limit)), nil
}

// Sent removes an event that the sink accepted.
func (s *Store) Sent(ctx context.Context, seq int64) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.sends.remove(&store.Emit{Seq: seq})
	return nil
}

func rowsOf(list []*store.Emit) (out []store.Emit) {
	for _, e := range list {
		out = append(out, *e)
	}
	return out
}

// Unchecked lists the instances that have fresh subscriptions.
func (s *Store) Unchecked(ctx context.Context, limit int) ([]string, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return ids(s.unchecked.head(limit)), nil
}

// Again lists the events that must be routed again.
func (s *Store) Again(ctx context.Context, limit int) ([]int64, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.again.head(limit), nil
}

// Expired lists the gatherings whose time is up.
func (s *Store) Expired(ctx context.Context, now core.Time, limit int) ([]store.Gathering, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Gathering
	for x := range s.expiries.all() {
		if x.until > now || len(out) == limit {
			break
		}
		out = append(out, s.gatherings[x.seq])
	}
	return out, nil
}

// Schedules lists the schedules that are due.
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
		return cmp.Or(cmp.Compare(a.Next, b.Next), cmp.Compare(a.Definition, b.Definition))
	})
	return out, nil
}

// ListSchedules lists all schedules.
func (s *Store) ListSchedules(ctx context.Context) ([]store.Schedule, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.schedules), func(a, b store.Schedule) int { return cmp.Compare(a.Definition, b.Definition) }), nil
}

// Advance moves a schedule to its next fire time.
func (s *Store) Advance(ctx context.Context, was store.Schedule, next *core.Time, fires string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	c, ok := s.schedules[was.Definition]
	if !ok || c != was {
		return fmt.Errorf("schedule of %s: %w", was.Definition, store.ErrConflict)
	}
	if next == nil {
		delete(s.schedules, was.Definition)
		return nil
	}
	c.Next, c.Fires = *next, fires
	s.schedules[was.Definition] = c
	return nil
}

// Next is when the next timer, gathering or schedule is due.
func (s *Store) Next(ctx context.Context, after core.Time) (core.Time, bool, error) {
	if err := s.begin(ctx); err != nil {
		return 0, false, err
	}
	defer s.mu.Unlock()
	var at core.Time
	found := false
	count := func(t core.Time) bool {
		if t <= after {
			return false
		}
		if !found || t < at {
			at, found = t, true
		}
		return true
	}
	s.wake(after)
	if w, ok := s.wakes.first(); ok {
		count(w.at)
	}
	for x := range s.expiries.all() {
		if count(x.until) {
			break
		}
	}
	for _, c := range s.schedules {
		count(c.Next)
	}
	return at, found, nil
}

// wake is the wake time of a sleeping instance.
type wake struct {
	at core.Time
	in *instance
}

func (w wake) compare(o wake) int {
	return cmp.Or(cmp.Compare(w.at, o.at), cmp.Compare(w.in.row.Seq, o.in.row.Seq))
}

// sleep files an instance under the wake time of its row.
func (s *Store) sleep(in *instance) {
	s.unsleep(in)
	if in.row.HasWake && !in.row.Aside() {
		in.waking = &wake{in.row.Wake, in}
		s.wakes.add(*in.waking)
	}
}

// unsleep removes an instance's wake time.
func (s *Store) unsleep(in *instance) {
	if in.waking != nil {
		s.wakes.remove(*in.waking)
		in.waking = nil
	}
}

// wake makes the instances ready whose wake time has come. If the clock stepped back, instances
// that were woken too early go back to sleep.
func (s *Store) wake(now core.Time) {
	if now < s.woken {
		for _, in := range s.ready.head(s.ready.size) {
			if in.due && in.row.Wake > now {
				in.due = false
				s.sleep(in)
				s.file(in)
			}
		}
	}
	s.woken = now
	for {
		w, ok := s.wakes.first()
		if !ok || w.at > now {
			return
		}
		s.unsleep(w.in)
		w.in.due = true
		s.file(w.in)
	}
}

// expiry is when a gathering ends.
type expiry struct {
	until core.Time
	seq   int64
}

func (x expiry) compare(o expiry) int {
	return cmp.Or(cmp.Compare(x.until, o.until), cmp.Compare(x.seq, o.seq))
}
