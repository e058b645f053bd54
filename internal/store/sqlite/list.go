package sqlite

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// stream reads a range of an index: the numbers of instances in order, a chunk at a time.
type stream struct {
	from   string // FROM and WHERE of the query
	args   []any
	number string // the column that is listed
	buf    []int64
	last   int64
	chunk  int // how many are read next
	ended  bool
}

const streamChunk = 256

// streams returns the ranges of indexes that contain everything a query selects. They are read
// from the snapshot that is listed, not from memory: an instance whose status changes between
// the two would be in none of them. An instance is in several only if the query has several
// labels of which any suffices.
func (s *Store) streams(c *conn, q *store.Query) ([]*stream, error) {
	switch {
	case q.Client != "":
		return s.labelled(c, q, clientRow(q.Client))
	case q.Parent != "":
		return []*stream{{from: "FROM instances WHERE ns = ? AND parent = ?", args: []any{s.ns, q.Parent}, number: "seq"}}, nil
	case q.Error != "":
		return []*stream{{from: "FROM instances WHERE ns = ? AND error = ?", args: []any{s.ns, q.Error}, number: "seq"}}, nil
	case len(q.Labels) > 0:
		return s.labelled(c, q, labelRow(q.Labels[0]))
	case q.Name != "" || q.Key != "" || q.Tree != "":
		return s.labelled(c, q, termRow(q.AllTerms()[0]))
	case q.Text != "":
		var rows []store.Label
		for _, term := range q.TextTerms() {
			rows = append(rows, termRow(term))
		}
		out, err := s.labelled(c, q, rows...)
		return append(out, &stream{from: "FROM instances WHERE ns = ? AND id = ?", args: []any{s.ns, q.Text}, number: "seq"}), err
	case len(q.Tagged) > 0:
		var rows []store.Label
		for _, l := range q.Tagged {
			if row := labelRow(l); !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
		return s.labelled(c, q, rows...)
	case q.Jobs && (len(q.Status) == 0 || q.State != "" || len(q.Groups) > 0):
		return s.byLane(c, q)
	case q.Prefix != "":
		if found, few, err := s.byPrefix(c, q); few || err != nil {
			return []*stream{found}, err
		}
	}
	out, err := s.byStatus(c, q)
	if err == nil && q.Near != "" {
		jobs := *q
		jobs.State = q.Near
		var in []*stream
		in, err = s.byLane(c, &jobs)
		out = append(out, in...)
	}
	return out, err
}

// byLane returns the streams of the jobs that a query may select.
func (s *Store) byLane(c *conn, q *store.Query) (out []*stream, err error) {
	lanes, err := s.lanesFor(c, q)
	for _, lane := range lanes {
		out = append(out, &stream{from: "FROM instances WHERE ns = ? AND lane = ?", args: []any{s.ns, lane}, number: "seq"})
	}
	return out, err
}

// labelRow is the row by which a label is found.
func labelRow(l store.Label) store.Label {
	if l.Any {
		return store.Label{Name: l.Name}
	}
	return store.Label{Name: l.Name, Value: "=" + l.Value}
}

// manyLanes is how many lanes are searched for a label without knowing that it is in them. With
// more lanes than that, those that contain the label are looked up first.
const manyLanes = 8

// labelled returns the streams of instances with any of some labels.
func (s *Store) labelled(c *conn, q *store.Query, rows ...store.Label) ([]*stream, error) {
	lanes, err := s.lanesFor(c, q)
	if err != nil {
		return nil, err
	}
	if !q.Jobs {
		lanes = append(lanes, noLane)
	}
	var out []*stream
	for _, l := range rows {
		in := lanes
		if len(in) > manyLanes {
			if in, err = s.lanesOf(c, l); err != nil {
				return nil, err
			}
		}
		for _, lane := range in {
			if slices.Contains(lanes, lane) {
				out = append(out, &stream{
					from: "FROM labels WHERE ns = ? AND name = ? AND text = ? AND lane = ?", args: []any{s.ns, l.Name, l.Value, lane}, number: "inst",
				})
			}
		}
	}
	return out, nil
}

// lanesOf returns the lanes that contain a label, with one search for each.
func (s *Store) lanesOf(c *conn, l store.Label) (out []int64, err error) {
	for last := int64(-1); ; {
		lane, ok, err := c.number("SELECT lane FROM labels WHERE ns = ? AND name = ? AND text = ? AND lane > ? "+
			"ORDER BY lane LIMIT 1", s.ns, l.Name, l.Value, last)
		if err != nil || !ok {
			return out, err
		}
		out = append(out, lane)
		last = lane
	}
}

// byStatus returns streams for each kind and status of instances that a query may select.
func (s *Store) byStatus(c *conn, q *store.Query) ([]*stream, error) {
	var keys []countKey
	err := c.query("SELECT kind, status FROM counts WHERE ns = ?", func(r row) error {
		keys = append(keys, countKey{s.ns, r.ColumnInt64(0), r.ColumnInt64(1)})
		return nil
	}, s.ns)
	if err != nil {
		return nil, err
	}
	jobs := map[int64]bool{}
	if q.Jobs {
		rows, err := s.laneRows(c)
		if err != nil {
			return nil, err
		}
		for _, l := range rows {
			jobs[l.kind] = true
		}
	}
	var out []*stream
	names := s.db.names(c)
	for _, key := range keys {
		if q.Jobs && !jobs[key.kind] || !mayHave(q, names(key.kind), key.status) {
			continue
		}
		args := []any{s.ns, key.kind, key.status}
		switch status := codec.StatusOf(key.status); {
		case q.Near != "" && status == core.Completed: // it is in no state
		case q.Near != "" && status != core.Running:
			out = append(out, s.near(key, q.Near)...)
		default:
			out = append(out, &stream{from: "FROM instances INDEXED BY instances_root WHERE ns = ? AND kind = ? AND status = ? AND parent IS NULL", args: args, number: "seq"})
			if !q.Root {
				out = append(out, &stream{from: "FROM instances INDEXED BY instances_child WHERE ns = ? AND kind = ? AND status = ? AND parent IS NOT NULL", args: args, number: "seq"})
			}
		}
	}
	return out, nil
}

// exact reports whether a query selects everything in its streams, so that its rows need not be
// compared with it.
func exact(q *store.Query) bool {
	labels := len(q.Labels)
	if q.Client != "" {
		labels++
	}
	if len(q.Tagged) > 0 {
		labels++
	}
	return !q.ByCreated && q.Jobs && labels <= 1 && !q.Root && q.Name == "" && q.Key == "" && q.Tree == "" && q.Text == "" && len(q.Status) == 0 && q.Parent == "" && q.Error == "" &&
		q.CreatedFrom == 0 && q.CreatedTo == 0 && q.UpdatedFrom == 0 && q.UpdatedTo == 0
}

// mayHave reports whether a query may select instances of a kind and status.
func mayHave(q *store.Query, k kind, status int64) bool {
	return (q.Definition == "" || k.definition == q.Definition) && (q.Version == "" || k.version == q.Version) &&
		(len(q.Status) == 0 || slices.Contains(q.Status, codec.StatusOf(status)))
}

// fill reads the next chunk, and doubles the size of the one after it: with many streams, most
// contribute little.
func (x *stream) fill(c *conn, newest bool) error {
	if len(x.buf) > 0 || x.ended {
		return nil
	}
	query := fmt.Sprintf("SELECT %s %s AND %[1]s > ? ORDER BY %[1]s LIMIT ?", x.number, x.from)
	if newest {
		query = fmt.Sprintf("SELECT %s %s AND %[1]s < ? ORDER BY %[1]s DESC LIMIT ?", x.number, x.from)
	}
	err := c.query(query, func(r row) error {
		x.buf = append(x.buf, r.ColumnInt64(0))
		return nil
	}, append(slices.Clone(x.args), x.last, x.chunk)...)
	if len(x.buf) < x.chunk {
		x.ended = true
	} else {
		x.last = x.buf[len(x.buf)-1]
	}
	x.chunk = min(2*x.chunk, streamChunk)
	return err
}

// merging is a heap of the streams that have not ended.
type merging struct {
	list   []*stream
	newest bool
}

func (m *merging) Len() int           { return len(m.list) }
func (m *merging) Less(i, j int) bool { return (m.list[i].buf[0] < m.list[j].buf[0]) != m.newest }
func (m *merging) Swap(i, j int)      { m.list[i], m.list[j] = m.list[j], m.list[i] }
func (m *merging) Push(x any)         { m.list = append(m.list, x.(*stream)) }

func (m *merging) Pop() any {
	x := m.list[len(m.list)-1]
	m.list = m.list[:len(m.list)-1]
	return x
}

// merge calls each for the numbers of all streams in the order of the query, until it returns
// false.
func merge(c *conn, q *store.Query, list []*stream, each func(seq int64) (bool, error)) error {
	m := &merging{newest: q.Newest}
	for _, x := range list {
		x.last, x.chunk = q.After, streamChunk
		if q.Newest && q.After == 0 {
			x.last = int64(never)
		}
		if n := len(list); q.Limit > 0 {
			most := n * streamChunk
			x.chunk = min(streamChunk, (min(max(q.Offset, 0), most)+min(q.Limit, most)+n-1)/n)
		}
		if err := x.fill(c, q.Newest); err != nil {
			return err
		}
		if len(x.buf) > 0 {
			m.list = append(m.list, x)
		}
	}
	heap.Init(m)
	for last := int64(-1); len(m.list) > 0; {
		x := m.list[0]
		seq := x.buf[0]
		x.buf = x.buf[1:]
		if err := x.fill(c, q.Newest); err != nil {
			return err
		}
		if len(x.buf) > 0 {
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
		if seq == last { // it is in several streams
			continue
		}
		last = seq
		if more, err := each(seq); err != nil || !more {
			return err
		}
	}
	return nil
}

// selected calls each for the instances that a query selects, in its order.
func (s *Store) selected(c *conn, q *store.Query, each func(*store.Instance) bool) error {
	names := s.db.names(c)
	whole := exact(q)
	skip := q.Offset
	look := func(seq int64) (bool, error) {
		if whole && skip > 0 {
			skip--
			return true, nil
		}
		in, ok, err := c.instance(names, q.Bare, "WHERE seq = ?", seq)
		if errors.Is(err, store.ErrDamaged) { // list it as quarantined, and go on with the others
			in.Quarantine = err.Error()
			in.Labels = expr.EmptyObject
			ok, err = true, nil
		}
		if err != nil || !ok || !q.Selects(&in) && (!whole || in.Quarantine == "") {
			return true, err
		}
		if skip > 0 {
			skip--
			return true, nil
		}
		return each(&in), nil
	}
	if q.ByCreated {
		return s.eachCreated(c, q, look)
	}
	list, err := s.streams(c, q)
	if err != nil {
		return err
	}
	return merge(c, q, list, look)
}

// Instances lists rows.
func (s *Store) Instances(ctx context.Context, q store.Query) (out []store.Instance, err error) {
	err = s.db.snapshot(ctx, func(c *conn) error {
		return s.selected(c, &q, func(in *store.Instance) bool {
			if q.Bare {
				in.Output = expr.Null
			}
			out = append(out, *in)
			return len(out) != q.Limit
		})
	})
	return out, err
}

// Count counts rows. Counts by definition, version and status, and of jobs by definition, version,
// state and group, come from memory.
func (s *Store) Count(ctx context.Context, q store.Query) (n int64, err error) {
	most := int64(q.Limit)
	q.ByCreated, q.After, q.AfterTime, q.Offset, q.Limit, q.Newest, q.Bare = false, 0, 0, 0, 0, false, false
	part, whole := q.Indexed()
	switch {
	case q.Counted() && q.OfJobs():
		n, err = s.countJobs(&q), ctx.Err()
	case q.Counted():
		n, err = s.countKinds(&q), ctx.Err()
	case whole:
		part.Limit = int(most)
		err = s.db.snapshot(ctx, func(c *conn) error {
			n, err = s.countIndexed(c, &part)
			return err
		})
	default:
		err = s.db.snapshot(ctx, func(c *conn) error {
			q.Bare = true
			return s.selected(c, &q, func(*store.Instance) bool { n++; return n != most })
		})
	}
	if most > 0 {
		n = min(n, most)
	}
	return n, err
}

// countKinds counts by definition, version and status.
func (s *Store) countKinds(q *store.Query) (n int64) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	for key, count := range s.db.kinds.counts {
		if key.ns == s.ns && mayHave(q, s.db.kinds.rows[key.kind], key.status) {
			n += count
		}
	}
	return n
}

// countIndexed counts in the indexes, without reading rows.
func (s *Store) countIndexed(c *conn, q *store.Query) (n int64, err error) {
	most := q.Limit
	if most == 0 {
		most = -1 // as SQLite has it
	}
	if q.ByCreated {
		text, args := s.createdIn(q, most)
		n, _, err = c.number("SELECT count(*) FROM ("+text+")", args...)
		return n, err
	}
	list, err := s.streams(c, q)
	if err != nil {
		return 0, err
	}
	if q.Text != "" || len(q.Tagged) > 1 { // an instance may be in several
		err = merge(c, q, list, func(int64) (bool, error) { n++; return int(n) != most, nil })
		return n, err
	}
	for _, x := range list {
		some, _, err := c.number("SELECT count(*) FROM (SELECT 1 "+x.from+" LIMIT ?)", append(slices.Clone(x.args), most)...)
		if n += some; err != nil || most > 0 && int(n) >= most {
			return n, err
		}
	}
	return n, nil
}
