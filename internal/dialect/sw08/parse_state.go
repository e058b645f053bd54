package sw08

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

var stateTypes = []string{
	typeEvent, typeOperation, typeSwitch, typeSleep, typeDelay, typeParallel, typeSubflow, typeInject, typeForeach, typeCallback,
}

// state reads what all types of states share, then the body of its type (0.8 §Workflow States).
func (p *parser) state(n *dialect.Node, index int) *state {
	f := p.Fields(n, "a state")
	if f == nil {
		return nil
	}
	s := &state{node: n, index: index, ref: fmt.Sprintf("/states/%d", index), name: f.Name("name"), id: f.OptionalName("id")}
	f.Called(s.name)
	p.dnsName(s.name)
	s.typ = p.stateType(f)
	if filter := p.Fields(f.Get("stateDataFilter"), "stateDataFilter"); filter != nil {
		s.input, s.output = p.query(filter.Get("input")), p.query(filter.Get("output"))
		filter.Done()
	}
	s.timeouts = p.ownTimeouts(f)
	p.onErrors(f, s)
	s.compensatedBy = f.OptionalName("compensatedBy")
	s.compensation, _ = p.flag(f, "usedForCompensation", false)
	s.metadata = f.Get("metadata")
	if s.typ == typeSwitch {
		p.noStateExit(f)
		s.hasExit = true
	} else {
		s.exit = p.exit(f)
		s.hasExit = f.Peek("transition") != nil || f.Peek("end") != nil
	}
	s.body = p.body(f, s)
	if s.typ != "" { // else nobody knows what belongs there
		f.Done()
	}
	s.timeouts.inherit(p.w.timeouts)
	if b, ok := s.body.(*parallelState); ok {
		for _, br := range b.branches {
			br.timeouts.inherit(s.timeouts)
		}
	}
	return s
}

func (p *parser) stateType(f *dialect.Fields) string {
	n := f.Name("type")
	if n == nil {
		return ""
	}
	if !slices.Contains(stateTypes, n.Text) {
		// Read on as what it was meant to be.
		return p.DidYouMean(p.Errorf(n, codeStateType, "unknown state type %q", n.Text), n.Text, stateTypes)
	}
	switch older := n.Text == typeDelay || n.Text == typeSubflow; {
	case p.nine && n.Text == typeSleep:
		p.Errorf(n, codeStateType, "0.9 has no sleep state").WithHint("an action has sleep")
	case p.nine && older:
		p.Errorf(n, codeStateType, "0.9 has no %s state", n.Text)
	case p.said && older && p.form > form06, p.said && n.Text == typeSleep && p.form == form06:
		p.Warnf(n, codeOtherForm, "%s states do not belong to %s; it is read all the same", n.Text, p.form)
	}
	return n.Text
}

// noStateExit refuses transition and end on a switch (0.8 §Switch State).
func (p *parser) noStateExit(f *dialect.Fields) {
	for _, key := range []string{"transition", "end"} {
		if n := f.Get(key); n != nil {
			p.Errorf(n.KeySpan(), codeOutOfPlace, "%s is a switch: it has no %s of its own", f.What, key).
				WithHint("put it into its conditions or its default")
		}
	}
}

// body reads what belongs to one type of states.
func (p *parser) body(f *dialect.Fields, s *state) body {
	switch s.typ {
	case typeEvent:
		return p.eventState(f, s)
	case typeOperation:
		return &operationState{p.actions(f, s.ref, true)}
	case typeSwitch:
		return p.switchState(f, s)
	case typeSleep:
		return &sleepState{p.duration(f.Need("duration"))}
	case typeDelay:
		return &sleepState{p.duration(f.Need("timeDelay"))}
	case typeParallel:
		return p.parallelState(f, s)
	case typeSubflow:
		return p.subflowState(f)
	case typeInject:
		return p.injectState(f)
	case typeForeach:
		return p.foreachState(f, s)
	case typeCallback:
		return p.callbackState(f, s)
	}
	return nil
}

// onEventsEntry is how messages call an entry of onEvents.
const onEventsEntry = "an onEvents entry"

