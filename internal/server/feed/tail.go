// Package feed streams the engine's feed to many readers over HTTP. tail.go reads the end of the feed once
// for all readers. reader.go is one reader: it sends frames of an event stream at the pace of its client.
// replay.go bounds the memory of readers that are behind.
package feed

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// MaxItems and MaxBytes bound what the tail keeps, including the views of readers. The newest item is
	// kept whatever its size, so that it is read once for all.
	MaxItems = 1024
	MaxBytes = 1 << 20
	// Batch is how many items are read at a time; fewer if they are large.
	Batch = 64
)

// Item is an item of the feed with its texts.
type Item struct {
	store.FeedItem
	Frame []byte // as Tail's encoder writes it, for all readers

	tail  *Tail
	bytes int // approximate size; under the tail's lock

	mu   sync.Mutex
	view any
}

// View returns another form of the item. build computes it, with its size in bytes, once for all readers. If it
// fails, the next reader tries again.
func (it *Item) View(build func(*store.FeedItem) (view any, bytes int, err error)) (any, error) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.view != nil {
		return it.view, nil
	}
	view, bytes, err := build(&it.FeedItem)
	if err != nil {
		return nil, err
	}
	it.view = view
	it.tail.grown(it, bytes)
	return view, nil
}

// sizeOf is the approximate size of an item in bytes.
func sizeOf(item *store.FeedItem) (bytes int) {
	for i := range item.Records {
		n, _, _ := expr.Measure(item.Records[i].Data, math.MaxInt, expr.MaxDepth)
		bytes += n
	}
	return bytes
}

// Part is a part of the feed.
type Part struct {
	Items  []*Item
	Oldest int64 // see store.Feed
	Next   int64
	More   bool // there is more after Next
}

// Tail is the end of the feed, read once for all readers: readers that keep up share it, and cost the store
// nothing. Readers that are behind read the store.
type Tail struct {
	engine *engine.Engine
	encode func(*store.FeedItem) ([]byte, error)

	mu     sync.Mutex
	fresh  <-chan struct{} // closed when there may be more; nil: it was never read
	items  []*Item
	begin  int64 // items has everything after this position
	end    int64 // up to this one
	oldest int64
	bytes  int

	replays replays
	readers atomic.Int64
}

// NewTail returns the tail of an engine's feed. encode writes the frame of an item that most readers send.
func NewTail(e *engine.Engine, encode func(*store.FeedItem) ([]byte, error)) *Tail {
	return &Tail{engine: e, encode: encode}
}

// pause is the minimum time between two wake-ups of a reader.
func (t *Tail) pause() time.Duration {
	return min(time.Duration(t.readers.Load())*readerPause, longestPause)
}

// Position is the end of the feed.
func (t *Tail) Position(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.refresh(ctx, false)
	return t.end, err
}

// Kept returns how many items the tail keeps, and the position after which it has all of them.
func (t *Tail) Kept() (items int, begin int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.items), t.begin
}

// After reads the items after a position. force reads the store even if nothing changed here.
func (t *Tail) After(ctx context.Context, pos int64, force bool) (Part, error) {
	p, kept, err := t.kept(ctx, pos, force)
	if err != nil || kept {
		return p, err
	}
	return t.Stored(ctx, pos)
}

// kept reads the items after a position if the tail has them.
func (t *Tail) kept(ctx context.Context, pos int64, force bool) (out Part, kept bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx, force); err != nil || pos < t.begin {
		return Part{}, false, err
	}
	out = Part{Items: t.later(pos), Oldest: t.oldest, Next: t.end}
	if len(out.Items) > Batch {
		out.Items, out.More = out.Items[:Batch], true
		out.Next = out.Items[Batch-1].Pos
	}
	return out, true, nil
}

// Later returns the items after a position that the tail has, and whether these are all of them.
func (t *Tail) Later(ctx context.Context, pos int64) (items []*Item, whole bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx, true); err != nil || pos < t.begin {
		return nil, false, err
	}
	return t.later(pos), true, nil
}

// later is the part of the items after a position. The caller holds the lock.
func (t *Tail) later(pos int64) []*Item {
	i, _ := slices.BinarySearchFunc(t.items, pos+1, func(it *Item, pos int64) int { return cmp.Compare(it.Pos, pos) })
	return t.items[i:len(t.items):len(t.items)]
}

// refresh reads what is new. The caller holds the lock.
func (t *Tail) refresh(ctx context.Context, force bool) error {
	if t.fresh == nil {
		fresh := t.engine.Changes()
		end, err := t.engine.FeedEnd(ctx)
		if err != nil {
			return err
		}
		t.begin, t.end = end, end
		t.fresh = fresh
	}
	select {
	case <-t.fresh:
	default:
		if !force {
			return nil
		}
	}
	fresh := t.engine.Changes() // before reading, so that none is missed
	for {
		p, err := t.Stored(ctx, t.end)
		if err != nil {
			return err
		}
		t.keep(p)
		if !p.More {
			break
		}
	}
	t.fresh = fresh
	return nil
}

// keep adds to the tail, and drops what exceeds the bounds. Readers hold parts of
// the list, so it is never overwritten.
func (t *Tail) keep(p Part) {
	t.oldest = p.Oldest
	if p.Oldest > t.end { // the items in between are no longer kept
		t.items = nil
		t.bytes = 0
		t.begin = p.Oldest
	}
	t.end = max(t.end, p.Next, p.Oldest)
	list := make([]*Item, 0, len(t.items)+len(p.Items))
	list = append(append(list, t.items...), p.Items...)
	for _, it := range p.Items {
		t.bytes += it.bytes
	}
	t.items = list
	t.shrink()
}

// shrink drops what exceeds the bounds.
func (t *Tail) shrink() {
	drop := 0
	for len(t.items)-drop > MaxItems || t.bytes > MaxBytes && drop < len(t.items)-1 {
		t.bytes -= t.items[drop].bytes
		t.begin = t.items[drop].Pos
		drop++
	}
	if drop > 0 { // a slice of the old list would keep all of it in memory
		t.items = slices.Clone(t.items[drop:])
	}
}

// grown records that an item became larger.
func (t *Tail) grown(it *Item, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	it.bytes += bytes
	if it.Pos > t.begin && slices.Contains(t.items, it) {
		t.bytes += bytes
		t.shrink()
	}
}

// Stored reads the items after a position from the store.
func (t *Tail) Stored(ctx context.Context, after int64) (Part, error) {
	feed, err := t.engine.Feed(ctx, after, Batch)
	if err != nil {
		return Part{}, err
	}
	out := Part{Oldest: feed.Oldest, Next: feed.Next, More: feed.Next < feed.Last}
	for i := range feed.Items {
		it := &Item{FeedItem: feed.Items[i], tail: t}
		if it.Frame, err = t.encode(&it.FeedItem); err != nil {
			return Part{}, err
		}
		it.bytes = len(it.Frame) + sizeOf(&it.FeedItem)
		out.Items = append(out.Items, it)
	}
	return out, nil
}
