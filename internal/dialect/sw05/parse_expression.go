package sw05

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
)

// test is a condition of the forms before 0.5.
//
// Their texts name no language: "spel, jexl, cel" are examples. What their own expressions have in common is read
// here, in whichever of the notations they are: comparisons of a path with a constant, joined by and, or and not.
type test struct {
	node  *dialect.Node
	path  string // one path by itself; else tree
	tree  choice.Condition
	label string
	error bool // it asks for the error
}

// test reads an expression: {language, body}, or the body alone. ofError says that it is asked when the state
// failed: then names by themselves are those of the error's members.
func (p *parser) test(n *dialect.Node, ofError bool) *test {
	if n == nil {
		return nil
	}
	if n.Kind == expr.KindObject {
		f := p.Fields(n, "an expression")
		f.Str("language")
		body := f.Name("body")
		f.Done()
		n = body
	}
	if n == nil || !p.Is(n, expr.KindString, n.Name()) {
		return nil
	}
	if strings.TrimSpace(n.Text) == "" {
		p.Errorf(n, codeEmpty, "%s must not be empty", n.Name())
		return nil
	}
	p.Budget.Spend(len(n.Text))
	r := &expressionReader{text: n.Text, ofError: ofError}
	tree, err := r.read()
	if err != nil {
		p.Malformed(n, 0, codeExpression, "expression", err).Hint = err.Hint
		return nil
	}
	for _, path := range r.paths {
		p.Budget.Weigh(n, path.Weight)
	}
	t := &test{node: n, tree: tree, label: strings.TrimSpace(n.Text), error: r.asksError}
	if tree.Op == choice.Holds {
		t.path = tree.Path
	}
	return t
}

// operators are the comparisons of choices and data conditions, in lower case (0.1 §Switch State: Choices; 0.2
// §Switch State: Data Conditions).
var operators = map[string]struct {
	op      string
	negated bool
}{
	"exists": {choice.Exists, false}, "notexists": {choice.Exists, true},
	"null": {isNull, false}, "notnull": {isNull, true},
	"equals": {choice.Equal, false}, "notequals": {choice.Equal, true},
	"lessthan": {choice.Less, false}, "lessthanequals": {choice.LessOrEqual, false}, "lessthanorequals": {choice.LessOrEqual, false},
	"greaterthan": {choice.Greater, false}, "greaterthanequals": {choice.GreaterOrEqual, false}, "greaterthanorequals": {choice.GreaterOrEqual, false},
	"matches": {choice.Matches, false}, "notmatches": {choice.Matches, true},
}

// isNull is a comparison that is made of others.
const isNull = "null"

// operatorNames are those of operators, for messages.
var operatorNames = []string{
	"Exists", "NotExists", "Null", "NotNull", "Equals", "NotEquals", "LessThan", "LessThanEquals", "LessThanOrEquals",
	"GreaterThan", "GreaterThanEquals", "GreaterThanOrEquals", "Matches", "NotMatches",
}

// choice reads when a switch takes a way: a condition in text, a comparison, or several under and, or, not.
func (p *parser) choice(f *dialect.Fields) *test {
	f.Allow("condition", "path", "value", "operator", "and", "or", "not")
	if n := f.Get("condition"); n != nil {
		for _, key := range []string{"path", "value", "operator", "and", "or", "not"} {
			if other := f.Peek(key); other != nil {
				f.Both(n, other)
			}
		}
		return p.test(n, false)
	}
	tree, label, ok := p.comparisons(f, 0)
	if !ok {
		return nil
	}
	return &test{node: f.Node, tree: tree, label: label}
}

// maxConditions bounds how deep choices may be nested; the text has one level.
const maxConditions = 32

func (p *parser) comparisons(f *dialect.Fields, depth int) (tree choice.Condition, label string, ok bool) {
	var join *dialect.Node
	for _, key := range []string{"and", "or", "not"} {
		n := f.Get(key)
		switch {
		case n == nil:
		case join != nil:
			f.Both(join, n).WithHint("put one into the other")
		default:
			join = n
		}
	}
	if join == nil {
		return p.comparison(f)
	}
	items := join.Items
	switch {
	case depth >= maxConditions:
		p.Errorf(join, codeTooMany, "choices are nested more than %d deep (limit condition-nesting)", maxConditions)
		return tree, "", false
	case join.Kind == expr.KindObject:
		items = []*dialect.Node{join}
	case join.Kind != expr.KindArray:
		p.Expected(join, join.Name(), "an array of choices")
		return tree, "", false
	case len(items) == 0:
		p.Errorf(join, codeEmpty, "%s must not be empty", join.Name())
		return tree, "", false
	}
	ok = true
	op := join.Name()
	tree = choice.Condition{Op: choice.And}
	if op == "or" {
		tree.Op = choice.Or
	}
	var labels []string
	for _, item := range items {
		in := p.Fields(item, "a choice")
		if in == nil {
			ok = false
			continue
		}
		in.Allow("path", "value", "operator", "and", "or", "not")
		one, text, good := p.comparisons(in, depth+1)
		in.Done()
		tree.Items, labels, ok = append(tree.Items, one), append(labels, text), ok && good
	}
	label = strings.Join(labels, " "+tree.Op+" ")
	if op == "not" {
		tree, label = negate(tree), "not ("+label+")"
	}
	return tree, label, ok
}

// comparison reads path, operator and value.
func (p *parser) comparison(f *dialect.Fields) (tree choice.Condition, label string, ok bool) {
	f.Allow("path", "value", "operator")
	path := p.path(f.Need("path"))
	word := f.Name("operator")
	value := f.Get("value")
	if path == nil || word == nil {
		return tree, "", false
	}
	op, known := operators[strings.ToLower(word.Text)]
	switch {
	case strings.EqualFold(word.Text, "custom"):
		p.Errorf(word, codeChoice, "operator %q is an engine's own: nothing here says what it compares", word.Text).
			WithHint("use one of the others, or compare in a function and switch on its result")
		return tree, "", false
	case !known:
		p.MeantOneOf(p.Errorf(word, codeChoice, "operator cannot be %q", word.Text), word.Text, operatorNames)
		return tree, "", false
	case value == nil && op.op != choice.Exists && op.op != isNull:
		f.Missing("value")
		return tree, "", false
	case value.Is(expr.KindArray) || value.Is(expr.KindObject):
		p.Expected(value, "value", "a string, a number or a boolean")
		return tree, "", false
	}
	label = fmt.Sprintf("%s %s", path.src, strings.TrimSpace(word.Text+" "+value.Literal()))
	if op.op == isNull {
		tree = nullTest(path.src)
	} else {
		tree = choice.Condition{Op: op.op, Path: path.src, Value: value.Value(), Some: !path.Definite}
	}
	if op.op == choice.Matches {
		if _, err := (choice.Compiler{}).Compile(choice.Source(tree)); err != nil {
			p.Malformed(value, 0, codeExpression, "regular expression", err)
			return tree, "", false
		}
	}
	if op.negated {
		tree = negate(tree)
	}
	return tree, label, true
}

func negate(c choice.Condition) choice.Condition {
	return choice.Condition{Op: choice.Not, Items: []choice.Condition{c}}
}

// nullTest holds where a path selects nothing, or null.
func nullTest(path string) choice.Condition {
	return choice.Condition{Op: choice.Or, Items: []choice.Condition{
		negate(choice.Condition{Op: choice.Exists, Path: path}), {Op: choice.Equal, Path: path},
	}}
}
