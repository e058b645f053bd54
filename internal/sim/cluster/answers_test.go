package cluster

import (
	"context"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// askedAs is the member of an answer that names the key of the call which it answers.
const askedAs = "askedAs"

// answerTo answers a call with its key.
func answerTo(c effect.Call) effect.Outcome {
	return effect.Outcome{Value: object(askedAs, expr.String(c.Key))}
}

// failureOf is a failure of a call, with its key.
func failureOf(c effect.Call, name string) effect.Outcome {
	return effect.Fail(effect.Failure{Name: name, Detail: askedAs + " " + c.Key})
}

// ownAnswer: what is recorded as the answer to a call answers that call, not one of another instance
// that had its id before.
func (l *ledger) ownAnswer(me life, r core.Record) {
	key, ok := "", false
	switch r.Type {
	case core.RecReturned:
		var v expr.Value
		v, ok = r.Data.Get(askedAs)
		key = v.Str()
	case core.RecCallFailed:
		key, ok = strings.CutPrefix(r.Fault.Detail, askedAs+" ")
	}
	if !ok {
		return
	}
	l.w.check(OwnAnswer)
	who, ours := strings.CutSuffix(key, "/"+r.Ticket.String())
	alone := who == me.id && !l.hadID(me)
	if !ours || !alone && who != me.id+"~"+strconv.FormatInt(int64(me.created), 36) {
		l.w.violate("call %s of instance %s, which was created at %s, gets the answer to call %s", r.Ticket, me.id, me.created, key)
	}
}

// hadID reports whether another instance had the id of one.
func (l *ledger) hadID(me life) bool {
	for _, o := range l.lives {
		if o.id == me.id && o != me {
			return true
		}
	}
	return false
}

// inboxes are the instances into whose inbox a node looked since it stored a step of theirs.
type inboxes map[string]bool

// commit stores a step of this node.
func (s *Session) commit(ctx context.Context, c store.Commit) error {
	id, waiting := c.Instance.ID, []store.Message(nil)
	if s.db.overtaken != nil && c.Instance.Rev > 0 {
		waiting, _ = s.db.Store.Messages(ctx, id)
	}
	err := s.db.commit(ctx, s.node, c, func(p int) int64 { return s.leases.epochs[p] })
	if err == nil {
		if len(waiting) > 0 {
			s.db.overtaken(id, len(waiting), s.looked[id])
		}
		delete(s.looked, id)
	}
	return err
}

// overtaken: what is in an inbox comes before what its instance is given otherwise. A step is stored only if
// whoever made it looked there, or if nothing is there.
func (l *ledger) overtaken(instance string, waiting int, looked bool) {
	if l.w.check(InboxFirst); !looked {
		l.w.violate("instance %s takes a step and nobody looked into its inbox, where %d messages wait", instance, waiting)
	}
}
