package format

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Order is the order of keys in one kind of documents. It is the order of properties in the
// kind's JSON Schema, so it depends on what an object is for. Keys of objects that the schema
// leaves open (data, parameters, metadata) are never moved.
//
// Order supports the part of JSON Schema that our own schemas use to describe objects: $ref
// inside the schema, properties, additionalProperties, items, allOf, and if, then and else over
// type, const, enum, not, required and properties.
type Order struct{ root *dialect.Node }

// OrderOf reads the order from a schema.
func OrderOf(schema []byte) (*Order, error) {
	doc, found := dialect.Read("schema.json", schema)
	if found.HasErrors() {
		return nil, fmt.Errorf("read the schema: %w", found)
	}
	return &Order{doc.Root}, nil
}

// Walk calls visit for each object of a document that the schema describes, with its keys in
// order.
func (o *Order) Walk(root *dialect.Node, visit func(object *dialect.Node, keys []string)) {
	o.walk(root, o.rules(), visit)
}

func (o *Order) walk(n *dialect.Node, rules []*dialect.Node, visit func(*dialect.Node, []string)) {
	if n.Is(expr.KindObject) {
		if keys := o.keys(n, rules); len(keys) > 0 {
			visit(n, keys)
		}
	}
	for _, m := range n.Members {
		o.walk(m, o.member(n, rules, m.Name()), visit)
	}
	for _, item := range n.Items {
		o.walk(item, o.item(n, rules), visit)
	}
}

// rules are the schemas that apply to a document. A nil order has none.
func (o *Order) rules() []*dialect.Node {
	if o == nil {
		return nil
	}
	return []*dialect.Node{o.root}
}

// keys returns the keys that belong to an object, in order.
func (o *Order) keys(n *dialect.Node, rules []*dialect.Node) []string {
	var keys []string
	o.each(n, rules, func(s *dialect.Node) {
		if p := s.Get("properties"); p != nil {
			for _, m := range p.Members {
				if !slices.Contains(keys, m.Name()) {
					keys = append(keys, m.Name())
				}
			}
		}
	})
	return keys
}

// member returns the rules for an object's member.
func (o *Order) member(n *dialect.Node, rules []*dialect.Node, key string) []*dialect.Node {
	var out []*dialect.Node
	o.each(n, rules, func(s *dialect.Node) {
		if p := s.Lookup("properties", key); p != nil {
			out = append(out, p)
		} else if p := s.Get("additionalProperties"); p != nil {
			out = append(out, p)
		}
	})
	return out
}

// item returns the rules for the items of an array.
func (o *Order) item(n *dialect.Node, rules []*dialect.Node) []*dialect.Node {
	var out []*dialect.Node
	o.each(n, rules, func(s *dialect.Node) {
		if items := s.Get("items"); items != nil {
			out = append(out, items)
		}
	})
	return out
}

// each visits every schema that applies to a value: the rules themselves, what
// they refer to, and the branches of conditions that hold for it.
func (o *Order) each(n *dialect.Node, rules []*dialect.Node, visit func(*dialect.Node)) {
	for _, s := range rules {
		if ref, ok := s.Get("$ref").Str(); ok { // draft-07 ignores everything beside it
			o.each(n, []*dialect.Node{o.definition(ref)}, visit)
			continue
		}
		visit(s)
		if all := s.Get("allOf"); all != nil {
			o.each(n, all.Items, visit)
		}
		if condition := s.Get("if"); condition != nil {
			branch := s.Get("else")
			if o.holds(condition, n) {
				branch = s.Get("then")
			}
			if branch != nil {
				o.each(n, []*dialect.Node{branch}, visit)
			}
		}
	}
}

const definitions = "#/definitions/"

func (o *Order) definition(ref string) *dialect.Node {
	if len(ref) < len(definitions) {
		return nil
	}
	return o.root.Lookup("definitions", ref[len(definitions):])
}

// holds reports whether a value satisfies the schema of a condition.
func (o *Order) holds(s, n *dialect.Node) bool {
	if kind, ok := s.Get("type").Str(); ok && kind != n.Kind.String() {
		return false
	}
	if c := s.Get("const"); c != nil && !expr.Equal(c.Value(), n.Value()) {
		return false
	}
	if e := s.Get("enum"); e != nil && !slices.ContainsFunc(e.Items, func(one *dialect.Node) bool { return expr.Equal(one.Value(), n.Value()) }) {
		return false
	}
	if not := s.Get("not"); not != nil && o.holds(not, n) {
		return false
	}
	if !n.Is(expr.KindObject) {
		return true
	}
	if required := s.Get("required"); required != nil {
		for _, key := range required.Items {
			if n.Get(key.Text) == nil {
				return false
			}
		}
	}
	if p := s.Get("properties"); p != nil {
		for _, m := range p.Members {
			if value := n.Get(m.Name()); value != nil && !o.holds(m, value) {
				return false
			}
		}
	}
	return true
}

// mergeKey comes before all others, because they override it.
const mergeKey = "<<"

// sorted returns members with the known keys first, in their order, and then the others as they
// were.
func sorted[T any](members []T, keys []string, name func(T) string) []T {
	if len(keys) == 0 {
		return members
	}
	rank := func(m T) int {
		switch i := slices.Index(keys, name(m)); {
		case name(m) == mergeKey:
			return -1
		case i < 0:
			return len(keys)
		default:
			return i
		}
	}
	out := slices.Clone(members)
	slices.SortStableFunc(out, func(a, b T) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}
