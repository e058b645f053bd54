package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// DeleteInstance removes an instance.
func (s *Store) DeleteInstance(ctx context.Context, id string, d store.Deletion) error {
	in, err := s.instance(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if d.Rev != 0 && d.Rev != in.row.Rev {
		return fmt.Errorf("delete instance %s at revision %d, it is at %d: %w", id, d.Rev, in.row.Rev, store.ErrConflict)
	}
	if !d.Live && !in.row.Status.Final() {
		return fmt.Errorf("delete instance %s, which is %s: %w", id, in.row.Status, store.ErrLive)
	}
	s.remove(in, d)
	return nil
}

// PurgeInstances deletes instances that ended long ago.
func (s *Store) PurgeInstances(ctx context.Context, before, at core.Time, limit int) (int, error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	var over []*instance
	for _, in := range s.order {
		if in.row.Status.Final() && in.row.Ended < before && len(in.inbox) == 0 {
			over = append(over, in)
		}
	}
	slices.SortStableFunc(over, func(a, b *instance) int { return cmp.Compare(a.row.Ended, b.row.Ended) })
	over = over[:min(len(over), limit)]
	for _, in := range over {
		s.remove(in, store.Deletion{At: at})
	}
	return len(over), nil
}

// remove forgets an instance.
func (s *Store) remove(in *instance, d store.Deletion) {
	for _, m := range in.inbox {
		if m.Event != 0 {
			s.refuse(in, m)
		}
	}
	in.inbox = nil
	s.finish(in)
	s.disown(in, in.row.Keys)
	s.unsleep(in)
	s.enqueue(in, false)
	s.unchecked.remove(in)
	s.fileHeld(in, false)
	delete(s.calling, in.row.ID)
	delete(s.instances, in.row.ID)
	s.order = without(s.order, in)
	if p := in.row.Parent; p != "" {
		if s.children[p] = without(s.children[p], in); len(s.children[p]) == 0 {
			delete(s.children, p)
		}
	}
	s.appendFeed(in, d.At, []core.Record{d.Record()})
}

// without takes an instance out of a list that is ordered by Seq.
func without(list []*instance, in *instance) []*instance {
	i, _ := slices.BinarySearchFunc(list, in.row.Seq, func(o *instance, seq int64) int { return cmp.Compare(o.row.Seq, seq) })
	return slices.Delete(list, i, i+1)
}

// PurgeFeed forgets what happened long ago.
func (s *Store) PurgeFeed(ctx context.Context, before core.Time, limit int) (int, error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	n := 0
	for n < min(len(s.feed), limit) && s.feed[n].At < before {
		s.oldest = s.feed[n].Pos
		n++
	}
	s.feed = slices.Delete(s.feed, 0, n)
	return n, nil
}

// DeleteDefinition removes an alias.
func (s *Store) DeleteDefinition(ctx context.Context, id, ver string, next func(store.Definition) *store.Schedule) (*store.Definition, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	v := s.aliases[alias{id, ver}]
	if v == nil {
		return nil, fmt.Errorf("definition %s version %q: %w", id, ver, store.ErrNotFound)
	}
	digest := v.row.Digest
	used := int64(0)
	for _, in := range s.order {
		if in.row.Digest == digest {
			used++
		}
	}
	if used > 0 {
		return nil, &store.InUseError{Definition: id, Version: ver, Instances: used}
	}
	delete(s.aliases, alias{id, ver})
	var heir *store.Definition
	if s.current[id] == v {
		heir = s.inherit(id, next)
	}
	for _, o := range s.aliases {
		if o.row.Digest == digest {
			return heir, nil // someone else's content
		}
	}
	delete(s.contents, digest)
	return heir, nil
}

// inherit makes the version current that was deployed last, if there is one.
func (s *Store) inherit(id string, next func(store.Definition) *store.Schedule) *store.Definition {
	delete(s.current, id)
	delete(s.schedules, id)
	var last *version
	for _, o := range s.aliases {
		if o.row.ID == id && (last == nil || o.seq > last.seq) {
			last = o
		}
	}
	if last == nil {
		delete(s.policies, id)
		s.supersede(id, "")
		return nil
	}
	last.row.Current = true
	s.current[id] = last
	s.supersede(id, last.row.Digest)
	if sched := next(last.row); sched != nil {
		s.schedules[id] = *sched
	}
	heir := last.row
	return &heir
}
