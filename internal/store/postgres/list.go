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
	from  []string // where the numbers are found: each lists them as seq, with i for the instance, or l for a label of it
	where []string
	group string     // holds, too, unless v.sure
	also  *selection // what is found elsewhere; it has the same arguments
	exact bool       // nothing is left to compare
	every bool       // all jobs are selected: an index has them in order
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
	fromAll       = "SELECT i.seq FROM ~.instances i WHERE i.ns = $1"
	fromInstances = "SELECT i.seq FROM ~.instances i WHERE i.ns + 0 = $1"            // by an index of what is selected, and not in the order of the primary key
	fromCreated   = "SELECT i.seq, i.created FROM ~.instances i WHERE 0 + i.ns = $1" // only who writes 0 + ns finds by the time of creation
	fromLabels    = "SELECT l.inst AS seq FROM ~.labels l WHERE l.ns = $1"
)

// selected makes the statement of a query. A name that cannot be stored selects nothing.
func (s *Store) selected(ns int32, q *store.Query) (*selection, bool) {
	if !storable(q.Definition, q.Version, q.Parent, q.State, q.Client) || !storable(q.Groups...) {
		return nil, false
	}
	x := &selection{args: []any{ns}, exact: q.State == "" || q.Jobs}
	x.narrow(notFound(q))
	const part = " AND i.kind = v.kind AND i.state = v.state"
	var found []int64
	for _, l := range q.Tagged {
		if key := labelKey(l); !slices.Contains(found, key) {
			found = append(found, key)
		}
	}
	switch {
	case q.ByCreated:
		x.from = []string{fromCreated + " AND i.parent IS NULL"}
		if !q.Root {
			x.from = append(x.from, fromCreated+" AND i.parent IS NOT NULL")
		}
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
		x.every = s.db.has.jobsInOrder && len(x.where) == 0 && len(x.args) == 1 // the namespace alone
	case q.Prefix != "":
		x.from = []string{fromInstances + " AND i.id >= " + x.arg(q.Prefix) + " AND i.id < " + x.arg(behindPrefix(q.Prefix))}
	case q.Near != "":
		x.parts = "SELECT kind, status FROM (" + x.statuses(q) + ") s WHERE status <> 4" // none that completed is in a state, but jobs
		x.from = []string{fromInstances + " AND i.kind = v.kind AND i.status = v.status"}
		jobs := store.Query{Definition: q.Definition, Version: q.Version, State: q.Near}
		x.also = &selection{args: x.args, from: []string{fromInstances + part}, where: slices.Clone(x.where)}
		x.also.parts = x.also.states(&jobs)
		if len(q.Status) > 0 {
			x.also.and("i.status = ANY (%s)", statusCodes(q))
		}
		x.args = x.also.args
	case q.Definition != "" || q.Version != "" || len(q.Status) > 0 || q.Root:
		x.parts = x.statuses(q)
		x.from = []string{fromInstances + " AND i.kind = v.kind AND i.status = v.status"}
	default:
		x.from = []string{fromAll}
	}
	if x.parts == "" && (q.Definition != "" || q.Version != "") {
		x.where = append(x.where, "i.kind IN ("+x.kinds(q)+")")
	}
	return x, true
}

// notFound is a query without what leads to the instances, which need not be compared with it.
func notFound(q *store.Query) *store.Query {
	rest := *q
	byState := func() { rest.Jobs, rest.State, rest.Groups = false, "", nil }
	switch {
	case q.ByCreated:
	case q.Jobs && q.Client != "":
		rest.Client = ""
		byState()
	case q.Jobs && len(q.Tagged) > 0:
		rest.Tagged = nil
		byState()
	case len(q.Labels) > 0:
		rest.Labels = q.Labels[1:]
	case q.Name != "":
		rest.Name = ""
	case q.Key != "":
		rest.Key = ""
	case q.Tree != "":
		rest.Tree = ""
	case q.Text != "":
		rest.Text = ""
	case len(q.Tagged) > 0:
		rest.Tagged = nil
	case q.Parent != "" || q.Error != "" || q.Client != "":
	case q.Jobs && len(q.Status) == 0:
		byState()
	case q.Prefix != "":
	default:
		rest.Status = nil
	}
	return &rest
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
	if q.Jobs {
		text += " AND EXISTS (SELECT 1 FROM ~.job_states j WHERE j.ns = $1 AND j.kind = kinds.kind)"
	}
	return text
}

// statuses lists kinds with the statuses that a query may select.
func (s *selection) statuses(q *store.Query) string {
	if len(q.Status) > 0 {
		return "SELECT DISTINCT kind, status FROM (" + s.kinds(q) + ") k, unnest(" + s.arg(statusCodes(q)) + "::smallint[]) status"
	}
	return "SELECT kind, status FROM (" + s.kinds(q) + ") k, generate_series(0, " + fmt.Sprint(codec.MaxStatus) + ") status"
}

// fewIDs is how many instances are found by the beginning of their ids. With more of them, it selects nothing.
const fewIDs = 100

// behindPrefix is behind every text with a prefix, in the order of the code points.
func behindPrefix(prefix string) string { return prefix + "\U0010ffff" }