// eventState reads 0.8 §Event State.
func (p *parser) eventState(f *dialect.Fields, s *state) *eventState {
	b := &eventState{}
	b.exclusive, _ = p.flag(f, "exclusive", true)
	for i, n := range f.NeedList("onEvents") {
		o := p.Fields(n, onEventsEntry)
		if o == nil {
			continue
		}
		one := &onEvents{node: n}
		for _, ref := range o.NeedList("eventRefs") {
			if name := p.Named(ref, "an event reference"); name != nil {
				one.events = append(one.events, useOf(name))
			}
		}
		one.filter = p.eventFilter(o)
		one.actions = p.actions(o, fmt.Sprintf("%s/onEvents/%d", s.ref, i), false)
		o.Done()
		b.onEvents = append(b.onEvents, one)
	}
	p.ownEventTimeout(f, s, "timeout", form06)
	return b
}

// ownEventTimeout reads how long a state of 0.6 waits. to is the last version that writes it so.
func (p *parser) ownEventTimeout(f *dialect.Fields, s *state, key string, to form) {
	if d := p.timeout(f.Get(key)); d != nil && s.timeouts.event == nil {
		s.timeouts.event, s.timeouts.explicitHere = d, true
	}
	p.era(f, form06, to, key)
}

// eventFilter reads an event data filter (0.8 §Event data filters).
func (p *parser) eventFilter(f *dialect.Fields) eventFilter {
	o := p.Fields(f.Get("eventDataFilter"), "eventDataFilter")
	if o == nil {
		return eventFilter{}
	}
	use, at := p.flag(o, "useData", true)
	out := eventFilter{drop: !use, data: p.query(o.Get("data")), to: p.target(o.Get("toStateData"))}
	p.era(o, form08, form09, "useData")
	o.Done()
	if out.drop && (out.data != nil || out.to != nil) {
		p.Warnf(at.KeySpan(), codeIgnored, "with useData: false, data and toStateData are ignored")
	}
	return out
}

// switchState reads 0.8 §Switch State.
func (p *parser) switchState(f *dialect.Fields, s *state) *switchState {
	f.Either("dataConditions", "eventConditions")
	b := &switchState{onEvents: f.Peek("eventConditions") != nil}
	data := p.conditions(f, "dataConditions", func(c *dialect.Fields, one *condition) {
		one.when = p.condition(c.Need("condition"))
	})
	events := p.conditions(f, "eventConditions", func(c *dialect.Fields, one *condition) {
		one.event = useOf(c.Name("eventRef"))
		one.filter = p.eventFilter(c)
	})
	b.conditions = append(data, events...)
	p.ownEventTimeout(f, s, "eventTimeout", form08)
	if timeout := f.Peek("eventTimeout"); !b.onEvents && timeout != nil {
		p.Warnf(timeout.KeySpan(), codeIgnored, "eventTimeout is for eventConditions; with dataConditions it is ignored")
	}
	p.otherwise(f, b)
	return b
}

// otherwise reads the default, which 0.6 calls default.
func (p *parser) otherwise(f *dialect.Fields, b *switchState) {
	first, second := f.Get("defaultCondition"), f.Get("default")
	if first != nil && second != nil {
		f.Both(first, second)
		return
	}
	p.era(f, form06, form06, "default")
	p.era(f, form07, form09, "defaultCondition")
	if first == nil {
		first = second
	}
	if first == nil {
		p.Warnf(f.Node.KeySpan(), codeNoDefault, "%s has no \"%s\": where no condition holds, it fails", f.What, p.defaultKey())
		return
	}
	if d := p.Fields(first, first.Name()); d != nil {
		b.otherwise = p.needExit(d)
		d.Done()
	}
	b.hasDefault = true
}

func (p *parser) defaultKey() string {
	if p.form == form06 {
		return "default"
	}
	return "defaultCondition"
}

func (p *parser) conditions(f *dialect.Fields, key string, read func(*dialect.Fields, *condition)) []*condition {
	var out []*condition
	for _, n := range f.Full(key) {
		c := p.Fields(n, "a condition")
		if c == nil {
			continue
		}
		one := &condition{node: n, name: c.Str("name")}
		c.Called(one.name)
		read(c, one)
		one.exit = p.needExit(c)
		c.Get("metadata")
		c.Done()
		out = append(out, one)
	}
	return out
}

// callbackState reads 0.8 §Callback State.
func (p *parser) callbackState(f *dialect.Fields, s *state) *callbackState {
	b := &callbackState{event: useOf(f.Name("eventRef")), filter: p.eventFilter(f)}
	if n := f.Need("action"); n != nil {
		b.action = p.action(n, s.ref+"/action")
	}
	p.ownEventTimeout(f, s, "timeout", form06)
	return b
}
