package memory

import (
	"cmp"
	"iter"
	"slices"
)

// sorted is an ordered set. It lies in chunks of bounded size, so that adding and
// removing move little however much there is. What orders an element must not change
// while it is in the set.
type sorted[T any] struct {
	compare func(a, b T) int
	chunks  [][]T // none is empty
	size    int
}

const maxChunk = 256

func sortedBy[T any, K cmp.Ordered](key func(T) K) sorted[T] {
	return sorted[T]{compare: func(a, b T) int { return cmp.Compare(key(a), key(b)) }}
}

// find is the chunk where an element is or belongs, and its place there.
func (s *sorted[T]) find(v T) (chunk, at int, found bool) {
	chunk, found = slices.BinarySearchFunc(s.chunks, v, func(c []T, v T) int { return s.compare(c[0], v) })
	if found {
		return chunk, 0, true
	}
	chunk = max(0, chunk-1)
	if len(s.chunks) > 0 {
		at, found = slices.BinarySearchFunc(s.chunks[chunk], v, s.compare)
	}
	return chunk, at, found
}

func (s *sorted[T]) add(v T) {
	chunk, at, found := s.find(v)
	if found {
		return
	}
	s.size++
	if len(s.chunks) == 0 {
		s.chunks = [][]T{{v}}
		return
	}
	c := slices.Insert(s.chunks[chunk], at, v)
	if len(c) > maxChunk {
		half := len(c) / 2
		s.chunks = slices.Insert(s.chunks, chunk+1, slices.Clone(c[half:]))
		c = slices.Delete(c, half, len(c))
	}
	s.chunks[chunk] = c
}

func (s *sorted[T]) remove(v T) {
	chunk, at, found := s.find(v)
	if !found {
		return
	}
	s.size--
	if s.chunks[chunk] = slices.Delete(s.chunks[chunk], at, at+1); len(s.chunks[chunk]) == 0 {
		s.chunks = slices.Delete(s.chunks, chunk, chunk+1)
	}
}

func (s *sorted[T]) first() (v T, ok bool) {
	if len(s.chunks) == 0 {
		return v, false
	}
	return s.chunks[0][0], true
}

// all yields the elements in order. The set must not change meanwhile.
func (s *sorted[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, c := range s.chunks {
			for _, v := range c {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// head lists the first elements.
func (s *sorted[T]) head(limit int) []T {
	out := make([]T, 0, min(limit, s.size))
	for v := range s.all() {
		if len(out) >= limit {
			break
		}
		out = append(out, v)
	}
	return out
}
