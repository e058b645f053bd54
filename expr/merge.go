package expr

// Merge adds what is new in b to a (SEMANTICS §Data filters 5): objects merge
// deeply, arrays concatenate without repeating equal items, and for everything
// else, also across kinds, b wins. Neither argument changes; what is untouched
// is shared.
func Merge(a, b Value) Value {
	switch {
	case a.Same(b):
		return a
	case a.IsObject() && b.IsObject():
		return mergeObjects(a, b)
	case a.IsArray() && b.IsArray():
		return mergeArrays(a, b)
	}
	return b
}

func mergeObjects(av, bv Value) Value {
	a, b := av.Members(), bv.Members()
	if len(a) == 0 {
		return bv
	}
	if len(b) == 0 {
		return av
	}
	return union(a, b, func(x, y Member) Member { return Member{x.Key, Merge(x.Value, y.Value)} })
}

// scanLimit is the size up to which looking for an equal item by comparing with
// each is cheaper than hashing canonical bytes.
const scanLimit = 16

func mergeArrays(av, bv Value) Value {
	a, b := av.Items(), bv.Items()
	if len(b) == 0 {
		return av
	}
	out := make([]Value, len(a), len(a)+len(b))
	copy(out, a)
	if len(a)+len(b) <= scanLimit {
		for _, item := range b {
			if !containsEqual(out, item) {
				out = append(out, item)
			}
		}
		return Array(out...)
	}
	seen := make(map[string]struct{}, len(a)+len(b))
	var buf []byte
	for _, item := range a {
		buf = appendCanonical(buf[:0], item)
		seen[string(buf)] = struct{}{}
	}
	for _, item := range b {
		buf = appendCanonical(buf[:0], item)
		if _, dup := seen[string(buf)]; dup {
			continue
		}
		seen[string(buf)] = struct{}{}
		out = append(out, item)
	}
	return Array(out...)
}

func containsEqual(items []Value, v Value) bool {
	for _, it := range items {
		if Equal(it, v) {
			return true
		}
	}
	return false
}
