package sw05

import (
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// resolve finds what a state refers to.
func (c *checker) resolve(s *state) {
	for _, e := range s.ways() {
		c.resolveExit(s, e)
	}
	for _, e := range s.onErrors {
		if e.retryRef != nil {
			e.retry = find(c, &c.retries, e.retryRef, codeNoRetry)
		}
	}
	if s.compensatedBy != nil {
		found := c.stateRef(s.scope, s.compensatedBy, codeNoCompensator, "compensatedBy")
		s.undoneBy, s.undoLikely = found.exact, found.state()
		if s.undoneBy != nil {
			s.undoneBy.undoesOthers = true
		}
	}
	switch b := s.body.(type) {
	case *eventState:
		for _, o := range b.onEvents {
			for _, u := range o.events {
				c.event(u, false)
			}
			c.actions(o.actions.list)
		}
	case *operationState:
		c.actions(b.actions.list)
	case *switchState:
		for _, k := range b.conditions {
			c.event(k.event, false)
		}
	case *parallelState:
		for _, br := range b.branches {
			c.actions(br.actions.list)
			c.subWorkflow(br.workflow)
		}
	case *subflowState:
		c.subWorkflow(b.workflow)
	case *foreachState:
		c.actions(b.actions.list)
		c.subWorkflow(b.workflow)
	case *callbackState:
		c.actions([]*action{b.action})
		c.event(b.event, false)
	}
}

func (c *checker) resolveExit(s *state, e exit) {
	if t := e.transition; t != nil {
		if t.next != nil {
			found := c.stateRef(s.scope, t.next, codeNoState, "transition")
			t.to, t.likely = found.exact, found.state()
			if t.to != nil {
				t.to.incoming = append(t.to.incoming, incoming{s, t.next})
			}
		}
		for _, p := range t.produce {
			c.event(p.event, true)
		}
	}
	if e.end != nil {
		for _, p := range e.end.produce {
			c.event(p.event, true)
		}
	}
}

// match is the state a reference means, or the one it most likely should.
type match struct{ exact, near *state }

func (m match) state() *state {
	if m.exact != nil {
		return m.exact
	}
	return m.near
}

// stateRef finds a state by name, else by id (0.5 §Transitions). Transitions stay inside of a branch or an
// iteration, and outside of others (0.1 §Parallel State: Branch, §ForEach State).
func (c *checker) stateRef(in *scope, n *dialect.Node, code, what string) match {
	byName, byID := in.byName.Get(n.Text), in.byID.Get(n.Text)
	switch {
	case byName != nil:
		if byID != nil && byID != byName {
			c.r.Warnf(n, codeAmbiguous, "%q is the name of one state and the id of another, %q; the name counts", n.Text, byID.nameText())
		}
		return match{exact: byName}
	case byID != nil:
		return match{exact: byID}
	}
	verb := "transition to"
	if code == codeNoCompensator {
		verb = what
	}
	if other := c.elsewhere(n.Text); other != nil {
		c.r.Errorf(n, codeNoState, "transition to %q: that state is in %s, and this is %s; transitions stay inside", n.Text, other.title(), in.title()).
			WithHint("end here, and go on from the state around it")
		return match{near: in.start} // what it was meant to be cannot be
	}
	d := c.r.Errorf(n, code, "%s %q: no such state", verb, n.Text)
	return match{near: in.byName.Get(c.DidYouMean(d, n.Text, in.byName.List()))}
}

// usable is a definition that knows whether it is used.
type usable interface {
	comparable
	use()
}

func (d *definition) use() { d.used = true }

// keys are where definitions stand.
var keys = map[string]string{"function": "functions", "event": "events", "retry": "retries"}

// find resolves a reference by name. The likely target of one that dangles counts as
// used: one mistake is reported once.
func find[T usable](c *checker, in *dialect.Names[T], ref *dialect.Node, code string) T {
	var none T
	if one := in.Get(ref.Text); one != none {
		one.use()
		return one
	}
	if c.w.absent[keys[in.What]] { // one mistake is reported once
		return none
	}
	d := c.r.Errorf(ref, code, "no %s is named %q", in.What, ref.Text)
	if near := in.Get(c.DidYouMean(d, ref.Text, in.List())); near != none {
		near.use()
	} else {
		dialect.ListNames(d, in.List())
	}
	return none
}

// event resolves a use of an event and checks that its kind allows it
// (0.5 §Event Definition: kind).
func (c *checker) event(u *eventUse, produced bool) {
	if u == nil {
		return
	}
	u.def = find(c, &c.events, u.node, codeNoEvent)
	if u.def != nil {
		u.def.sends, u.def.waits = u.def.sends || produced, u.def.waits || !produced
	}
	if u.def == nil || u.def.unsure || u.def.either || u.def.produced == produced {
		return
	}
	is, verb, want := "produced", "consumed", "consumed"
	if produced {
		is, verb, want = "consumed", "produced", "produced"
	}
	c.r.Errorf(u.node, codeEventKind, "event %q is of kind %s, and cannot be %s here", u.node.Text, is, verb).
		WithHint("define it with kind: %s", want)
}

func (c *checker) actions(list []*action) {
	for _, a := range list {
		if a == nil {
			continue
		}
		if a.call != nil {
			c.function(a.call)
		}
		if a.trigger != nil {
			c.event(a.trigger.produce.event, true)
			c.event(a.trigger.result, false)
		}
	}
}

// function resolves a call. A name that is not defined may be in the server's
// catalogue, hence only a warning.
func (c *checker) function(k *call) {
	name := k.refName.Text
	k.def = c.functions.Get(name)
	if k.def != nil {
		k.def.used = true
		c.job(k)
		return
	}
	if c.catalogue[name] || c.w.absent["functions"] {
		return
	}
	d := c.r.Warnf(k.refName, codeNoFunction, "function %q is not defined here; the server's catalogue must have it", name)
	if near := c.functions.Get(c.DidYouMean(d, name, c.callable)); near != nil {
		near.used = true
	}
}

// job checks the arguments of a call that creates a job.
func (c *checker) job(k *call) {
	if _, ok := ir.JobWorkflow(k.def.operation.Literal()); !ok {
		return
	}
	var parameters *dialect.Node
	if k.parameters != nil {
		parameters = k.parameters.node
	}
	jobs(c.r, &c.Hinter).Arguments(k.refName, k.refName.Text, parameters)
}

// jobs checks functions that create jobs.
func jobs(r *dialect.Reporter, h *dialect.Hinter) dialect.JobCheck {
	return dialect.JobCheck{
		Report: r, Hints: h, BadName: codeJobName, BadArguments: codeJobArguments, Unknown: codeJobUnknown,
		Expression: hasExpression,
	}
}

// subWorkflow refuses a workflow that runs itself (0.5 §Parallel State: Branch,
// §ForEach State).
func (c *checker) subWorkflow(n *dialect.Node) {
	if n != nil && c.w.id != nil && n.Text == c.w.id.Text {
		c.r.Errorf(n, codeOwnWorkflow, "workflowId %q is this workflow itself", n.Text)
	}
}
