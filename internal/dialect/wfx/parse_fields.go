package wfx

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// fields reads the members of one object and remembers which it was asked for, so that
// those nobody asked for can be reported. A nil fields has no members: what is wrong
// with it has been said.
type fields struct {
	p     *parser
	node  *dialect.Node
	what  string // in messages: "a state"
	known []string
}

// fields returns the reader of an object, nil where n is none.
func (p *parser) fields(n *dialect.Node, what string) *fields {
	if !p.is(n, expr.KindObject, what) {
		return nil
	}
	p.r.Budget.Spend(1 + len(n.Members))
	return &fields{p: p, node: n, what: what}
}

// is reports a value that is not of the kind.
func (p *parser) is(n *dialect.Node, kind expr.Kind, what string) bool {
	if n.Kind == kind {
		return true
	}
	d := p.r.Errorf(n, codeType, "%s must be %s, not %s", what, article(kind), article(n.Kind))
	if kind == expr.KindString && (n.Kind == expr.KindNumber || n.Kind == expr.KindBool) {
		d.WithHint("put it in quotes: %q", n.Raw())
	}
	return false
}

func article(k expr.Kind) string {
	switch k {
	case expr.KindNull:
		return "nothing"
	case expr.KindArray:
		return "a list"
	case expr.KindObject:
		return "an object"
	case expr.KindString:
		return "text"
	}
	return "a " + k.String()
}

// get returns a member, nil where it is not there or null (in YAML a key without a
// value is one that was left for later).
func (f *fields) get(key string) *dialect.Node {
	if f == nil {
		return nil
	}
	f.known = append(f.known, key)
	if n := f.node.Get(key); !n.IsNull() {
		return n
	}
	return nil
}

// need returns a member that must be there.
func (f *fields) need(key string) *dialect.Node {
	n := f.get(key)
	if n == nil && f != nil {
		f.p.r.Errorf(f.node, codeMissing, "%s needs %q", f.what, key)
	}
	return n
}

// name returns text that must be there and not be empty.
func (f *fields) name(key string) *dialect.Node {
	n := f.need(key)
	if n == nil {
		return nil
	}
	return f.p.name(n, key)
}

func (p *parser) name(n *dialect.Node, what string) *dialect.Node {
	if !p.is(n, expr.KindString, what) {
		return nil
	}
	if n.Text == "" {
		p.r.Errorf(n, codeEmpty, "%s must not be empty", what)
		return nil
	}
	return n
}

// description returns text for people, which may be empty.
func (f *fields) description() *dialect.Node {
	n := f.get("description")
	if n == nil || !f.p.is(n, expr.KindString, "description") {
		return nil
	}
	return n
}

func (p *parser) notLonger(n *dialect.Node, what string, most int, limit string) {
	if length := utf8.RuneCountInString(n.Text); length > most {
		p.r.Errorf(n, codeTooLong, "%s has %d characters, %d at most are allowed (limit %s)", what, length, most, limit)
	}
}

// choice returns text that is one of few, and where it stands.
func (f *fields) choice(n *dialect.Node, what string, among ...string) (string, *dialect.Node) {
	if n == nil || !f.p.is(n, expr.KindString, what) {
		return "", n
	}
	if slices.Contains(among, n.Text) {
		return n.Text, n
	}
	d := f.p.r.Errorf(n, codeChoice, "%s cannot be %q", what, n.Text).WithHint("one of %s", strings.Join(among, ", "))
	f.p.DidYouMean(d, n.Text, among)
	return "", n
}

// list returns the items of a list; only groups may be empty.
func (f *fields) list(n *dialect.Node, what string, most int, limit string) []*dialect.Node {
	if n == nil || !f.p.is(n, expr.KindArray, what) {
		return nil
	}
	if len(n.Items) == 0 && what != "groups" {
		f.p.r.Errorf(n, codeEmpty, "%s must not be empty", what)
	}
	if len(n.Items) > most {
		f.p.r.Errorf(n.KeySpan(), codeTooMany, "%d %s, %d at most are allowed (limit %s)", len(n.Items), what, most, limit)
	}
	return n.Items
}

// done warns of the members that nobody asked for: wfx drops them too.
func (f *fields) done() {
	if f == nil {
		return
	}
	if f.p.asked != nil {
		f.p.asked(f)
	}
	for _, m := range f.node.Members {
		if slices.Contains(f.known, m.Key.Text) {
			continue
		}
		d := f.p.r.Warnf(m.Key, codeUnknownKey, "%s has no key %q; it is dropped", f.what, m.Key.Text)
		f.p.DidYouMean(d, m.Key.Text, f.known)
	}
}

// titled is what a thing is called in messages: its kind, with its name where it has one.
func titled(kind string, n *dialect.Node) string {
	if name, ok := n.Get("name").Str(); ok && name != "" {
		return fmt.Sprintf("%s %q", kind, name)
	}
	return "a " + kind
}
