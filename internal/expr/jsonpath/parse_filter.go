package jsonpath

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// filter parses ?(condition) of the bracket at open.
func (s *scanner) filter(open int) (*cond, error) {
	s.pos++
	s.blank()
	if s.peek() == ']' {
		return nil, s.expected("(", "write a condition, as in [?(@.price > 10)]")
	}
	paren := s.pos
	if !s.accept("(") {
		return nil, s.expected("( after ?", "put the condition in parentheses: [?(…)]")
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	c, err := s.anyOf()
	if err != nil {
		return nil, err
	}
	if err := s.closeParen(paren); err != nil {
		return nil, err
	}
	s.blank()
	if s.has("&&") || s.has("||") {
		return nil, s.expected("]", "put parentheses around the whole condition: [?((…) && (…))]")
	}
	return c, nil
}

func (s *scanner) closeParen(open int) error {
	s.blank()
	if s.accept(")") {
		return nil
	}
	if s.atEnd() {
		return fail(open, "close it with )", "the parenthesis is not closed")
	}
	return s.afterCondition()
}

// afterCondition reports what was found instead of &&, || or ).
func (s *scanner) afterCondition() error {
	hint := ""
	switch w := strings.ToLower(s.word()); {
	case w == "and":
		hint = "write && for and"
	case w == "or":
		hint = "write || for or"
	case s.has("&"):
		hint = "write &&"
	case s.has("|"):
		hint = "write ||"
	case s.has("]") || s.has("}"):
		hint = "a ) is missing before it"
	case operatorAt(s) != "":
		hint = "a comparison has two sides; join several with && or ||"
	}
	return s.expected("&&, || or )", hint)
}

// operatorAt returns the operator symbols at the position.
func operatorAt(s *scanner) string {
	end := s.pos
	for end < len(s.src) && strings.IndexByte("<>=~!", s.src[end]) >= 0 {
		end++
	}
	return s.src[s.pos:end]
}

func (s *scanner) anyOf() (*cond, error) { return s.chain("||", opOr, s.allOf) }

func (s *scanner) allOf() (*cond, error) { return s.chain("&&", opAnd, s.unary) }

func (s *scanner) chain(sep string, op condOp, next func() (*cond, error)) (*cond, error) {
	first, err := next()
	if err != nil {
		return nil, err
	}
	out := first
	for {
		s.blank()
		if !s.accept(sep) {
			return out, nil
		}
		c, err := next()
		if err != nil {
			return nil, err
		}
		if out == first {
			out = &cond{op: op, kids: []*cond{first}}
		}
		out.kids = append(out.kids, c)
	}
}

// unary parses !c, (c) or a comparison.
func (s *scanner) unary() (*cond, error) {
	s.blank()
	at := s.pos
	switch {
	case s.peek() == '!' && !s.has("!="):
		s.pos++
		if err := s.enter(); err != nil {
			return nil, err
		}
		defer s.leave()
		s.blank()
		bare := s.peek() == '$' || s.peek() == '@'
		c, err := s.unary()
		if err != nil {
			return nil, err
		}
		// Jayway reads !@.a == 1 as @.a == 1; no author means that.
		if bare && c.op != opExists {
			return nil, fail(at, "write !(…) around the comparison", "it is unclear what the ! belongs to")
		}
		return &cond{op: opNot, kids: []*cond{c}}, nil
	case s.accept("("):
		if err := s.enter(); err != nil {
			return nil, err
		}
		defer s.leave()
		c, err := s.anyOf()
		if err != nil {
			return nil, err
		}
		return c, s.closeParen(at)
	}
	return s.comparison()
}

// comparison parses left op right, or a path alone.
func (s *scanner) comparison() (*cond, error) {
	at := s.pos
	left, err := s.operand("a condition")
	if err != nil {
		return nil, err
	}
	s.blank()
	opAt := s.pos
	op, ok, err := s.operator()
	if err != nil {
		return nil, err
	}
	if !ok {
		switch {
		case left.path != nil:
			return &cond{op: opExists, left: left}, nil
		case left.re == nil && left.lit.Kind() == expr.KindBool:
			return &cond{op: opConst, left: left}, nil
		}
		return nil, fail(opAt, "", "found %s, expected an operator such as ==", s.found())
	}
	s.blank()
	if c := s.peek(); op == opEmpty && (c == ')' || c == '&' || c == '|') {
		return &cond{op: op, left: left, right: operand{lit: expr.Bool(true)}}, nil
	}
	rightAt := s.pos
	right, err := s.operand("a value or a path after " + s.src[opAt:opAt+len(strings.TrimRight(s.src[opAt:s.pos], " \t\r\n"))])
	if err != nil {
		return nil, err
	}
	c := &cond{op: op, left: left, right: right}
	return c, c.check(at, rightAt)
}

// check refuses operands that can never make sense with the operator. at is
// where the left one starts, rightAt where the right one does.
func (c *cond) check(at, rightAt int) error {
	literal := func(o operand) bool { return o.path == nil && o.re == nil }
	if c.op == opMatch {
		switch {
		case c.left.re != nil && c.right.re == nil: // Jayway allows both orders
			c.left, c.right = c.right, c.left
		case c.right.re == nil || c.left.re != nil:
			return fail(rightAt, "write the pattern between slashes: @.name =~ /abc.*/i",
				"the right side of =~ is not a regular expression")
		}
		return nil
	}
	if c.left.re != nil || c.right.re != nil {
		if c.left.re == nil {
			at = rightAt
		}
		return fail(at, "compare with =~", "a regular expression can only be used with =~")
	}
	switch c.op {
	case opIn, opNin, opSubsetOf, opAnyOf, opNoneOf, opAll:
		if literal(c.right) && !c.right.lit.IsArray() {
			return fail(rightAt, "write a list: ['a', 'b']", "expected a list, not %s", describeKind(c.right.lit))
		}
	case opSize:
		if _, ok := c.right.lit.Int(); literal(c.right) && !ok {
			return fail(rightAt, "", "size is compared with a whole number, not %s", describeKind(c.right.lit))
		}
	case opEmpty:
		if literal(c.right) && c.right.lit.Kind() != expr.KindBool {
			return fail(rightAt, "write empty true or empty false",
				"empty is followed by true or false, not %s", describeKind(c.right.lit))
		}
	}
	return nil
}

func describeKind(v expr.Value) string {
	switch k := v.Kind(); k {
	case expr.KindNull:
		return "null"
	case expr.KindArray, expr.KindObject:
		return "an " + k.String()
	default:
		return "a " + k.String()
	}
}

var symbolOps = map[string]condOp{
	"==": opEq, "===": opEq, "!=": opNe, "!==": opNe,
	"<": opLt, "<=": opLe, ">": opGt, ">=": opGe, "=~": opMatch,
}

var symbolHints = map[string]string{
	"=": "write == for equal", "=>": "write >=", "=<": "write <=", "<>": "write != for not equal",
	"~=": "write =~", "~": "write =~", "!": "write != for not equal", "!~": "write !(@.name =~ /…/)", "==~": "write =~",
}

var wordOps = map[string]condOp{
	"in": opIn, "nin": opNin, "subsetof": opSubsetOf, "anyof": opAnyOf, "noneof": opNoneOf,
	"all": opAll, "contains": opContains, "size": opSize, "empty": opEmpty,
}

var wordOpNames = []string{"in", "nin", "subsetof", "anyof", "noneof", "all", "contains", "size", "empty"}

var wordHints = map[string]string{
	"and": "write && for and", "or": "write || for or", "eq": "write ==", "ne": "write !=", "lt": "write <",
	"gt": "write >", "le": "write <=", "ge": "write >=", "lte": "write <=", "gte": "write >=", "is": "write ==",
	"equals": "write ==", "matches": "write =~ /…/", "like": "write =~ /…/", "not": "write nin, or !(…) around the condition",
}

// operator reads an operator; ok is false if there is none.
func (s *scanner) operator() (op condOp, ok bool, err error) {
	if sym := operatorAt(s); sym != "" {
		// All symbols are taken together, so ==! is an unknown operator, not == and a negation.
		op, ok := symbolOps[sym]
		if !ok {
			return 0, false, fail(s.pos, symbolHints[sym], "unknown operator %s", sym)
		}
		s.pos += len(sym)
		return op, true, nil
	}
	w := s.word()
	if w == "" {
		return 0, false, nil
	}
	lower := strings.ToLower(w)
	if op, ok := wordOps[lower]; ok { // Jayway ignores case
		s.pos += len(w)
		return op, true, nil
	}
	hint := wordHints[lower]
	if near := nearest(lower, wordOpNames); hint == "" && near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return 0, false, fail(s.pos, hint, "unknown operator %q", w)
}
