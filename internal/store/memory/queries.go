package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
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
	return in.sortedPages(), nil
}

func (in *instance) sortedPages() []core.Page {
	out := make([]core.Page, 0, len(in.pages))
	for k, data := range in.pages {
		out = append(out, core.Page{Frame: k.frame, Part: k.part, Data: data})
	}
	slices.SortFunc(out, func(a, b core.Page) int {
		return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Part, b.Part))
	})
	return in.chunks.Pages(out)
}

// States reads the pages of several instances.
func (s *Store) States(ctx context.Context, ids []string) (out []store.State, through int, err error) {
	if err := s.begin(ctx); err != nil {
		return nil, 0, err
	}
	defer s.mu.Unlock()
	bytes := 0
	for _, id := range ids {
		if in := s.instances[id]; in != nil {
			pages := in.sortedPages()
			for _, p := range pages {
				bytes += len(p.Data)
			}
			if len(out) > 0 && bytes > store.MaxStateBytes {
				return out, through, nil
			}
			out = append(out, store.State{ID: id, Rev: in.row.Rev, Created: in.row.Created, Pages: pages})
		}
		through++
	}
	return out, through, nil
}

// Instances lists rows.
func (s *Store) Instances(ctx context.Context, q store.Query) ([]store.Instance, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Instance
	skip := q.Offset
	for in := range s.selected(q) {
		if skip > 0 {
			skip--
			continue
		}
		row := in.row
		if q.Bare {
			row.Output = expr.Null
		}
		out = append(out, row)
		if len(out) == q.Limit {
			break
		}
	}
	return out, nil
}

// Count counts rows.
func (s *Store) Count(ctx context.Context, q store.Query) (int64, error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	q.After = 0
	n := int64(0)
	for range s.selected(q) {
		if n++; n == int64(q.Limit) {
			break
		}
	}
	return n, nil
}

// selected yields the instances that fit, in the order of the query.
func (s *Store) selected(q store.Query) iter.Seq[*instance] {
	list := s.order
	if q.Parent != "" {
		list = s.children[q.Parent]
	}
	if q.ByCreated {
		return byCreated(list, q)
	}
	after := func(seq int64) int {
		i, _ := slices.BinarySearchFunc(list, seq, func(in *instance, seq int64) int { return cmp.Compare(in.row.Seq, seq) })
		return i
	}
	switch {
	case q.Newest && q.After != 0:
		list = list[:after(q.After)]
	case !q.Newest:
		list = list[after(q.After+1):]
	}
	return func(yield func(*instance) bool) {
		for i := range list {
			in := list[i]
			if q.Newest {
				in = list[len(list)-1-i]
			}
			if q.Selects(&in.row) && !yield(in) {
				return
			}
		}
	}
}

// byCreated yields the instances of a list that fit, in the order in which they were created.
func byCreated(list []*instance, q store.Query) iter.Seq[*instance] {
	last := &store.Instance{Seq: q.After, Created: q.AfterTime}
	var out []*instance
	for _, in := range list {
		if q.Selects(&in.row) && (q.After == 0 || q.Compare(last, &in.row) < 0) {
			out = append(out, in)
		}
	}
	slices.SortFunc(out, func(a, b *instance) int { return q.Compare(&a.row, &b.row) })
	return slices.Values(out)
}

// Stats counts instances.
func (s *Store) Stats(ctx context.Context) ([]store.Stat, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	counts := map[store.Stat]int64{}
	for _, in := range s.order {
		counts[store.Stat{Definition: in.row.Definition, Version: in.row.Version, Status: in.row.Status}]++
	}
	var out []store.Stat
	for stat, n := range counts {
		stat.Count = n
		out = append(out, stat)
	}
	slices.SortFunc(out, func(a, b store.Stat) int {
		return cmp.Or(cmp.Compare(a.Definition, b.Definition), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Status, b.Status))
	})
	return out, nil
}

