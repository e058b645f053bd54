package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

const (
	// foldEvery is after how many transactions of this process the differences are added up, and
	// foldBatch how many at a time.
	foldEvery = 256
	foldBatch = 8192
)

// counted are the counts of a namespace ($1): as they were added up, and what changed since.
const counted = "(SELECT c.kind, c.status, c.state, c.grp, c.n FROM ~.counts c WHERE c.ns = $1 UNION ALL " +
	"SELECT u.kind, u.status, u.state, u.grp, u.n FROM ~.differences d CROSS JOIN LATERAL unnest(d.kind, d.status, d.state, d.grp, d.n) u(kind, status, state, grp, n) " +
	"WHERE d.ns = $1 AND d.pos > coalesce((SELECT f.pos FROM ~.folds f WHERE f.ns = $1 ORDER BY f.pos DESC LIMIT 1), 0))"

// fold adds differences up.
func (sp *space) fold(ctx context.Context) error {
	ns, err := sp.ns(ctx)
	if err != nil {
		return err
	}
	return sp.db.retry(ctx, func(ctx context.Context) error {
		n := 0
		return sp.db.one(ctx, "SELECT ~.fold($1, $2)", []any{ns, foldBatch}, &n)
	})
}

// foldSometimes is called with every transaction. An error does not matter: a later fold makes up for
// it, and until then readers add up the differences.
func (sp *space) foldSometimes(ctx context.Context) {
	if sp.unfolded.Add(1)%foldEvery == 0 {
		_ = sp.fold(ctx)
	}
}

// foldRest adds up what foldSometimes leaves after the last transactions of this process. Each process does that for its own,
// and at first for those that are gone.
func (sp *space) foldRest(ctx context.Context) error {
	n := sp.unfolded.Load() + 1
	if sp.folded.Load() == n {
		return nil
	}
	err := sp.fold(ctx)
	if err == nil {
		sp.folded.Store(n)
	}
	return err
}

// Count tells how many a query selects. By what counts are kept for it does not look at them.
func (s *Store) Count(ctx context.Context, q store.Query) (n int64, err error) {
	most := int64(q.Limit)
	q.ByCreated, q.After, q.AfterTime, q.Offset, q.Limit, q.Newest, q.Bare = false, 0, 0, 0, 0, false, false
	if part, whole := q.Indexed(); whole {
		q = part
	}
	err = s.ask(ctx, func(ns int32) error {
		x, ok := s.selected(ns, &q)
		if !ok {
			return nil
		}
		if text, args := x.count(ns, &q, most); text != "" {
			return s.db.inOrder(ctx, s.db.conn(ctx), text, args, func(r pgx.Rows) error { return r.Scan(&n) })
		}
		var rows []store.Instance
		err := s.page(ctx, s.db.pool, x, &q, &rows)
		n = int64(len(rows))
		return err
	})
	if most > 0 {
		n = min(n, most)
	}
	return n, err
}

// count is the statement that counts what a query selects, and may stop at most of them (0: counts all). It is "" where
// rows must be compared.
func (x *selection) count(ns int32, q *store.Query, most int64) (text string, args []any) {
	switch {
	case q.Counted():
		return sumOfCounts(ns, q)
	case !x.exact:
		return "", nil
	}
	limit := ""
	if most > 0 {
		limit = x.arg(most)
	}
	return "SELECT count(*) FROM (" + x.numbers(nil, limit) + ") n", x.args
}

// sumOfCounts is the statement that counts what a countable query selects.
func sumOfCounts(ns int32, q *store.Query) (text string, args []any) {
	x := &selection{args: []any{ns}}
	text = "SELECT coalesce(sum(i.n), 0)::bigint FROM " + counted + " i WHERE true"
	if len(q.Status) > 0 {
		x.and("i.status = ANY (%s)", statusCodes(q))
	}
	if len(q.Groups) > 0 {
		x.and("i.grp = ANY (%s)", q.Groups)
	}
	if q.State != "" {
		x.and("i.state = %s", q.State)
	}
	if q.Jobs {
		x.where = append(x.where, "i.state <> ''")
	}
	if q.Definition != "" || q.Version != "" {
		x.where = append(x.where, "i.kind IN ("+x.kinds(q)+")")
	}
	for _, w := range x.where {
		text += " AND " + w
	}
	return text, x.args
}

// Stats counts instances.
func (s *Store) Stats(ctx context.Context) (out []store.Stat, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, "SELECT k.definition, k.version, c.status, sum(c.n)::bigint FROM "+counted+" c JOIN ~.kinds k ON k.kind = c.kind GROUP BY 1, 2, 3 HAVING sum(c.n) <> 0", []any{ns}, func(r pgx.Rows) error {
			var c store.Stat
			var status int16
			err := r.Scan(&c.Definition, &c.Version, &status, &c.Count)
			c.Status = codec.StatusOf(int64(status))
			out = append(out, c)
			return err
		})
	})
	slices.SortFunc(out, func(a, b store.Stat) int {
		return cmp.Or(cmp.Compare(a.Definition, b.Definition), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Status, b.Status))
	})
	return out, err
}

// JobStats counts jobs.
func (s *Store) JobStats(ctx context.Context) (out []store.JobStat, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, "SELECT k.definition, c.state, c.grp, sum(c.n)::bigint FROM "+counted+" c JOIN ~.kinds k ON k.kind = c.kind WHERE c.state <> '' GROUP BY 1, 2, 3 HAVING sum(c.n) <> 0", []any{ns}, func(r pgx.Rows) error {
			var c store.JobStat
			err := r.Scan(&c.Definition, &c.State, &c.Group, &c.Count)
			out = append(out, c)
			return err
		})
	})
	slices.SortFunc(out, store.JobStat.Compare)
	return out, err
}

// counts compares them with the instances.
func (k *checker) counts() error {
	return k.each("SELECT coalesce((SELECT k.definition FROM ~.kinds k WHERE k.kind = x.kind), ''), sum(x.is)::bigint, sum(x.n)::bigint FROM ("+
		"SELECT i.kind, i.status, coalesce(i.state, '') AS state, coalesce(i.grp, '') AS grp, 1 AS is, 0 AS n FROM ~.instances i WHERE i.ns = $1 UNION ALL "+
		"SELECT c.kind, c.status, c.state, c.grp, 0, c.n FROM "+counted+" c) x GROUP BY x.kind, x.status, x.state, x.grp HAVING sum(x.is) <> sum(x.n)", func(r pgx.Rows) error {
		definition, is, n := "", int64(0), int64(0)
		err := r.Scan(&definition, &is, &n)
		k.problems.Add("counts", "of definition %q %d instances in one status are counted, and there are %d", definition, n, is)
		return err
	})
}
