package sw05

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// expressionReader reads an expression of the forms before 0.5:
//
//	or         = and { ("or" | "||") and }
//	and        = one { ("and" | "&&") one }
//	one        = ("not" | "!") one | "(" or ")" | operand [ comparison operand ]
//	comparison = "==" | "!=" | "<" | "<=" | ">" | ">=" | "eq" | "ne" | "lt" | "le" | "gt" | "ge"
//	operand    = path | name { "." name } | text | number | "true" | "false" | "null" | "{{" path "}}"
//	           | "#jsonPath(" name "," text ")"
//
// One of the operands of a comparison is a constant. A path by itself holds as a condition of 0.5 does.
type expressionReader struct {
	text      string
	at        int
	ofError   bool
	asksError bool
	depth     int
	paths     []jsonpath.Shape
}

// operand is a path or a constant.
type operand struct {
	at       int
	path     string
	list     bool // the path may give several values
	constant expr.Value
}

const expressionHint = "an expression compares a path with a constant, as in $.error.name == 'NotFound', joined by and, or, not"

func (r *expressionReader) fail(at int, msg string) *expr.SyntaxError {
	return &expr.SyntaxError{Offset: min(at, len(r.text)), Msg: msg, Hint: expressionHint}
}

func (r *expressionReader) read() (choice.Condition, *expr.SyntaxError) {
	tree, err := r.or()
	if err == nil && r.peek() != "" {
		err = r.fail(r.at, "unexpected "+quoted(r.peek()))
	}
	return tree, err
}

func (r *expressionReader) or() (choice.Condition, *expr.SyntaxError) {
	return r.joined(choice.Or, "||", r.and)
}

func (r *expressionReader) and() (choice.Condition, *expr.SyntaxError) {
	return r.joined(choice.And, "&&", r.one)
}

func (r *expressionReader) joined(word, sign string, read func() (choice.Condition, *expr.SyntaxError)) (choice.Condition, *expr.SyntaxError) {
	first, err := read()
	if err != nil {
		return first, err
	}
	items := []choice.Condition{first}
	for r.take(word, sign) {
		next, err := read()
		if err != nil {
			return next, err
		}
		items = append(items, next)
	}
	if len(items) == 1 {
		return first, nil
	}
	return choice.Condition{Op: word, Items: items}, nil
}

func (r *expressionReader) one() (choice.Condition, *expr.SyntaxError) {
	if r.depth++; r.depth > maxConditions {
		return choice.Condition{}, r.fail(r.at, "nested too deep (limit condition-nesting)")
	}
	defer func() { r.depth-- }()
	switch {
	case r.take("not", "!"):
		inner, err := r.one()
		return negate(inner), err
	case r.take("("):
		inner, err := r.or()
		if err == nil && !r.take(")") {
			err = r.fail(r.at, "expected )")
		}
		return inner, err
	}
	left, err := r.operand()
	if err != nil {
		return choice.Condition{}, err
	}
	at := r.at
	op, negated := r.comparison()
	if op == "" {
		if left.path == "" {
			return choice.Condition{}, r.fail(left.at, "a constant by itself decides nothing")
		}
		return choice.Condition{Op: choice.Holds, Path: left.path}, nil
	}
	right, err := r.operand()
	if err != nil {
		return choice.Condition{}, err
	}
	switch {
	case left.path == "" && right.path == "":
		return choice.Condition{}, r.fail(at, "two constants are compared")
	case left.path != "" && right.path != "":
		return choice.Condition{}, r.fail(right.at, "a path can be compared with a constant only")
	case left.path == "":
		left, right, op = right, left, turned[op]
	}
	tree := choice.Condition{Op: op, Path: left.path, Value: right.constant, Some: left.list}
	if right.constant.IsNull() {
		if op != choice.Equal {
			return choice.Condition{}, r.fail(at, "null has no order")
		}
		tree = nullTest(left.path)
	}
	if negated {
		tree = negate(tree)
	}
	return tree, nil
}

// turned are the comparisons with their sides changed.
var turned = map[string]string{
	choice.Equal: choice.Equal, choice.Less: choice.Greater, choice.Greater: choice.Less,
	choice.LessOrEqual: choice.GreaterOrEqual, choice.GreaterOrEqual: choice.LessOrEqual,
}

func (r *expressionReader) comparison() (op string, negated bool) {
	switch {
	case r.take("==", "eq"):
		return choice.Equal, false
	case r.take("!=", "ne"):
		return choice.Equal, true
	case r.take("<=", "le"):
		return choice.LessOrEqual, false
	case r.take(">=", "ge"):
		return choice.GreaterOrEqual, false
	case r.take("<", "lt"):
		return choice.Less, false
	case r.take(">", "gt"):
		return choice.Greater, false
	}
	return "", false
}