// JobStats counts jobs.
func (s *Store) JobStats(ctx context.Context) ([]store.JobStat, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	counts := map[store.JobStat]int64{}
	for _, in := range s.order {
		if job := in.row.Job; job.State != "" {
			counts[store.JobStat{Definition: in.row.Definition, State: job.State, Group: job.Group}]++
		}
	}
	var out []store.JobStat
	for stat, n := range counts {
		stat.Count = n
		out = append(out, stat)
	}
	slices.SortFunc(out, store.JobStat.Compare)
	return out, nil
}

// appendFeed adds the records of an instance to the feed.
func (s *Store) appendFeed(in *instance, at core.Time, records []core.Record) {
	s.feed = append(s.feed, store.FeedItem{
		Pos: s.next(), Instance: in.row.ID, Definition: in.row.Definition, Client: in.row.Job.Client,
		Status: in.row.Status, At: at, Records: slices.Clone(records),
	})
}

// Feed lists what commits did.
func (s *Store) Feed(ctx context.Context, after int64, limit int) (store.Feed, error) {
	if err := s.begin(ctx); err != nil {
		return store.Feed{}, err
	}
	defer s.mu.Unlock()
	after = max(after, s.oldest)
	i, _ := slices.BinarySearchFunc(s.feed, after+1, func(f store.FeedItem, pos int64) int { return cmp.Compare(f.Pos, pos) })
	part := s.feed[i:min(len(s.feed), i+limit)]
	size := 0
	for n := range part {
		size += sizeOf(part[n].Records)
		if size > store.MaxFeedBytes && n > 0 {
			part = part[:n]
			break
		}
	}
	out := store.Feed{Items: slices.Clone(part), Oldest: s.oldest, Next: after, Last: s.oldest}
	if n := len(s.feed); n > 0 {
		out.Last = s.feed[n-1].Pos
	}
	if n := len(out.Items); n > 0 {
		out.Next = out.Items[n-1].Pos
	}
	return out, nil
}

// sizeOf estimates the size of records. Measuring a value stops at MaxFeedBytes: a larger one
// does not fit anyway.
func sizeOf(records []core.Record) (n int) {
	for i := range records {
		size, _, _ := expr.Measure(records[i].Data, store.MaxFeedBytes, expr.MaxDepth)
		n += size + len(records[i].Text)
	}
	return n
}

// Check finds nothing: what is in memory is as it was written.
func (s *Store) Check(ctx context.Context) ([]store.Problem, error) { return nil, ctx.Err() }

// Records reads a part of an instance's history.
func (s *Store) Records(ctx context.Context, id string, after int64, limit int) ([]core.Record, error) {
	in, err := s.instance(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	list := in.records[min(max(after, 0), int64(len(in.records))):]
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return slices.Clone(list), nil
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

// Events lists kept events.
func (s *Store) Events(ctx context.Context, q store.EventQuery) (store.EventPage, error) {
	if err := s.begin(ctx); err != nil {
		return store.EventPage{}, err
	}
	defer s.mu.Unlock()
	list := s.eventOrder
	if q.Type != "" {
		list = s.eventsBy[eventKey{kind: q.Type}]
	}
	from := func(seq int64) int {
		i, _ := slices.BinarySearchFunc(list, seq, func(e *keptEvent, seq int64) int { return cmp.Compare(e.row.Seq, seq) })
		return i
	}
	switch {
	case q.Newest && q.After != 0:
		list = list[:from(q.After)]
	case !q.Newest:
		list = list[from(q.After+1):]
	}
	var out store.EventPage
	for i := range list {
		at := i
		if q.Newest {
			at = len(list) - 1 - i
		}
		if e := list[at].view(); q.Selects(&e) {
			out.Events = append(out.Events, e)
		}
		full := q.Limit > 0 && len(out.Events) >= q.Limit || i+1 >= store.MaxEventScan
		if full && i+1 < len(list) {
			out.Next = list[at].row.Seq
			break
		}
	}
	return out, nil
}
