package sqlite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/store/codec"
)

// shape is where events have what a filter fixes, in order. There are few of them,
// however many wait: as many as definitions correlate differently.
type shape []place

// place is where an event has a value: as a key says, or either of its type and id.
type place struct {
	Name   string `json:"name,omitempty"`
	From   string `json:"from,omitempty"`
	Either bool   `json:"either,omitempty"`
}

// shapeKey is the row of a shape.
type shapeKey struct {
	ns          int64
	typ, places string
}

func (s shape) key(ns int64, typ string) shapeKey {
	b, err := json.Marshal(append(shape{}, s...)) // [] also where it is nil
	if err != nil {
		panic(err) // strings
	}
	return shapeKey{ns, typ, string(b)}
}

// noMatch is the match of filters that no event passes.
const noMatch = 0

// matchOf says under which type, shape and hash the events are found that a filter
// lets through. Different values may have the same hash: who finds compares.
func matchOf(f *event.Filter) (typ string, s shape, match int64) {
	type fixed struct {
		place
		value string
	}
	var list []fixed
	if f.Source != "" {
		list = append(list, fixed{place{Name: "source"}, f.Source})
	}
	if f.Either != "" {
		list = append(list, fixed{place{Either: true}, f.Either})
	}
	for _, k := range f.Keys {
		if k.Void {
			return f.Type, nil, noMatch
		}
		if k.Fixed {
			list = append(list, fixed{place{Name: k.Name, From: k.From}, k.Value})
		}
	}
	slices.SortFunc(list, func(a, b fixed) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.From, b.From), cmp.Compare(a.value, b.value))
	})
	h := newHash()
	for _, p := range list {
		s = append(s, p.place)
		h = h.add(p.place, p.value)
	}
	return f.Type, s, h.sum()
}

// matches are the hashes of an event's values of a shape; none where it lacks one.
func (s shape) matches(e *event.Event) []int64 {
	list := []hash{newHash()}
	for _, p := range s {
		if p.Either {
			other := slices.Clone(list)
			for i, h := range list {
				list[i], other[i] = h.add(p, e.Type), h.add(p, e.ID)
			}
			list = append(list, other...)
			continue
		}
		value, ok := event.Key{Name: p.Name, From: p.From}.Of(*e)
		if !ok {
			return nil
		}
		for i, h := range list {
			list[i] = h.add(p, value)
		}
	}
	var out []int64
	for _, h := range list {
		if m := h.sum(); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// hash is FNV-1a. It is stored: it stays as it is.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h hash) add(p place, value string) hash { return h.text(p.Name).text(p.From).text(value) }

func (h hash) text(s string) hash {
	const prime = 1099511628211
	for n := len(s); ; n >>= 7 {
		h = (h ^ hash(n&127)) * prime
		if n < 128 {
			break
		}
		h = (h ^ 128) * prime
	}
	for i := range len(s) {
		h = (h ^ hash(s[i])) * prime
	}
	return h
}

func (h hash) sum() int64 {
	if h == noMatch {
		return 1
	}
	return int64(h)
}

// eventKey is where an event is found.
type eventKey struct {
	typ   string
	match int64
}

// keysOf lists where an event is found: once for every shape of its type, and of any type.
func keysOf(shapes func(typ string) []shape, e *event.Event) []eventKey {
	var out []eventKey
	for _, typ := range []string{"", e.Type} {
		for _, s := range shapes(typ) {
			for _, m := range s.matches(e) {
				if !slices.Contains(out, eventKey{typ, m}) {
					out = append(out, eventKey{typ, m})
				}
			}
		}
	}
	return out
}

// shapesOf lists the shapes of a type, with those that this transaction adds.
func (t *tx) shapesOf(sp *space) func(typ string) []shape {
	return func(typ string) []shape {
		list := sp.shapes[typ] // only the writer changes it
		if len(t.shapes) > 0 {
			list = slices.Clone(list)
			for key := range t.shapes {
				if key.ns == sp.ns && key.typ == typ {
					list = append(list, parseShape(key.places))
				}
			}
		}
		return list
	}
}

func parseShape(places string) shape {
	var s shape
	if err := json.Unmarshal([]byte(places), &s); err != nil {
		panic(fmt.Sprintf("shape %q: %v", places, err)) // ours
	}
	return s
}

// knows reports whether events are filed under a shape.
func (t *tx) knows(sp *space, typ string, s shape) bool {
	if t.shapes[s.key(sp.ns, typ)] {
		return true
	}
	return slices.ContainsFunc(sp.shapes[typ], func(o shape) bool { return slices.Equal(o, s) })
}

// learn files events under a new shape: those that come, and those that are kept.
func (t *tx) learn(sp *space, typ string, s shape) error {
	if t.knows(sp, typ, s) {
		return nil
	}
	key := s.key(sp.ns, typ)
	if _, err := t.exec("INSERT INTO shapes VALUES (?, ?, ?)", sp.ns, typ, key.places); err != nil {
		return err
	}
	t.shapes[key] = true
	t.then(func() { sp.shapes[typ] = append(sp.shapes[typ], s) })
	type found struct{ seq, match int64 }
	var list []found
	query, args := "SELECT seq, event FROM events WHERE ns = ? ORDER BY seq", []any{sp.ns}
	if typ != "" {
		query, args = "SELECT seq, event FROM events WHERE ns = ? AND type = ?", append(args, typ)
	}
	err := t.conn.query(query, func(r row) error {
		e, err := codec.DecodeEvent(blob(r, 1))
		if err != nil {
			return fmt.Errorf("event %d: %w", r.ColumnInt64(0), err)
		}
		for _, m := range s.matches(&e) {
			list = append(list, found{r.ColumnInt64(0), m})
		}
		return nil
	}, args...)
	if err != nil {
		return err
	}
	for _, f := range list {
		if _, err := t.exec("INSERT OR IGNORE INTO event_keys VALUES (?, ?, ?, ?)", sp.ns, typ, f.match, f.seq); err != nil {
			return err
		}
	}
	return nil
}
