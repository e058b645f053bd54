package wfx

import (
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parser turns a document into the model and reports everything that can be said of
// one value by itself. It never stops at an error, so that one pass finds all.
type parser struct{ *dialect.Reader }

// newParser returns a parser for which a name of blanks is a name, as it is for wfx.
func newParser(r *dialect.Reporter) *parser {
	return &parser{&dialect.Reader{Reporter: r, Blanks: true, Codes: dialect.FieldCodes{
		Type: codeType, Missing: codeMissing, Empty: codeEmpty, Choice: codeChoice, Unknown: codeUnknownKey,
	}}}
}

func (p *parser) document(root *dialect.Node) *document {
	d := &document{node: root}
	f := p.Fields(root, "the workflow")
	d.name = p.workflowName(f.Name("name"))
	d.description = f.Str("description")
	p.notLonger(d.description, MaxDescription, "workflow-description")
	groups, _ := f.List("groups")
	p.notMore(f, "groups", MaxGroups, "workflow-groups")
	d.groups = dialect.Each(groups, p.group)
	p.notMore(f, "states", MaxStates, "workflow-states")
	for _, n := range f.NeedList("states") {
		if s := p.state(n, len(d.states)); s != nil {
			d.states = append(d.states, s)
		}
	}
	p.notMore(f, "transitions", MaxTransitions, "workflow-transitions")
	d.transitions = dialect.Each(f.NeedList("transitions"), p.transition)
	f.Done()
	return d
}

func (p *parser) notLonger(n *dialect.Node, most int, limit string) {
	if n == nil {
		return
	}
	if length := utf8.RuneCountInString(n.Text); length > most {
		p.Errorf(n, codeTooLong, "%s has %d characters, at most %d are allowed (limit %s)", n.Name(), length, most, limit)
	}
}

func (p *parser) notMore(f *dialect.Fields, key string, most int, limit string) {
	if n := f.Peek(key); n != nil && len(n.Items) > most {
		p.Errorf(n.KeySpan(), codeTooMany, "%d %s, at most %d are allowed (limit %s)", len(n.Items), key, most, limit)
	}
}

// workflowName checks the letters: the name stands in addresses.
func (p *parser) workflowName(n *dialect.Node) *dialect.Node {
	if n == nil {
		return nil
	}
	p.notLonger(n, MaxName, "workflow-name")
	for i, c := range n.Text {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.", c) {
			p.Errorf(n.ColumnIn(i), codeName, "name %q must not contain %q", n.Text, c).
				WithHint("use letters from a to z, digits, dots and hyphens")
			break
		}
	}
	return n
}

func (p *parser) group(n *dialect.Node) *group {
	f := p.Fields(n, "a group")
	if f == nil {
		return nil
	}
	g := &group{node: n, name: f.Name("name"), description: f.Str("description")}
	f.Called(g.name)
	p.notMore(f, "states", MaxStates, "workflow-states")
	for _, item := range f.NeedList("states") {
		if name := p.Named(item, "a state in states"); name != nil {
			g.members = append(g.members, name)
		}
	}
	f.Done()
	return g
}

func (p *parser) state(n *dialect.Node, index int) *state {
	f := p.Fields(n, "a state")
	if f == nil {
		return nil
	}
	s := &state{node: n, index: index, name: f.Name("name"), description: f.Str("description")}
	f.Called(s.name)
	s.timeout = p.timeout(f.Get("timeout"))
	f.Done()
	if s.name == nil {
		return nil
	}
	return s
}

// timeout reads a time limit; nil where something about it is wrong.
func (p *parser) timeout(n *dialect.Node) *timeout {
	f := p.Fields(n, "timeout")
	if f == nil {
		return nil
	}
	t := &timeout{node: n}
	t.value, t.after = p.duration(f.Need("after"))
	t.to = f.Name("to")
	f.Done()
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
		p.Expected(n, "after", "an ISO 8601 duration").WithHint(`as in "PT15M" for 15 minutes`)
		return calendar.Duration{}, nil
	}
	value, err := calendar.ParseDuration(n.Text)
	switch {
	case err != nil:
		p.Malformed(n, 0, codeDuration, "duration", err)
		return value, nil
	case value.IsZero():
		p.Errorf(n, codeDuration, "after must be positive, not %s", n.Text).
			WithHint("give it some time, or move on with action: IMMEDIATE")
		return value, nil
	}
	return value, n
}

func (p *parser) transition(n *dialect.Node) *transition {
	f := p.Fields(n, "a transition")
	if f == nil {
		return nil
	}
	t := &transition{node: n, from: f.Name("from"), to: f.Name("to")}
	t.eligible, t.eligibleAt = f.Choice("eligible", Client, Operator)
	if t.eligibleAt == nil {
		f.Missing("eligible")
	}
	t.action, t.actionAt = f.Choice("action", Immediate, Wait)
	t.description = f.Str("description")
	f.Done()
	return t
}
