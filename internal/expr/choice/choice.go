// Package choice is the language of conditions in switch states of Serverless Workflow 0.1 and 0.2:
// comparisons of the value at a path with a constant, joined by and, or and not.
//
// The source of a program is the JSON text of a [Condition]: what a front-end writes
// with [Source], and [Compiler] reads.
package choice

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/regex"
)

// Lang is the name of the language.
const Lang = "choice"

// The comparisons. The text comparisons compare everything as text, numbers included.
const (
	Equal              = "eq"
	Less               = "lt"
	LessOrEqual        = "le"
	Greater            = "gt"
	GreaterOrEqual     = "ge"
	TextEqual          = "text-eq"
	TextLess           = "text-lt"
	TextLessOrEqual    = "text-le"
	TextGreater        = "text-gt"
	TextGreaterOrEqual = "text-ge"
	Exists             = "exists"
	// IsObject is for front-ends: whether the path selects an object.
	IsObject = "object"
	// Holds is a path by itself, and holds as a condition of 0.5 does.
	Holds = "holds"
	// Matches compares text with a regular expression.
	Matches = "matches"
)

// The ways to join conditions.
const (
	And = "and"
	Or  = "or"
	Not = "not" // of one item
)

var signs = map[string]string{
	Equal: "=", Less: "<", LessOrEqual: "≤", Greater: ">", GreaterOrEqual: "≥", Exists: "exists", IsObject: "is an object", Holds: "holds", Matches: "matches",
	TextEqual: "=", TextLess: "<", TextLessOrEqual: "≤", TextGreater: ">", TextGreaterOrEqual: "≥",
}

// Sign returns the symbol of a comparison, for messages.
func Sign(op string) string { return signs[op] }

// IsText reports whether a comparison is one of text.
func IsText(op string) bool { return strings.HasPrefix(op, "text-") }

// IsFalse reports whether the value of an [Exists] negates it.
func IsFalse(v expr.Value) bool {
	return v.Kind() == expr.KindBool && !v.Bool() || v.Kind() == expr.KindString && strings.EqualFold(strings.TrimSpace(v.Str()), "false")
}

// Condition is a comparison, or conditions that are joined.
type Condition struct {
	Op    string
	Items []Condition // of And, Or and Not

	Path  string
	Value expr.Value
	Some  bool // a path with several matches: one of them is enough
}

// Source writes a condition as the text that [Compiler] reads. The same condition
// gives the same text.
func Source(c Condition) string { return c.value().String() }

func (c Condition) value() expr.Value {
	if c.Op == And || c.Op == Or || c.Op == Not {
		items := make([]expr.Value, len(c.Items))
		for i, item := range c.Items {
			items[i] = item.value()
		}
		return expr.Object(expr.Member{Key: c.Op, Value: expr.Array(items...)})
	}
	if c.Some {
		c.Some = false
		return c.value().With("some", expr.Bool(true))
	}
	return expr.Object(
		expr.Member{Key: "op", Value: expr.String(c.Op)},
		expr.Member{Key: "path", Value: expr.String(c.Path)},
		expr.Member{Key: "value", Value: c.Value},
	)
}

// Compiler compiles conditions.
type Compiler struct{}

var (
	_ expr.Compiler = Compiler{}
	_ expr.Scoped   = program{}
)

// Compile reads what [Source] writes.
func (Compiler) Compile(src string) (expr.Program, error) {
	v, err := expr.ParseJSON([]byte(src))
	if err != nil {
		return nil, &expr.SyntaxError{Msg: "invalid JSON: " + err.Error()}
	}
	n, err := compile(v, 0)
	if err != nil {
		return nil, err
	}
	return program{n, n.weight()}, nil
}

// maxNesting bounds conditions inside each other; front-ends allow fewer.
const maxNesting = 100

// node is a compiled condition.
type node struct {
	op    string
	items []node
	path  expr.Program
	value expr.Value
	want  expr.Value // value as a number, null if it is not one
	some  bool
	match *regex.Pattern // of Matches
}

func compile(v expr.Value, depth int) (node, error) {
	if depth > maxNesting {
		return node{}, &expr.SyntaxError{Msg: fmt.Sprintf("conditions are nested more than %d deep", maxNesting)}
	}
	for _, join := range []string{And, Or, Not} {
		list, ok := v.Get(join)
		if !ok {
			continue
		}
		n := node{op: join}
		for _, item := range list.Items() {
			one, err := compile(item, depth+1)
			if err != nil {
				return node{}, err
			}
			n.items = append(n.items, one)
		}
		if join == Not && len(n.items) != 1 {
			return node{}, &expr.SyntaxError{Msg: "not takes exactly one condition"}
		}
		return n, nil
	}
	op, _ := v.Get("op")
	path, _ := v.Get("path")
	n := node{op: op.Str()}
	if signs[n.op] == "" {
		return node{}, &expr.SyntaxError{Msg: fmt.Sprintf("unknown comparison %q", n.op)}
	}
	n.value, _ = v.Get("value")
	n.want = number(n.value)
	some, _ := v.Get("some")
	n.some = some.Bool()
	if n.op == Matches {
		pattern, bad := regex.Compile(n.value.Text(), 0)
		if bad != nil {
			return node{}, bad
		}
		n.match = pattern
	}
	var err error
	if n.path, err = (jsonpath.Compiler{}).Compile(path.Str()); err != nil {
		return node{}, err
	}
	return n, nil
}

