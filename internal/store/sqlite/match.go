package sqlite

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// shapeKey is the row of a shape.
type shapeKey struct {
	ns          int64
	typ, places string
}

func (k shapeKey) compare(o shapeKey) int {
	return cmp.Or(cmp.Compare(k.ns, o.ns), cmp.Compare(k.typ, o.typ), cmp.Compare(k.places, o.places))
}

// eventKey is where an event is found.
type eventKey struct {
	typ   string
	match int64
}

// opens notes a subscription that is open from now on.
func (t *tx) opens(sp *space, typ string, w wait) {
	key := openedKey{sp.ns, eventKey{typ, w.match}}
	t.opened[key] = append(t.opened[key], w)
	t.then(func() { sp.opened(typ, w) })
}

// shuts notes a subscription that is not open any more: its row says so.
func (t *tx) shuts(sp *space, typ string, w wait) { t.then(func() { sp.shut(typ, w) }) }

// file writes to subscriptions, and has each of them noted.
func (t *tx) file(sp *space, note func(*space, string, wait), statement string, args ...any) (n int, err error) {
	err = t.conn.query(statement+" RETURNING type, match, inst, ticket", func(r row) error {
		note(sp, r.ColumnText(0), wait{r.ColumnInt64(1), r.ColumnInt64(2), r.ColumnInt64(3)})
		n++
		return nil
	}, args...)
	t.changes += int64(n)
	return n, err
}

// openedKey is where an event of a namespace finds subscriptions.
type openedKey struct {
	ns int64
	eventKey
}

// keysOf lists where an event is found: once for every shape of its type, and of any type.
func keysOf(shapes func(typ string) []codec.Shape, e *event.Event) []eventKey {
	var out []eventKey
	for _, typ := range []string{"", e.Type} {
		for _, s := range shapes(typ) {
			for _, m := range s.Matches(e) {
				if !slices.Contains(out, eventKey{typ, m}) {
					out = append(out, eventKey{typ, m})
				}
			}
		}
	}
	return out
}

// shapesOf lists the shapes of a type, with those that this transaction adds.
func (t *tx) shapesOf(sp *space) func(typ string) []codec.Shape {
	return func(typ string) []codec.Shape {
		list := sp.shapes[typ] // only the writer changes it
		if len(t.shapes) > 0 {
			list = slices.Clone(list)
			for _, key := range slices.SortedFunc(maps.Keys(t.shapes), shapeKey.compare) {
				if key.ns == sp.ns && key.typ == typ {
					list = append(list, t.shapes[key])
				}
			}
		}
		return list
	}
}

// knows reports whether events are filed under a shape.
func (t *tx) knows(sp *space, typ string, s codec.Shape) bool {
	if _, added := t.shapes[shapeKey{sp.ns, typ, s.Text()}]; added {
		return true
	}
	return slices.ContainsFunc(sp.shapes[typ], func(o codec.Shape) bool { return slices.Equal(o, s) })
}

// learn files events under a new shape: those that come, and those that are kept.
func (t *tx) learn(sp *space, typ string, s codec.Shape) error {
	if t.knows(sp, typ, s) {
		return nil
	}
	key := shapeKey{sp.ns, typ, s.Text()}
	if _, err := t.exec("INSERT INTO shapes (ns, type, places) VALUES (?, ?, ?)", sp.ns, typ, key.places); err != nil {
		return err
	}
	t.shapes[key] = s
	t.then(func() { sp.shapes[typ] = append(sp.shapes[typ], s) })
	type found struct{ seq, match int64 }
	var list []found
	query, args := "SELECT seq, event, received, producer, origin FROM events WHERE ns = ? ORDER BY seq", []any{sp.ns}
	if typ != "" {
		query, args = "SELECT seq, event, received, producer, origin FROM events WHERE ns = ? AND type = ?", append(args, typ)
	}
	err := t.conn.query(query, func(r row) error {
		e := store.Event{Seq: r.ColumnInt64(0), Received: core.Time(r.ColumnInt64(2)), Producer: r.ColumnText(3), Origin: r.ColumnText(4)}
		if codec.DecodeEvent(blob(r, 1), &e) != nil {
			return nil // whoever would get it is told
		}
		for _, m := range s.Matches(&e.Event) {
			list = append(list, found{e.Seq, m})
		}
		return nil
	}, args...)
	if err != nil {
		return err
	}
	for _, f := range list {
		if _, err := t.exec("INSERT OR IGNORE INTO event_keys (ns, type, match, event) VALUES (?, ?, ?, ?)", sp.ns, typ, f.match, f.seq); err != nil {
			return err
		}
	}
	return nil
}
