package sw05

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// state reads what all types of states share, then the body of its type
// (003 §State Definition).
func (p *parser) state(n *dialect.Node, index int) *state {
	f := p.fields(n, "state")
	if f == nil {
		return nil
	}
	s := &state{node: n, index: index, name: f.name("name"), id: f.optionalName("id")}
	if s.name != nil {
		f.what = fmt.Sprintf("state %q", s.name.Text)
	}
	s.typ = p.stateType(f)
	s.start = p.start(f)
	if filter := p.fields(f.get("stateDataFilter"), "stateDataFilter"); filter != nil {
		s.input = p.path(filter.get("dataInputPath"), "dataInputPath")
		s.output = p.path(filter.get("dataOutputPath"), "dataOutputPath")
		filter.done()
	}
	s.inputSchema = p.schema(f, "dataInputSchema")
	s.outputSchema = p.schema(f, "dataOutputSchema")
	errors, _ := f.list("onErrors")
	for _, e := range errors {
		if one := p.onError(e); one != nil {
			s.onErrors = append(s.onErrors, one)
		}
	}
	s.compensatedBy = f.optionalName("compensatedBy")
	s.compensation, _ = f.flag("usedForCompensation", false)
	s.metadata = f.get("metadata")
	if s.typ == typeSwitch {
		p.noStateExit(f)
		s.hasExit = true
	} else {
		s.exit = p.exit(f)
		s.hasExit = !n.Get("transition").IsNull() || !n.Get("end").IsNull()
	}
	s.body = p.body(f, s.typ)
	if s.typ != "" { // else nobody knows what belongs there
		f.done()
	}
	return s
}

func (p *parser) stateType(f *fields) string {
	n := f.name("type")
	if n == nil {
		return ""
	}
	if slices.Contains(stateTypes, n.Text) {
		return n.Text
	}
	p.DidYouMean(p.r.Errorf(n, codeStateType, "unknown state type %q", n.Text), n.Text, stateTypes)
	return dialect.Suggest(n.Text, stateTypes) // read on as what it was meant to be
}

// noStateExit refuses transition and end on a switch (003 §End Definition: a
// switch is never an end state).
func (p *parser) noStateExit(f *fields) {
	for _, key := range []string{"transition", "end"} {
		if n := f.get(key); n != nil {
			p.r.Errorf(n.KeySpan(), codeOutOfPlace, "%s is a switch: it has no %s of its own", f.what, key).
				WithHint("put it into its conditions or its default")
		}
	}
}

// onError reads an error definition (003 §Error Definition).
func (p *parser) onError(n *dialect.Node) *onError {
	f := p.fields(n, "error definition")
	if f == nil {
		return nil
	}
	e := &onError{node: n, error: f.name("error"), code: f.literal("code"), retryRef: f.optionalName("retryRef")}
	if e.error != nil {
		f.what = fmt.Sprintf("error definition %q", e.error.Text)
	}
	e.exit = p.needExit(f)
	f.done()
	return e
}

// body reads what belongs to one type of states.
func (p *parser) body(f *fields, typ string) body {
	switch typ {
	case typeEvent:
		return p.eventState(f)
	case typeOperation:
		return &operationState{p.actions(f, true)}
	case typeSwitch:
		return p.switchState(f)
	case typeDelay:
		return &delayState{p.duration(f.need("timeDelay"))}
	case typeParallel:
		return p.parallelState(f)
	case typeSubflow:
		return p.subflowState(f)
	case typeInject:
		return p.injectState(f)
	case typeForeach:
		return p.foreachState(f)
	case typeCallback:
		return p.callbackState(f)
	}
	return nil
}

// eventState reads 003 §Event State.
func (p *parser) eventState(f *fields) *eventState {
	s := &eventState{}
	s.exclusive, _ = f.flag("exclusive", true)
	for _, n := range f.needList("onEvents") {
		o := p.fields(n, "onEvents entry")
		if o == nil {
			continue
		}
		one := &onEvents{node: n}
		for _, ref := range o.needList("eventRefs") {
			if p.is(ref, expr.KindString, "an event reference") && p.nonEmpty(ref, "an event reference") != nil {
				one.events = append(one.events, use(ref))
			}
		}
		one.filter = p.eventFilter(o)
		one.actions = p.actions(o, false)
		o.done()
		s.onEvents = append(s.onEvents, one)
	}
	s.timeout = p.duration(f.get("timeout"))
	return s
}

// eventFilter reads an event data filter. 003 spells its key in two ways, and
// people in a third: they are one (SEMANTICS §Data filters 4).
func (p *parser) eventFilter(f *fields) *path {
	filter := p.fields(f.get("eventDataFilter"), "eventDataFilter")
	if filter == nil {
		return nil
	}
	var first *path
	for _, key := range []string{"dataOutputPath", "dataInputPath", "inputPath"} {
		one := p.path(filter.get(key), key)
		switch {
		case one == nil:
		case first == nil:
			first = one
		case one.src != first.src:
			p.r.Errorf(later(one.node, first.node), codeTwoFilters, "%s and %s mean the same filter, but differ: %s and %s",
				first.node.Name(), one.node.Name(), first.src, one.src)
		}
	}
	filter.done()
	return first
}

// switchState reads 003 §Switch State.
func (p *parser) switchState(f *fields) *switchState {
	f.either("dataConditions", "eventConditions")
	s := &switchState{onEvents: !f.node.Get("eventConditions").IsNull()}
	data := p.conditions(f, "dataConditions", func(c *fields, one *condition) {
		one.when = p.path(c.need("condition"), "condition")
	})
	events := p.conditions(f, "eventConditions", func(c *fields, one *condition) {
		one.event = use(c.name("eventRef"))
		one.filter = p.eventFilter(c)
	})
	s.conditions = append(data, events...)
	s.timeout = p.duration(f.get("eventTimeout"))
	timeout := f.node.Get("eventTimeout")
	switch {
	case s.onEvents && timeout.IsNull():
		f.missing("eventTimeout").WithHint("it says how long to wait for the events before the default is taken")
	case !s.onEvents && !timeout.IsNull():
		p.r.Warnf(timeout.KeySpan(), codeIgnored, "eventTimeout is for eventConditions; with dataConditions it is ignored")
	}
	if d := p.fields(f.need("default"), "default"); d != nil {
		s.otherwise = p.needExit(d)
		d.done()
	}
	return s
}

func (p *parser) conditions(f *fields, key string, read func(*fields, *condition)) []*condition {
	var out []*condition
	list, _ := f.list(key)
	if n := f.node.Get(key); n.Is(expr.KindArray) && len(list) == 0 {
		p.r.Errorf(n, codeEmpty, "%s must not be empty", key)
	}
	for _, n := range list {
		c := p.fields(n, "condition")
		if c == nil {
			continue
		}
		one := &condition{node: n, name: c.str("name")}
		read(c, one)
		one.exit = p.needExit(c)
		c.get("metadata")
		c.done()
		out = append(out, one)
	}
	return out
}

// callbackState reads 003 §Callback State.
func (p *parser) callbackState(f *fields) *callbackState {
	return &callbackState{
		action:  p.action(f.need("action")),
		event:   use(f.name("eventRef")),
		filter:  p.eventFilter(f),
		timeout: p.duration(f.need("timeout")),
	}
}

// use returns a reference to an event, nil where its name is not there.
func use(n *dialect.Node) *eventUse {
	if n == nil {
		return nil
	}
	return &eventUse{node: n}
}
