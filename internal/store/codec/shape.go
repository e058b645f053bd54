package codec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Shape lists the places in an event whose values a filter fixes, in order. There are few shapes,
// however many instances wait: one for each way in which definitions correlate. Events and filters are
// filed under a shape and a hash of the values there. Different values may have the same hash, so
// what is found must be compared.
type Shape []Place

// Place is where an event has a value: as a key says, or either of its type and id.
type Place struct {
	Name   string `json:"name,omitempty"`
	From   string `json:"from,omitempty"`
	Either bool   `json:"either,omitempty"`
}

// Text is a shape as it is stored.
func (s Shape) Text() string {
	b, err := json.Marshal(append(Shape{}, s...)) // [] also where it is nil
	if err != nil {
		panic(err) // strings
	}
	return string(b)
}

// ParseShape reads what Text writes.
func ParseShape(text string) (s Shape, err error) {
	if json.Unmarshal([]byte(text), &s) != nil {
		err = fmt.Errorf("shape %q: %w", text, store.ErrDamaged)
	}
	return s, err
}

// NoMatch is the sum of filters that no event passes.
const NoMatch = 0

// MatchOf says under which shape and sum the events are found that a filter lets through.
func MatchOf(f *event.Filter) (s Shape, match int64) {
	type fixed struct {
		Place
		value string
	}
	var list []fixed
	if f.Source != "" {
		list = append(list, fixed{Place{Name: "source"}, f.Source})
	}
	if f.Either != "" {
		list = append(list, fixed{Place{Either: true}, f.Either})
	}
	for _, k := range f.Keys {
		if k.Void {
			return nil, NoMatch
		}
		if k.Fixed {
			list = append(list, fixed{Place{Name: k.Name, From: k.From}, k.Value})
		}
	}
	slices.SortFunc(list, func(a, b fixed) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.From, b.From), cmp.Compare(a.value, b.value))
	})
	sum := NewSum
	for _, x := range list {
		s = append(s, x.Place)
		sum = sum.at(x.Place, x.value)
	}
	return s, sum.Column()
}

// Matches are the sums of an event's values of a shape; none where it lacks one.
func (s Shape) Matches(e *event.Event) (out []int64) {
	sums := []Sum{NewSum}
	for _, p := range s {
		values := []string{e.Type, e.ID}
		if !p.Either {
			value, ok := event.Key{Name: p.Name, From: p.From}.Of(*e)
			if !ok {
				return nil
			}
			values = []string{value}
		}
		var next []Sum
		for _, sum := range sums {
			for _, value := range values {
				next = append(next, sum.at(p, value))
			}
		}
		sums = next
	}
	for _, sum := range sums {
		if m := sum.Column(); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// Sum is a hash of texts, FNV-1a over each with its length before it. It is stored: it stays
// as it is.
type Sum uint64

// NewSum is the sum of nothing.
const NewSum Sum = 14695981039346656037

// SumOf is the sum of texts as it is stored.
func SumOf(list ...string) int64 {
	sum := NewSum
	for _, s := range list {
		sum = sum.Text(s)
	}
	return sum.Column()
}

func (h Sum) at(p Place, value string) Sum { return h.Text(p.Name).Text(p.From).Text(value) }

// Byte adds a byte.
func (h Sum) Byte(b byte) Sum { return (h ^ Sum(b)) * 1099511628211 }

// Text adds a text.
func (h Sum) Text(s string) Sum {
	for n := len(s); ; n >>= 7 {
		h = h.Byte(byte(n & 127))
		if n < 128 {
			break
		}
		h = h.Byte(128)
	}
	for i := range len(s) {
		h = h.Byte(s[i])
	}
	return h
}

// Column is the sum as it is stored; 0 means something else everywhere.
func (h Sum) Column() int64 {
	if h == NoMatch {
		return 1
	}
	return int64(h)
}
