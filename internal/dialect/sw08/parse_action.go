package sw08

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// actions reads actionMode and actions; ref is where they stand.
func (p *parser) actions(f *dialect.Fields, ref string, required bool) actions {
	mode, _ := f.ChoiceFold("actionMode", "sequential", "parallel")
	out := p.actionList(f, ref, required)
	out.parallel = mode == "parallel"
	return out
}

func (p *parser) actionList(f *dialect.Fields, ref string, required bool) actions {
	list, given := f.List("actions")
	switch n := f.Peek("actions"); {
	case !given && required:
		f.Missing("actions")
	case n.Is(expr.KindArray) && len(list) == 0 && f.What != onEventsEntry:
		p.Warnf(n, codeNothing, "%s has no actions: it does nothing", f.What)
	}
	var out actions
	for i, n := range list {
		if a := p.action(n, fmt.Sprintf("%s/actions/%d", ref, i)); a != nil {
			out.list = append(out.list, a)
		}
	}
	return out
}

// workKeys are what an action can do.
var workKeys = []string{"functionRef", "eventRef", "subFlowRef", "publish", "subscribe", "errorRef"}

// action reads an action (0.8 §Action Definition).
func (p *parser) action(n *dialect.Node, ref string) *action {
	f := p.Fields(n, "an action")
	if f == nil {
		return nil
	}
	a := &action{node: n, name: f.Str("name"), ref: ref}
	f.Called(a.name)
	p.dnsName(a.name)
	if p.nine && f.Peek("name") == nil {
		f.Missing("name")
	}
	f.Get("id")
	p.work(f, a)
	a.condition = p.condition(f.Get("condition"))
	if s := p.Fields(f.Get("sleep"), "sleep"); s != nil {
		a.before, a.after = p.duration(s.Get("before")), p.duration(s.Get("after"))
		s.Done()
		if s.Peek("before") == nil && s.Peek("after") == nil {
			p.Warnf(s.Node.KeySpan(), codeNothing, "sleep has neither \"before\" nor \"after\"")
		}
	}
	a.timeout = p.timeout(f.Get("timeout"))
	p.actionFilter(a, f.Get("actionDataFilter"))
	p.actionErrors(f, a)
	p.era(f, form06, form06, "timeout")
	p.era(f, form07, form09, "sleep", "subFlowRef")
	p.era(f, form07, form08, "retryRef", "retryableErrors", "nonRetryableErrors")
	p.era(f, form06, form08, "eventRef")
	p.era(f, form08, form09, "condition")
	p.era(f, form09, form09, "publish", "subscribe", "errorRef", "onErrors")
	f.Done()
	return a
}

// work reads what an action does: exactly one thing.
func (p *parser) work(f *dialect.Fields, a *action) {
	var first *dialect.Node
	for _, key := range workKeys {
		n := f.Get(key)
		if n == nil {
			continue
		}
		if first != nil {
			f.Both(first, n)
			continue
		}
		first = n
		switch key {
		case "functionRef":
			a.call = p.functionRef(n)
		case "eventRef":
			a.trigger = p.eventRef(n)
		case "subFlowRef":
			a.flow = p.subFlowRef(n)
		case "publish":
			a.publish = p.publish(n)
		case "subscribe":
			a.subscribe = p.subscribe(n)
		case "errorRef":
			a.raise = p.throw(n)
		}
	}
	if first == nil {
		p.Errorf(f.Node.KeySpan(), codeMissing, "%s needs \"functionRef\", \"eventRef\" or \"subFlowRef\"", f.What)
	}
}

func (p *parser) actionErrors(f *dialect.Fields, a *action) {
	a.retryRef = f.OptionalName("retryRef")
	a.retryable = p.errorUses(f, "retryableErrors")
	a.nonRetryable = p.errorUses(f, "nonRetryableErrors")
	a.policyRef, a.handlers = p.handlerList(f.Get("onErrors"))
}

// actionFilter reads an action data filter (0.8 §Action data filters).
func (p *parser) actionFilter(a *action, n *dialect.Node) {
	f := p.Fields(n, "actionDataFilter")
	if f == nil {
		return
	}
	a.from = p.query(f.Get("fromStateData"))
	use, at := p.flag(f, "useResults", true)
	a.drop = !use
	a.results = p.query(f.Get("results"))
	a.to = p.target(f.Get("toStateData"))
	p.era(f, form08, form09, "useResults")
	f.Done()
	if a.drop && (a.results != nil || a.to != nil) {
		p.Warnf(at.KeySpan(), codeIgnored, "with useResults: false, results and toStateData are ignored")
	}
}

