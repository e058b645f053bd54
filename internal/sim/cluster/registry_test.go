package cluster

import (
	"errors"

	"github.com/anishathalye/porcupine"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// registry is what clients did to the definition brief and saw of it: it is there or it is not.
type registry struct {
	l   *ledger
	ops []*deployment
}

// deployment is one thing that was done to it: start, deploy or undeploy.
type deployment struct {
	what         string
	client       int
	began, ended int64 // 0: no answer
	answer       deployed
}

// deployed is what an answer says.
type deployed int

const (
	nobodyKnows deployed = iota
	done
	isThere
	isNotThere
)

// begin notes that something is asked for; what it returns, how that ended.
func (r *registry) begin(c *client, what string) func(p *process, err error) {
	if c.act.What != "brief" {
		return func(*process, error) {}
	}
	op := &deployment{what: what, client: c.number, began: r.l.tick()}
	r.ops = append(r.ops, op)
	return func(p *process, err error) {
		var missing *engine.NotFoundError
		var used *store.InUseError
		switch {
		case p.dead:
			return
		case err == nil:
			op.answer = done
		case errors.As(err, &missing):
			op.answer = isNotThere
		case errors.As(err, &used):
			op.answer = isThere
		default:
			return
		}
		op.ended = r.l.tick()
	}
}

func (r *registry) deploy(c *client, p *process) error {
	done := r.begin(c, "deploy")
	err := p.engine.Deploy(p.ctx, programs()[c.act.What])
	done(p, err)
	return err
}

func (r *registry) undeploy(c *client, p *process) error {
	done := r.begin(c, "undeploy")
	err := p.engine.DeleteDefinition(p.ctx, c.act.What, "")
	done(p, err)
	return err
}

// linear: there is an order in which deployments, deletions and starts explain what they were told.
func (r *registry) linear() error {
	var ops []porcupine.Operation
	for _, op := range r.ops {
		if op.answer == nobodyKnows && op.what == "start" {
			continue
		}
		ended := op.ended
		if ended == 0 {
			ended = r.l.tick()
		}
		ops = append(ops, porcupine.Operation{ClientId: op.client, Input: op, Call: op.began, Output: op, Return: ended})
	}
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{true} },
		Step: func(state, _, output any) []any {
			there, op := state.(bool), output.(*deployment)
			after := op.what == "deploy"
			switch {
			case op.answer == isThere && !there, op.answer == isNotThere && there, op.what == "start" && op.answer == done && !there:
				return nil
			case op.answer == nobodyKnows:
				return []any{there, after}
			case op.answer == done && op.what != "start":
				return []any{after}
			}
			return []any{there}
		},
	}
	if len(ops) > 0 {
		r.l.w.check(LinearRegistry)
	}
	if !porcupine.CheckOperations(model.ToModel(), ops) {
		text := "no order of these explains whether brief is deployed:"
		for _, op := range r.ops {
			text += op.String()
		}
		return errors.New(text)
	}
	return nil
}
