package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// asleep is an instance that waits for a time that no measurement lives to see.
const asleep = `id: asleep
version: "1.0"
name: asleep
states:
- name: Sleep
  type: delay
  start: {kind: default}
  timeDelay: PT2400H
  end: {kind: default}
`

// What instances wait for, by the definition that makes them do so.
var (
	forEvent = waiting("waiting")
	forTimer = asleep
	forCall  = calling("calling", 1)
)

// keyOf names the i-th instance: as its id, and as the key of the event that it waits for.
// All are of one length.
func keyOf(i int) string { return fmt.Sprintf("waits-%09d", i) }

const patternKey = "waits-999999999"

// deployed is an engine with definitions that is never polled.
func deployed(ctx context.Context, s store.Store, cfg engine.Config, definitions ...string) (*engine.Engine, error) {
	cfg.Store, cfg.Languages, cfg.OnError = s, languages.All(), complain
	e, err := engine.New(cfg)
	if err != nil {
		return nil, err
	}
	for _, text := range definitions {
		p, err := compile(text)
		if err != nil {
			return nil, err
		}
		if err := e.Deploy(ctx, p); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// started runs an engine until stop is called.
func started(ctx context.Context, e *engine.Engine) (stop func()) {
	running, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.Run(running) // it ends with its context only
	}()
	return func() { cancel(); <-ended }
}

// pattern is the commit with which an instance of a definition begins to wait.
func pattern(ctx context.Context, text string) (store.Commit, error) {
	rec := &recorder{Store: memory.New()}
	e, err := deployed(ctx, rec, engine.Config{}, text)
	if err != nil {
		return store.Commit{}, err
	}
	p, err := compile(text)
	if err != nil {
		return store.Commit{}, err
	}
	input := expr.Object(expr.Member{Key: "key", Value: expr.String(patternKey)})
	if _, err := e.Start(ctx, engine.StartRequest{Definition: p.ID, Input: input, ID: patternKey}); err != nil {
		return store.Commit{}, err
	}
	if len(rec.writes) != 1 || rec.writes[0].commit == nil {
		return store.Commit{}, fmt.Errorf("%s begins to wait with %d commits, not with one", p.ID, len(rec.writes))
	}
	return *rec.writes[0].commit, nil
}

// as is the pattern for another instance. Where the key stands in its state, it stands
// there by its length and its text: another of the same length can take its place.
func as(c store.Commit, i int) store.Commit {
	key := keyOf(i)
	c.Instance.ID = key
	if c.Instance.HasWake {
		c.Instance.Wake += core.Time(i) * 1000
	}
	c.Pages = slices.Clone(c.Pages)
	for k := range c.Pages {
		c.Pages[k].Data = bytes.ReplaceAll(c.Pages[k].Data, []byte(patternKey), []byte(key))
	}
	c.Subscribe = slices.Clone(c.Subscribe)
	for k := range c.Subscribe {
		s := &c.Subscribe[k]
		s.Instance = key
		s.Filter.Keys = slices.Clone(s.Filter.Keys)
		for j := range s.Filter.Keys {
			s.Filter.Keys[j].Value = key
		}
	}
	c.Calls = slices.Clone(c.Calls)
	for k := range c.Calls {
		c.Calls[k].Instance = key
	}
	return c
}

// fillers is how many commit side by side: so many share a transaction.
const fillers = 512

// fill makes n instances that wait, in turn for what each definition lets them wait for.
func fill(ctx context.Context, s store.Store, n int, definitions ...string) error {
	if _, err := deployed(ctx, s, engine.Config{}, definitions...); err != nil {
		return err
	}
	patterns := make([]store.Commit, len(definitions))
	for k, text := range definitions {
		var err error
		if patterns[k], err = pattern(ctx, text); err != nil {
			return err
		}
	}
	var next atomic.Int64
	errs := make([]error, fillers)
	var wg sync.WaitGroup
	for w := range fillers {
		wg.Go(func() {
			for errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				errs[w] = s.Commit(ctx, as(patterns[i%len(patterns)], i))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return checked(ctx, s)
}

// checked notes for all new subscriptions that no event waits for them, which an engine
// would do one by one.
func checked(ctx context.Context, s store.Store) error {
	for {
		ids, err := s.Unchecked(ctx, 10_000)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := s.Route(ctx, func(store.View) (store.Routing, error) { return store.Routing{Checked: ids}, nil }); err != nil {
			return err
		}
	}
}

// wakeUpCall is the event that the i-th instance waits for.
func wakeUpCall(i int) event.Event {
	ev := event.Event{ID: keyOf(i), Source: "bench", Type: "go"}
	ev.Put("key", expr.String(keyOf(i)))
	return ev
}
