package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// selection is a query as a statement: the parts of an index in which all that it selects
// is found, each read in order, and what else must hold.
type selection struct {
	args  []any
	parts string   // a query that lists the parts of the index, as v; "": it is one
	from  []string // where the numbers are found, each as "FROM …" with i for the instance
	where []string
	exact bool // nothing is left to compare
	every bool // all jobs are selected: an index has them in order
}

// arg adds an argument and returns its placeholder.
func (s *selection) arg(v any) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d", len(s.args))
}

// and adds a condition, with the placeholder of its argument for the %s.
func (s *selection) and(condition string, v any) {
	s.where = append(s.where, fmt.Sprintf(condition, s.arg(v)))
}

const (
	fromInstances = "FROM ~.instances i WHERE i.ns = $1"
	fromLabels    = "FROM ~.labels l JOIN ~.instances i ON i.ns = l.ns AND i.seq = l.inst WHERE l.ns = $1"
)

// selected makes the statement of a query. A name that cannot be stored selects nothing.
func (s *Store) selected(ns int32, q *store.Query) (*selection, bool) {
	if !storable(q.Definition, q.Version, q.Parent, q.State, q.Client) || !storable(q.Groups...) {
		return nil, false
	}
	x := &selection{args: []any{ns}, exact: q.State == "" || q.Jobs}
	x.narrow(q)
	x.every = s.db.has.jobsInOrder && q.Jobs && len(x.where) == 1 && q.Definition == "" && q.Version == ""
	const part = " AND i.kind = v.kind AND i.state = v.state"
	var found []int64
	for _, l := range q.Tagged {
		if key := labelKey(l); !slices.Contains(found, key) {
			found = append(found, key)
		}
	}
	switch {
	case q.Jobs && q.Client != "":
		x.parts, x.from = x.states(q), []string{fromInstances + " AND i.client = " + x.arg(q.Client) + part}
	case q.Jobs && len(found) > 0:
		x.parts = x.states(q)
		for _, key := range found {
			x.from = append(x.from, fromLabels+" AND l.kind = v.kind AND l.state = v.state AND l.label = "+x.arg(key))
		}
	case len(q.Labels) > 0:
		x.from = []string{x.labelled(labelKey(q.Labels[0]))}
	case q.Name != "" || q.Key != "" || q.Tree != "":
		x.from = []string{x.labelled(termKey(q.AllTerms()[0]))}
	case q.Text != "":
		for _, term := range q.TextTerms() {
			x.from = append(x.from, x.labelled(termKey(term)))
		}
		x.from = append(x.from, fromInstances+" AND i.id = "+x.arg(idOf(q.Text)))
	case len(found) > 0:
		for _, key := range found {
			x.from = append(x.from, x.labelled(key))
		}
	case q.Parent != "" || q.Error != "" || q.Client != "": // an index has it
		x.from = []string{fromInstances}
	case q.Jobs && len(q.Status) == 0:
		x.parts, x.from = x.states(q), []string{fromInstances + part}
	case q.Definition != "" || q.Version != "" || len(q.Status) > 0 || q.Root:
		x.parts = "SELECT kind, status FROM (" + x.kinds(q) + ") k, generate_series(0, " + fmt.Sprint(codec.MaxStatus) + ") status"
		x.from = []string{fromInstances + " AND i.kind = v.kind AND i.status = v.status"}
	default:
		x.from = []string{fromInstances}
	}
	if x.parts == "" && (q.Definition != "" || q.Version != "") {
		x.where = append(x.where, "i.kind IN ("+x.kinds(q)+")")
	}
	return x, true
}

// labelled is where the numbers of the instances with a label or term are found.
func (s *selection) labelled(key int64) string {
	return fromLabels + " AND l.kind = 0 AND l.state = '' AND l.label = " + s.arg(key)
}

// idOf is the id that a text may be; "", which none is, where it is not stored.
func idOf(text string) string {
	if !storable(text) {
		return ""
	}
	return text
}

