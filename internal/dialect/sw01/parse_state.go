package sw01

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// state reads what all types of states share, then the body of its type.
func (p *parser) state(n *dialect.Node, in *scope) *state {
	f := p.fields(n, "state")
	if f == nil {
		return nil
	}
	s := &state{node: n, scope: in, index: len(p.w.states), name: f.name("name"), id: f.optionalName("id")}
	p.w.states = append(p.w.states, s)
	if s.name != nil {
		f.what = fmt.Sprintf("state %q", s.name.Text)
	}
	s.typ = p.stateType(f)
	if on, at := f.flag("start", false); on {
		s.start = at
	}
	if on, at := f.flag("end", false); on {
		s.end = at
	}
	s.next = ref(f.optionalName("nextState"))
	s.filter = p.filter(f)
	s.metadata = f.get("metadata")
	s.body = p.body(f, s)
	if s.typ != "" { // else nobody knows what belongs there
		f.done()
	}
	p.exits(f, s)
	return s
}

// exits warns of ways out that are never taken.
func (p *parser) exits(f *fields, s *state) {
	next := f.peek("nextState")
	switch {
	case next == nil || s.typ == "":
	case s.typ == typeEnd:
		p.r.Warnf(next.KeySpan(), codeTwoExits, "%s is an END state: its %s is ignored", f.what, next.Name())
	case s.end != nil:
		p.r.Warnf(next.KeySpan(), codeTwoExits, "%s has both %s and end: true; the workflow ends there", f.what, next.Name())
	case s.typ == typeSwitch:
		p.r.Warnf(next.KeySpan(), codeIgnored, "%s is a SWITCH: its %s is ignored", f.what, next.Name()).
			WithHint("put it into its choices or its default")
	}
}

func (p *parser) stateType(f *fields) string {
	n := f.name("type")
	if n == nil {
		return ""
	}
	if upper := strings.ToUpper(n.Text); slices.Contains(stateTypes, upper) {
		return upper
	}
	// Read on as what it was meant to be.
	return p.oneOf(p.r.Errorf(n, codeStateType, "unknown state type %q", n.Text), n.Text, stateTypes)
}

// body reads what belongs to one type of states.
func (p *parser) body(f *fields, s *state) body {
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
		status, _ := f.choice("status", "SUCCESS", "FAILURE")
		return &endState{failure: status == "FAILURE"}
	}
	return nil
}

// eventState reads 001 §事件状态, 004 and 000 §Event State.
func (p *parser) eventState(f *fields) *eventState {
	s := &eventState{}
	for _, n := range f.needList("events") {
		e := p.fields(n, "event")
		if e == nil {
			continue
		}
		one := &entry{node: n, text: e.name("eventExpression")}
		if one.text != nil {
			one.expression = p.eventExpression(one.text)
		}
		one.timeout = p.eventTimeout(e)
		one.actions = p.actions(e)
		one.filter = p.eventFilter(e)
		one.next = ref(e.optionalName("nextState"))
		e.done()
		if leaf := one.expression.firstNot(); leaf != nil && e.peek("timeout") == nil {
			p.r.Errorf(leaf.at, codeNot, "\"not\" needs a timeout: without one nobody knows when the event did not come").
				WithHint("add %s to the event", p.form.spell("timeout"))
		}
		s.entries = append(s.entries, one)
	}
	return s
}

// switchState reads 001 §分支状态, 004 and 000 §Switch State.
func (p *parser) switchState(f *fields) *switchState {
	s := &switchState{}
	for _, n := range f.needList("choices") {
		if c := p.choice(n); c != nil {
			s.choices = append(s.choices, c)
		}
	}
	s.otherwise = ref(f.optionalName("default"))
	if f.peek("default") == nil && f.peek("end") == nil {
		p.r.Warnf(f.node, codeNoDefault, "%s has no default: where no choice matches, it fails with SYS.Fail", f.what)
	}
	return s
}

// parallelState reads 001 §并行状态, 004 and 000 §Parallel State.
func (p *parser) parallelState(f *fields, parent *state) *parallelState {
	s := &parallelState{}
	for _, n := range f.needList("branches") {
		b := p.fields(n, "branch")
		if b == nil {
			continue
		}
		one := &branch{node: n, name: b.optionalName("name"), number: 1 + len(s.branches), parent: parent}
		if one.name != nil {
			b.what = fmt.Sprintf("branch %q", one.name.Text)
		}
		var at *dialect.Node
		if one.wait, at = b.flag("waitForCompletion", p.form.waits()); at == nil && b.peek("waitForCompletion") == nil && !one.wait {
			p.r.Warnf(n, codeWait, "%s has no %s: nobody waits for it", b.what, p.form.spell("waitForCompletion")).
				WithHint("add %s: true or false", p.form.spell("waitForCompletion"))
		}
		one.scope = &scope{node: n, branch: one}
		p.states(b, one.scope)
		b.done()
		s.branches = append(s.branches, one)
	}
	return s
}

// subflowState reads 000 §SubFlow State.
func (p *parser) subflowState(f *fields) *subflowState {
	s := &subflowState{workflow: f.name("workflowId")}
	s.wait, _ = f.flag("waitForCompletion", false)
	if f.peek("waitForCompletion") == nil {
		p.r.Warnf(f.node, codeWait, "%s has no %s: nobody waits for the sub-workflow", f.what, p.form.spell("waitForCompletion")).
			WithHint("add %s: true or false", p.form.spell("waitForCompletion"))
	}
	return s
}

// ref returns a reference to a state, nil where its name is not there.
func ref(n *dialect.Node) *reference {
	if n == nil {
		return nil
	}
	return &reference{node: n}
}
