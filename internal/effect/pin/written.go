package pin

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Written is a value as a definition writes it: constants, and expressions whose values are not known before an
// instance runs.
type Written struct {
	Value expr.Value // null stands for an expression
	Open  []string   // JSON pointers to the expressions, in Value
	at    located
}

// located finds the parts of a value in the document.
type located struct {
	pos    dialect.Pos
	node   *dialect.Node // nil: only pos is known
	prefix []string      // the keys below node that lead to the value
}

// Known reports whether the value, or at least its kind, is known.
func (w Written) Known() bool { return !slices.Contains(w.Open, "") }

// Constant reports whether all of it is known.
func (w Written) Constant() bool { return len(w.Open) == 0 }

// Get is a member of it; ok is false where there is none.
func (w Written) Get(key string) (out Written, ok bool) {
	v, ok := w.Value.Get(key)
	out = Written{Value: v, at: w.at}
	out.at.prefix = append(slices.Clip(w.at.prefix), key)
	token := "/" + Token(key)
	for _, open := range w.Open {
		if rest, below := strings.CutPrefix(open, token); below && (rest == "" || rest[0] == '/') {
			out.Open = append(out.Open, rest)
		}
	}
	return out, ok
}

// Without is the object without a member.
func (w Written) Without(key string) Written {
	w.Value = w.Value.Without(key)
	token := "/" + Token(key)
	w.Open = slices.DeleteFunc(slices.Clone(w.Open), func(open string) bool {
		return open == token || strings.HasPrefix(open, token+"/")
	})
	return w
}

// Instead is the object without a member, and with an open one of another name in its place.
func (w Written) Instead(from, to string) Written {
	w = w.Without(from)
	w.Value = w.Value.With(to, expr.Null)
	w.Open = append(w.Open, "/"+Token(to))
	return w
}

// Token writes a name for a JSON pointer.
func Token(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// Place is where the part at a JSON pointer stands; what the document does not have is pointed at from above.
func (w Written) Place(pointer string) dialect.Place { return w.at.place(pointer, false) }

// KeyPlace is where the name of the part at a JSON pointer stands.
func (w Written) KeyPlace(pointer string) dialect.Place { return w.at.place(pointer, true) }

func (l located) place(pointer string, key bool) dialect.Place {
	if l.node == nil {
		return l.pos
	}
	path := slices.Clone(l.prefix)
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer != "" {
			path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		}
	}
	found, rest := deepest(l.node, path)
	// Front-ends wrap the arguments of some calls: there the names before those of the author's are ours.
	if own := l.node.Get("arguments"); own != nil && found == l.node {
		for i := range path {
			if below, left := deepest(own, path[i:]); len(left) < len(path)-i {
				found, rest = below, left
				break
			}
		}
	}
	if key && len(rest) == 0 {
		return found.KeySpan()
	}
	return found.Span()
}

// deepest follows a path as far as it leads.
func deepest(n *dialect.Node, path []string) (*dialect.Node, []string) {
	for len(path) > 0 {
		next := n.Lookup(path[0])
		if next == nil {
			break
		}
		n, path = next, path[1:]
	}
	return n, path
}

// written reads an expression of a program. What the language of the expression does not show to be constant is open.
func (f *Finder) written(id ir.ExprID) Written {
	e := f.def.Program.Exprs[id]
	w := Written{at: f.locate(e.Pos)}
	isOpen, ok := openText[e.Lang]
	v, err := expr.ParseJSON([]byte(e.Src))
	if !ok || err != nil {
		w.Open = []string{""}
		return w
	}
	w.Value = w.close(v, "", isOpen)
	return w
}

// openText tells for each language of templates which texts are, or hold, expressions. In jq, JSON text means itself.
var openText = map[string]func(text string) bool{
	jsonpath.TemplateLang: func(text string) bool { return strings.Contains(text, "{{") },
	jq.TemplateLang:       func(text string) bool { return strings.Contains(text, "${") },
	jq.TextLang:           func(text string) bool { return strings.Contains(text, "${") },
	jq.LooseLang:          func(string) bool { return true },
	jq.Lang:               func(text string) bool { return false },
}

// close replaces expressions by null, and keeps where they stood.
func (w *Written) close(v expr.Value, at string, isOpen func(string) bool) expr.Value {
	switch v.Kind() {
	case expr.KindString:
		if isOpen(v.Str()) {
			w.Open = append(w.Open, at)
			return expr.Null
		}
	case expr.KindArray:
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = w.close(items[i], at+"/"+strconv.Itoa(i), isOpen)
		}
		return expr.Array(items...)
	case expr.KindObject:
		members := slices.Clone(v.Members())
		for i := range members {
			members[i].Value = w.close(members[i].Value, at+"/"+Token(members[i].Key), isOpen)
		}
		return expr.Object(members...)
	}
	return v
}

// expressions is a value whose texts, but for the names of members, are expressions.
func expressions(v expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindString:
		return expr.String("${ " + v.Str() + " }")
	case expr.KindArray:
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = expressions(items[i])
		}
		return expr.Array(items...)
	case expr.KindObject:
		members := slices.Clone(v.Members())
		for i := range members {
			members[i].Value = expressions(members[i].Value)
		}
		return expr.Object(members...)
	}
	return v
}

// locate finds the value that begins at a place of the definition.
func (f *Finder) locate(at ir.Pos) located {
	if f.nodes == nil {
		f.nodes = map[ir.Pos]*dialect.Node{}
		f.index(f.def.Root)
	}
	return located{pos: dialect.Pos{File: f.def.File, Line: at.Line, Column: at.Column}, node: f.nodes[at]}
}

// index remembers where values begin; of several that begin at one place, the outermost.
func (f *Finder) index(n *dialect.Node) {
	if n == nil {
		return
	}
	if at := n.IRPos(); f.nodes[at] == nil {
		f.nodes[at] = n
	}
	for _, m := range n.Members {
		f.index(m)
	}
	for _, item := range n.Items {
		f.index(item)
	}
}
