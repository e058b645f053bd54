// Package feed brings what the engine's feed tells to many readers over HTTP. tail.go
// reads the end of the feed once for all of them, reader.go is one of them: it sends
// frames of an event stream at the pace of whoever reads it. replay.go bounds what those
// hold that read further back.
package feed

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// MaxItems and MaxBytes bound what the tail keeps, and what readers made of it. The
	// newest item is kept however large it is, so that one reads it for all.
	MaxItems = 1024
	MaxBytes = 1 << 20
	// Batch is how many items are read at a time; fewer where they are large.
	Batch = 64
)

// Item is an item of the feed with its texts.
type Item struct {
	store.FeedItem
	Text []byte // as Tail's encoder writes it

	tail  *Tail
	bytes int // about how large it is; under the tail's lock

	mu   sync.Mutex
	view any
}

// View makes something of the item that another encoding needs, once for all readers
// that share it, and says how many bytes it has. What failed is tried again by the next.
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

// sizeOf is about how many bytes an item has.
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
	More   bool // there is more behind Next
}

// Tail is the end of the feed, read once for all readers: those that keep up share it,
// and cost the store nothing. Who is behind it reads the store.
type Tail struct {
	engine *engine.Engine
	encode func(*store.FeedItem) ([]byte, error)

	mu     sync.Mutex
	fresh  <-chan struct{} // closed when there may be more; nil: it was never read
	items  []*Item
	begin  int64 // items has everything behind this position
	end    int64 // up to this one
	oldest int64
	bytes  int

	replays replays
}

// NewTail returns the tail of an engine's feed, whose items have the text that encode
// writes.
func NewTail(e *engine.Engine, encode func(*store.FeedItem) ([]byte, error)) *Tail {
	return &Tail{engine: e, encode: encode}
}

// Position is the end of the feed.
func (t *Tail) Position(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.refresh(ctx, false)
	return t.end, err
}

// Kept is how many items the tail keeps, and the position behind which it has all.
func (t *Tail) Kept() (items int, begin int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.items), t.begin
}

// After reads what came after a position. force looks into the store even if nothing
// happened here.
func (t *Tail) After(ctx context.Context, pos int64, force bool) (Part, error) {
	p, kept, err := t.kept(ctx, pos, force)
	if err != nil || kept {
		return p, err
	}
	return t.Stored(ctx, pos)
}

// kept reads what came after a position if the tail has it.
func (t *Tail) kept(ctx context.Context, pos int64, force bool) (out Part, kept bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx, force); err != nil || pos < t.begin {
		return Part{}, false, err
	}
	i := 0
	for i < len(t.items) && t.items[i].Pos <= pos {
		i++
	}
	out = Part{Items: t.items[i:len(t.items):len(t.items)], Oldest: t.oldest, Next: t.end}
	if len(out.Items) > Batch {
		out.Items, out.More = out.Items[:Batch], true
		out.Next = out.Items[Batch-1].Pos
	}
	return out, true, nil
}

// Later is what the tail has behind a position, up to the end of the feed. It is not whole
// where the tail does not reach back so far.
func (t *Tail) Later(ctx context.Context, pos int64) (items []*Item, whole bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx, true); err != nil || pos < t.begin {
		return nil, false, err
	}
	i := 0
	for i < len(t.items) && t.items[i].Pos <= pos {
		i++
	}
	return t.items[i:len(t.items):len(t.items)], true, nil
}

// refresh reads what is new. The caller holds the lock.
func (t *Tail) refresh(ctx context.Context, force bool) error {
	if t.fresh == nil {
		fresh := t.engine.Changes()
		end, err := t.engine.FeedEnd(ctx)
		if err != nil {
			return err
		}
		t.begin, t.end, t.fresh = end, end, fresh
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

// keep adds to the tail, and lets go of what is too much. Those who read hold parts of
// the list: it is never written over.
func (t *Tail) keep(p Part) {
	if t.oldest = p.Oldest; p.Oldest > t.end { // what lay between was forgotten
		t.items, t.bytes, t.begin = nil, 0, p.Oldest
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

// shrink lets go of what is too much.
func (t *Tail) shrink() {
	drop := 0
	for len(t.items)-drop > MaxItems || t.bytes > MaxBytes && drop < len(t.items)-1 {
		t.bytes -= t.items[drop].bytes
		t.begin = t.items[drop].Pos
		drop++
	}
	if drop > 0 { // a part of the list would hold on to all of it
		t.items = slices.Clone(t.items[drop:])
	}
}

// grown notes that an item got larger.
func (t *Tail) grown(it *Item, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	it.bytes += bytes
	if it.Pos > t.begin && slices.Contains(t.items, it) {
		t.bytes += bytes
		t.shrink()
	}
}

// Stored reads the store, whatever the tail has.
func (t *Tail) Stored(ctx context.Context, after int64) (Part, error) {
	feed, err := t.engine.Feed(ctx, after, Batch)
	if err != nil {
		return Part{}, err
	}
	out := Part{Oldest: feed.Oldest, Next: feed.Next, More: feed.Next < feed.Last}
	for i := range feed.Items {
		it := &Item{FeedItem: feed.Items[i], tail: t}
		if it.Text, err = t.encode(&it.FeedItem); err != nil {
			return Part{}, err
		}
		it.bytes = len(it.Text) + sizeOf(&it.FeedItem)
		out.Items = append(out.Items, it)
	}
	return out, nil
}
