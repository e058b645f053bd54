package sw01

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// fields reads the members of one object by key, in whatever spelling, and remembers
// which it was asked for, so that those nobody asked for can be reported. A nil fields
// has no members: what is wrong with it has been said.
//
// Keys are asked for in camelCase.
type fields struct {
	p     *parser
	node  *dialect.Node
	what  string // in messages: `state "A"`, "action"
	known []string
	fold  bool // the case of keys does not matter: And, and (SEMANTICS §Control flow: Switch)
	twice map[string]bool
}

// fields returns the reader of an object, nil where n is none.
func (p *parser) fields(n *dialect.Node, what string) *fields {
	if n == nil || !p.is(n, expr.KindObject, what) {
		return nil
	}
	p.r.Budget.Spend(1 + len(n.Members))
	return &fields{p: p, node: n, what: what, twice: map[string]bool{}}
}

// spelledAs reports whether text is a way to write a key: camelCase, kebab-case, for
// the paths of filters also PascalCase (001 §过滤器机制).
func (f *fields) spelledAs(key, text string) bool {
	return text == key || text == kebabCase(key) ||
		strings.HasSuffix(key, "Path") && text == strings.ToUpper(key[:1])+key[1:] ||
		key == "eventID" && (text == "eventId" || text == "event-id") || f.fold && strings.EqualFold(text, key)
}

// peek returns a member without asking for it. One that stands there in two
// spellings is reported, once.
func (f *fields) peek(key string) *dialect.Node {
	if f == nil {
		return nil
	}
	var found *dialect.Node
	for _, m := range f.node.Members {
		switch {
		case m.IsNull() || !f.spelledAs(key, m.Key.Text):
		case found == nil:
			found = m
		case !f.twice[key]:
			f.twice[key] = true
			f.p.r.Errorf(m.Key, codeTwice, "%q and %q are the same parameter", found.Key.Text, m.Key.Text)
		}
	}
	return found
}

// null reports whether a member is there, and null.
func (f *fields) null(key string) bool {
	return f != nil && slices.ContainsFunc(f.node.Members, func(m *dialect.Node) bool { return m.IsNull() && f.spelledAs(key, m.Key.Text) })
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

// spell is how a key is written here: as the author did, else as the form does.
func (f *fields) spell(key string) string {
	if n := f.peek(key); n != nil {
		return n.Key.Text
	}
	return f.p.form.spell(key)
}

// get returns a member, nil where it is not there or null (in YAML a key without
// a value is one that was left for later).
func (f *fields) get(key string) *dialect.Node {
	if f == nil {
		return nil
	}
	f.known = append(f.known, key)
	return f.peek(key)
}

// all returns a member in all its spellings.
func (f *fields) all(key string) []*dialect.Node {
	if f == nil {
		return nil
	}
	f.known = append(f.known, key)
	var out []*dialect.Node
	for _, m := range f.node.Members {
		if !m.IsNull() && f.spelledAs(key, m.Key.Text) {
			out = append(out, m)
		}
	}
	return out
}

// typed returns a member of the kind and reports one of another.
func (f *fields) typed(key string, kind expr.Kind) *dialect.Node {
	n := f.get(key)
	if n == nil || !f.p.is(n, kind, f.spell(key)) {
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
	return f.p.r.Errorf(f.node, codeMissing, "%s needs %q", f.what, f.p.form.spell(key))
}

// name returns a string that must be there and not be empty.
func (f *fields) name(key string) *dialect.Node {
	if f.need(key) == nil {
		return nil
	}
	return f.optionalName(key)
}

// optionalName is a string that must not be empty where it is there.
func (f *fields) optionalName(key string) *dialect.Node {
	n := f.str(key)
	if n == nil {
		return nil
	}
	return f.p.nonEmpty(n, f.spell(key))
}

func (p *parser) nonEmpty(n *dialect.Node, what string) *dialect.Node {
	if strings.TrimSpace(n.Text) == "" {
		p.r.Errorf(n, codeEmpty, "%s must not be empty", what)
		return nil
	}
	return n
}

// literal returns text that people write without quotes so often, as 1.0 or 404,
// that a number is taken as it is spelled.
func (f *fields) literal(key string) *dialect.Node {
	n := f.get(key)
	if n == nil || n.Kind == expr.KindString {
		return n
	}
	if n.Kind != expr.KindNumber {
		f.p.is(n, expr.KindString, f.spell(key))
		return nil
	}
	f.p.r.Warnf(n, codeQuoteIt, "%s is text, but this is a number; it is taken as %q", f.spell(key), n.Raw()).
		WithHint("put it in quotes")
	return n
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

// choice returns a string that is one of few, whatever its case.
func (f *fields) choice(key string, among ...string) (value string, at *dialect.Node) {
	n := f.str(key)
	if n == nil {
		return "", nil
	}
	for _, c := range among {
		if strings.EqualFold(n.Text, c) {
			return c, n
		}
	}
	f.p.oneOf(f.p.r.Errorf(n, codeChoice, "%s cannot be %q", f.spell(key), n.Text), n.Text, among)
	return "", n
}

// list returns the items of an array; given is false where there is none.
func (f *fields) list(key string) (items []*dialect.Node, given bool) {
	n := f.typed(key, expr.KindArray)
	if n == nil {
		return nil, f.peek(key) != nil
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
	case len(items) == 0 && f.peek(key).Is(expr.KindArray):
		f.p.r.Errorf(f.peek(key), codeEmpty, "%s must not be empty", f.spell(key))
	}
	return items
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
	for _, m := range f.node.Members {
		if slices.ContainsFunc(f.known, func(k string) bool { return f.spelledAs(k, m.Key.Text) }) {
			continue
		}
		d := f.p.r.Warnf(m.Key, codeUnknownKey, "%s has no parameter %q; it is ignored", f.what, m.Key.Text)
		f.p.DidYouMean(d, m.Key.Text, f.spellings())
	}
}

// spellings are the keys that were asked for in every way to write them, that of the
// form first: a hint is written as the mistake is.
func (f *fields) spellings() []string {
	var own, others []string
	for _, k := range f.known {
		name := f.p.form.spell(k)
		own = append(own, name)
		others = append(others, k, kebabCase(k))
		if strings.HasSuffix(k, "Path") {
			others = append(others, strings.ToUpper(k[:1])+k[1:])
		}
	}
	return append(own, others...)
}
