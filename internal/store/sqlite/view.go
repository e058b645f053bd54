package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// view is the store inside a transaction, or as it is committed. It remembers the first error, because the
// methods of a View have none to return.
type view struct {
	c       *conn
	sp      *space
	known                // what is in memory
	pending *store.Event // is being taken; it has no row yet
	err     error
	damaged store.DamagedError
}

var _ store.View = (*view)(nil)

// known is what a view knows without a query.
type known struct {
	shapes func(typ string) []codec.Shape
	waits  func(eventKey) []wait
	some   func(typ string, limit int) []wait // of committed ones
	kinds  func(int64) kind
}

// view is the store as the transaction sees it.
func (t *tx) view(sp *space, pending *store.Event) *view {
	return &view{c: t.conn, sp: sp, pending: pending, known: known{
		shapes: t.shapesOf(sp), kinds: t.kindRow,
		waits: func(k eventKey) []wait {
			list := sp.waits[k.typ].of(k.match) // only the writer changes them
			if opened := t.opened[openedKey{sp.ns, k}]; len(opened) > 0 {
				list = append(list, opened...)
				slices.SortFunc(list, wait.compare)
				list = slices.Compact(list)
			}
			return list
		},
		some: func(typ string, limit int) []wait { return sp.waits[typ].some(limit) },
	}}
}

// view is the store as it is committed.
func (s *Store) view(c *conn, pending *store.Event) *view {
	locked := func(f func()) {
		s.db.mu.Lock()
		defer s.db.mu.Unlock()
		f()
	}
	return &view{c: c, sp: s.space, pending: pending, known: known{
		shapes: func(typ string) (list []codec.Shape) {
			locked(func() { list = s.shapes[typ] }) // what it has stays as it is
			return list
		},
		waits: func(k eventKey) (list []wait) {
			locked(func() { list = s.waits[k.typ].of(k.match) })
			return list
		},
		some: func(typ string, limit int) (list []wait) {
			locked(func() { list = s.waits[typ].some(limit) })
			return list
		},
		kinds: s.db.names(c),
	}}
}

func (v *view) note(err error) {
	var damaged *store.DamagedError
	switch {
	case errors.As(err, &damaged): // the others are listed
		v.damaged.Rows = append(v.damaged.Rows, damaged.Rows...)
	case v.err == nil:
		v.err = err
	}
}

func (v *view) Damaged() error { return v.damaged.Err() }

func (v *view) Event(seq int64) (store.Event, bool) {
	if v.pending != nil && seq == v.pending.Seq {
		return *v.pending, true
	}
	e, ok, err := v.c.event(v.sp, seq)
	if errors.Is(err, store.ErrDamaged) {
		v.damaged.Add(seq, "", err)
		return e, false
	}
	v.note(err)
	return e, ok && err == nil
}

const (
	subColumns = "SELECT i.id, s.inst, s.ticket, s.name, s.filter, 0 FROM subs s CROSS JOIN instances i ON i.seq = s.inst "
	// freshSub is whether s is fresh; if it is standing, whether one of its wait is.
	freshSub = "CASE WHEN s.ticket & " + standing + " THEN " +
		"EXISTS (SELECT 1 FROM subs f WHERE f.ns = s.ns AND f.inst = s.inst AND f.fresh = 1 AND f.busy = 0 AND f.ticket & " + standing + " AND f.ticket >> 32 = s.ticket >> 32) ELSE s.fresh END"
	standing = "2147483648" // as core.Ticket.Standing has it
)

// openSubs reads open subscriptions by instance and ticket, some at a time.
func openSubs(some int) string {
	return "SELECT i.id, s.inst, s.ticket, s.name, s.filter, " + freshSub + ", s.match FROM (VALUES " +
		strings.TrimSuffix(strings.Repeat("(?, ?), ", some), ", ") + ") w CROSS JOIN subs s ON s.ns = ? AND s.inst = w.column1 AND s.ticket = w.column2 " +
		"CROSS JOIN instances i ON i.seq = s.inst WHERE s.busy = 0 AND s.type = ?"
}

// manySubs is how many subscriptions a statement reads where there are several.
const manySubs = 16

