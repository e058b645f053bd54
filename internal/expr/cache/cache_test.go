package cache

import (
	"fmt"
	"sync"
	"testing"
)

func keyOf(i int) Key { return Key{Kind: "test", Text: fmt.Sprint(i)} }

// TestBound: whatever is added, in any order and by many goroutines, the values in the cache
// are never larger than it, and what is told is what is there.
func TestBound(t *testing.T) {
	c := newCache(100_000)
	check := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		sum := 0
		for i, e := range c.ring {
			if e.place != i || c.entries[e.key] != e {
				t.Errorf("entry %v stands at %d and says %d", e.key, i, e.place)
			}
			sum += e.bytes
		}
		if sum != c.bytes || c.bytes > c.max || len(c.entries) != len(c.ring) {
			t.Errorf("%d bytes of %d are told, and %d are there; %d entries, %d in the ring", c.bytes, c.max, sum, len(c.entries), len(c.ring))
		}
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 5000 {
				key := keyOf((i*7 + g) % 900)
				e := c.find(key)
				if e == nil {
					e = c.add(key, &key.Text, i*i%3000)
				}
				if v, _ := e.load().(*string); v != nil && *v != key.Text {
					t.Errorf("%q is found as %q", key.Text, *v)
				}
				if i%50 == 0 {
					c.resize(e, i)
				}
				if i%100 == 0 {
					check()
				}
			}
		})
	}
	all.Wait()
	check()
}

// TestUsedStays: what is used again and again outlives what was used once.
func TestUsedStays(t *testing.T) {
	c := newCache(100 * (1000 + overhead))
	hot := c.add(Key{Text: "hot"}, new(int), 990)
	for i := range 10_000 {
		c.add(keyOf(i), new(int), 990)
		if hot.load() == nil {
			t.Fatalf("evicted after %d others", i)
		}
	}
	if c.find(keyOf(0)) != nil {
		t.Error("what was used once is still there")
	}
}

// TestTooLarge: a value that is larger than the cache is used and not kept, and evicts nothing.
func TestTooLarge(t *testing.T) {
	c := newCache(10_000)
	c.add(keyOf(1), new(int), 100)
	if e := c.add(keyOf(2), new(int), 20_000); e.load() == nil || c.find(keyOf(2)) != nil || c.find(keyOf(1)) == nil {
		t.Error("it cannot be used, is kept, or evicted another")
	}
}

// TestHandles: handles of one key share a value, and build it anew once it is evicted.
func TestHandles(t *testing.T) {
	var a, b Handle[int]
	built := 0
	build := func() (*int, int) { built++; return &built, 100 }
	key := Key{Kind: "handles", Text: t.Name()}
	if a.Get(key, build) != b.Get(key, build) || built != 1 || a.Peek() != b.Peek() {
		t.Errorf("built %d times", built)
	}
	shared.mu.Lock()
	for shared.bytes > 0 {
		shared.evict(0)
	}
	shared.mu.Unlock()
	if a.Peek() != nil || Bytes() != 0 {
		t.Error("it is still there")
	}
	if a.Get(key, build) == nil || b.Get(key, build) == nil || built != 2 {
		t.Errorf("built %d times", built)
	}
}
