package sw01

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// state reads what all types of states share, then the body of its type.
func (p *parser) state(n *dialect.Node, in *scope) *state {
	f := p.Fields(n, "a state")
	if f == nil {
		return nil
	}
	s := &state{node: n, scope: in, index: len(p.w.states), name: f.Name("name"), id: f.OptionalName("id")}
	p.w.states = append(p.w.states, s)
	f.Called(s.name)
	s.typ = p.stateType(f)
	if on, at := f.Flag("start", false); on {
		s.start = at
	}
	if on, at := f.Flag("end", false); on {
		s.end = at
	}
	s.next = ref(f.OptionalName("nextState"))
	s.filter = p.filter(f)
	s.metadata = f.Get("metadata")
	s.body = p.body(f, s)
	if s.typ != "" { // without a type, the allowed keys are unknown
		f.Done()
	}
	p.exits(f, s)
	return s
}

// exits warns about next states that are never reached.
func (p *parser) exits(f *dialect.Fields, s *state) {
	next := f.Peek("nextState")
	switch {
	case next == nil || s.typ == "":
	case s.typ == typeEnd:
		p.Warnf(next.KeySpan(), codeTwoExits, "%s is an END state: its %s is ignored", f.What, next.Name())
	case s.end != nil:
		p.Warnf(next.KeySpan(), codeTwoExits, "%s has both %s and end: true; the workflow ends there", f.What, next.Name())
	case s.typ == typeSwitch:
		p.Warnf(next.KeySpan(), codeIgnored, "%s is a SWITCH: its %s is ignored", f.What, next.Name()).
			WithHint("put it into its choices or its default")
	}
}

func (p *parser) stateType(f *dialect.Fields) string {
	n := f.Name("type")
	if n == nil {
		return ""
	}
	if upper := strings.ToUpper(n.Text); slices.Contains(stateTypes, upper) {
		return upper
	}
	// Go on with the type that was probably meant.
	return p.MeantOneOf(p.Errorf(n, codeStateType, "unknown state type %q", n.Text), n.Text, stateTypes)
}

// body reads what belongs to one type of states.
func (p *parser) body(f *dialect.Fields, s *state) body {
	switch s.typ {
	case typeEvent:
		return p.eventState(f)
	case typeOperation:
		return &operationState{p.actions(f)}
	case typeSwitch:
		return p.switchState(f)
	case typeDelay:
		return &delayState{p.delay(f)}
	case typeParallel:
		return p.parallelState(f, s)
	case typeSubflow:
		return p.subflowState(f)
	case typeEnd:
		status, _ := f.ChoiceFold("status", "SUCCESS", "FAILURE")
		return &endState{failure: status == "FAILURE"}
	}
	return nil
}

// eventState reads 0.1 E §事件状态, 0.1 K and 0.1 C §Event State.
func (p *parser) eventState(f *dialect.Fields) *eventState {
	s := &eventState{}
	for _, n := range f.NeedList("events") {
		e := p.Fields(n, "an event")
		if e == nil {
			continue
		}
		one := &entry{node: n, text: e.Name("eventExpression")}
		if one.text != nil {
			one.expression = p.eventExpression(one.text)
		}
		one.timeout = p.eventTimeout(e)
		one.actions = p.actions(e)
		one.filter = p.eventFilter(e)
		one.next = ref(e.OptionalName("nextState"))
		e.Done()
		if leaf := one.expression.firstNot(); leaf != nil && e.Peek("timeout") == nil {
			p.Errorf(leaf.at, codeNot, "\"not\" needs a timeout: without one, the event could still come").
				WithHint("add %s to the event", p.form.spell("timeout"))
		}
		s.entries = append(s.entries, one)
	}
	return s
}

// switchState reads 0.1 E §分支状态, 0.1 K and 0.1 C §Switch State.
func (p *parser) switchState(f *dialect.Fields) *switchState {
	s := &switchState{choices: dialect.Each(f.NeedList("choices"), p.choice), otherwise: ref(f.OptionalName("default"))}
	if f.Peek("default") == nil && f.Peek("end") == nil {
		p.Warnf(f.Node, codeNoDefault, "%s has no default: where no choice matches, it fails with SYS.Fail", f.What)
	}
	return s
}

// parallelState reads 0.1 E §并行状态, 0.1 K and 0.1 C §Parallel State.
func (p *parser) parallelState(f *dialect.Fields, parent *state) *parallelState {
	s := &parallelState{}
	for _, n := range f.NeedList("branches") {
		b := p.Fields(n, "a branch")
		if b == nil {
			continue
		}
		one := &branch{node: n, name: b.OptionalName("name"), number: 1 + len(s.branches), parent: parent}
		b.Called(one.name)
		one.wait, _ = b.Flag("waitForCompletion", p.form.waits())
		if b.Peek("waitForCompletion") == nil && !one.wait {
			p.Warnf(n, codeWait, "%s has no %s: the workflow does not wait for it", b.What, p.form.spell("waitForCompletion")).
				WithHint("add %s: true or false", p.form.spell("waitForCompletion"))
		}
		one.scope = &scope{node: n, branch: one}
		p.states(b, one.scope)
		b.Done()
		s.branches = append(s.branches, one)
	}
	return s
}

// subflowState reads 0.1 C §SubFlow State.
func (p *parser) subflowState(f *dialect.Fields) *subflowState {
	s := &subflowState{workflow: f.Name("workflowId")}
	s.wait, _ = f.Flag("waitForCompletion", false)
	if f.Peek("waitForCompletion") == nil {
		p.Warnf(f.Node, codeWait, "%s has no %s: the workflow does not wait for the sub-workflow", f.What, p.form.spell("waitForCompletion")).
			WithHint("add %s: true or false", p.form.spell("waitForCompletion"))
	}
	return s
}

// ref returns a reference to a state, nil if there is no name.
func ref(n *dialect.Node) *reference {
	if n == nil {
		return nil
	}
	return &reference{node: n}
}