// prefixed leaves the prefix of ids in a query only if few have it, and if the index has ids in the order of their code points: that is as
// the database was created.
func (s *Store) prefixed(ctx context.Context, ns int32, q *store.Query) error {
	if q.Prefix == "" || !storable(q.Prefix) {
		q.Prefix = ""
		return nil
	}
	few := false
	const text = "SELECT 'a'::text > 'B'::text AND (SELECT count(*) FROM (SELECT 1 FROM ~.instances i WHERE i.ns = $1 AND i.id >= $2 AND i.id < $3 LIMIT $4) x) < $4"
	err := s.db.one(ctx, text, []any{ns, q.Prefix, behindPrefix(q.Prefix), fewIDs + 1}, &few)
	if !few {
		q.Prefix = ""
	}
	return err
}

// states lists kinds with the states of jobs that a query may select. With groups, a state is sure that is in no others.
func (s *selection) states(q *store.Query) string {
	text, in := "SELECT DISTINCT kind, state FROM ~.job_states WHERE ns = $1", ""
	if len(q.Groups) > 0 {
		in = "grp = ANY (" + s.arg(q.Groups) + ")"
		s.group = "i." + in
		text = "SELECT kind, state, bool_and(" + in + ") AS sure FROM ~.job_states WHERE ns = $1"
	}
	if q.Definition != "" || q.Version != "" {
		text += " AND kind IN (" + s.kinds(q) + ")"
	}
	if q.State != "" {
		text += " AND state = " + s.arg(q.State)
	}
	if in != "" {
		text += " GROUP BY kind, state HAVING bool_or(" + in + ")"
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

// numbers is a query for the numbers of what is selected, so many at most, or, without a limit's placeholder, all:
// where it has an order, the first ones of it.
func (s *selection) numbers(o *order, limit string) string {
	if s.every && o != nil {
		return fmt.Sprintf("SELECT j.seq FROM ~.jobs_in_order($1, %s, %t, %s) j", o.after, o.newest, limit)
	}
	var parts []string
	for _, text := range s.from {
		condition := "%s"
		if strings.HasPrefix(text, fromLabels) { // no join, which could begin with the instances
			condition = "(SELECT %s FROM ~.instances i WHERE i.ns = l.ns AND i.seq = l.inst)"
		}
		if len(s.where) > 0 {
			text += " AND " + fmt.Sprintf(condition, strings.Join(s.where, " AND "))
		}
		if s.group != "" {
			text += " AND (v.sure OR " + fmt.Sprintf(condition, s.group) + ")"
		}
		if o != nil {
			text = "SELECT " + o.columns("f") + " FROM (" + text + ") f" + o.behind("f") + " ORDER BY " + o.by("f") + " LIMIT " + limit
		} else if s.parts != "" {
			text += " OFFSET 0" // each part by its index
		}
		if s.parts != "" {
			text = "SELECT x.seq FROM (" + s.parts + ") v CROSS JOIN LATERAL (" + text + ") x"
		}
		if o == nil && limit != "" {
			text += " LIMIT " + limit
		}
		parts = append(parts, "("+text+")")
	}
	if s.also != nil {
		parts = append(parts, s.also.numbers(o, limit))
	}
	return strings.Join(parts, " UNION ") // with several labels an instance may be in several
}

// order is the order of a list.
type order struct {
	newest      bool
	after, time string // placeholders; time: behind a time of creation and a number; "": behind a number
	created     bool   // by time of creation and number
}

func (o *order) columns(of string) string {
	if o.created {
		return of + ".created, " + of + ".seq"
	}
	return of + ".seq"
}

func (o *order) by(of string) string {
	by := o.columns(of)
	if o.newest {
		by = strings.ReplaceAll(by, ",", " DESC,") + " DESC"
	}
	return by
}

func (o *order) behind(of string) string {
	way := " > "
	if o.newest {
		way = " < "
	}
	switch {
	case o.time != "":
		return " WHERE (" + o.columns(of) + ")" + way + "(" + o.time + ", " + o.after + ")"
	case o.created:
		return ""
	}
	return " WHERE " + o.columns(of) + way + o.after
}

// listChunk is how many rows are read at a time where some must be compared.
const listChunk = 256

// Instances lists rows.
func (s *Store) Instances(ctx context.Context, q store.Query) (out []store.Instance, err error) {
	err = s.ask(ctx, func(ns int32) error {
		if err := s.prefixed(ctx, ns, &q); err != nil {
			return err
		}
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
				part.Behind(&rows[len(rows)-1])
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
	o := &order{newest: q.Newest, created: q.ByCreated}
	switch {
	case q.ByCreated && q.After == 0:
	case q.ByCreated:
		o.time = x.arg(int64(q.AfterTime))
		fallthrough
	default:
		o.after = x.arg(after)
	}
	numbers := x.numbers(o, x.arg(most))
	by := "ORDER BY " + o.by("n")
	page := by
	if q.Limit > 0 {
		page += " LIMIT " + x.arg(min(q.Limit, maxList)) + " OFFSET " + x.arg(min(max(q.Offset, 0), maxList))
	}
	return "SELECT " + instanceFields + " FROM (SELECT n.* FROM (" + numbers + ") n " + page + ") n " +
		"CROSS JOIN LATERAL (SELECT * FROM ~.instances x WHERE x.ns = $1 AND x.seq = n.seq OFFSET 0) i JOIN ~.kinds k ON k.kind = i.kind " + by // each by its key
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
	err := s.db.inOrder(ctx, db, text, x.args, func(r pgx.Rows) error {
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
