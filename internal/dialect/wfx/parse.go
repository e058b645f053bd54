package wfx

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parser turns a document into the model and reports everything that can be said of
// one value by itself. It never stops at an error, so that one pass finds all.
type parser struct {
	r *dialect.Reporter
	dialect.Hinter
	asked func(*fields) // where set, told of every object when it is done: for tests
}

func (p *parser) document(root *dialect.Node) *document {
	d := &document{node: root}
	f := p.fields(root, "the workflow")
	d.name = p.workflowName(f.name("name"))
	if d.description = f.description(); d.description != nil {
		p.notLonger(d.description, "description", MaxDescription, "workflow-description")
	}
	for _, n := range f.list(f.get("groups"), "groups", MaxGroups, "workflow-groups") {
		if g := p.group(n); g != nil {
			d.groups = append(d.groups, g)
		}
	}
	for _, n := range f.list(f.need("states"), "states", MaxStates, "workflow-states") {
		if s := p.state(n, len(d.states)); s != nil {
			d.states = append(d.states, s)
		}
	}
	for _, n := range f.list(f.need("transitions"), "transitions", MaxTransitions, "workflow-transitions") {
		if t := p.transition(n); t != nil {
			d.transitions = append(d.transitions, t)
		}
	}
	f.done()
	return d
}

// workflowName checks the letters: the name stands in addresses.
func (p *parser) workflowName(n *dialect.Node) *dialect.Node {
	if n == nil {
		return nil
	}
	p.notLonger(n, "name", MaxName, "workflow-name")
	for i, c := range n.Text {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.", c) {
			p.r.Errorf(n.ColumnIn(i), codeName, "name %q: %q cannot stand in it", n.Text, c).
				WithHint("letters from a to z, digits, dots and hyphens can")
			break
		}
	}
	return n
}

func (p *parser) group(n *dialect.Node) *group {
	f := p.fields(n, titled("group", n))
	if f == nil {
		return nil
	}
	g := &group{node: n, name: f.name("name"), description: f.description()}
	for _, item := range f.list(f.need("states"), "states", MaxStates, "workflow-states") {
		if name := p.name(item, "a state in states"); name != nil {
			g.members = append(g.members, name)
		}
	}
	f.done()
	return g
}

func (p *parser) state(n *dialect.Node, index int) *state {
	f := p.fields(n, titled("state", n))
	if f == nil {
		return nil
	}
	s := &state{node: n, index: index, name: f.name("name"), description: f.description()}
	if t := f.get("timeout"); t != nil {
		s.timeout = p.timeout(t)
	}
	f.done()
	if s.name == nil {
		return nil
	}
	return s
}

// timeout reads a time limit; nil where something about it is wrong.
func (p *parser) timeout(n *dialect.Node) *timeout {
	f := p.fields(n, "timeout")
	if f == nil {
		return nil
	}
	t := &timeout{node: n}
	t.value, t.after = p.duration(f.need("after"))
	t.to = f.name("to")
	f.done()
	if t.to == nil {
		return nil
	}
	return t
}

// duration reads a length of time; the node is nil where it is none.
func (p *parser) duration(n *dialect.Node) (calendar.Duration, *dialect.Node) {
	if n == nil {
		return calendar.Duration{}, nil
	}
	if n.Kind != expr.KindString {
		p.r.Errorf(n, codeType, "after must be an ISO 8601 duration, not %s", article(n.Kind)).
			WithHint(`as in "PT15M" for 15 minutes`)
		return calendar.Duration{}, nil
	}
	value, err := calendar.ParseDuration(n.Text)
	var syntax *calendar.SyntaxError
	switch {
	case errors.As(err, &syntax):
		d := p.r.Errorf(n.ColumnIn(syntax.Offset), codeDuration, "malformed duration: %s", syntax.Msg)
		if syntax.Hint != "" {
			d.WithHint("%s", syntax.Hint)
		}
		return value, nil
	case err != nil:
		p.r.Errorf(n, codeDuration, "malformed duration: %v", err)
		return value, nil
	case value.IsZero():
		p.r.Errorf(n, codeDuration, "no job would ever be in the state: after is %s", n.Text).
			WithHint("give it some time, or move on with action: IMMEDIATE")
		return value, nil
	}
	return value, n
}

func (p *parser) transition(n *dialect.Node) *transition {
	f := p.fields(n, "a transition")
	if f == nil {
		return nil
	}
	t := &transition{node: n, from: f.name("from"), to: f.name("to")}
	t.eligible, t.eligibleAt = f.choice(f.need("eligible"), "eligible", Client, Operator)
	t.action, t.actionAt = f.choice(f.get("action"), "action", Immediate, Wait)
	t.description = f.description()
	f.done()
	return t
}
