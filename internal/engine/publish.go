package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// publishBatch is how many items of the feed are read at a time; their events are on their way together
	// ("lifecycle-batch").
	publishBatch = 64
	// publishKnown is how many instances are in memory with what is needed for their events.
	publishKnown = 4096
)

// publishing is what the relay of lifecycle events remembers.
type publishing struct {
	programs  map[string]*Lifecycle // by digest
	instances map[string]published
}

// published is what the events of an instance need.
type published struct {
	lifecycle *Lifecycle // nil: it has none
	version   string
}

// LifecycleFigures tells what became of lifecycle events here; false: they are not published.
func (e *Engine) LifecycleFigures() (RelayFigures, bool) {
	if e.lifecycle == nil {
		return RelayFigures{}, false
	}
	return e.relayFigures(e.lifecycle), true
}

// lifecycleRelay publishes lifecycle events.
func (e *Engine) lifecycleRelay() *relay {
	p := &publishing{}
	r := &relay{name: "lifecycle", what: "lifecycle event", batch: publishBatch}
	r.begin = func() { *p = publishing{programs: map[string]*Lifecycle{}, instances: map[string]published{}} }
	r.pass = func(ctx context.Context, items []store.FeedItem) (bool, error) {
		queues := map[string][]event.Event{} // by instance: those of one are sent in order
		for i := range items {
			events, err := e.lifecycleOf(ctx, p, &items[i])
			if err != nil {
				return false, err
			}
			if len(events) > 0 {
				queues[items[i].Instance] = append(queues[items[i].Instance], events...)
			}
		}
		return len(queues) > 0, e.deliver(ctx, r, e.cfg.Lifecycle, queues)
	}
	return r
}

// lifecycleOf makes the events of an item of the feed. Their ids follow from its position.
func (e *Engine) lifecycleOf(ctx context.Context, p *publishing, item *store.FeedItem) ([]event.Event, error) {
	if len(item.Records) == 0 {
		return nil, nil
	}
	of, known := p.instances[item.Instance]
	if !known {
		var err error
		if of, err = e.publishedOf(ctx, p, item); err != nil {
			return nil, err
		}
		if len(p.instances) >= publishKnown {
			clear(p.instances)
		}
		p.instances[item.Instance] = of
	}
	if item.Status.Final() {
		delete(p.instances, item.Instance)
	}
	if of.lifecycle == nil {
		return nil, nil
	}
	events := of.lifecycle.Events(item.Instance, of.version, item.Records)
	for i := range events {
		events[i].ID = fmt.Sprintf("%s/%d.%d", item.Instance, item.Pos, i+1)
		events[i].Source = e.lifecycleSource() + item.Definition
	}
	return events, nil
}

// publishedOf finds what the events of an instance need. Of an instance that was deleted meanwhile only the
// definition is known: its current version is taken.
func (e *Engine) publishedOf(ctx context.Context, p *publishing, item *store.FeedItem) (published, error) {
	row, err := e.store.Instance(ctx, item.Instance)
	if errors.Is(err, store.ErrNotFound) {
		d, err := e.find(ctx, item.Definition, "")
		if missing := (*NotFoundError)(nil); errors.As(err, &missing) {
			return published{}, nil
		} else if err != nil {
			return published{}, err
		}
		row.Digest, row.Version = d.row.Digest, d.row.Version
	} else if err != nil && !errors.Is(err, store.ErrDamaged) {
		return published{}, fmt.Errorf("read instance %s: %w", item.Instance, err)
	}
	l, known := p.programs[row.Digest]
	if !known {
		prog, err := e.program(ctx, row.Digest)
		switch {
		case err == nil:
			l = NewLifecycle(prog.Program)
		case !unusable(err):
			return published{}, err
		default:
			e.report(fmt.Errorf("no lifecycle events of instance %s: %w", item.Instance, err))
			return published{}, nil
		}
		p.programs[row.Digest] = l
	}
	return published{l, row.Version}, nil
}

// unusable reports whether an error says that a program is not there, or cannot be used, now or later.
func unusable(err error) bool {
	beyond := (*UnloadableError)(nil)
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) || errors.As(err, &beyond)
}

// lifecycleSource begins the source of the lifecycle events of this namespace.
func (e *Engine) lifecycleSource() string { return "lockstep/" + e.cfg.Namespace + "/" }

// isLifecycle reports whether an event is one that this namespace published. It may come back by a stream
// that the sink and a source share; workflows do not get it.
func (e *Engine) isLifecycle(ev *event.Event) bool {
	return strings.HasPrefix(ev.Source, e.lifecycleSource()) &&
		(strings.HasPrefix(ev.Type, workflowEvents) || strings.HasPrefix(ev.Type, taskEvents))
}
