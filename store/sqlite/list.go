package sqlite

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/codec"
)

// stream is a list of instances in an index: numbers in order, a chunk at a time.
type stream struct {
	query  string // without its order and limit
	args   []any
	number string // the column that is listed
	buf    []int64
	last   int64
	ended  bool
}

const streamChunk = 256

// streams are the parts of the index in which all that a query selects is found. They are
// found in the snapshot that is listed, not in memory: an instance whose status changes
// between the two would be in none of them.
func (s *Store) streams(c *conn, q *store.Query) ([]*stream, error) {
	one := func(query string, args ...any) []*stream { return []*stream{{query: query, args: args, number: "seq"}} }
	switch {
	case q.Parent != "":
		return one("SELECT seq FROM instances WHERE ns = ? AND parent = ?", s.ns, q.Parent), nil
	case q.Error != "":
		return one("SELECT seq FROM instances WHERE ns = ? AND error = ?", s.ns, q.Error), nil
	case len(q.Labels) > 0:
		l := q.Labels[0]
		text := "=" + l.Value
		if l.Any {
			text = ""
		}
		return []*stream{{query: "SELECT inst FROM labels WHERE ns = ? AND name = ? AND text = ?", args: []any{s.ns, l.Name, text}, number: "inst"}}, nil
	}
	var keys []countKey
	err := c.query("SELECT kind, status FROM counts WHERE ns = ?", func(r row) error {
		keys = append(keys, countKey{s.ns, r.ColumnInt64(0), r.ColumnInt64(1)})
		return nil
	}, s.ns)
	var out []*stream
	names := s.db.names(c)
	for _, key := range keys {
		if mayHave(q, names(key.kind), key.status) {
			out = append(out, one("SELECT seq FROM instances WHERE ns = ? AND kind = ? AND status = ?", s.ns, key.kind, key.status)...)
		}
	}
	return out, err
}

// mayHave reports whether a query may select instances of a kind and status.
func mayHave(q *store.Query, k kind, status int64) bool {
	return (q.Definition == "" || k.definition == q.Definition) && (q.Version == "" || k.version == q.Version) &&
		(len(q.Status) == 0 || slices.Contains(q.Status, codec.StatusOf(status)))
}

// counted lists the kinds and statuses of instances that a query may select.
func (s *Store) counted(q *store.Query) []countKey {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	var out []countKey
	for key := range s.db.kinds.counts {
		if key.ns == s.ns && mayHave(q, s.db.kinds.rows[key.kind], key.status) {
			out = append(out, key)
		}
	}
	return out
}

// fill reads the next chunk.
func (x *stream) fill(c *conn, newest bool, limit int) error {
	if len(x.buf) > 0 || x.ended {
		return nil
	}
	query := fmt.Sprintf("%s AND %s > ? ORDER BY %[2]s LIMIT ?", x.query, x.number)
	if newest {
		query = fmt.Sprintf("%s AND %s < ? ORDER BY %[2]s DESC LIMIT ?", x.query, x.number)
	}
	err := c.query(query, func(r row) error {
		x.buf = append(x.buf, r.ColumnInt64(0))
		return nil
	}, append(slices.Clone(x.args), x.last, limit)...)
	if len(x.buf) < limit {
		x.ended = true
	} else {
		x.last = x.buf[len(x.buf)-1]
	}
	return err
}

// selected calls each for the instances that a query selects, in its order.
func (s *Store) selected(c *conn, q *store.Query, each func(*store.Instance) bool) error {
	list, err := s.streams(c, q)
	if err != nil {
		return err
	}
	chunk := streamChunk
	if q.Limit > 0 {
		chunk = min(chunk, q.Limit)
	}
	for _, x := range list {
		x.last = q.After
		if q.Newest && q.After == 0 {
			x.last = int64(never)
		}
	}
	names := s.db.names(c)
	for {
		var first *stream
		for _, x := range list {
			if err := x.fill(c, q.Newest, chunk); err != nil {
				return err
			}
			if len(x.buf) > 0 && (first == nil || (x.buf[0] < first.buf[0]) != q.Newest) {
				first = x
			}
		}
		if first == nil {
			return nil
		}
		seq := first.buf[0]
		first.buf = first.buf[1:]
		in, ok, err := c.instance(names, "WHERE seq = ?", seq)
		if errors.Is(err, store.ErrDamaged) { // the others are well
			in.Quarantine, in.Labels, ok, err = err.Error(), expr.EmptyObject, true, nil
		}
		if err != nil {
			return err
		}
		if ok && q.Selects(&in) && !each(&in) {
			return nil
		}
	}
}

// Instances lists rows.
func (s *Store) Instances(ctx context.Context, q store.Query) (out []store.Instance, err error) {
	err = s.db.snapshot(ctx, func(c *conn) error {
		return s.selected(c, &q, func(in *store.Instance) bool {
			out = append(out, *in)
			return len(out) != q.Limit
		})
	})
	return out, err
}

// Count counts rows; by definition, version and status without looking at any.
func (s *Store) Count(ctx context.Context, q store.Query) (n int64, err error) {
	q.After, q.Limit, q.Newest = 0, 0, false
	rest := q
	rest.Definition, rest.Version, rest.Status = "", "", nil
	if reflect.DeepEqual(rest, store.Query{Labels: rest.Labels}) && len(rest.Labels) == 0 {
		keys := s.counted(&q)
		s.db.mu.Lock()
		defer s.db.mu.Unlock()
		for _, key := range keys {
			n += s.db.kinds.counts[key]
		}
		return n, ctx.Err()
	}
	err = s.db.snapshot(ctx, func(c *conn) error {
		return s.selected(c, &q, func(*store.Instance) bool { n++; return true })
	})
	return n, err
}
