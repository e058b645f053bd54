package sw01

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
)

// operators are the ways to spell each comparison; case does not matter (001 §分支
// 状态, 000 §Switch State: EQ …; 004 §Single condition: Equals …).
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
	f := p.fields(n, "choice")
	if f == nil {
		return nil
	}
	f.fold = true
	c := &switchChoice{node: n, next: ref(f.name("nextState")), when: p.condition(f, 0)}
	f.done()
	return c
}

// maxConditions bounds how deep conditions may be nested.
const maxConditions = 32

// condition reads a comparison, or a list of conditions under single, and, or, not.
// Nesting is allowed (SEMANTICS §Control flow: Switch).
func (p *parser) condition(f *fields, depth int) *condition {
	var found *dialect.Node
	var join string
	for _, key := range joins {
		n := f.get(key)
		switch {
		case n == nil:
		case found == nil:
			found, join = n, key
		default:
			p.r.Errorf(later(found, n).KeySpan(), codeExclusive, "%s has both %q and %q; only one of them can hold", f.what, found.Name(), n.Name()).
				WithHint("put one into the other")
		}
	}
	if found == nil {
		return p.comparison(f)
	}
	for _, key := range []string{"path", "operator", "value"} {
		if n := f.get(key); n != nil {
			p.r.Errorf(n.KeySpan(), codeExclusive, "%s has both %q and %q; only one of them can hold", f.what, found.Name(), n.Name())
		}
	}
	items := found.Items
	switch {
	case depth >= maxConditions:
		p.r.Errorf(found, codeTooMany, "conditions are nested more than %d deep (limit condition-nesting)", maxConditions)
		return nil
	case found.Kind == expr.KindObject:
		items = []*dialect.Node{found}
	case found.Kind != expr.KindArray:
		p.r.Errorf(found, codeType, "%s must be a list of conditions, not %s", found.Name(), article(found.Kind))
		return nil
	case len(items) == 0:
		p.r.Errorf(found, codeEmpty, "%s must not be empty", found.Name())
		return nil
	}
	c, broken := &condition{node: f.node, op: "and"}, false
	if join == "or" {
		c.op = "or"
	}
	for _, item := range items {
		in := p.fields(item, "condition")
		if in == nil {
			broken = true
			continue
		}
		in.fold = true
		if n := in.optionalName("nextState"); n != nil {
			p.r.Warnf(n.KeySpan(), codeIgnored, "%s inside of %s is ignored", n.Name(), found.Name()).WithHint("it belongs to the choice")
		}
		one := p.condition(in, depth+1)
		broken = broken || one == nil
		c.items = append(c.items, one)
		in.done()
	}
	if broken { // nobody knows when it holds
		return nil
	}
	if join == "not" {
		return &condition{node: f.node, op: "not", items: []*condition{c}}
	}
	return c
}

// comparison reads path, operator and value.
func (p *parser) comparison(f *fields) *condition {
	c := &condition{node: f.node}
	if f.peek("path") == nil && f.peek("operator") == nil && f.peek("value") == nil {
		f.p.r.Errorf(f.node, codeMissing, "%s needs \"path\", \"operator\" and \"value\", or one of \"single\", \"and\", \"or\", \"not\"", f.what)
		for _, key := range []string{"path", "operator", "value"} {
			f.get(key)
		}
		return nil
	}
	c.path = p.path(f.need("path"), f.spell("path"))
	c.value = f.get("value")
	c.op = p.operator(f)
	switch {
	case c.value == nil && c.op != choice.Exists && c.op != "":
		if d := f.missing("value"); f.null("value") {
			d.WithHint(`to compare with null, write it as text: "null"`)
		}
		return nil
	case c.value.Is(expr.KindArray) || c.value.Is(expr.KindObject):
		p.r.Errorf(c.value, codeType, "%s must be text, a number or a boolean, not %s", f.spell("value"), article(c.value.Kind))
		return nil
	case c.path == nil || c.op == "":
		return nil
	}
	return c
}

func (p *parser) operator(f *fields) string {
	n := f.name("operator")
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
	d := p.r.Errorf(n, codeChoice, "%s cannot be %q", f.spell("operator"), n.Text)
	switch word := strings.ToUpper(strings.TrimSpace(n.Text)); {
	case unequal[word]: // the opposite is nearest, and the worst advice
		d.WithHint("there is none; put an EQ into \"not\"")
	case mathematical[word] != "":
		d.WithHint("did you mean %q?", mathematical[word])
	default:
		p.oneOf(d, n.Text, names)
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
	return fmt.Sprintf("%s %s %s", c.path.src, choice.Sign(c.op), spelled(c.value))
}
