package jsonschema

import "github.com/lockstep-workflows/lockstep/internal/expr/cache"

// maxCopies is how many checkers of a schema are kept for evaluations at a time.
const maxCopies = 8

// copies are the checkers of one schema, or of one set. A checker serves one evaluation at a
// time, since the library offers no other way to hand a budget to it.
type copies [maxCopies]cache.Handle[checker]

// take returns a checker that nobody uses, and its handle, which is nil where it is not kept.
// The caller gives it back with release.
func (cs *copies) take(key cache.Key, build func() (*checker, int)) (*checker, *cache.Handle[checker]) {
	for i := range cs {
		if c := cs[i].Peek(); c != nil && c.acquire() {
			return c, &cs[i]
		}
	}
	for i := range cs {
		key.N = i
		if c := cs[i].Get(key, build); c.acquire() {
			return c, &cs[i]
		}
	}
	c, _ := build()
	c.acquire()
	return c, nil
}

// acquire takes a checker, unless another evaluation has it.
func (c *checker) acquire() bool {
	select {
	case c.busy <- struct{}{}:
		return true
	default:
		return false
	}
}

func (c *checker) release() { <-c.busy }
