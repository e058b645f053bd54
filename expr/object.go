package expr

import (
	"slices"
	"strings"
	"unsafe"
)

// Object returns an object with the members. It takes ownership of the slice. If a key occurs
// more than once, the last one wins.
func Object(members ...Member) Value {
	byKey := func(a, b Member) int { return strings.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(members, byKey) {
		slices.SortStableFunc(members, byKey)
	}
	kept := members[:0]
	for i, m := range members {
		if i+1 < len(members) && members[i+1].Key == m.Key {
			continue
		}
		kept = append(kept, m)
	}
	return objectOf(kept)
}

// objectOf trusts that members are sorted and unique.
func objectOf(members []Member) Value {
	return Value{uint64(len(members)), objectRef(unsafe.SliceData(members))}
}

// EmptyObject is {}.
var EmptyObject = objectOf(nil)

// smallObject is the size up to which a scan beats a binary search.
const smallObject = 8

// find returns the index of key, or where it would be inserted.
func find(members []Member, key string) (int, bool) {
	if len(members) <= smallObject {
		for i := range members {
			if members[i].Key >= key {
				return i, members[i].Key == key
			}
		}
		return len(members), false
	}
	return slices.BinarySearchFunc(members, key, func(m Member, k string) int { return strings.Compare(m.Key, k) })
}

// Get returns the value of an object's member.
func (v Value) Get(key string) (Value, bool) {
	members := v.Members()
	if i, ok := find(members, key); ok {
		return members[i].Value, true
	}
	return Null, false
}

// With returns the object with the member set. A value that is not an object counts
// as the empty object.
func (v Value) With(key string, val Value) Value {
	members := v.Members()
	i, ok := find(members, key)
	if ok {
		next := slices.Clone(members)
		next[i].Value = val
		return objectOf(next)
	}
	next := make([]Member, len(members)+1)
	copy(next, members[:i])
	next[i] = Member{key, val}
	copy(next[i+1:], members[i:])
	return objectOf(next)
}

// Without returns the object without the member.
func (v Value) Without(key string) Value {
	members := v.Members()
	i, ok := find(members, key)
	if !ok {
		return v
	}
	return objectOf(slices.Delete(slices.Clone(members), i, i+1))
}

// Append returns the array with the items added. A value that is not an array
// counts as the empty array.
func (v Value) Append(items ...Value) Value {
	return Array(slices.Concat(v.Items(), items)...)
}

// Lookup follows object keys from v.
func (v Value) Lookup(path ...string) (Value, bool) {
	for _, key := range path {
		next, ok := v.Get(key)
		if !ok {
			return Null, false
		}
		v = next
	}
	return v, true
}

// WithPath returns v with val placed at the path of object keys; objects are
// created where the path leaves what exists.
func (v Value) WithPath(path []string, val Value) Value {
	if len(path) == 0 {
		return val
	}
	child, _ := v.Get(path[0])
	return v.With(path[0], child.WithPath(path[1:], val))
}

// Overlay returns an object with the members of top, and those of under that top
// lacks. It is shallow.
func Overlay(top, under Value) Value {
	a, b := top.Members(), under.Members()
	if len(b) == 0 || !top.IsObject() {
		return top
	}
	if len(a) == 0 {
		return under
	}
	return union(a, b, func(top, _ Member) Member { return top })
}

// union merges two sorted lists of members; both chooses the member for a key in both lists.
func union(a, b []Member, both func(x, y Member) Member) Value {
	out := make([]Member, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0].Key, b[0].Key); {
		case c < 0:
			out = append(out, a[0])
			a = a[1:]
		case c > 0:
			out = append(out, b[0])
			b = b[1:]
		default:
			out = append(out, both(a[0], b[0]))
			a, b = a[1:], b[1:]
		}
	}
	return objectOf(append(append(out, a...), b...))
}
