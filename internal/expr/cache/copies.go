package cache

// maxCopies is how many copies of a value are kept for evaluations at a time.
const maxCopies = 8

// Copies are interchangeable values of one key that each serve one evaluation at a time, since
// the library that they come from offers no other way to hand a budget to them. The zero Copies
// are ready to use, by many goroutines.
type Copies[T any] [maxCopies]Handle[Copy[T]]

// Copy is one of Copies.
type Copy[T any] struct {
	Value *T
	busy  chan struct{} // holds something while an evaluation uses the value
}

// Take returns a copy that is not in use, and its handle, which is nil where it is not kept. The
// caller gives it back with Release. Key and build are as for [Handle.Get].
func (cs *Copies[T]) Take(key Key, build func() (value *T, bytes int)) (*Copy[T], *Handle[Copy[T]]) {
	one := func() (*Copy[T], int) {
		value, bytes := build()
		return &Copy[T]{Value: value, busy: make(chan struct{}, 1)}, bytes
	}
	for i := range cs {
		if c := cs[i].Peek(); c != nil && c.acquire() {
			return c, &cs[i]
		}
	}
	for i := range cs {
		key.N = i
		if c := cs[i].Get(key, one); c.acquire() {
			return c, &cs[i]
		}
	}
	c, _ := one()
	c.acquire()
	return c, nil
}

// acquire takes a copy, unless another evaluation has it.
func (c *Copy[T]) acquire() bool {
	select {
	case c.busy <- struct{}{}:
		return true
	default:
		return false
	}
}

// Release gives a copy back.
func (c *Copy[T]) Release() { <-c.busy }
