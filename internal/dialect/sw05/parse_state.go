package sw05

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// state reads what all types of states share, then the body of its type
// (0.5 §State Definition).
func (p *parser) state(n *dialect.Node) *state {
	f := p.Fields(n, "a state")
	if f == nil {
		return nil
	}
	s := &state{node: n, name: f.Name("name"), id: f.OptionalName("id")}
	f.Called(s.name)
	s.typ = p.stateType(f)
	s.start = p.start(f)
	if filter := p.Fields(f.Get("stateDataFilter"), "stateDataFilter"); filter != nil {
		s.input = p.path(filter.Get("dataInputPath"))
		s.output = p.path(filter.Get("dataOutputPath"))
		filter.Done()
	}
	s.inputSchema = p.schema(f, "dataInputSchema")
	s.outputSchema = p.schema(f, "dataOutputSchema")
	if p.form.before05() {
		p.stateErrors(f, s)
	} else {
		errors, _ := f.List("onErrors")
		s.onErrors = dialect.Each(errors, p.onError)
		s.compensatedBy = f.OptionalName("compensatedBy")
		s.compensation, _ = f.Flag("usedForCompensation", false)
	}
	s.metadata = f.Get("metadata")
	if s.typ == typeSwitch {
		p.noStateExit(f)
		s.hasExit = true
	} else {
		s.exit = p.exit(f)
		s.hasExit = f.Peek("transition") != nil || f.Peek("end") != nil
	}
	s.body = p.body(f, s.typ)
	if s.typ != "" { // else nobody knows what belongs there
		f.Done()
	}
	return s
}

func (p *parser) stateType(f *dialect.Fields) string {
	n := f.Name("type")
	if n == nil {
		return ""
	}
	if slices.Contains(stateTypes, n.Text) && !p.form.before05() {
		return n.Text
	}
	if p.form.before05() {
		return p.stateTypeBefore05(n)
	}
	// Read on as what it was meant to be.
	return p.DidYouMean(p.Errorf(n, codeStateType, "unknown state type %q", n.Text), n.Text, stateTypes)
}

// noStateExit refuses transition and end on a switch (0.5 §End Definition: a
// switch is never an end state).
func (p *parser) noStateExit(f *dialect.Fields) {
	for _, key := range []string{"transition", "end"} {
		if n := f.Get(key); n != nil {
			p.Errorf(n.KeySpan(), codeOutOfPlace, "%s is a switch: it has no %s of its own", f.What, key).
				WithHint("put it into its conditions or its default")
		}
	}
}

// onError reads an error definition (0.5 §Error Definition).
func (p *parser) onError(n *dialect.Node) *onError {
	f := p.Fields(n, "an error definition")
	if f == nil {
		return nil
	}
	e := &onError{node: n, error: f.Name("error"), code: f.Literal("code"), retryRef: f.OptionalName("retryRef")}
	f.Called(e.error)
	e.exit = p.needExit(f)
	f.Done()
	return e
}

// body reads what belongs to one type of states.
func (p *parser) body(f *dialect.Fields, typ string) body {
	switch typ {
	case typeEvent:
		return p.eventState(f)
	case typeOperation:
		return &operationState{p.actions(f, true)}
	case typeSwitch:
		return p.switchState(f)
	case typeDelay:
		return &delayState{p.duration(f.Need("timeDelay"))}
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

// onEventsEntry is how messages call an entry of onEvents.
const onEventsEntry = "an onEvents entry"

// eventState reads 0.5 §Event State.
func (p *parser) eventState(f *dialect.Fields) *eventState {
	s := &eventState{}
	s.exclusive, _ = f.Flag("exclusive", true)
	for _, n := range p.onEventsList(f) {
		o := p.Fields(n, onEventsEntry)
		if o == nil {
			continue
		}
		one := &onEvents{node: n}
		for _, ref := range o.NeedList("eventRefs") {
			if name := p.Named(ref, "an event reference"); name != nil {
				one.events = append(one.events, use(name))
			}
		}
		one.filter = p.eventFilter(o)
		one.actions = p.actions(o, false)
		o.Done()
		s.onEvents = append(s.onEvents, one)
	}
	s.timeout = p.duration(f.Get("timeout"))
	return s
}

// eventFilter reads an event data filter. 0.5 spells its key in two ways, and
// people in a third: they are one (semantics.md §Data filters 4).
func (p *parser) eventFilter(f *dialect.Fields) *path {
	filter := p.Fields(f.Get("eventDataFilter"), "eventDataFilter")
	if filter == nil {
		return nil
	}
	var first *path
	for _, key := range []string{"dataOutputPath", "dataInputPath", "inputPath"} {
		one := p.path(filter.Get(key))
		switch {
		case one == nil:
		case first == nil:
			first = one
		case one.src != first.src:
			p.Errorf(dialect.Later(one.node, first.node), codeTwoFilters, "%s and %s mean the same filter, but differ: %s and %s",
				first.node.Name(), one.node.Name(), first.src, one.src)
		}
	}
	filter.Done()
	return first
}

// switchState reads 0.5 §Switch State.
func (p *parser) switchState(f *dialect.Fields) *switchState {
	if p.form.before05() {
		return p.switchBefore05(f)
	}
	f.Either("dataConditions", "eventConditions")
	s := &switchState{onEvents: f.Peek("eventConditions") != nil}
	data := p.conditions(f, "dataConditions", func(c *dialect.Fields, one *condition) {
		one.when = p.path(c.Need("condition"))
	})
	events := p.conditions(f, "eventConditions", func(c *dialect.Fields, one *condition) {
		one.event = use(c.Name("eventRef"))
		one.filter = p.eventFilter(c)
	})
	s.conditions = append(data, events...)
	p.eventTimeout(f, s)
	if d := p.Fields(f.Need("default"), "default"); d != nil {
		s.otherwise = p.needExit(d)
		d.Done()
	}
	return s
}

// eventTimeout reads how long a switch waits for events.
func (p *parser) eventTimeout(f *dialect.Fields, s *switchState) {
	s.timeout = p.duration(f.Get("eventTimeout"))
	timeout := f.Peek("eventTimeout")
	switch {
	case s.onEvents && timeout == nil:
		f.Missing("eventTimeout").WithHint("it says how long to wait for the events before the default is taken")
	case !s.onEvents && timeout != nil:
		p.Warnf(timeout.KeySpan(), codeIgnored, "eventTimeout is for eventConditions; with dataConditions it is ignored")
	}
}

func (p *parser) conditions(f *dialect.Fields, key string, read func(*dialect.Fields, *condition)) []*condition {
	var out []*condition
	for _, n := range f.Full(key) {
		c := p.Fields(n, "a condition")
		if c == nil {
			continue
		}
		one := &condition{node: n, name: c.Str("name")}
		read(c, one)
		one.exit = p.needExit(c)
		c.Get("metadata")
		c.Done()
		out = append(out, one)
	}
	return out
}

// callbackState reads 0.5 §Callback State.
func (p *parser) callbackState(f *dialect.Fields) *callbackState {
	return &callbackState{
		action:  p.action(f.Need("action")),
		event:   use(f.Name("eventRef")),
		filter:  p.eventFilter(f),
		timeout: p.duration(f.Need("timeout")),
	}
}

// use returns a reference to an event, nil where its name is not there.
func use(n *dialect.Node) *eventUse {
	if n == nil {
		return nil
	}
	return &eventUse{node: n}
}
