package sqlite

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWaits compares waits with a sorted list, over blocks that split and join.
func TestWaits(t *testing.T) {
	for _, many := range []int64{3, 1 << 40} { // sums: few have long runs
		rnd := rand.New(rand.NewPCG(1, uint64(many)))
		var list []wait
		for range 2000 {
			list = append(list, wait{rnd.Int64N(many), rnd.Int64N(500), rnd.Int64N(3)})
		}
		slices.SortFunc(list, wait.compare)
		list = slices.Compact(list)
		x := waitsOf(slices.Clone(list))
		for round, share := range []int{70, 20, 55, 5} { // percent that are added
			for range 8000 {
				if rnd.IntN(100) < share {
					w := wait{rnd.Int64N(many), rnd.Int64N(2000), rnd.Int64N(3)}
					x.add(w)
					x.add(w)
					if i, found := slices.BinarySearchFunc(list, w, wait.compare); !found {
						list = slices.Insert(list, i, w)
					}
				} else if len(list) > 0 {
					i := rnd.IntN(len(list))
					x.remove(list[i])
					x.remove(list[i])
					list = slices.Delete(list, i, i+1)
				}
			}
			if got := x.some(len(list) + 1); !slices.Equal(got, list) || x.n != len(list) {
				t.Fatalf("round %d: %d waits, not %d", round, x.n, len(list))
			}
			if got := x.some(7); !slices.Equal(got, list[:min(7, len(list))]) {
				t.Errorf("round %d: the first ones are %v", round, got)
			}
			if len(x.blocks) > 4+8*len(list)/maxBlock {
				t.Errorf("round %d: %d waits are in %d blocks", round, len(list), len(x.blocks))
			}
			for range 50 {
				match := rnd.Int64N(many)
				if len(list) > 0 {
					match = list[rnd.IntN(len(list))].match
				}
				want := slices.DeleteFunc(slices.Clone(list), func(w wait) bool { return w.match != match })
				if got := x.of(match); !slices.Equal(got, want) {
					t.Fatalf("round %d: of %d there are %d, not %d", round, match, len(got), len(want))
				}
			}
		}
	}
}

func BenchmarkWaits(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const n = 1_000_000
	list := make([]wait, n)
	for i := range list {
		list[i] = wait{int64(rnd.Uint64()), int64(i), 1}
	}
	b.Run("fill", func(b *testing.B) {
		for range b.N {
			waitsOf(slices.Clone(list))
		}
	})
	x := waitsOf(slices.Clone(list))
	b.Run("change", func(b *testing.B) {
		for i := range b.N {
			w := list[i%n]
			x.remove(w)
			x.add(w)
		}
	})
}