// weight is the weight of the paths.
func (n *node) weight() int {
	total := 0
	if w, ok := n.path.(expr.Weighed); ok {
		total = w.Weight()
	}
	if n.match != nil {
		total += n.match.Weight()
	}
	for i := range n.items {
		total += n.items[i].weight()
	}
	return total
}

// number is a value as a number: one itself, or text that spells one. It is null
// for everything else.
func number(v expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindNumber:
		return v
	case expr.KindString:
		if n, err := expr.Number(strings.TrimSpace(v.Str())); err == nil {
			return n
		}
	}
	return expr.Null
}

// program is a compiled condition; it evaluates to true or false.
type program struct {
	root   node
	weight int
}

// Weight implements [expr.Weighed].
func (p program) Weight() int { return p.weight }

// Eval decides the condition.
func (p program) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	return p.EvalIn(expr.Scope{Data: data}, b)
}

// EvalIn implements [expr.Scoped].
func (p program) EvalIn(in expr.Scope, b *expr.Budget) (expr.Result, error) {
	ok, err := p.root.holds(in, b)
	return expr.Result{Value: expr.Bool(ok)}, err
}

func (n *node) holds(in expr.Scope, b *expr.Budget) (bool, error) {
	if err := b.Step(1); err != nil {
		return false, err
	}
	switch n.op {
	case And, Or:
		for i := range n.items {
			if ok, err := n.items[i].holds(in, b); err != nil || ok == (n.op == Or) {
				return ok, err
			}
		}
		return n.op == And, nil
	case Not:
		ok, err := n.items[0].holds(in, b)
		return !ok && err == nil, err
	}
	r, err := n.path.(expr.Scoped).EvalIn(in, b)
	if err != nil {
		return false, err
	}
	switch n.op {
	case Exists:
		return r.Missing == IsFalse(n.value), nil
	case IsObject:
		return !r.Missing && r.Value.IsObject(), nil
	case Holds:
		return r.True(), nil
	}
	if r.Missing { // every comparison with a missing value is false
		return false, nil
	}
	if n.some && r.List {
		for _, item := range r.Value.Items() {
			if ok, err := n.compare(item, b); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	return n.compare(r.Value, b)
}

// compare compares what was selected with the value (semantics.md §Control flow:
// Switch). Values that have no order compare false.
func (n *node) compare(v expr.Value, b *expr.Budget) (bool, error) {
	if n.match != nil {
		if v.IsNull() || v.IsArray() || v.IsObject() {
			return false, nil
		}
		return n.match.Match(v.Text(), b)
	}
	if !IsText(n.op) && !n.want.IsNull() {
		if err := b.Step(len(v.Str()) / 32); err != nil {
			return false, err
		}
		have := number(v)
		if have.IsNull() {
			return false, nil
		}
		c, ok, err := b.Compare(have, n.want)
		return ok && sorts(n.op, c), err
	}
	if v.IsNull() || v.IsArray() || v.IsObject() {
		return n.op == Equal && v.IsNull() && (n.value.IsNull() || n.value.Str() == "null"), nil
	}
	if !IsText(n.op) && v.Kind() == expr.KindNumber {
		return false, nil // the constant is not a number
	}
	have, want := v.Text(), n.value.Text()
	if err := b.Step((len(have) + len(want)) / 64); err != nil {
		return false, err
	}
	// A boolean in the data equals the constant's text "true" or "false", because the schema makes
	// the constant a string. Text in the data is never a boolean (semantics.md §Expressions: no
	// coercion).
	if !IsText(n.op) && (v.Kind() == expr.KindBool || n.value.Kind() == expr.KindBool) {
		return n.op == Equal && v.Kind() == expr.KindBool && have == want, nil
	}
	return sorts(n.op, strings.Compare(have, want)), nil
}

// sorts reports whether a comparison holds for c, the result of a three-way comparison.
func sorts(op string, c int) bool {
	switch strings.TrimPrefix(op, "text-") {
	case Equal:
		return c == 0
	case Less:
		return c < 0
	case LessOrEqual:
		return c <= 0
	case Greater:
		return c > 0
	case GreaterOrEqual:
		return c >= 0
	}
	return false
}
