// Package cache keeps compiled expressions, such as the programs of regular expressions,
// while there is room for them: one bounded cache for the whole process.
//
// The result of an evaluation never depends on the cache: a value that is not in it is built
// again from its source, and is the same every time. That is why this package, alone below
// expr, may have a lock.
package cache

import (
	"strings"
	"sync"
	"sync/atomic"
)

// MaxBytes is the limit "program-cache". Several definitions of the largest size fit, so that
// a running one does not evict its own programs.
const MaxBytes = 64 << 20

// Key identifies a value: two values with the same key are interchangeable.
type Key struct {
	Kind string // of value: one type of value for each
	Text string // what it is built from
	Of   any    // a pointer to what it is built from, if that is not text
	N    int    // distinguishes copies of a value
}

// shared is the cache of the process.
var shared = newCache(MaxBytes)

// Bytes is the size of all values in the cache of the process.
func Bytes() int {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	return shared.bytes
}

// Handle remembers the entry of a value in the cache of the process, so that finding it again
// needs neither a lock nor a lookup. The zero Handle is ready to use, by many goroutines.
type Handle[T any] struct{ at atomic.Pointer[entry] }

// Peek returns the value, nil if it is not in the cache.
func (h *Handle[T]) Peek() *T {
	e := h.at.Load()
	if e == nil {
		return nil
	}
	v, _ := e.load().(*T)
	return v
}

// Get returns the value of a key. A handle is always used with the same key. Build makes the
// value and returns its size in bytes; it must make the same value every time.
func (h *Handle[T]) Get(key Key, build func() (value *T, bytes int)) *T {
	if v := h.Peek(); v != nil {
		return v
	}
	e := shared.find(key)
	if e == nil {
		value, bytes := build()
		e = shared.add(key, value, bytes)
	}
	v, _ := e.load().(*T)
	if v == nil { // it was evicted meanwhile
		v, _ = build()
		return v
	}
	h.at.Store(e)
	return v
}

// Resize changes the size of a handle's value.
func (h *Handle[T]) Resize(bytes int) {
	if e := h.at.Load(); e != nil {
		shared.resize(e, bytes)
	}
}

// Cache is bounded by the bytes of its values. It evicts by the clock algorithm: the hand goes
// around, spares once what was used since it came by, and evicts what was not.
type Cache struct {
	mu      sync.Mutex
	max     int
	bytes   int
	entries map[Key]*entry
	ring    []*entry
	hand    int
}

// overhead is what an entry takes beside its value and the text of its key.
const overhead = 256

type entry struct {
	key   Key
	value atomic.Pointer[any] // nil: evicted
	used  atomic.Bool         // since the hand came by
	bytes int                 // under the cache's lock
	place int                 // in the ring, under the cache's lock; -1: not in it
}

func newCache(limit int) *Cache { return &Cache{max: limit, entries: map[Key]*entry{}} }

func (e *entry) load() any {
	v := e.value.Load()
	if v == nil {
		return nil
	}
	if !e.used.Load() { // a write for every evaluation would make processors contend for the cache line
		e.used.Store(true)
	}
	return *v
}

func (c *Cache) find(key Key) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key]
}

// add puts a value into the cache and returns its entry, or that of another goroutine that was
// faster. A value that is larger than the cache gets an entry that is not kept.
func (c *Cache) add(key Key, value any, bytes int) *entry {
	key.Text = strings.Clone(key.Text) // it may be a part of a large document
	e := &entry{key: key, bytes: bytes + len(key.Text) + overhead, place: -1}
	e.value.Store(&value)
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.entries[key]; first != nil {
		return first
	}
	if e.bytes > c.max {
		return e
	}
	c.evict(c.max - e.bytes)
	c.entries[key] = e
	e.place = len(c.ring)
	c.ring = append(c.ring, e)
	c.bytes += e.bytes
	return e
}

func (c *Cache) resize(e *entry, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.place < 0 {
		return
	}
	now := bytes + len(e.key.Text) + overhead
	c.bytes += now - e.bytes
	e.bytes = now
	c.evict(c.max)
}

// evict makes the cache no larger than limit. The caller holds the lock.
func (c *Cache) evict(limit int) {
	for c.bytes > limit && len(c.ring) > 0 {
		if c.hand >= len(c.ring) {
			c.hand = 0
		}
		e := c.ring[c.hand]
		if e.used.Swap(false) {
			c.hand++
			continue
		}
		last := c.ring[len(c.ring)-1]
		c.ring[c.hand], last.place = last, c.hand
		c.ring[len(c.ring)-1] = nil
		c.ring = c.ring[:len(c.ring)-1]
		e.place = -1
		e.value.Store(nil)
		c.bytes -= e.bytes
		delete(c.entries, e.key)
	}
}