// operand reads one side of a comparison.
func (r *expressionReader) operand() (operand, *expr.SyntaxError) {
	word := r.peek()
	o := operand{at: r.at}
	switch first := word; {
	case word == "":
		return o, r.fail(r.at, "something is missing")
	case first[0] == '\'' || first[0] == '"':
		text, err := r.quotedText()
		o.constant = expr.String(text)
		return o, err
	case strings.HasPrefix(word, "{{"):
		end := strings.Index(word, "}}")
		if end < 0 {
			return o, r.fail(r.at, "{{ has no }}")
		}
		r.at += end + 2
		return r.path(o, strings.TrimSpace(word[2:end]), o.at+2)
	case first[0] == '$':
		return r.path(o, r.pathText(), o.at)
	case strings.HasPrefix(word, "#jsonPath(") || strings.HasPrefix(word, "jsonPath("):
		return r.function(o)
	case first[0] == '-' || first[0] >= '0' && first[0] <= '9':
		end := strings.IndexFunc(word[1:], func(c rune) bool { return !strings.ContainsRune("0123456789.eE+-", c) })
		if end < 0 {
			end = len(word) - 1
		}
		n, err := expr.Number(word[:end+1])
		if err != nil {
			return o, r.fail(r.at, quoted(word[:end+1])+" is not a number")
		}
		r.at += end + 1
		o.constant = n
		return o, nil
	}
	return r.name(o)
}

// function reads the function of SpEL that evaluates a path; its first argument, the data, is what paths see anyway.
func (r *expressionReader) function(o operand) (operand, *expr.SyntaxError) {
	r.at += strings.Index(r.text[r.at:], "(") + 1
	comma := strings.IndexByte(r.text[r.at:], ',')
	if comma < 0 {
		return o, r.fail(r.at, "jsonPath takes the data and a path in quotes")
	}
	r.at += comma + 1
	if word := r.peek(); word == "" || word[0] != '\'' && word[0] != '"' {
		return o, r.fail(r.at, "jsonPath takes the data and a path in quotes")
	}
	at := r.at + 1
	text, err := r.quotedText()
	if err == nil && !r.take(")") {
		err = r.fail(r.at, "expected )")
	}
	if err != nil {
		return o, err
	}
	return r.path(o, text, at)
}

// name reads true, false, null, or names joined by dots: a member of the error, or of the data.
func (r *expressionReader) name(o operand) (operand, *expr.SyntaxError) {
	word := r.peek()
	end := 0
	for end < len(word) && (isNameByte(word[end]) || word[end] == '.') {
		end++
	}
	if end == 0 {
		return o, r.fail(r.at, "unexpected "+quoted(word))
	}
	r.at += end
	switch word = word[:end]; word {
	case "true", "false":
		o.constant = expr.Bool(word == "true")
		return o, nil
	case "null":
		o.constant = expr.Null
		return o, nil
	}
	first, _, _ := strings.Cut(word, ".")
	if r.ofError && errorNames[first] == "" {
		word = "error." + word
	}
	return r.path(o, "$."+word, o.at)
}

// errorNames are what the texts and their examples call the error in expressions; the text itself says "error".
var errorNames = map[string]string{"error": "error", "exception": "error", "errors": "error", "exceptions": "error"}

// path completes an operand that is a path.
func (r *expressionReader) path(o operand, src string, at int) (operand, *expr.SyntaxError) {
	shape, err := jsonpath.Describe(src)
	if err != nil {
		var syntax *expr.SyntaxError
		if !errors.As(err, &syntax) {
			return o, r.fail(at, err.Error())
		}
		return o, &expr.SyntaxError{Offset: min(at+syntax.Offset, len(r.text)), Msg: syntax.Msg, Hint: syntax.Hint}
	}
	if r.ofError && errorNames[shape.First] != "" {
		r.asksError = true
		src = "$.error" + strings.TrimPrefix(strings.TrimPrefix(src, "$."+shape.First), "[0]")
	}
	if r.ofError && errorMembers[shape.First] {
		r.asksError = true
	}
	r.paths = append(r.paths, shape)
	o.path, o.list = src, !shape.Definite
	return o, nil
}

// errorMembers are the members of an error that paths find by themselves.
var errorMembers = map[string]bool{"name": true, "message": true}

// pathText takes a path: up to a blank or an operator outside of its brackets.
func (r *expressionReader) pathText() string {
	from, depth, quote := r.at, 0, byte(0)
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case depth > 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '[' || c == '(':
			depth++
		case depth > 0 && (c == ']' || c == ')'):
			depth--
		case depth == 0 && strings.IndexByte(" \t\r\n=!<>)&|", c) >= 0:
			return r.text[from:r.at]
		}
	}
	return r.text[from:]
}

func (r *expressionReader) quotedText() (string, *expr.SyntaxError) {
	quote, from := r.text[r.at], r.at
	var b strings.Builder
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == quote:
			r.at++
			return b.String(), nil
		case c == '\\' && r.at+1 < len(r.text):
			r.at++
			b.WriteByte(r.text[r.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", r.fail(from, "the text has no end")
}

// peek returns what is left, without blanks before it.
func (r *expressionReader) peek() string {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[r.at:]
}

// take takes one of some signs or words.
func (r *expressionReader) take(any ...string) bool {
	rest := r.peek()
	for _, one := range any {
		after, ok := strings.CutPrefix(rest, one)
		if !ok || isNameByte(one[0]) && after != "" && (isNameByte(after[0]) || after[0] == '.') {
			continue
		}
		r.at += len(one)
		return true
	}
	return false
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// quoted is the beginning of a text, for messages.
func quoted(s string) string {
	if short, _, _ := strings.Cut(s, " "); len(short) <= 20 {
		s = short
	} else {
		s = short[:20] + "…"
	}
	return `"` + s + `"`
}