// kinds lists the kinds of instances that a query may select.
func (s *selection) kinds(q *store.Query) string {
	text := "SELECT kind FROM ~.kinds WHERE ns = $1"
	if q.Definition != "" {
		text += " AND definition = " + s.arg(q.Definition)
	}
	if q.Version != "" {
		text += " AND version = " + s.arg(q.Version)
	}
	return text
}

// states lists kinds with the states of jobs that a query may select.
func (s *selection) states(q *store.Query) string {
	text := "SELECT DISTINCT kind, state FROM ~.job_states WHERE ns = $1"
	if q.Definition != "" || q.Version != "" {
		text += " AND kind IN (" + s.kinds(q) + ")"
	}
	if q.State != "" {
		text += " AND state = " + s.arg(q.State)
	}
	if len(q.Groups) > 0 {
		text += " AND grp = ANY (" + s.arg(q.Groups) + ")"
	}
	return text
}

func statusCodes(q *store.Query) []int16 {
	codes := []int16{}
	for _, status := range q.Status {
		if code, ok := codec.StatusCode(status); ok {
			codes = append(codes, int16(code))
		}
	}
	return codes
}

// narrow adds what must hold of the instances.
func (s *selection) narrow(q *store.Query) {
	if len(q.Status) > 0 {
		s.and("i.status = ANY (%s)", statusCodes(q))
	}
	for _, c := range []struct {
		condition string
		value     any
		set       bool
	}{
		{"i.parent = %s", q.Parent, q.Parent != ""},
		{"i.error = %s", codec.SumOf(q.Error), q.Error != ""},
		{"i.client = %s", q.Client, q.Client != ""},
		{"i.grp = ANY (%s)", q.Groups, len(q.Groups) > 0 && q.Jobs},
		{"coalesce(i.grp, '') = ANY (%s)", q.Groups, len(q.Groups) > 0 && !q.Jobs},
		{"i.state = %s", q.State, q.Jobs && q.State != ""},
		{"i.created >= %s", int64(q.CreatedFrom), q.CreatedFrom != 0},
		{"i.created < %s", int64(q.CreatedTo), q.CreatedTo != 0},
		{"i.updated >= %s", int64(q.UpdatedFrom), q.UpdatedFrom != 0},
		{"i.updated < %s", int64(q.UpdatedTo), q.UpdatedTo != 0},
	} {
		if c.set {
			s.and(c.condition, c.value)
		}
	}
	if q.Jobs {
		s.where = append(s.where, "i.state IS NOT NULL")
	}
	if q.Root {
		s.where = append(s.where, "i.parent IS NULL")
	}
	const labelled = "EXISTS (SELECT 1 FROM ~.labels o WHERE o.ns = i.ns AND o.kind = 0 AND o.state = '' AND o.inst = i.seq AND o.label = ANY (%s))"
	for _, l := range q.Labels {
		s.and(labelled, []int64{labelKey(l)})
	}
	for _, term := range q.AllTerms() {
		s.and(labelled, []int64{termKey(term)})
	}
	if terms := q.TextTerms(); len(terms) > 0 {
		var keys []int64
		for _, term := range terms {
			keys = append(keys, termKey(term))
		}
		s.where = append(s.where, fmt.Sprintf("(i.id = %s OR "+labelled+")", s.arg(idOf(q.Text)), s.arg(keys)))
	}
	if len(q.Tagged) > 0 {
		var keys []int64
		for _, l := range q.Tagged {
			keys = append(keys, labelKey(l))
		}
		s.and(labelled, keys)
	}
}

// numbers is a query for the numbers of what is selected: in order behind a number and so
// many at most, or, without a limit's placeholder, all.
func (s *selection) numbers(newest bool, after, limit string) string {
	if s.every && limit != "" {
		return fmt.Sprintf("SELECT j.seq FROM ~.jobs_in_order($1, %s, %t, %s) j", after, newest, limit)
	}
	var parts []string
	for _, from := range s.from {
		text := "SELECT i.seq " + from
		for _, w := range s.where {
			text += " AND " + w
		}
		if limit != "" {
			way, order := ">", "i.seq"
			if newest {
				way, order = "<", "i.seq DESC"
			}
			text += " AND i.seq " + way + " " + after + " ORDER BY " + order + " LIMIT " + limit
		}
		if s.parts != "" {
			text = "SELECT x.seq FROM (" + s.parts + ") v CROSS JOIN LATERAL (" + text + ") x"
		}
		parts = append(parts, "("+text+")")
	}
	return strings.Join(parts, " UNION ") // with several labels an instance may be in several
}

