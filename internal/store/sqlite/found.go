package sqlite

import (
	"math"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// severalPlaces is the place of an instance that is in several states. So is that of one that was written before there were places.
const severalPlaces = int64(0)

// placeOf is the column place of an instance: an int64 or nil.
func placeOf(in *store.Instance) any {
	if len(in.Active) == 0 || in.Job.State != "" || in.Status == core.Running || in.Status == core.Completed {
		return nil
	}
	if slices.ContainsFunc(in.Active, func(state string) bool { return state != in.Active[0] }) {
		return severalPlaces
	}
	return placeIn(in.Active[0])
}

// placeIn is the place of those that are in one state; short, for there are many of them.
func placeIn(state string) int64 { return codec.SumOf(state)&0x7fffffff + 1 }

// near are the streams of a kind and status in which all are that may be in a state.
func (s *Store) near(key countKey, state string) (out []*stream) {
	for _, place := range []int64{placeIn(state), severalPlaces} {
		out = append(out, &stream{
			from: "FROM instances INDEXED BY instances_place WHERE ns = ? AND place = ? AND kind = ? AND status = ? AND status <> 4",
			args: []any{s.ns, place, key.kind, key.status}, number: "seq",
		})
	}
	return out
}

// fewIDs is how many instances are found by the beginning of their ids. With more of them, it selects nothing.
const fewIDs = 100

// byPrefix returns a stream of the instances whose ids begin with a text, if they are few.
func (s *Store) byPrefix(c *conn, q *store.Query) (out *stream, few bool, err error) {
	x := &stream{ended: true}
	n := 0
	err = c.query("SELECT seq FROM instances WHERE ns = ? AND id >= ? AND id < ? LIMIT ?", func(r row) error {
		n++
		if seq := r.ColumnInt64(0); q.After == 0 || seq != q.After && (seq < q.After) == q.Newest {
			x.buf = append(x.buf, seq)
		}
		return nil
	}, s.ns, q.Prefix, q.Prefix+"\U0010ffff", fewIDs+1)
	slices.Sort(x.buf)
	if q.Newest {
		slices.Reverse(x.buf)
	}
	return x, n <= fewIDs, err
}

// createdIn is a query for what a query by time of creation selects, up to a limit: its ? are the arguments.
func (s *Store) createdIn(q *store.Query, limit int) (text string, args []any) {
	arms := []string{"FROM instances INDEXED BY instances_created_root WHERE ns = ? AND parent IS NULL"}
	if !q.Root {
		arms = append(arms, "FROM instances INDEXED BY instances_created_child WHERE ns = ? AND parent IS NOT NULL")
	}
	from, to := int64(q.CreatedFrom), int64(q.CreatedTo)
	if from == 0 {
		from = math.MinInt64
	}
	if to == 0 {
		to = int64(never)
	}
	order := " ORDER BY created, seq"
	if q.Newest {
		order = " ORDER BY created DESC, seq DESC"
	}
	for i, arm := range arms {
		arms[i] = "SELECT seq, created " + arm + " AND created >= ? AND created < ?"
		args = append(args, s.ns, from, to)
		switch {
		case q.After != 0 && q.Newest:
			arms[i] += " AND (created, seq) < (?, ?)"
		case q.After != 0:
			arms[i] += " AND (created, seq) > (?, ?)"
		default:
			continue
		}
		args = append(args, int64(q.AfterTime), q.After)
	}
	return strings.Join(arms, " UNION ALL ") + order + " LIMIT ?", append(args, limit)
}

// eachCreated calls each for what a query by time of creation selects, in its order, until it returns false.
func (s *Store) eachCreated(c *conn, q *store.Query, each func(seq int64) (bool, error)) error {
	chunk := streamChunk
	if q.Limit > 0 {
		chunk = min(chunk, q.Limit+max(q.Offset, 0))
	}
	for at := *q; ; {
		text, args := s.createdIn(&at, chunk)
		var found []int64
		err := c.query(text, func(r row) error {
			found = append(found, r.ColumnInt64(0))
			at.After, at.AfterTime = r.ColumnInt64(0), core.Time(r.ColumnInt64(1))
			return nil
		}, args...)
		if err != nil {
			return err
		}
		for _, seq := range found {
			if more, err := each(seq); err != nil || !more {
				return err
			}
		}
		if len(found) < chunk {
			return nil
		}
	}
}
