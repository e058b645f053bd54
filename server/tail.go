package server

import (
	"bytes"
	"context"
	"sync"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/store"
)

const (
	// tailItems and tailBytes bound what the tail keeps.
	tailItems = 1024
	tailBytes = 1 << 20
	// tailBatch is how many changes are read at a time.
	tailBatch = 64
)

// change is an item of the feed as streams send it.
type change struct {
	pos        int64
	instance   string
	definition string
	status     core.Status
	text       []byte // a StreamChange, as JSON
}

// part is a part of the feed.
type part struct {
	changes []change
	oldest  int64 // see store.Feed
	next    int64
}

// tail is the end of the feed, read once for all streams: those that keep up share it,
// and cost the store nothing. Who is behind it reads the store.
type tail struct {
	engine *engine.Engine

	mu      sync.Mutex
	fresh   <-chan struct{} // closed when there may be more; nil: it was never read
	changes []change
	begin   int64 // changes has everything behind this position
	end     int64 // up to this one
	oldest  int64
	bytes   int
}

// position is the end of the feed.
func (t *tail) position(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.refresh(ctx, false)
	return t.end, err
}

// after reads what came after a position. force looks into the store even if nothing
// happened here.
func (t *tail) after(ctx context.Context, pos int64, force bool) (part, error) {
	t.mu.Lock()
	err := t.refresh(ctx, force)
	if err != nil || pos < t.begin {
		t.mu.Unlock()
		if err != nil {
			return part{}, err
		}
		return readPart(ctx, t.engine, pos)
	}
	defer t.mu.Unlock()
	i := 0
	for i < len(t.changes) && t.changes[i].pos <= pos {
		i++
	}
	out := part{changes: t.changes[i:len(t.changes):len(t.changes)], oldest: t.oldest, next: t.end}
	if len(out.changes) > tailBatch {
		out.changes = out.changes[:tailBatch]
		out.next = out.changes[tailBatch-1].pos
	}
	return out, nil
}

// refresh reads what is new. The caller holds the lock.
func (t *tail) refresh(ctx context.Context, force bool) error {
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
		p, err := readPart(ctx, t.engine, t.end)
		if err != nil {
			return err
		}
		t.keep(p)
		if len(p.changes) < tailBatch {
			break
		}
	}
	t.fresh = fresh
	return nil
}

// keep adds to the tail, and lets go of what is too much. Those who read hold parts of
// the list: it is never written over.
func (t *tail) keep(p part) {
	if t.oldest = p.oldest; p.oldest > t.end { // what lay between was forgotten
		t.changes, t.bytes, t.begin = nil, 0, p.oldest
	}
	t.end = max(t.end, p.next, p.oldest)
	list := make([]change, 0, len(t.changes)+len(p.changes))
	list = append(append(list, t.changes...), p.changes...)
	for _, c := range p.changes {
		t.bytes += len(c.text)
	}
	drop := 0
	for len(list)-drop > tailItems || t.bytes > tailBytes && drop < len(list) {
		t.bytes -= len(list[drop].text)
		t.begin = list[drop].pos
		drop++
	}
	t.changes = list[drop:]
}

// readPart reads the store.
func readPart(ctx context.Context, e *engine.Engine, after int64) (part, error) {
	feed, err := e.Feed(ctx, after, tailBatch)
	if err != nil {
		return part{}, err
	}
	out := part{oldest: feed.Oldest, next: feed.Next}
	for i := range feed.Items {
		c, err := encodeChange(&feed.Items[i])
		if err != nil {
			return part{}, err
		}
		out.changes = append(out.changes, c)
	}
	return out, nil
}

func encodeChange(item *store.FeedItem) (change, error) {
	text, err := encode(viewChange(item))
	return change{item.Pos, item.Instance, item.Definition, item.Status, bytes.TrimSpace(text)}, err
}
