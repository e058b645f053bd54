package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// onesMeasured is how many things are measured at a point of a curve.
const onesMeasured = 200

// costOfOnes is what one of so many things costs on average, one at a time.
func costOfOnes(ctx context.Context, db database, count int, one func(ctx context.Context, i int64) error) (oneCost, error) {
	for i := range count / 4 { // caches and prepared statements
		if err := one(ctx, int64(count+i)); err != nil {
			return nil, err
		}
	}
	before, err := db.Traffic(ctx)
	if err != nil {
		return nil, err
	}
	counted, used := db.Counters(), ownCPU()
	for i := range count {
		if err := one(ctx, int64(i)); err != nil {
			return nil, err
		}
	}
	took, now := ownCPU()-used, db.Counters()
	after, err := db.Traffic(ctx)
	mean := func(n int64) float64 { return float64(n) / float64(count) }
	return oneCost{
		{"µs of CPU", mean(took.Nanoseconds()) / 1e3},
		{"statements", mean(now.Statements + now.Queries - counted.Statements - counted.Queries)},
		{"pages looked at", mean(after.Seen - before.Seen)},
		{"pages written", mean(after.Written - before.Written)},
	}, err
}

// costOfW1 is that of W1 on an engine with a definition of it.
func costOfW1(ctx context.Context, db database, e *engine.Engine, name string, payload, count int) (oneCost, error) {
	defer started(ctx, e)()
	w := &whole{Engine: e, name: name, load: load{payload: payload}, payload: expr.String(noise(payload))}
	return costOfOnes(ctx, db, count, w.one)
}

// onNew calls do with a new database.
func onNew(do func(database) error) error {
	dir, remove, err := workDir()
	if err != nil {
		return err
	}
	defer remove()
	db, err := openDatabase(dir)
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
}

func calls(ctx context.Context, db database, definitions ...string) (*engine.Engine, error) {
	return deployed(ctx, db.store, engine.Config{Invoker: effect.Func(constant)}, definitions...)
}

func amongKept(ctx context.Context, points []int, report func(int, oneCost)) error {
	return onNew(func(db database) error {
		l := load{definition: calling("w1", 1)}
		rec := &recorder{Store: db.store}
		b, err := newRunner(ctx, rec, l)
		if err != nil {
			return err
		}
		err = b.one(ctx, 0)
		b.stop()
		if err != nil {
			return err
		}
		writes, kept := slices.Clone(rec.writes), 0
		for _, n := range points {
			_, err := batchOf(ctx, fillers, n-kept, func(ctx context.Context, i int) error {
				return replay(ctx, db.store, writes, "kept-", int64(kept+i))
			})
			if err != nil {
				return err
			}
			kept = n
			e, err := calls(ctx, db, l.definition)
			if err != nil {
				return err
			}
			c, err := costOfW1(ctx, db, e, "w1", 0, onesMeasured)
			if err != nil {
				return err
			}
			list, err := costOfOnes(ctx, db, onesMeasured, func(ctx context.Context, _ int64) error {
				_, err := db.store.Instances(ctx, store.Query{Definition: "w1", Newest: true, Limit: 10})
				return err
			})
			if err != nil {
				return err
			}
			report(n, append(c, costOf{"pages of a list", list[2].value}))
		}
		return nil
	})
}

