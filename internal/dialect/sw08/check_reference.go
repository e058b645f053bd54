package sw08

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// resolve finds what a state refers to.
func (c *checker) resolve(s *state) {
	c.stateHandlers(s)
	for _, a := range s.actions() {
		c.action(a)
	}
	for _, e := range s.ways() {
		c.resolveExit(s, e)
	}
	for _, e := range s.onErrors {
		if e.retryRef != nil {
			e.retry = find(c, &c.retries, e.retryRef, codeNoRetry)
		}
		c.errorUses(e.errors)
	}
	if s.compensatedBy != nil {
		found := c.stateRef(s.compensatedBy, codeNoCompensator, "compensatedBy")
		s.undoneBy, s.undoLikely = found.exact, found.state()
		if s.undoneBy != nil {
			s.undoneBy.undoesOthers = true
		}
	}
	c.bodyReferences(s)
}

func (c *checker) bodyReferences(s *state) {
	switch b := s.body.(type) {
	case *eventState:
		for _, o := range b.onEvents {
			for _, u := range o.events {
				c.event(u, false)
			}
		}
	case *switchState:
		for _, k := range b.conditions {
			c.event(k.event, false)
		}
	case *parallelState:
		for _, br := range b.branches {
			c.subWorkflow(br.workflow)
		}
	case *subflowState:
		c.subWorkflow(b.workflow)
		if b.repeat != nil {
			for _, u := range b.repeat.stop {
				c.event(u, false)
			}
		}
	case *foreachState:
		c.subWorkflow(b.workflow)
	case *callbackState:
		c.event(b.event, false)
	}
}

