package memory

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSorted: the set is what sorting a list gives.
func TestSorted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	s := sortedBy(func(n int) int { return n })
	var want []int
	for range 20_000 {
		n := rnd.IntN(3000)
		i, found := slices.BinarySearch(want, n)
		switch {
		case rnd.IntN(5) < 2:
			s.remove(n)
			if found {
				want = slices.Delete(want, i, i+1)
			}
		case !found:
			s.add(n)
			want = slices.Insert(want, i, n)
		default:
			s.add(n)
		}
		if first, ok := s.first(); ok != (len(want) > 0) || ok && first != want[0] || s.size != len(want) {
			t.Fatalf("first %d of %d, want %d of %d", first, s.size, want[0], len(want))
		}
	}
	if !slices.Equal(s.head(s.size), want) || !slices.Equal(s.head(10), want[:10]) {
		t.Error("the lists differ")
	}
	for _, n := range want {
		s.remove(n)
	}
	if _, ok := s.first(); ok || len(s.chunks) != 0 {
		t.Errorf("%d chunks are left", len(s.chunks))
	}
}
