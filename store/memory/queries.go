package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

func (s *Store) instance(ctx context.Context, id string) (*instance, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	in := s.instances[id]
	if in == nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
	}
	return in, nil
}

// Instance reads a row.
func (s *Store) Instance(ctx context.Context, id string) (store.Instance, error) {
	in, err := s.instance(ctx, id)
	if err != nil {
		return store.Instance{}, err
	}
	defer s.mu.Unlock()
	return in.row, nil
}

// Pages reads an instance's state.
func (s *Store) Pages(ctx context.Context, id string) ([]core.Page, error) {
	in, err := s.instance(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]core.Page, 0, len(in.pages))
	for k, data := range in.pages {
		out = append(out, core.Page{Frame: k.frame, Part: k.part, Data: data})
	}
	slices.SortFunc(out, func(a, b core.Page) int {
		return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Part, b.Part))
	})
	return out, nil
}

// Instances lists rows.
func (s *Store) Instances(ctx context.Context, q store.Query) ([]store.Instance, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Instance
	list := s.order
	if q.Parent != "" {
		list = s.children[q.Parent]
	}
	from, _ := slices.BinarySearchFunc(list, q.After+1, func(in *instance, seq int64) int { return cmp.Compare(in.row.Seq, seq) })
	for _, in := range list[from:] {
		r := &in.row
		switch {
		case q.Definition != "" && r.Definition != q.Definition,
			q.Status != "" && r.Status != q.Status:
			continue
		}
		if out = append(out, *r); len(out) == q.Limit {
			break
		}
	}
	return out, nil
}

// Records reads an instance's history.
func (s *Store) Records(ctx context.Context, id string) ([]core.Record, error) {
	in, err := s.instance(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(in.records), nil
}

// Subscriptions lists what an instance waits for.
func (s *Store) Subscriptions(ctx context.Context, id string) ([]store.Subscription, error) {
	in, err := s.instance(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]store.Subscription, len(in.subs))
	for i, sub := range in.subs {
		out[i] = sub.row
	}
	return out, nil
}

// Events lists the kept events.
func (s *Store) Events(ctx context.Context) ([]store.Event, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]store.Event, len(s.eventOrder))
	for i, e := range s.eventOrder {
		out[i] = e.view()
	}
	return out, nil
}
