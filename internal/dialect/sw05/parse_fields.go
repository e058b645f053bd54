package sw05

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// fields reads the members of one object and remembers which it was asked for,
// so that those nobody asked for can be reported. A nil fields has no members:
// what is wrong with it has been said.
type fields struct {
	p     *parser
	node  *dialect.Node
	what  string // in messages: `state "A"`, "action"
	known []string
}

// fields returns the reader of an object, nil where n is none.
func (p *parser) fields(n *dialect.Node, what string) *fields {
	if n == nil || !p.is(n, expr.KindObject, what) {
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
	p.r.Errorf(n, codeType, "%s must be %s, not %s", what, article(kind), article(n.Kind))
	return false
}

func article(k expr.Kind) string {
	switch k {
	case expr.KindNull:
		return "nothing"
	case expr.KindArray, expr.KindObject:
		return "an " + k.String()
	}
	return "a " + k.String()
}

// get returns a member, nil where it is not there or null (in YAML a key without
// a value is one that was left for later).
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

// typed returns a member of the kind and reports one of another.
func (f *fields) typed(key string, kind expr.Kind) *dialect.Node {
	n := f.get(key)
	if n == nil || !f.p.is(n, kind, key) {
		return nil
	}
	return n
}

// str returns a string.
func (f *fields) str(key string) *dialect.Node { return f.typed(key, expr.KindString) }

// need returns a member that must be there; it is for the caller to check its kind.
func (f *fields) need(key string) *dialect.Node {
	n := f.get(key)
	if n == nil && f != nil {
		f.missing(key)
	}
	return n
}

func (f *fields) missing(key string) *dialect.Diagnostic {
	return f.p.r.Errorf(f.node, codeMissing, "%s needs %q", f.what, key)
}

// name returns a string that must be there and not be empty.
func (f *fields) name(key string) *dialect.Node {
	n := f.need(key)
	if n == nil || !f.p.is(n, expr.KindString, key) {
		return nil
	}
	return f.p.nonEmpty(n, key)
}

func (p *parser) nonEmpty(n *dialect.Node, what string) *dialect.Node {
	if strings.TrimSpace(n.Text) == "" {
		p.r.Errorf(n, codeEmpty, "%s must not be empty", what)
		return nil
	}
	return n
}

// optionalName is a string that must not be empty where it is there.
func (f *fields) optionalName(key string) *dialect.Node {
	n := f.str(key)
	if n == nil {
		return nil
	}
	return f.p.nonEmpty(n, key)
}

// literal returns text that people write without quotes so often, as 1.0 or 404,
// that a number is taken as it is spelled.
func (f *fields) literal(key string) *dialect.Node {
	n := f.get(key)
	if n == nil || n.Kind == expr.KindString {
		return n
	}
	if n.Kind != expr.KindNumber {
		f.p.is(n, expr.KindString, key)
		return nil
	}
	f.p.r.Warnf(n, codeQuoteIt, "%s is text, but this is a number; it is taken as %q", key, n.Raw()).
		WithHint("put it in quotes")
	return n
}

// spelled returns the text of a literal.
func spelled(n *dialect.Node) string {
	if n.Is(expr.KindNumber) {
		return n.Raw()
	}
	return text(n)
}

// flag returns a boolean and where it stands, nil where it is not there.
func (f *fields) flag(key string, otherwise bool) (value bool, at *dialect.Node) {
	n := f.typed(key, expr.KindBool)
	if n == nil {
		return otherwise, nil
	}
	value, _ = n.Bool()
	return value, n
}

// choice returns a string that is one of few, in lower case. Case does not
// matter where fold is set.
func (f *fields) choice(key string, fold bool, among ...string) (value string, at *dialect.Node) {
	n := f.str(key)
	if n == nil {
		return "", nil
	}
	for _, c := range among {
		if n.Text == c || fold && strings.EqualFold(n.Text, c) {
			return c, n
		}
	}
	d := f.p.r.Errorf(n, codeChoice, "%s cannot be %q", key, n.Text).WithHint("one of %s", strings.Join(among, ", "))
	f.p.DidYouMean(d, n.Text, among)
	return "", n
}

// list returns the items of an array; given is false where there is none.
func (f *fields) list(key string) (items []*dialect.Node, given bool) {
	n := f.typed(key, expr.KindArray)
	if n == nil {
		return nil, f != nil && !f.node.Get(key).IsNull()
	}
	return n.Items, true
}

// needList is a list that must be there; an empty one is an error.
func (f *fields) needList(key string) []*dialect.Node {
	items, given := f.list(key)
	switch {
	case f == nil:
	case !given:
		f.missing(key)
	case len(items) == 0 && f.node.Get(key).Is(expr.KindArray):
		f.p.r.Errorf(f.node.Get(key), codeEmpty, "%s must not be empty", key)
	}
	return items
}

// either reports where both or neither of two keys are given.
func (f *fields) either(a, b string) {
	if f == nil {
		return
	}
	first, second := f.node.Get(a), f.node.Get(b)
	switch {
	case first.IsNull() && second.IsNull():
		f.p.r.Errorf(f.node, codeMissing, "%s needs %q or %q", f.what, a, b)
	case !first.IsNull() && !second.IsNull():
		f.p.r.Errorf(later(first, second).KeySpan(), codeExclusive, "%s has both %q and %q; only one of them can hold", f.what, a, b)
	}
}

// later returns the one that stands further down, at which people look second.
func later(a, b *dialect.Node) *dialect.Node {
	p, q := a.Pos(), b.Pos()
	if p.Line > q.Line || p.Line == q.Line && p.Column > q.Column {
		return a
	}
	return b
}

// done reports the members that nobody asked for.
func (f *fields) done() {
	if f == nil {
		return
	}
	if f.p.asked != nil {
		f.p.asked(f)
	}
next:
	for _, m := range f.node.Members {
		for _, k := range f.known {
			if m.Key.Text == k {
				continue next
			}
		}
		d := f.p.r.Warnf(m.Key, codeUnknownKey, "%s has no parameter %q; it is ignored", f.what, m.Key.Text)
		f.p.DidYouMean(d, m.Key.Text, f.known)
	}
}
