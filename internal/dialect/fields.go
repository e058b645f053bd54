package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Fields is one object while it is read. It remembers the keys it was asked for, and
// [Fields.Done] reports all others.
type Fields struct {
	Node *Node
	What string // the object in messages: "a state", `state "A"`, "transition"
	Fold bool   // upper and lower case are the same in keys

	reader *Reader
	known  []string
	twice  map[string]bool // keys whose second spelling is reported
}

// Fields returns the reader of an object. It is nil if n is absent or not an object.
func (r *Reader) Fields(n *Node, what string) *Fields {
	if n == nil || !r.Is(n, expr.KindObject, what) {
		return nil
	}
	r.Budget.Spend(1 + len(n.Members))
	return &Fields{Node: n, What: what, reader: r}
}

// Called gives the object its name in messages: "a state" becomes `state "A"`.
func (f *Fields) Called(name *Node) {
	if text, ok := name.Str(); ok && text != "" {
		kind := strings.TrimPrefix(strings.TrimPrefix(f.What, "a "), "an ")
		f.What = fmt.Sprintf("%s %q", kind, text)
	}
}

// Keys returns the keys that were asked for, in order.
func (f *Fields) Keys() []string { return f.known }

// find returns the member of a key in every spelling.
func (f *Fields) find(key string) []*Node {
	if f == nil {
		return nil
	}
	var out []*Node
	if f.reader.Ways == nil && !f.Fold {
		if m := f.Node.Get(key); m != nil && (f.reader.Strict || !m.IsNull()) {
			out = append(out, m)
		}
		return out
	}
	ways := f.reader.ways(key)
	for _, m := range f.Node.Members {
		if (f.reader.Strict || !m.IsNull()) && f.spells(ways, m.Key.Text) {
			out = append(out, m)
		}
	}
	return out
}

// spells reports whether text is one of the spellings.
func (f *Fields) spells(ways []string, text string) bool {
	return slices.ContainsFunc(ways, func(way string) bool {
		return way == text || f.Fold && strings.EqualFold(way, text)
	})
}

// Peek returns a member without asking for it: [Fields.Done] still reports it. A key
// that stands there in two spellings is reported once.
func (f *Fields) Peek(key string) *Node {
	found := f.find(key)
	if len(found) == 0 {
		return nil
	}
	if len(found) > 1 && !f.twice[key] {
		if f.twice == nil {
			f.twice = map[string]bool{}
		}
		f.twice[key] = true
		for _, m := range found[1:] {
			f.reader.Errorf(m.Key, f.reader.Codes.Twice, "%q and %q are the same key", found[0].Name(), m.Name())
		}
	}
	return found[0]
}

// Get returns a member, nil if it is absent.
func (f *Fields) Get(key string) *Node {
	if f == nil {
		return nil
	}
	f.known = append(f.known, key)
	return f.Peek(key)
}

// Allow makes keys known that are read in another way.
func (f *Fields) Allow(keys ...string) {
	if f != nil {
		f.known = append(f.known, keys...)
	}
}

// All returns a member in every spelling in which it stands there.
func (f *Fields) All(key string) []*Node {
	if f == nil {
		return nil
	}
	f.known = append(f.known, key)
	return f.find(key)
}

// Need returns a required member of any kind.
func (f *Fields) Need(key string) *Node {
	n := f.Get(key)
	if n == nil && f != nil {
		f.Missing(key)
	}
	return n
}

// Missing reports that a required key is absent, at the key of the object if it has one.
func (f *Fields) Missing(key string) *Diagnostic {
	message := missingKey(f.What, f.reader.ways(key)[0])
	return f.reader.Errorf(f.Node.KeySpan(), f.reader.Codes.Missing, "%s", message)
}

// Typed returns a member of the kind.
func (f *Fields) Typed(key string, kind expr.Kind) *Node {
	n := f.Get(key)
	if n == nil || !f.reader.Is(n, kind, n.Name()) {
		return nil
	}
	return n
}

// Str returns a string, which may be empty.
func (f *Fields) Str(key string) *Node { return f.Typed(key, expr.KindString) }

// Name returns a required string that is not empty.
func (f *Fields) Name(key string) *Node {
	n := f.Need(key)
	if n == nil {
		return nil
	}
	return f.reader.Named(n, n.Name())
}

// OptionalName returns a string that is not empty.
func (f *Fields) OptionalName(key string) *Node {
	n := f.Get(key)
	if n == nil {
		return nil
	}
	return f.reader.Named(n, n.Name())
}

