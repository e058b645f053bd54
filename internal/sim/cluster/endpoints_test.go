package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/sim"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// endpoints are the functions that workflows call. Who gets a call again, under the same key,
// answers the same.
type endpoints struct {
	w     *world
	mocks *mock.Invoker
	known map[string]answered // by key
	calls int
	first []sim.Call     // of each key, in order
	tried map[string]int // calls of retry.f and fragile.f, by instance

	repeated int // calls that came again
}

type answered struct {
	args string
	out  effect.Outcome
}

func (x *endpoints) init(w *world) {
	x.w, x.known, x.tried = w, map[string]answered{}, map[string]int{}
	if w.c.Oracle != nil {
		x.mocks = mock.New(w.c.Oracle.Answers(), nil)
	}
}

// invoke answers a call of a process.
func (x *endpoints) invoke(p *process, c effect.Call) effect.Outcome {
	w := x.w
	if p.dead {
		return effect.Fail(effect.Failure{Name: effect.Unnamed})
	}
	x.calls++
	w.tell(p.n.name, "endpoint", "%s %s", c.Function, c.Key)
	ticket := c.Key[strings.LastIndexByte(c.Key, '/')+1:]
	w.check(DecidedCall)
	if !w.ledger.decided[c.Instance+"/"+ticket] && !w.decidedUnheard(c.Instance, ticket) {
		w.violate("call %s of %s is made, and no commit has decided on it", c.Key, c.Function)
	}
	if !p.session.Leased() {
		w.violate("node %s makes call %s, and its lease is over", p.n.name, c.Key)
	}
	if w.disk == nil {
		w.check(OwnCall)
	}
	if !x.claims(p, c.Instance, ticket) {
		w.violate("node %s makes call %s, which is another's to make", p.n.name, c.Key)
	}
	args := c.Function + string(c.Args.AppendJSON(nil))
	known, again := x.known[c.Key]
	if again {
		w.check(SameCall)
	}
	switch {
	case again && known.args != args:
		w.violate("key %s is of two calls: %s and %s", c.Key, known.args, args)
	case again && w.calm() && !known.out.Parked: // another node may be able to carry out what this one was not
		w.violate("call %s is made twice, and nothing went wrong", c.Key)
	case again:
		return x.second(c, known.out)
	}
	out := x.harmed(c, x.answer(c))
	x.known[c.Key] = answered{args, out}
	if !fixedFunction(c.Function) {
		x.first = append(x.first, sim.Call{At: w.since(), Function: c.Function, Args: c.Args})
	}
	return out
}

// loops reports whether a generated loop ends by what a function answers at last: who does not hear that goes
// on for ever.
func loops(function string) bool { return strings.Contains(function, ".loop") }

// second is the answer to a call that comes again: often the same.
func (x *endpoints) second(c effect.Call, out effect.Outcome) effect.Outcome {
	x.repeated++
	for _, f := range x.w.c.Faults {
		if f.Kind != FaultAgain || f.Op != x.repeated || out.Parked || loops(c.Function) {
			continue
		}
		x.w.faults[f.Kind]++
		x.w.tell("endpoint", "endpoint", "answers otherwise")
		x.w.ledger.broken[c.Instance] = true
		switch {
		case out.Failure != nil:
			return answerTo(c)
		case fixedFunction(c.Function) && f.For%2 == 0: // likewise, but for the data
			out.Value = out.Value.With("again", expr.Int(int64(x.repeated)))
			return out
		}
		return failureOf(c, effect.Unnamed)
	}
	return out
}

// harmed is an answer after what goes wrong with it.
func (x *endpoints) harmed(c effect.Call, out effect.Outcome) effect.Outcome {
	for _, f := range x.w.c.Faults {
		if f.Op != len(x.known)+1 || f.Kind != FaultHang && (f.Kind != FaultBreak || loops(c.Function)) {
			continue
		}
		x.w.faults[f.Kind]++
		x.w.tell("endpoint", "endpoint", "%s for %s", f.Kind, f.For)
		if f.Kind == FaultHang {
			out.Delay += f.For
			continue
		}
		out = failureOf(c, effect.Unnamed)
		x.w.ledger.broken[c.Instance] = true
	}
	return out
}

// decidedUnheard reports whether a call is in the store though nobody heard of its commit: the
// process was gone before.
func (w *world) decidedUnheard(instance, ticket string) bool {
	if w.disk == nil {
		return false
	}
	calls, _ := w.db.Store.Calls(context.Background(), instance)
	return slices.ContainsFunc(calls, func(c store.Call) bool { return c.Ticket.String() == ticket })
}

// claims reports whether a process has the part of an open call.
func (x *endpoints) claims(p *process, instance, ticket string) bool {
	calls, _ := x.w.db.Store.Calls(context.Background(), instance)
	i := slices.IndexFunc(calls, func(c store.Call) bool { return c.Ticket.String() == ticket })
	return i < 0 || p.session.leases.held(partOfCall(&calls[i]))
}

func fixedFunction(name string) bool {
	return slices.Contains([]string{"timer.f", "retry.f", "fragile.f", "question.f", "slow.f"}, name)
}

// answer answers a call that comes for the first time, those of the fixed definitions with its key.
func (x *endpoints) answer(c effect.Call) effect.Outcome {
	out := answerTo(c)
	switch c.Function {
	case "timer.f":
		if out.Delay = 300 * time.Millisecond; len(x.known)%2 == 0 {
			out.Delay = 2 * time.Second // several heartbeats
		}
	case "slow.f":
		out.Delay = time.Duration(1+len(x.known)%3) * time.Second
	case "question.f":
		return effect.Outcome{Parked: true}
	case "fragile.f":
		if x.tried[c.Instance]++; x.tried[c.Instance] < 3 {
			return failureOf(c, "Broken")
		}
	case "retry.f":
		if x.tried[c.Instance]++; x.tried[c.Instance] < 3 {
			return failureOf(c, "Busy")
		}
	default:
		return x.mocks.Invoke(context.Background(), c)
	}
	return out
}