var openSub, openManySubs = openSubs(1), openSubs(manySubs)

// open reads subscriptions to events of a type that were open when they were listed. Those that are not any
// more, or wait for something else by now, are left out.
func (v *view) open(typ string, list []wait) (out []store.Subscription) {
	for len(list) > 0 {
		query, part := openSub, list[:1]
		if len(list) > 1 {
			query, part = openManySubs, list[:min(len(list), manySubs)]
		}
		list = list[len(part):]
		args := make([]any, 0, 2*manySubs+2)
		for _, w := range part {
			args = append(args, w.inst, w.ticket)
		}
		for query == openManySubs && len(args) < 2*manySubs {
			args = append(args, nil, nil)
		}
		found, err := v.c.subs(query, func(r row) bool {
			return slices.Contains(part, wait{r.ColumnInt64(6), r.ColumnInt64(1), r.ColumnInt64(2)})
		}, append(args, v.sp.ns, typ)...)
		v.note(err)
		out = append(out, found...)
	}
	return out
}

func readSub(r row) (store.Subscription, error) {
	s := store.Subscription{
		Instance: r.ColumnText(0), InstanceSeq: r.ColumnInt64(1), Ticket: core.Ticket(r.ColumnInt64(2)), Name: r.ColumnText(3),
		Fresh: r.ColumnInt64(5) != 0,
	}
	if err := codec.DecodeFilter(blob(r, 4), &s); err != nil {
		return s, fmt.Errorf("subscription %s of %s is %w: %w", s.Ticket, s.Instance, store.ErrDamaged, err)
	}
	return s, nil
}

// subs lists subscriptions in order, those that are wanted; of damaged ones a *DamagedError tells.
func (c *conn) subs(query string, want func(row) bool, args ...any) ([]store.Subscription, error) {
	var out []store.Subscription
	var damaged store.DamagedError
	err := c.query(query, func(r row) error {
		if want != nil && !want(r) {
			return nil
		}
		s, err := readSub(r)
		if err != nil {
			damaged.Add(0, s.Instance, err)
			return nil
		}
		out = append(out, s)
		return nil
	}, args...)
	store.SortSubscriptions(out)
	return out, cmp.Or(err, damaged.Err())
}

func (v *view) Subscriptions(e event.Event) []store.Subscription {
	var out []store.Subscription
	for _, k := range keysOf(v.shapes, &e) {
		out = append(out, v.open(k.typ, v.waits(k))...)
	}
	store.SortSubscriptions(out)
	return out
}

func (v *view) Near(e event.Event, limit int) []store.Subscription {
	var out []store.Subscription
	types := []string{"", e.Type}
	if e.Type == "" {
		types = types[:1]
	}
	for _, typ := range types {
		out = append(out, v.open(typ, v.some(typ, limit))...)
	}
	store.SortSubscriptions(out)
	return out[:min(len(out), limit)]
}

func (v *view) Fresh(instance string) []store.Subscription {
	seq, err := v.c.seq(v.sp.ns, instance)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	v.note(err)
	if err != nil {
		return nil
	}
	list, err := v.c.subs(subColumns+"WHERE s.ns = ? AND s.inst = ? AND s.busy = 0 AND "+freshSub, nil, v.sp.ns, seq)
	v.note(err)
	return list
}