// Literal returns a string that people often write without quotes, such as 1.0 or 404. A
// number is taken as it is written: see [Node.Literal].
func (f *Fields) Literal(key string) *Node {
	n := f.Get(key)
	if !n.Is(expr.KindNumber) {
		if n == nil || !f.reader.Is(n, expr.KindString, n.Name()) {
			return nil
		}
		return n
	}
	d := f.reader.Warnf(n, f.reader.Codes.Unquoted, "%s must be a string; this number is read as %q", n.Name(), n.Raw())
	d.WithHint("put it in quotes")
	return n
}

// Flag returns a boolean and where it stands, nil if it is absent.
func (f *Fields) Flag(key string, otherwise bool) (value bool, at *Node) {
	n := f.Typed(key, expr.KindBool)
	if n == nil {
		return otherwise, nil
	}
	value, _ = n.Bool()
	return value, n
}

// Choice returns a string that must be one of a few words, and where it stands.
func (f *Fields) Choice(key string, among ...string) (word string, at *Node) {
	return f.choice(key, false, among)
}

// ChoiceFold is Choice where the case of letters does not matter.
func (f *Fields) ChoiceFold(key string, among ...string) (word string, at *Node) {
	return f.choice(key, true, among)
}

func (f *Fields) choice(key string, fold bool, among []string) (word string, at *Node) {
	n := f.Get(key)
	if n == nil {
		return "", nil
	}
	return f.reader.OneOf(n, n.Name(), fold, among...), n
}

// List returns the items of an array. given is false if the key is absent.
func (f *Fields) List(key string) (items []*Node, given bool) {
	n := f.Get(key)
	if n == nil || !f.reader.Is(n, expr.KindArray, n.Name()) {
		return nil, n != nil
	}
	return n.Items, true
}

// Full returns the items of an array that must not be empty if it is there.
func (f *Fields) Full(key string) []*Node {
	items, _ := f.List(key)
	if n := f.Peek(key); n.Is(expr.KindArray) && len(items) == 0 {
		f.reader.Errorf(n, f.reader.Codes.Empty, "%s", emptyValue(n.Name()))
	}
	return items
}

// NeedList returns the items of a required array that must not be empty.
func (f *Fields) NeedList(key string) []*Node {
	if f != nil && f.Peek(key) == nil {
		f.Missing(key)
	}
	return f.Full(key)
}

// Each reads the items of a list, without those for which read returns nil: it has reported
// what is wrong with them.
func Each[T any](items []*Node, read func(*Node) *T) []*T {
	var out []*T
	for _, n := range items {
		if v := read(n); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// Either reports if both or neither of two keys are given.
func (f *Fields) Either(a, b string) {
	if f == nil {
		return
	}
	first, second := f.Peek(a), f.Peek(b)
	switch {
	case first == nil && second == nil:
		f.reader.Errorf(f.Node.KeySpan(), f.reader.Codes.Missing, "%s needs %q or %q",
			f.What, f.reader.ways(a)[0], f.reader.ways(b)[0])
	case first != nil && second != nil:
		f.Both(first, second)
	}
}

// Both reports two members that exclude each other, at the one that stands further down.
func (f *Fields) Both(a, b *Node) *Diagnostic {
	return f.reader.Errorf(Later(a, b).KeySpan(), f.reader.Codes.Both, "%s has both %q and %q; only one is allowed",
		f.What, a.Name(), b.Name())
}

// Later returns the value that stands further down, which people read second.
func Later(a, b *Node) *Node {
	p, q := a.Pos(), b.Pos()
	if p.Line > q.Line || p.Line == q.Line && p.Column > q.Column {
		return a
	}
	return b
}

// Done reports the members that were not asked for.
func (f *Fields) Done() {
	if f == nil {
		return
	}
	if f.reader.Visit != nil {
		f.reader.Visit(f)
	}
	ways := make([][]string, len(f.known))
	for i, key := range f.known {
		ways[i] = f.reader.ways(key)
	}
	for _, m := range f.Node.Members {
		if !slices.ContainsFunc(ways, func(one []string) bool { return f.spells(one, m.Key.Text) }) {
			f.unknown(m, ways)
		}
	}
}

// unknown reports a key that was not asked for, and hints at the one that was meant. All
// preferred spellings are tried first, then the others.
func (f *Fields) unknown(m *Node, ways [][]string) {
	var own, others []string
	for _, one := range ways {
		if !slices.Contains(own, one[0]) {
			own = append(own, one[0])
			others = append(others, one[1:]...)
		}
	}
	message := unknownKey(m.Name(), f.What)
	var d *Diagnostic
	if f.reader.Strict || f.reader.Closed {
		d = f.reader.Errorf(m.Key, f.reader.Codes.Unknown, "%s", message)
	} else {
		d = f.reader.Warnf(m.Key, f.reader.Codes.Unknown, "%s; it is ignored", message)
	}
	if near := f.reader.DidYouMean(d, m.Name(), append(slices.Clone(own), others...)); near == "" {
		d.Hint = listKeys(own)
	}
}
