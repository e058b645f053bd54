package sqlite

import (
	"cmp"
	"iter"
	"slices"
)

// wait is an open subscription as an event finds it: by the sum of what its filter fixes.
type wait struct {
	match  int64
	inst   int64
	ticket int64
}

func (w wait) compare(o wait) int {
	switch { // sums differ nearly always
	case w.match < o.match:
		return -1
	case w.match > o.match:
		return 1
	}
	return cmp.Or(cmp.Compare(w.inst, o.inst), cmp.Compare(w.ticket, o.ticket))
}

// waits are the open subscriptions of one type of events, in order: 24 bytes each, in blocks of which most
// are two thirds full. An event would otherwise search an index of the file, and each subscription
// would write a page of it that no other one writes.
type waits struct {
	blocks [][]wait // none is empty
	n      int
}

// maxBlock is how many waits a block has at most.
const maxBlock = 512

// waitsOf are the waits of a list, which it sorts and keeps.
func waitsOf(list []wait) *waits {
	slices.SortFunc(list, wait.compare)
	x := &waits{n: len(list)}
	const some = maxBlock * 2 / 3
	for part := range slices.Chunk(list, some) {
		x.blocks = append(x.blocks, slices.Grow(slices.Clone(part), maxBlock-len(part)))
	}
	return x
}

// find is where a wait is, or would be.
func (x *waits) find(w wait) (block, at int, found bool) {
	block, found = slices.BinarySearchFunc(x.blocks, w, func(b []wait, w wait) int { return b[0].compare(w) })
	if found {
		return block, 0, true
	}
	if block = max(block-1, 0); block < len(x.blocks) {
		at, found = slices.BinarySearchFunc(x.blocks[block], w, wait.compare)
	}
	return block, at, found
}

func (x *waits) add(w wait) {
	block, at, found := x.find(w)
	switch {
	case found:
		return
	case len(x.blocks) == 0:
		x.blocks = [][]wait{nil}
	case len(x.blocks[block]) == maxBlock:
		full := x.blocks[block]
		half := slices.Grow(slices.Clone(full[maxBlock/2:]), maxBlock/2)
		x.blocks[block] = full[:maxBlock/2]
		x.blocks = slices.Insert(x.blocks, block+1, half)
		if at > maxBlock/2 {
			block, at = block+1, at-maxBlock/2
		}
	}
	x.blocks[block] = slices.Insert(x.blocks[block], at, w)
	x.n++
}

func (x *waits) remove(w wait) {
	block, at, found := x.find(w)
	if !found {
		return
	}
	x.blocks[block] = slices.Delete(x.blocks[block], at, at+1)
	x.n--
	// Neighbours that fit into one block become one.
	for _, left := range []int{block - 1, block} {
		if left < 0 || left+1 >= len(x.blocks) || len(x.blocks[left])+len(x.blocks[left+1]) > maxBlock/2 {
			continue
		}
		x.blocks[left] = append(x.blocks[left], x.blocks[left+1]...)
		x.blocks = slices.Delete(x.blocks, left+1, left+2)
		return
	}
	if len(x.blocks[block]) == 0 {
		x.blocks = slices.Delete(x.blocks, block, block+1)
	}
}

// from lists the waits from a place on.
func (x *waits) from(w wait) iter.Seq[wait] {
	return func(yield func(wait) bool) {
		block, at, _ := x.find(w)
		for ; block < len(x.blocks); block, at = block+1, 0 {
			for _, w := range x.blocks[block][at:] {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// of lists those with a sum, the oldest instance first.
func (x *waits) of(match int64) (out []wait) {
	if x == nil {
		return nil
	}
	for w := range x.from(wait{match: match}) {
		if w.match != match {
			break
		}
		out = append(out, w)
	}
	return out
}

// some lists the first ones.
func (x *waits) some(limit int) (out []wait) {
	if x == nil {
		return nil
	}
	for _, b := range x.blocks {
		if out = append(out, b[:min(len(b), limit-len(out))]...); len(out) == limit {
			break
		}
	}
	return out
}
