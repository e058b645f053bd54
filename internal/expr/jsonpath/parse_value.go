package jsonpath

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// operand parses a path or a literal.
func (s *scanner) operand(what string) (operand, error) {
	switch c := s.peek(); c {
	case '$', '@':
		p, err := s.path()
		return operand{path: p}, err
	case '/':
		re, err := s.regex()
		return operand{re: re}, err
	}
	v, err := s.literal(what)
	return operand{lit: v}, err
}

// literal parses JSON with either kind of quotes.
func (s *scanner) literal(what string) (expr.Value, error) {
	switch c := s.peek(); {
	case c == '\'' || c == '"':
		text, err := s.quoted()
		return expr.String(text), err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == '[' || c == '{' && !s.has("{{"):
		if err := s.enter(); err != nil {
			return expr.Null, err
		}
		defer s.leave()
		if c == '[' {
			return s.list()
		}
		return s.object()
	}
	hint := ""
	switch w := s.word(); w {
	case "true", "false":
		s.pos += len(w)
		return expr.Bool(w == "true"), nil
	case "null":
		s.pos += len(w)
		return expr.Null, nil
	case "":
		switch {
		case s.has("{{"):
			hint = "a path holds no {{ }}; refer to the data with $"
		case s.has("+") || s.has("."):
			hint = "numbers are written as in JSON: 5, -2, 0.5, 1e3"
		case s.has("="):
			hint = "write == for equal"
		}
	default:
		hint = fmt.Sprintf("text has quotes: '%s'; a property of the item is @.%s", w, w)
		if lower := strings.ToLower(w); lower == "true" || lower == "false" || lower == "null" {
			hint = "write " + lower
		} else if lower == "not" {
			hint = "write ! for not"
		}
	}
	return expr.Null, s.expected(what, hint)
}

func (s *scanner) list() (expr.Value, error) {
	open := s.pos
	s.pos++
	var items []expr.Value
	s.blank()
	if s.accept("]") {
		return expr.Array(), nil
	}
	for {
		s.blank()
		v, err := s.literal("a value")
		if err != nil {
			return expr.Null, err
		}
		items = append(items, v)
		switch s.blank(); {
		case s.accept(","):
		case s.accept("]"):
			return expr.Array(items...), nil
		case s.atEnd():
			return expr.Null, fail(open, "close it with ]", "the list is not closed")
		default:
			return expr.Null, s.expected("',' or ']' in the list", "")
		}
	}
}

func (s *scanner) object() (expr.Value, error) {
	open := s.pos
	s.pos++
	var members []expr.Member
	s.blank()
	if s.accept("}") {
		return expr.EmptyObject, nil
	}
	for {
		s.blank()
		if c := s.peek(); c != '\'' && c != '"' {
			return expr.Null, s.expected("a quoted key", "")
		}
		key, err := s.quoted()
		if err != nil {
			return expr.Null, err
		}
		if s.blank(); !s.accept(":") {
			return expr.Null, s.expected("':' after the key", "")
		}
		s.blank()
		v, err := s.literal("a value")
		if err != nil {
			return expr.Null, err
		}
		members = append(members, expr.Member{Key: key, Value: v})
		switch s.blank(); {
		case s.accept(","):
		case s.accept("}"):
			return expr.Object(members...), nil
		case s.atEnd():
			return expr.Null, fail(open, "close it with }", "the object is not closed")
		default:
			return expr.Null, s.expected("',' or '}' in the object", "")
		}
	}
}

// call parses the arguments of a function; at is where its name stands.
func (s *scanner) call(name string, at int) (*call, error) {
	fn := functionNamed(name)
	if fn == nil {
		hint := "a property whose name holds ( stands in brackets and quotes"
		if near := nearest(strings.ToLower(name), functionNames); near != "" {
			hint = fmt.Sprintf("did you mean %s()?", near)
		}
		return nil, fail(at, hint, "unknown function %s()", name)
	}
	open := s.pos
	s.pos++
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	c := &call{fn: fn}
	s.blank()
	for !s.accept(")") {
		if s.atEnd() || s.has("}}") {
			return nil, fail(open, "close it with )", "the parenthesis is not closed")
		}
		if len(c.args) > 0 {
			if !s.accept(",") {
				return nil, s.expected("',' or ')' in the arguments", "")
			}
			s.blank()
		}
		arg, err := s.operand("a value or a path")
		if err != nil {
			return nil, err
		}
		if arg.re != nil {
			return nil, fail(at, "", "%s() takes no regular expression", name)
		}
		c.args = append(c.args, arg)
		s.blank()
	}
	if n := len(c.args); n < fn.minArgs || n > fn.maxArgs {
		return nil, fail(at, fn.usage, "%s() has %d arguments", name, n)
	}
	return c, nil
}
