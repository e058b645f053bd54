package expr

import "math"

// Merge adds what is new in b to a (semantics.md §Data filters 5): objects merge
// deeply, arrays concatenate without repeating equal items, and for everything
// else, also across kinds, b wins. Neither argument changes; what is untouched
// is shared.
func Merge(a, b Value) Value {
	v, _ := MergeCounted(a, b)
	return v
}

// MergeCounted is [Merge], and returns how many steps it took. What both share costs
// nothing.
func MergeCounted(a, b Value) (v Value, steps int) {
	var m merger
	v = m.merge(a, b)
	return v, m.steps
}

type merger struct{ steps int }

func (m *merger) merge(a, b Value) Value {
	switch {
	case a.Same(b):
		return a
	case a.IsObject() && b.IsObject():
		return m.objects(a, b)
	case a.IsArray() && b.IsArray():
		return m.arrays(a, b)
	}
	return b
}

func (m *merger) objects(av, bv Value) Value {
	a, b := av.Members(), bv.Members()
	if len(a) == 0 {
		return bv
	}
	if len(b) == 0 {
		return av
	}
	m.steps += 1 + (len(a)+len(b))/membersPerStep
	return union(a, b, func(x, y Member) Member { return Member{x.Key, m.merge(x.Value, y.Value)} })
}

const (
	// scanLimit is the size up to which looking for an equal item by comparing with
	// each is cheaper than hashing canonical bytes.
	scanLimit = 16
	// What a step of merging pays for: members that are copied, bytes that are hashed.
	membersPerStep, hashedPerStep = 2, 16
	// hashSteps is what one item costs that is looked up in a set.
	hashSteps = 6
)

func (m *merger) arrays(av, bv Value) Value {
	a, b := av.Items(), bv.Items()
	if len(b) == 0 {
		return av
	}
	out := make([]Value, len(a), len(a)+len(b))
	copy(out, a)
	if len(a)+len(b) <= scanLimit {
		for _, item := range b {
			if !m.contains(out, item) {
				out = append(out, item)
			}
		}
		return Array(out...)
	}
	seen := make(map[string]struct{}, len(a)+len(b))
	var buf []byte
	for _, item := range a {
		buf = appendCanonical(buf[:0], item)
		m.steps += hashSteps + len(buf)/hashedPerStep
		seen[string(buf)] = struct{}{}
	}
	for _, item := range b {
		buf = appendCanonical(buf[:0], item)
		m.steps += hashSteps + len(buf)/hashedPerStep
		if _, dup := seen[string(buf)]; dup {
			continue
		}
		seen[string(buf)] = struct{}{}
		out = append(out, item)
	}
	return Array(out...)
}

func (m *merger) contains(items []Value, v Value) bool {
	const all = math.MaxInt
	for _, it := range items {
		b := Budget{Steps: all}
		equal, _ := b.Equal(it, v)
		if m.steps += all - b.Steps; equal {
			return true
		}
	}
	return false
}