// functionRef reads a call (0.8 §FunctionRef Definition). parameters is what the text of 0.6 to 0.8 calls
// arguments in some places.
func (p *parser) functionRef(n *dialect.Node) *call {
	c := &call{node: n}
	if n.Kind == expr.KindString {
		if c.refName = p.NonEmpty(n, "functionRef"); c.refName == nil {
			return nil
		}
		p.bodyInScope(c.refName)
		return c
	}
	f := p.Fields(n, "functionRef")
	if f == nil {
		return nil
	}
	c.refName = f.Name("refName")
	arguments, parameters := f.Get("arguments"), f.Get("parameters")
	if arguments != nil && parameters != nil {
		f.Both(arguments, parameters)
	} else if arguments == nil {
		arguments = parameters
	}
	c.arguments = p.arguments(arguments)
	c.selection = p.template(f.Str("selectionSet"))
	c.async = p.invoke(f)
	p.era(f, form07, form09, "selectionSet")
	f.Done()
	if c.refName == nil {
		return nil
	}
	p.bodyInScope(c.refName)
	return c
}

// bodyInScope checks the variables of an expression function where it is called.
func (p *parser) bodyInScope(name *dialect.Node) {
	if fn := p.named[name.Text]; fn != nil && fn.body != nil {
		p.inScope(fn, name)
	}
}

// arguments reads what is given to a function: an object, or (SonataFlow) a text that is an expression which
// gives it.
func (p *parser) arguments(n *dialect.Node) *expression {
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindObject, n.Kind == expr.KindArray:
		return p.argument(n)
	case n.Kind == expr.KindString:
		if p.bare == nil && !p.holdsExpression(n.Text) {
			p.bare = n
		}
		return p.query(n)
	}
	p.Expected(n, n.Name(), "an object, or an expression that gives one")
	return nil
}

// invoke reads whether nobody waits for the result.
func (p *parser) invoke(f *dialect.Fields) bool {
	word, _ := f.ChoiceFold("invoke", "sync", "async")
	p.era(f, form08, form09, "invoke")
	return word == "async"
}

// eventRef reads an event that is produced and one that is waited for (0.8 §EventRef Definition).
func (p *parser) eventRef(n *dialect.Node) *trigger {
	f := p.Fields(n, "eventRef")
	if f == nil {
		return nil
	}
	produce, result := p.eventRefKeys(f)
	t := &trigger{produce: p.produced(f, produce), result: useOf(f.OptionalName(result))}
	t.timeout = p.timeout(f.Get("resultEventTimeout"))
	t.async = p.invoke(f)
	p.era(f, form08, form09, "resultEventTimeout")
	f.Done()
	if t.result == nil && !t.async && f.Peek(result) == nil {
		p.Warnf(f.Node.KeySpan(), codeExpected, "eventRef has no \"resultEventRef\": the event is produced, and nothing is waited for")
	}
	return t
}

// eventRefKeys are the names of the two events; an example of 0.9 has others.
func (p *parser) eventRefKeys(f *dialect.Fields) (produce, consume string) {
	produce, consume = "triggerEventRef", "resultEventRef"
	f.Allow(produce, consume, "produceEventRef", "consumeEventRef")
	if f.Peek(produce) == nil && f.Peek("produceEventRef") != nil {
		produce = "produceEventRef"
	}
	if f.Peek(consume) == nil && f.Peek("consumeEventRef") != nil {
		consume = "consumeEventRef"
	}
	p.era(f, form09, form09, "produceEventRef", "consumeEventRef")
	return produce, consume
}

// publish reads the first half of an eventRef in 0.9 (§Publish Definition).
func (p *parser) publish(n *dialect.Node) *produced {
	f := p.Fields(n, "publish")
	if f == nil {
		return nil
	}
	one := p.produced(f, "event")
	f.Done()
	return &one
}

func (p *parser) subscribe(n *dialect.Node) *subscribe {
	f := p.Fields(n, "subscribe")
	if f == nil {
		return nil
	}
	s := &subscribe{event: useOf(f.Name("event")), timeout: p.timeout(f.Get("timeout"))}
	f.Done()
	return s
}

// subFlowRef reads a workflow that is run (0.8 §SubFlowRef Definition).
func (p *parser) subFlowRef(n *dialect.Node) *flow {
	out := &flow{node: n}
	if n.Kind == expr.KindString {
		out.workflow = p.workflowID(p.NonEmpty(n, "subFlowRef"))
		return out
	}
	f := p.Fields(n, "subFlowRef")
	if f == nil {
		return nil
	}
	out.workflow = p.workflowID(f.Name("workflowId"))
	out.version = f.Literal("version")
	out.async = p.invoke(f)
	word, _ := f.Choice("onParentComplete", "terminate", "continue")
	out.outlives = word == "continue"
	p.era(f, form08, form09, "onParentComplete")
	f.Done()
	return out
}

func (p *parser) workflowID(n *dialect.Node) *dialect.Node {
	return p.plain(n, "workflowId", "which definition is meant never depends on data")
}

// useOf returns a reference to an event, nil where its name is not there.
func useOf(n *dialect.Node) *eventUse {
	if n == nil {
		return nil
	}
	return &eventUse{node: n}
}
