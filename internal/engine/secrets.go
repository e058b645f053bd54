package engine

import (
	"context"
	"errors"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/redact"
)

// The secrets of an instance are in its memory and in what its calls are given, and nowhere else. In
// the pages of its state and in the arguments of its calls, references are stored in their place. What
// others read is redacted for good: the row, the records, and what events, other workflows and jobs
// are given. So only an instance can have a secret whose own definition lists it.

// noSecrets is the set of a definition that lists secrets where there are none.
var noSecrets = new(redact.Set)

// secretsOf is the set of a program; nil: its definition lists no secrets.
func (e *Engine) secretsOf(p *core.Program) *redact.Set {
	switch {
	case len(p.Secrets) == 0:
		return nil
	case e.cfg.Secrets == nil:
		return noSecrets
	}
	return e.cfg.Secrets(p.Secrets)
}

// sealer is for the pages of the instance.
func (l *live) sealer() core.Sealer {
	if l.secrets == nil {
		return nil
	}
	return l.secrets
}

// renewSecrets forgets a state in memory with secrets that have changed since: only with those that
// it has can they be found in it.
func (e *Engine) renewSecrets(l *live) {
	if l.loaded && l.row.Rev > 0 && l.secrets != nil && l.secrets != e.secretsOf(l.prog) {
		l.forget()
	}
}

// isNoSecret reports whether a state cannot be read because a secret is missing, which it is not to
// blame for.
func isNoSecret(err error) bool { return errors.As(err, new(*redact.MissingError)) }

// openStart puts back the secrets in what an instance was started with, as its state has it.
func (e *Engine) openStart(ctx context.Context, row Instance, start core.Start) (core.Start, error) {
	prog, err := e.program(ctx, row.Digest)
	if err != nil {
		return start, err
	}
	set := e.secretsOf(prog)
	if set == nil {
		return start, nil
	}
	if start.Data, err = set.Open(start.Data); err != nil {
		return start, err
	}
	for i := range start.Events {
		if start.Events[i].Value, err = set.Open(start.Events[i].Value); err != nil {
			return start, err
		}
	}
	return start, nil
}

// redact is a value for others.
func (l *live) redact(v expr.Value) expr.Value {
	if l.secrets == nil {
		return v
	}
	return l.secrets.Redact(v)
}

// redactRecord takes the secrets out of a record.
func (l *live) redactRecord(r *core.Record) {
	if l.secrets != nil {
		r.Data, r.Fault = l.secrets.Redact(r.Data), r.Fault.Redacted(l.secrets)
		if r.Type != core.RecControl && r.Type != core.RecTask { // their names are words of ours
			r.Name = l.secrets.Text(r.Name)
		}
		r.Text = l.secrets.Message(r.Text)
	}
}

// sent is a command without secrets but that of a call, whose arguments are sealed.
func (f *fold) sent(c core.Command) core.Command {
	s := f.l.secrets
	if s == nil {
		return c
	}
	switch c := c.(type) {
	case core.Invoke:
		if _, ok := f.e.delegates(&c.Function); ok {
			c.Args = s.Redact(c.Args)
		} else {
			c.Args = s.Seal(c.Args)
		}
		return c
	case core.Subscribe:
		keys := make([]core.Key, len(c.Keys))
		for i, k := range c.Keys {
			k.Value = s.Text(k.Value)
			keys[i] = k
		}
		c.Keys = keys
		return c
	case core.Spawn:
		c.Input = s.Redact(c.Input)
		return c
	case core.Emit:
		c.Source, c.Type, c.Data, c.Event = s.Text(c.Source), s.Text(c.Type), s.Redact(c.Data), s.Redact(c.Event)
		attrs := make([]expr.Member, len(c.Attrs))
		for i, a := range c.Attrs {
			attrs[i] = expr.Member{Key: a.Key, Value: s.Redact(a.Value)}
		}
		c.Attrs = attrs
		return c
	case core.Finish:
		c.Output, c.Fault = s.Redact(c.Output), c.Fault.Redacted(s)
		return c
	}
	return c
}
