package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// The instances of a paused definition are held one by one, each when it has something to do: its row is marked,
// and the lists of work leave it out from then on. So pausing writes one row however many instances there are, and
// each of them costs one more write at most. Resuming finds the marked ones by definition and gives them what
// waited for them.

// policyPause is how often a node of a shared store looks whether another one changed a policy.
const policyPause = core.Time(250 * time.Millisecond)

// errHeld says that an answer was not applied because the definition is paused.
var errHeld = errors.New("the definition is paused")

// followPolicies reads what other nodes decided, every now and then.
func (e *Engine) followPolicies(ctx context.Context, now core.Time, work store.Glance) error {
	if e.shared == nil || work.Deployments >= 0 && e.deployedAt(work.Deployments) || now >= e.cluster.policies && now < e.cluster.policies+policyPause {
		return nil
	}
	e.cluster.policies = now
	return e.upToDate(ctx)
}

// hold marks an instance whose definition is paused, and puts the answers to its calls into its inbox. Where the
// instance has secrets, answers are not stored: errHeld says to keep them in memory. What a caller
// asks for is left in extra.
func (e *Engine) hold(ctx context.Context, l *live, extra *[]input) error {
	return e.undecided(func() error {
		if !e.holds(l.row.Definition) { // it was resumed meanwhile
			return fmt.Errorf("hold instance %s: %w", l.id, store.ErrConflict)
		}
		return e.holdNow(ctx, l, extra)
	})
}

func (e *Engine) holdNow(ctx context.Context, l *live, extra *[]input) error {
	e.mu.Lock()
	c := store.Commit{Instance: l.row, Deployed: e.cluster.deployments}
	e.mu.Unlock()
	c.Instance.Held = true
	asked := false
	for _, in := range *extra {
		switch {
		case in.call == 0:
			asked = true
		case l.secrets == nil:
			c.Messages = append(c.Messages, store.Message{To: l.id, At: in.at, Input: in.in})
			c.Answered = append(c.Answered, in.call)
		}
	}
	if !l.row.Held && !asked || len(c.Messages) > 0 {
		if err := e.store.Commit(ctx, c); err != nil {
			l.forget()
			if e.outdated(ctx, err) {
				err = store.ErrConflict // it may not be paused any more
			}
			return fmt.Errorf("hold instance %s: %w", l.id, err)
		}
		e.stored.Add(1)
		l.row = c.Instance
		l.row.Rev++
		for _, t := range c.Answered {
			e.calls.done(callKey(l.id, t), c.Instance.Created)
		}
	}
	kept := false
	*extra = slices.DeleteFunc(*extra, func(in input) bool {
		stored := in.call != 0 && l.secrets == nil
		if stored && in.taken != nil {
			*in.taken = true
		}
		kept = kept || in.call != 0 && !stored
		return in.call != 0
	})
	if kept {
		return errHeld
	}
	return nil
}

// released are instances that are held though their definition is not paused any more. Once there are none, the
// policy says so.
func (e *Engine) released(ctx context.Context, _ core.Time, limit int) ([]task, error) {
	if e.releases.Load() == 0 {
		return nil, nil
	}
	e.mu.Lock()
	var definitions []string
	for id, p := range e.policies {
		if p.Release {
			definitions = append(definitions, id)
		}
	}
	e.mu.Unlock()
	slices.Sort(definitions)
	var out []task
	for _, definition := range definitions {
		ids, err := e.store.Held(ctx, definition, limit)
		if err != nil {
			return nil, fmt.Errorf("read held instances: %w", err)
		}
		for _, id := range ids {
			if e.has(id) {
				out = append(out, e.instanceTask(id, nil))
			}
		}
		if len(ids) == 0 {
			out = append(out, task{key: taskKey{kind: "release", id: definition}, do: func(ctx context.Context) error {
				return e.decide(ctx, definition, func(p *policy) (bool, error) {
					done := p.Release && p.Paused == nil
					p.Release = false
					return done, nil
				})
			}})
		}
	}
	return out, nil
}

// holdsCall reports whether a call must not begin because the definition of its instance is paused, and which
// that is.
func (e *Engine) holdsCall(c *call) (definition string, holds bool) {
	if e.paused.Load() == 0 {
		return "", false
	}
	row, ok := e.live.idleRow(c.row.Instance)
	if !ok {
		var err error
		if row, err = e.store.Instance(context.Background(), c.row.Instance); err != nil {
			return "", false // the call finds out itself
		}
	}
	return row.Definition, e.holds(row.Definition)
}

// shelve takes a call out of those that may begin until its definition is resumed.
func (t *callTable) shelve(c *call, definition string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flying--
	t.queue.landed(c)
	t.shelf(c, definition)
}

// shelveAnswer keeps the answer to a call until its definition is resumed.
func (t *callTable) shelveAnswer(c *call, definition string, reply core.Reply, at core.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live(c) {
		delete(t.held, c.key)
		c.reply, c.due, c.answered = reply, at, true
		t.shelf(c, definition)
	}
}

func (t *callTable) shelf(c *call, definition string) {
	if t.shelves == nil {
		t.shelves = map[string][]*call{}
	}
	c.shelved = true
	t.shelves[definition] = append(t.shelves[definition], c)
}

// unshelve lets the calls of a definition begin, and their answers count.
func (t *callTable) unshelve(definition string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.shelves[definition] {
		c.shelved = false
		switch {
		case !t.live(c):
		case c.answered:
			t.held[c.key] = c
		default:
			t.queue.push(c)
		}
	}
	delete(t.shelves, definition)
}

// unshelveResumed does the same for what other nodes resumed.
func (e *Engine) unshelveResumed() {
	e.calls.mu.Lock()
	var definitions []string
	for definition := range e.calls.shelves {
		definitions = append(definitions, definition)
	}
	e.calls.mu.Unlock()
	slices.Sort(definitions)
	for _, definition := range definitions {
		if !e.holds(definition) {
			e.calls.unshelve(definition)
		}
	}
}

// keepAnswer keeps an answer that must not be stored until the definition is resumed. A process that ends
// before makes the call again.
func (e *Engine) keepAnswer(c *call, reply core.Reply, at core.Time) {
	row, err := e.store.Instance(context.Background(), c.row.Instance)
	if err != nil || !e.holds(row.Definition) {
		e.calls.hold(c, reply, e.now()+core.Time(retryAnswer))
		e.wakeUp()
		return
	}
	e.calls.shelveAnswer(c, row.Definition, reply, at)
}

// keepAnswers does the same for answers that were held before.
func (e *Engine) keepAnswers(id string, answers []input) {
	for _, in := range answers {
		e.calls.mu.Lock()
		c := e.calls.all[callKey(id, in.call)]
		e.calls.mu.Unlock()
		if c != nil {
			e.keepAnswer(c, in.in.(core.Reply), in.at)
		}
	}
}

// findCalls queues the calls of an instance that was held: a process that began meanwhile does not know them.
func (e *Engine) findCalls(ctx context.Context, id string) {
	calls, err := e.store.Calls(ctx, id)
	if err = e.withoutDamage(ctx, err); err != nil {
		e.report(fmt.Errorf("instance %s: %w", id, err))
		return
	}
	e.enqueue(calls)
	e.beginCalls()
}
