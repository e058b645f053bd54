package postgres

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/store"
)

// sum is a hash of texts, FNV-1a over each with its length before it. It is stored: it
// stays as it is. Who finds something by it compares.
type sum uint64

const newSum sum = 14695981039346656037

func (h sum) byte(b byte) sum { return (h ^ sum(b)) * 1099511628211 }

func (h sum) text(s string) sum {
	n := len(s)
	for ; n > 127; n >>= 7 {
		h = h.byte(byte(n) | 128)
	}
	h = h.byte(byte(n))
	for i := range len(s) {
		h = h.byte(s[i])
	}
	return h
}

// column is the hash as it is stored; 0 means something else everywhere.
func (h sum) column() int64 {
	if h == 0 {
		return 1
	}
	return int64(h)
}

func sumOf(list ...string) int64 {
	h := newSum
	for _, s := range list {
		h = h.text(s)
	}
	return h.column()
}

// anyType is the hash of filters without a type.
const anyType = 0

func typeOf(typ string) int64 {
	if typ == "" {
		return anyType
	}
	return sumOf(typ)
}

// eventID is what duplicates have in common.
func eventID(e *event.Event) []byte {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d %s%s", len(e.Source), e.Source, e.ID)
	return h.Sum(nil)
}

// shardCount is how many parts the instances of a database are in. It is stored.
const shardCount = 64

// shardOf is the part that an instance is in.
func shardOf(id string) int16 { return int16(uint64(sumOf(id)) % shardCount) }

// shape is where events have what a filter fixes, in order. There are few of them, however
// many wait: as many as definitions correlate differently.
type shape []place

// place is where an event has a value: as a key says, or either of its type and id.
type place struct {
	Name   string `json:"name,omitempty"`
	From   string `json:"from,omitempty"`
	Either bool   `json:"either,omitempty"`
}

// shapeKey is the row of a shape.
type shapeKey struct {
	typ    int64
	places string
}

func (s shape) key(typ int64) shapeKey {
	if s == nil {
		s = shape{}
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings
	}
	return shapeKey{typ, string(b)}
}

// noMatch is the match of filters that no event passes.
const noMatch = 0

// matchOf says under which type, shape and hash the events are found that a filter lets
// through.
func matchOf(f *event.Filter) (typ int64, s shape, match int64) {
	type fixed struct {
		place
		value string
	}
	typ = typeOf(f.Type)
	var list []fixed
	if f.Source != "" {
		list = append(list, fixed{place{Name: "source"}, f.Source})
	}
	if f.Either != "" {
		list = append(list, fixed{place{Either: true}, f.Either})
	}
	for _, k := range f.Keys {
		if k.Void {
			return typ, nil, noMatch
		}
		if k.Fixed {
			list = append(list, fixed{place{Name: k.Name, From: k.From}, k.Value})
		}
	}
	slices.SortFunc(list, func(a, b fixed) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.From, b.From), cmp.Compare(a.value, b.value))
	})
	h := newSum
	for _, x := range list {
		s = append(s, x.place)
		h = h.at(x.place, x.value)
	}
	return typ, s, h.column()
}

func (h sum) at(p place, value string) sum { return h.text(p.Name).text(p.From).text(value) }

// matches are the hashes of an event's values of a shape; none where it lacks one.
func (s shape) matches(e *event.Event) (out []int64) {
	sums := []sum{newSum}
	for _, p := range s {
		values := []string{e.Type, e.ID}
		if !p.Either {
			value, ok := event.Key{Name: p.Name, From: p.From}.Of(*e)
			if !ok {
				return nil
			}
			values = []string{value}
		}
		var next []sum
		for _, h := range sums {
			for _, value := range values {
				next = append(next, h.at(p, value))
			}
		}
		sums = next
	}
	for _, h := range sums {
		if m := h.column(); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// eventKey is where an event is found.
type eventKey struct{ typ, match int64 }

// keysOf lists where an event is found: once for every shape of its type, and of any type.
func keysOf(shapes map[int64][]shape, e *event.Event) (out []eventKey) {
	for _, typ := range []int64{anyType, typeOf(e.Type)} {
		for _, s := range shapes[typ] {
			for _, m := range s.matches(e) {
				if k := (eventKey{typ, m}); !slices.Contains(out, k) {
					out = append(out, k)
				}
			}
		}
	}
	return out
}

// ownerKey is where the instances are found that have a correlation attribute fixed.
func ownerKey(definition string, k core.Key) int64 { return sumOf(definition, k.Name, k.Value) }

// labelKeys are the hashes by which labels are found: by name, and by name and value.
func labelKeys(labels expr.Value) (out []int64) {
	if !labels.IsObject() {
		return nil
	}
	for _, m := range labels.Members() {
		out = append(out, sumOf(m.Key))
		for _, text := range store.LabelTexts(m.Value) {
			out = append(out, labelKey(store.Label{Name: m.Key, Value: text}))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func labelKey(l store.Label) int64 {
	if l.Any {
		return sumOf(l.Name)
	}
	return sumOf(l.Name, l.Value)
}