func amongWaiting(ctx context.Context, points []int, report func(int, oneCost)) error {
	for _, n := range points {
		err := onNew(func(db database) error {
			if err := fill(ctx, db.store, n, forEvent, forTimer); err != nil {
				return err
			}
			e, err := deployed(ctx, db.store, engine.Config{})
			if err != nil {
				return err
			}
			if _, err := e.Poll(ctx); err != nil {
				return err
			}
			used := ownCPU()
			c, err := costOfEvents(ctx, db, e, n)
			took := ownCPU() - used
			report(n, oneCost{
				{"µs of CPU", float64(took.Microseconds()) / eventsMeasured}, {"statements", c.Statements}, {"pages looked at", c.Pages}, {"pages written", c.Written},
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func ofTasks(ctx context.Context, points []int, report func(int, oneCost)) error {
	for _, n := range points {
		err := onNew(func(db database) error {
			// The first task is the last one that runs.
			text := strings.Replace(pure10("tasks", n), "do:\n", "do:\n- call: {call: f, then: end}\n", 1)
			e, err := calls(ctx, db, text)
			if err != nil {
				return err
			}
			c, err := costOfW1(ctx, db, e, "tasks", 0, onesMeasured)
			report(n, c)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func ofPayload(ctx context.Context, points []int, report func(int, oneCost)) error {
	for _, n := range points {
		err := onNew(func(db database) error {
			e, err := calls(ctx, db, calling("w1", 1))
			if err != nil {
				return err
			}
			c, err := costOfW1(ctx, db, e, "w1", n, onesMeasured/4)
			report(n, c)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// again is an instance that takes one event after the other, without end.
const again = `id: again
version: "1.0"
name: again
events:
- {name: go, source: bench, type: go, kind: consumed}
states:
- name: Begin
  type: inject
  start: {kind: default}
  data: {waits: true}
  transition: {nextState: Wait}
- name: Wait
  type: event
  onEvents:
  - eventRefs: [go]
    actions: []
  transition: {nextState: Wait}
`

func afterEvents(ctx context.Context, points []int, report func(int, oneCost)) error {
	return onNew(func(db database) error {
		e, err := deployed(ctx, db.store, engine.Config{}, again)
		if err != nil {
			return err
		}
		defer started(ctx, e)()
		if _, err := e.Start(ctx, engine.StartRequest{Definition: "again", Input: expr.EmptyObject}); err != nil {
			return err
		}
		taken := 0
		one := func(ctx context.Context, _ int64) error {
			taken++
			return sendTo(ctx, e, event.Event{ID: fmt.Sprint(taken), Source: "bench", Type: "go"})
		}
		for _, n := range points {
			for taken < n {
				if err := one(ctx, 0); err != nil {
					return err
				}
			}
			c, err := costOfOnes(ctx, db, onesMeasured, one)
			if err != nil {
				return err
			}
			report(n, c)
		}
		return nil
	})
}

// sendTo sends an event that one instance must get.
func sendTo(ctx context.Context, e *engine.Engine, ev event.Event) error {
	sent, err := e.Send(ctx, ev)
	if err == nil && len(sent.Matched)+len(sent.Started) != 1 {
		err = fmt.Errorf("event %s reached %d instances, not one: %v", ev.ID, len(sent.Matched)+len(sent.Started), sent.Why)
	}
	return err
}

// deployMore deploys definitions from the from-th to the one before the to-th.
func deployMore(ctx context.Context, e *engine.Engine, from, to int, text func(i int) string) error {
	for i := from; i < to; i++ {
		p, err := compile(text(i))
		if err != nil {
			return err
		}
		if err := e.Deploy(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func amongDefinitions(ctx context.Context, points []int, report func(int, oneCost)) error {
	return onNew(func(db database) error {
		e, err := calls(ctx, db)
		if err != nil {
			return err
		}
		have := 0
		for _, n := range points {
			if err := deployMore(ctx, e, have, n, func(i int) string { return calling(fmt.Sprintf("w1-%d", i), 1) }); err != nil {
				return err
			}
			have = n
			c, err := costOfW1(ctx, db, e, "w1-0", 0, onesMeasured)
			if err != nil {
				return err
			}
			report(n, c)
		}
		return nil
	})
}

// startedBy is a definition that events of a type start.
func startedBy(i int) string {
	return fmt.Sprintf(strings.Replace(head10, "do:\n", "schedule: {on: {one: {with: {type: t%[2]d}}}}\ndo:\n- done: {set: {ok: true}}\n", 1), fmt.Sprint("on-", i), i)
}

func amongSubscriptions(ctx context.Context, points []int, report func(int, oneCost)) error {
	return onNew(func(db database) error {
		e, err := deployed(ctx, db.store, engine.Config{})
		if err != nil {
			return err
		}
		defer started(ctx, e)()
		have := 0
		for _, n := range points {
			if err := deployMore(ctx, e, have, n, startedBy); err != nil {
				return err
			}
			have = n
			c, err := costOfOnes(ctx, db, onesMeasured, func(ctx context.Context, i int64) error {
				return sendTo(ctx, e, event.Event{ID: fmt.Sprint(time.Now().UnixNano()), Source: "bench", Type: fmt.Sprintf("t%d", int(i)%have)})
			})
			if err != nil {
				return err
			}
			report(n, c)
		}
		return nil
	})
}