// listChunk is how many rows are read at a time where some must be compared.
const listChunk = 256

// Instances lists rows.
func (s *Store) Instances(ctx context.Context, q store.Query) (out []store.Instance, err error) {
	err = s.ask(ctx, func(ns int32) error {
		x, ok := s.selected(ns, &q)
		if !ok {
			return nil
		}
		if x.exact || q.Limit == 0 {
			return s.page(ctx, s.db.pool, x, &q, &out)
		}
		return s.db.snapshot(ctx, func(t *tx) error { // all parts of it are of one moment
			skip := max(q.Offset, 0)
			for part := q; ; {
				part.Offset, part.Limit = 0, listChunk
				var rows []store.Instance
				x, _ := s.selected(ns, &part)
				if err := s.page(ctx, t.Tx, x, &part, &rows); err != nil {
					return err
				}
				for i := range rows {
					if !q.Selects(&rows[i]) {
						continue
					}
					if skip > 0 {
						skip--
						continue
					}
					if out = append(out, rows[i]); len(out) == q.Limit {
						return nil
					}
				}
				if len(rows) < listChunk {
					return nil
				}
				part.After = rows[len(rows)-1].Seq
			}
		})
	})
	return out, err
}

// list is the statement that lists a page of a query, whose arguments are then those of the selection. With a limit it
// leaves out what the offset says.
func (x *selection) list(q *store.Query) string {
	after, most := q.After, int64(never)
	if q.Newest && after == 0 {
		after = never
	}
	if q.Limit > 0 {
		most = int64(min(q.Limit, maxList)) + int64(min(max(q.Offset, 0), maxList))
	}
	numbers := x.numbers(q.Newest, x.arg(after), x.arg(most))
	order := "ORDER BY n.seq"
	if q.Newest {
		order += " DESC"
	}
	page := order
	if q.Limit > 0 {
		page += " LIMIT " + x.arg(min(q.Limit, maxList)) + " OFFSET " + x.arg(min(max(q.Offset, 0), maxList))
	}
	return "SELECT " + instanceFields + " FROM (SELECT n.seq FROM (" + numbers + ") n " + page + ") n " +
		"CROSS JOIN LATERAL (SELECT * FROM ~.instances x WHERE x.ns = $1 AND x.seq = n.seq OFFSET 0) i JOIN ~.kinds k ON k.kind = i.kind " + order // each by its key
}

// page reads what a statement selects. Where it is all, what must be compared is.
func (s *Store) page(ctx context.Context, db querier, x *selection, q *store.Query, out *[]store.Instance) error {
	skip := 0
	if q.Limit == 0 {
		skip = max(q.Offset, 0)
	}
	text := x.list(q)
	from := len(*out)
	var rests [][]byte
	err := s.db.each(ctx, db, text, x.args, func(r pgx.Rows) error {
		in, rest, err := readRow(r)
		damaged := errors.Is(err, store.ErrDamaged)
		if damaged { // the others are well
			in.Quarantine, in.Labels, err = err.Error(), expr.EmptyObject, nil
		}
		if err != nil || q.Limit == 0 && !damaged && !q.Selects(&in) {
			return err
		}
		if skip > 0 {
			skip--
			return nil
		}
		if q.Bare {
			in.Output, rest = expr.Null, nil
		}
		*out, rests = append(*out, in), append(rests, rest)
		return nil
	})
	for i := 0; i < len(rests) && err == nil; i++ {
		in := &(*out)[from+i]
		if err = s.db.largeOutput(ctx, db, in, rests[i]); errors.Is(err, store.ErrDamaged) {
			in.Quarantine, in.Labels, err = err.Error(), expr.EmptyObject, nil
		}
	}
	return err
}

// maxList is more than any list has.
const maxList = 1 << 40
