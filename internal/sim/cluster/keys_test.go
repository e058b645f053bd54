package cluster

import (
	"errors"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// start starts an instance under a key. Where others use the key with another input, one of them gets it.
func (c *client) start(p *process) error {
	a, l := c.act, &c.w.ledger
	done := l.registry.begin(c, "start")
	id, again, err := p.engine.StartOnce(p.ctx, engine.StartRequest{Definition: a.What, Input: a.Input}, c.key())
	if !again {
		done(p, err)
	}
	if !p.dead {
		l.keyed(id, c.key(), a.Input, err)
	}
	if err == nil && !p.dead {
		l.start(c.key(), id)
	}
	return err
}

// keyed: a key stands for one input. Another one is refused, and nothing else is.
func (l *ledger) keyed(id, key string, input expr.Value, err error) {
	var conflict *engine.KeyConflictError
	if refused := errors.As(err, &conflict); refused {
		id = conflict.ID
	} else if err != nil {
		return
	}
	same, others := l.inputs(id, input)
	if others > 0 {
		l.w.check(OneInput)
	}
	switch {
	case conflict != nil && others == 0:
		l.w.violate("key %s is refused for its input, and instance %s has no other", key, id)
	case conflict == nil && same == 0 && others > 0:
		l.w.violate("key %s is of instance %s, which was started with another input than %s", key, id, input.AppendJSON(nil))
	}
}

// inputs counts those who had an id and were started with an input, and those with others.
func (l *ledger) inputs(id string, input expr.Value) (same, others int) {
	if input.IsNull() {
		input = expr.EmptyObject
	}
	for _, me := range l.lives {
		if me.id != id {
			continue
		}
		if had, ok := startInput(l.history[me]); ok && expr.Equal(had, input) {
			same++
		} else if ok {
			others++
		}
	}
	return same, others
}

// startInput is what an instance was started with, if it took its start.
func startInput(records []core.Record) (expr.Value, bool) {
	for _, r := range records {
		if r.Type == core.RecStarted {
			return r.Data, true
		}
	}
	return expr.Null, false
}

// restart starts an instance like another one.
func (c *client) restart(p *process) error {
	l := &c.w.ledger
	first := l.started[c.act.What]
	if first == "" {
		return &notYet{"it has not been started"}
	}
	id, _, err := p.engine.Restart(p.ctx, first, engine.RestartRequest{Key: c.key()})
	if err == nil && !p.dead {
		l.start(c.key(), id)
		l.restarted(first, id)
	}
	return err
}

// restarted: an instance that repeats another has its input.
func (l *ledger) restarted(first, id string) {
	for _, me := range l.lives {
		had, ok := startInput(l.history[me])
		if me.id != id || !ok {
			continue
		}
		l.w.check(SameInput)
		if same, others := l.inputs(first, had); same == 0 && others > 0 {
			l.w.violate("instance %s repeats %s, and was started with another input: %s", id, first, had.AppendJSON(nil))
		}
	}
}
