package sw01

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
)

// operators are the ways to spell each comparison; case does not matter (0.1 E §分支
// 状态, 0.1 C §Switch State: EQ …; 0.1 K §Single condition: Equals …).
var operators = []struct{ name, op string }{
	{"EQ", choice.Equal},
	{"LT", choice.Less},
	{"LTEQ", choice.LessOrEqual},
	{"GT", choice.Greater},
	{"GTEQ", choice.GreaterOrEqual},
	{"StrEQ", choice.TextEqual},
	{"StrLT", choice.TextLess},
	{"StrLTEQ", choice.TextLessOrEqual},
	{"StrGT", choice.TextGreater},
	{"StrGTEQ", choice.TextGreaterOrEqual},
	{"Equals", choice.Equal},
	{"LessThan", choice.Less},
	{"LessThanEquals", choice.LessOrEqual},
	{"GreaterThan", choice.Greater},
	{"GreaterThanEquals", choice.GreaterOrEqual},
	{"Exists", choice.Exists},
}

// joins are the keys that hold conditions.
var joins = []string{"single", "and", "or", "not"}

// choice reads one way out of a SWITCH.
func (p *parser) choice(n *dialect.Node) *switchChoice {
	f := p.Fields(n, "a choice")
	if f == nil {
		return nil
	}
	f.Fold = true
	c := &switchChoice{node: n, next: ref(f.Name("nextState")), when: p.condition(f, 0)}
	f.Done()
	return c
}

// maxConditions bounds how deep conditions may be nested.
const maxConditions = 32

// condition reads a comparison, or a list of conditions under single, and, or, not.
// Nesting is allowed (semantics.md §Control flow: Switch).
func (p *parser) condition(f *dialect.Fields, depth int) *condition {
	var found *dialect.Node
	var join string
	for _, key := range joins {
		n := f.Get(key)
		switch {
		case n == nil:
		case found == nil:
			found, join = n, key
		default:
			f.Both(found, n).WithHint("put one into the other")
		}
	}
	if found == nil {
		return p.comparison(f)
	}
	for _, key := range []string{"path", "operator", "value"} {
		if n := f.Get(key); n != nil {
			f.Both(found, n)
		}
	}
	items := found.Items
	switch {
	case depth >= maxConditions:
		p.Errorf(found, codeTooMany, "conditions are nested more than %d deep (limit condition-nesting)", maxConditions)
		return nil
	case found.Kind == expr.KindObject:
		items = []*dialect.Node{found}
	case found.Kind != expr.KindArray:
		p.Expected(found, found.Name(), "an array of conditions")
		return nil
	case len(items) == 0:
		p.Errorf(found, codeEmpty, "%s must not be empty", found.Name())
		return nil
	}
	c, broken := &condition{node: f.Node, op: "and"}, false
	if join == "or" {
		c.op = "or"
	}
	for _, item := range items {
		in := p.Fields(item, "a condition")
		if in == nil {
			broken = true
			continue
		}
		in.Fold = true
		if n := in.OptionalName("nextState"); n != nil {
			p.Warnf(n.KeySpan(), codeIgnored, "%s inside of %s is ignored", n.Name(), found.Name()).WithHint("it belongs to the choice")
		}
		one := p.condition(in, depth+1)
		broken = broken || one == nil
		c.items = append(c.items, one)
		in.Done()
	}
	if broken { // nobody knows when it holds
		return nil
	}
	if join == "not" {
		return &condition{node: f.Node, op: "not", items: []*condition{c}}
	}
	return c
}

// comparison reads path, operator and value.
func (p *parser) comparison(f *dialect.Fields) *condition {
	c := &condition{node: f.Node}
	if f.Peek("path") == nil && f.Peek("operator") == nil && f.Peek("value") == nil {
		p.Errorf(f.Node, codeMissing, "%s needs \"path\", \"operator\" and \"value\", or one of \"single\", \"and\", \"or\", \"not\"", f.What)
		f.Allow("path", "operator", "value")
		return nil
	}
	c.path = p.path(f.Need("path"))
	c.value = f.Get("value")
	c.op = p.operator(f)
	switch {
	case c.value == nil && c.op != choice.Exists && c.op != "":
		d := f.Missing("value")
		null := func(m *dialect.Node) bool { return m.IsNull() && strings.EqualFold(m.Name(), "value") }
		if slices.ContainsFunc(f.Node.Members, null) {
			d.WithHint(`to compare with null, write it as text: "null"`)
		}
		return nil
	case c.value.Is(expr.KindArray) || c.value.Is(expr.KindObject):
		p.Expected(c.value, c.value.Name(), "a string, a number or a boolean")
		return nil
	case c.path == nil || c.op == "":
		return nil
	}
	return c
}

func (p *parser) operator(f *dialect.Fields) string {
	n := f.Name("operator")
	if n == nil {
		return ""
	}
	var names []string
	for _, o := range operators {
		if strings.EqualFold(o.name, n.Text) {
			return o.op
		}
		names = append(names, o.name)
	}
	d := p.Errorf(n, codeChoice, "%s cannot be %q", n.Name(), n.Text)
	switch word := strings.ToUpper(strings.TrimSpace(n.Text)); {
	case unequal[word]: // the opposite is nearest, and the worst advice
		d.WithHint("there is none; put an EQ into \"not\"")
	case mathematical[word] != "":
		d.WithHint("did you mean %q?", mathematical[word])
	default:
		p.MeantOneOf(d, n.Text, names)
	}
	return ""
}

// What people write for comparisons that are spelled otherwise, or missing.
var (
	unequal = map[string]bool{
		"NE": true, "NEQ": true, "NOTEQ": true, "NOTEQUAL": true, "NOTEQUALS": true, "STRNE": true, "STRNEQ": true, "!=": true, "<>": true,
	}
	mathematical = map[string]string{"=": "EQ", "==": "EQ", "<": "LT", "<=": "LTEQ", ">": "GT", ">=": "GTEQ", "LE": "LTEQ", "LTE": "LTEQ", "GE": "GTEQ", "GTE": "GTEQ"}
)

// tree is the condition as the language of choices has it.
func (c *condition) tree() choice.Condition {
	out := choice.Condition{Op: c.op}
	for _, item := range c.items {
		out.Items = append(out.Items, item.tree())
	}
	if c.path != nil {
		out.Path, out.Value = c.path.src, c.value.Value()
		if c.value != nil && c.value.Kind == expr.KindNumber && choice.IsText(c.op) {
			out.Value = expr.String(c.value.Raw())
		}
	}
	return out
}

// label tells a condition in a diagram.
func (c *condition) label() string {
	if c == nil {
		return ""
	}
	switch {
	case c.op == "not":
		return "not (" + c.items[0].label() + ")"
	case len(c.items) == 1:
		return c.items[0].label()
	case len(c.items) > 1:
		var parts []string
		for _, item := range c.items {
			part := item.label()
			if len(item.items) > 1 {
				part = "(" + part + ")"
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, " "+c.op+" ")
	case c.path == nil:
		return ""
	case c.op == choice.Exists:
		if choice.IsFalse(c.value.Value()) {
			return c.path.src + " is missing"
		}
		return c.path.src + " exists"
	}
	return fmt.Sprintf("%s %s %s", c.path.src, choice.Sign(c.op), c.value.Literal())
}