func (v *view) Kept(s store.Subscription) []store.Event {
	typ := s.Filter.Type
	shape, match := codec.MatchOf(&s.Filter)
	if match == codec.NoMatch {
		return nil
	}
	after := int64(0)
	if !s.Filter.Correlated() {
		after = s.InstanceSeq // what came before is not for it
	}
	var out []store.Event
	add := func(r row) error {
		e, err := readEvent(r)
		if err != nil {
			v.damaged.Add(e.Seq, "", err)
		} else if ok, _ := s.Filter.Match(e.Event); ok && e.Producer != s.Instance {
			out = append(out, e)
		}
		return nil
	}
	const open = "events.inst IS NOT ? AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.ns = events.ns AND o.event = events.seq AND o.inst = ? AND (o.refused = 0 OR o.ticket = ?))"
	var err error
	if slices.ContainsFunc(v.shapes(typ), func(s codec.Shape) bool { return slices.Equal(s, shape) }) {
		err = v.c.query(
			strings.Replace(eventColumns, "FROM events ", "FROM event_keys k CROSS JOIN events ON events.seq = k.event ", 1)+
				"WHERE k.ns = ? AND k.type = ? AND k.match = ? AND k.event > ? AND "+open+" ORDER BY k.event",
			add, v.sp.ns, typ, match, after, s.InstanceSeq, s.InstanceSeq, int64(s.Ticket),
		)
	} else { // nobody waits like this: it is not stored
		err = v.c.query(eventColumns+"WHERE ns = ? AND seq > ? AND "+open+" ORDER BY seq", add, v.sp.ns, after, s.InstanceSeq, s.InstanceSeq, int64(s.Ticket))
	}
	v.note(err)
	if p := v.pending; p != nil && p.Producer != s.Instance {
		if ok, _ := s.Filter.Match(p.Event); ok {
			out = append(out, *p)
		}
	}
	return out
}

func (v *view) Owner(definition string, keys []core.Key) (store.Instance, bool) {
	if len(keys) == 0 {
		return store.Instance{}, false
	}
	query := "SELECT inst FROM owners a WHERE ns = ? AND definition = ? AND name = ? AND value = ?"
	args := []any{v.sp.ns, definition, keys[0].Name, keys[0].Value}
	for _, k := range keys[1:] {
		query += " AND EXISTS (SELECT 1 FROM owners b WHERE b.ns = a.ns AND b.definition = a.definition AND b.name = ? AND b.value = ? AND b.inst = a.inst)"
		args = append(args, k.Name, k.Value)
	}
	seq, ok, err := v.c.number(query+" ORDER BY inst LIMIT 1", args...)
	v.note(err)
	if err != nil || !ok {
		return store.Instance{}, false
	}
	in, ok, err := v.c.instance(v.kinds, true, "WHERE seq = ?", seq)
	if errors.Is(err, store.ErrDamaged) {
		v.damaged.Add(0, in.ID, err)
		return in, true
	}
	v.note(err)
	return in, ok && err == nil
}

func (v *view) Got(event int64, definition string, keys []core.Key) bool {
	if len(keys) == 0 {
		return false
	}
	got := false
	const from = "FROM (SELECT inst FROM deliveries WHERE ns = ? AND event = ? AND refused = 0 UNION ALL SELECT inst FROM events WHERE seq = ?) d CROSS JOIN instances i ON i.seq = d.inst"
	v.note(v.c.query(strings.Replace(instanceColumns, "FROM instances ", from, 1), func(r row) error {
		in, err := readInstance(r, v.kinds, nil)
		if in.Definition != definition {
			return nil
		}
		if err != nil {
			v.damaged.Add(0, in.ID, err)
		}
		got = got || err != nil || in.Fixed(keys)
		return nil
	}, v.sp.ns, event, event))
	return got
}

func (v *view) Gatherings(definition, digest, key string) []store.Gathering {
	list, err := v.c.gatherings("WHERE ns = ? AND definition = ? AND digest = ? AND key IN ('', ?)", v.sp.ns, definition, digest, key)
	v.note(err)
	slices.SortFunc(list, func(a, b store.Gathering) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

func (c *conn) gatherings(where string, args ...any) ([]store.Gathering, error) {
	var out []store.Gathering
	var damaged store.DamagedError
	err := c.query("SELECT seq, definition, digest, key, until, rest FROM gatherings "+where, func(r row) error {
		g := store.Gathering{Seq: r.ColumnInt64(0), Definition: r.ColumnText(1), Digest: r.ColumnText(2), Key: r.ColumnText(3), Until: core.Time(r.ColumnInt64(4))}
		if err := codec.DecodeGathering(blob(r, 5), &g); err != nil {
			damaged.Add(g.Seq, "", fmt.Errorf("gathering %d of %s is %w: %w", g.Seq, g.Definition, store.ErrDamaged, err))
			return nil
		}
		out = append(out, g)
		return nil
	}, args...)
	return out, cmp.Or(err, damaged.Err())
}
