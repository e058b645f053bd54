package server

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/graph"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// drawingBytes is how many bytes of drawings are kept ("drawing-cache").
const drawingBytes = 64 << 20

// draw draws a program, until ctx ends.
func draw(ctx context.Context, p *ir.Program, format string) ([]byte, error) {
	var b bytes.Buffer
	if err := graph.WriteUntil(ctx.Err, &b, graph.FromProgram(p), format); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: draw %s: %w", errInternal, p.ID, err)
	}
	return b.Bytes(), nil
}

type drawingKey struct{ digest, format string }

// drawings caches drawings of definitions, which never change: one for each content and format. The zero
// value is ready to use.
type drawings struct {
	mu      sync.Mutex
	kept    map[drawingKey]*list.Element // of *drawing
	order   list.List                    // least recently used first
	bytes   int
	drawing map[drawingKey]chan struct{} // closed when it is done
}

type drawing struct {
	key  drawingKey
	data []byte
}

// get returns a drawing. Concurrent callers for one key wait for the first, and draw themselves if it
// failed.
func (d *drawings) get(ctx context.Context, key drawingKey, draw func() ([]byte, error)) ([]byte, error) {
	for {
		d.mu.Lock()
		if e := d.kept[key]; e != nil {
			d.order.MoveToBack(e)
			d.mu.Unlock()
			return e.Value.(*drawing).data, nil
		}
		done := d.drawing[key]
		if done == nil {
			break // with the lock
		}
		d.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if d.drawing == nil {
		d.kept, d.drawing = map[drawingKey]*list.Element{}, map[drawingKey]chan struct{}{}
	}
	done := make(chan struct{})
	d.drawing[key] = done
	d.mu.Unlock()
	var data []byte
	var err error
	defer func() { // also when it panics
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.drawing, key)
		close(done)
		if err == nil && data != nil {
			d.keep(&drawing{key, data})
		}
	}()
	data, err = draw()
	return data, err
}

// keep puts a drawing into the cache. The caller holds the lock.
func (d *drawings) keep(one *drawing) {
	if len(one.data) > drawingBytes/2 {
		return // too large to cache
	}
	d.kept[one.key] = d.order.PushBack(one)
	d.bytes += len(one.data)
	for d.bytes > drawingBytes {
		old := d.order.Remove(d.order.Front()).(*drawing)
		delete(d.kept, old.key)
		d.bytes -= len(old.data)
	}
}