func (c *checker) resolveExit(s *state, e exit) {
	if t := e.transition; t != nil {
		if t.next != nil && t.likely == nil { // a handler may serve several states
			found := c.stateRef(t.next, codeNoState, "transition")
			t.to, t.likely = found.exact, found.state()
		}
		if t.to != nil {
			t.to.incoming = append(t.to.incoming, incoming{s, t.next})
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

// stateRef finds a state by name, else by id; 0.9 has no ids.
func (c *checker) stateRef(n *dialect.Node, code, what string) match {
	byName, byID := c.states.Get(n.Text), c.ids.Get(n.Text)
	if c.w.form == form09 {
		byID = nil
	}
	switch {
	case byName != nil:
		if byID != nil && byID != byName {
			c.r.Warnf(n, codeAmbiguous, "%q is the name of one state and the id of another, %q; the name counts", n.Text, byID.nameText())
		}
		return match{exact: byName}
	case byID != nil:
		return match{exact: byID}
	}
	verb := what
	if what == "transition" {
		verb = "transition to"
	}
	d := c.r.Errorf(n, code, "%s %q: no such state", verb, n.Text)
	return match{near: c.states.Get(c.DidYouMean(d, n.Text, c.states.List()))}
}

// usable is a definition that knows whether it is used.
type usable interface {
	comparable
	def() *definition
}

// kinds are the keys under which definitions stand.
var kinds = map[string]string{
	"function": "functions", "event": "events", "retry": "retries", "error": "errors", "error handler": "errors",
	"error policy": "errors", "auth definition": "auth",
}

func (d *definition) def() *definition { return d }

// find resolves a reference by name. The likely target of one that dangles counts as used: one
// mistake is reported once.
func find[T usable](c *checker, in *dialect.Names[T], ref *dialect.Node, code string) T {
	var none T
	if one := in.Get(ref.Text); one != none {
		one.def().used = true
		return one
	}
	if c.w.absent[kinds[in.What]] { // one mistake is reported once
		return none
	}
	d := c.r.Errorf(ref, code, "no %s is named %q", in.What, ref.Text)
	if near := in.Get(c.DidYouMean(d, ref.Text, in.List())); near != none {
		near.def().used = true
	} else {
		dialect.ListNames(d, in.List())
	}
	return none
}

// event resolves a use of an event.
func (c *checker) event(u *eventUse, produced bool) {
	if u == nil || u.def != nil {
		return
	}
	if u.def = find(c, &c.events, u.node, codeNoEvent); u.def == nil {
		return
	}
	e := u.def
	if produced && !e.isProduced {
		e.isProduced = true
		if e.typ == nil {
			c.r.Errorf(e.node, codeMissing, "event %q needs \"type\"", e.name.Text).WithHint("an event that is sent must have a type")
		}
	}
	e.isConsumed = e.isConsumed || !produced
	if e.kindGiven && e.produced != produced || !e.kindGiven && produced && c.w.form != form09 && !u.kindless {
		kind, verb := "consumed", "produced"
		if !produced {
			kind, verb = "produced", "consumed"
		}
		c.r.Warnf(u.node, codeEventKind, "event %q is of kind %s, and %s here all the same", u.node.Text, kind, verb).
			WithHint("define it with kind: %s", verb)
	}
}

// eventKinds warns of definitions that match more than they seem to.
func (c *checker) eventKinds() {
	for _, e := range c.w.events {
		if !e.isConsumed && (e.isProduced || e.produced) {
			if len(e.correlation) > 0 {
				c.r.Warnf(e.node.Get("correlation").KeySpan(), codeIgnored, "correlation is for consumed events; on a produced one it is ignored").
					WithHint("give the event its attributes where it is produced, with contextAttributes")
			}
			continue
		}
		if c.w.form == form09 { // either is enough (0.9 §Event Definition)
			continue
		}
		if e.source == nil {
			c.r.Warnf(e.node, codeAnyEvent, "event %q has no \"source\": it matches events of any source", e.name.Text)
		}
		if e.typ == nil {
			c.r.Warnf(e.node, codeAnyEvent, "event %q has no \"type\": it matches events of any type", e.name.Text)
		}
	}
}

// action resolves what an action refers to; its handlers are resolved with those of its state.
func (c *checker) action(a *action) {
	if a.retryRef != nil {
		a.retry = find(c, &c.retries, a.retryRef, codeNoRetry)
		if len(a.retryable) == 0 { // all of them are retried
			for _, e := range c.w.errors {
				e.used = true
			}
		}
	}
	c.errorUses(a.retryable)
	c.errorUses(a.nonRetryable)
	switch {
	case a.call != nil:
		c.function(a.call)
	case a.trigger != nil:
		c.event(a.trigger.produce.event, true)
		c.event(a.trigger.result, false)
	case a.publish != nil:
		if e := a.publish.event; e != nil {
			e.kindless = true
			c.event(e, true)
		}
	case a.subscribe != nil:
		c.event(a.subscribe.event, false)
	case a.raise != nil:
		c.throw(a.raise)
	}
}

// function resolves a call. A name that is not defined may be in the server's catalogue, hence only a
// warning.
func (c *checker) function(k *call) {
	name := k.refName.Text
	k.def = c.functions.Get(name)
	if k.def == nil {
		c.unknownFunction(k)
		return
	}
	k.def.used = true
	k.inlineExpr = k.def.typ == typeExpression
	switch {
	case k.def.typ == typeGraphQL && k.selection == nil:
		c.r.Errorf(k.node, codeMissing, "the call of %q needs \"selectionSet\": the function is of type graphql", name)
	case k.def.typ != typeGraphQL && k.selection != nil:
		c.r.Warnf(k.selection.node.KeySpan(), codeIgnored, "selectionSet is for functions of type graphql; here it is ignored")
	}
	if _, ok := ir.JobWorkflow(k.def.operation.Literal()); ok {
		var arguments *dialect.Node
		if k.arguments != nil {
			arguments = k.arguments.node
		}
		jobs(c.r, &c.Hinter).Arguments(k.refName, name, arguments)
	}
}

func (c *checker) unknownFunction(k *call) {
	name := k.refName.Text
	c.w.unknown = append(c.w.unknown, name)
	if c.catalogue[name] || c.w.absent["functions"] {
		return
	}
	d := c.r.Warnf(k.refName, codeNoFunction, "function %q is not defined here; the server's catalogue must have it", name)
	if near := c.functions.Get(c.DidYouMean(d, name, c.callable)); near != nil {
		near.used = true
	}
}

// authentication resolves what functions authenticate with.
func (c *checker) authentication() {
	for _, f := range c.w.functions {
		if f.authRef != nil {
			f.auth = find(c, &c.auths, f.authRef, codeNoAuth)
		}
		if f.docAuth != nil && find(c, &c.auths, f.docAuth, codeNoAuth) != nil {
			c.r.Warnf(f.docAuth, codeAuth, "authRef is for fetching the document of the operation, which is done without it")
		}
	}
}

// subWorkflow refuses a workflow that runs itself (0.6 §Parallel State: Branch).
func (c *checker) subWorkflow(n *dialect.Node) {
	if n != nil && c.w.id != nil && n.Text == c.w.id.Text {
		c.r.Errorf(n, codeOwnWorkflow, "workflowId %q is this workflow itself", n.Text)
	}
}

// neverMatches reports whether the code of an error is one that only SonataFlow understands: the name of a class
// of Java, or a pattern for a message.
func neverMatches(code string) bool {
	if strings.HasPrefix(code, "HTTP:") {
		return false
	}
	return strings.Contains(code, ".") && !strings.Contains(code, " ") && strings.Trim(code, "0123456789.") != "" ||
		strings.ContainsAny(code, "*+?[](){}|^\\")
}
