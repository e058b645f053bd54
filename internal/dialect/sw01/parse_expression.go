package sw01

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// eventExpr is a boolean expression over events (semantics.md §Functions, events,
// errors: Event expressions).
type eventExpr struct {
	op    string // "", "and", "or", "not"
	items []*eventExpr

	name    string // of a leaf
	at      dialect.Span
	trigger *trigger // decided by check
}

// Limits of one event expression.
const (
	maxEvents     = 64 // names in it
	maxExprNested = 32 // parentheses inside each other
)

// eventExpression reads an expression. Text that is a trigger's name as a whole is
// that event, however odd.
func (p *parser) eventExpression(n *dialect.Node) *eventExpr {
	whole := strings.TrimSpace(n.Text)
	for _, name := range []string{n.Text, whole} {
		if p.events()[name] {
			return &eventExpr{name: name, at: n.Span()}
		}
	}
	x := &exprScanner{node: n, text: n.Text}
	x.next()
	e := x.or()
	words := x.err == nil && x.token != "" // that nothing joins
	if words {
		x.fail("expected \"and\" or \"or\" before %s", strconv.Quote(x.token))
	}
	if x.err == nil && x.leaves > maxEvents {
		p.w.vague = true
		p.Errorf(n, codeTooMany, "an event expression has at most %d events (limit event-expression)", maxEvents)
		return nil
	}
	if x.err != nil {
		p.w.vague = true
		d := p.Errorf(n.ColumnIn(x.errAt), codeEventExpr, "malformed event expression: %v", x.err)
		switch near := p.nearEvent(whole); {
		case near != "":
			d.WithHint("did you mean %q?", near)
		case words && !x.operators && strings.ContainsAny(whole, " \t"):
			d.WithHint("put a name with blanks in quotes: '%s'", whole)
		}
		return nil
	}
	return e
}

// nearEvent finds a trigger whose name is nearly the whole of a text.
func (p *parser) nearEvent(text string) string {
	p.events()
	return p.Near(text, p.eventNames)
}

// events are the names of the triggers, which are read before the states.
func (p *parser) events() map[string]bool {
	if p.byEvent == nil {
		p.byEvent = map[string]bool{}
		for _, t := range p.w.triggers {
			p.byEvent[t.name.Text] = true
			p.eventNames = append(p.eventNames, t.name.Text)
		}
	}
	return p.byEvent
}

// exprScanner reads with one token ahead. After the first error every step is a no-op.
type exprScanner struct {
	node *dialect.Node
	text string
	pos  int // behind the token

	token      string // "" at the end
	quoted     bool   // the token is a name in quotes
	start, end int

	leaves, depth int
	operators     bool // there is one
	err           error
	errAt         int
}

func (x *exprScanner) fail(format string, args ...any) {
	if x.err == nil {
		x.err, x.errAt = fmt.Errorf(format, args...), x.start
	}
	x.token = ""
}

// next reads a token.
func (x *exprScanner) next() {
	if x.err != nil {
		return
	}
	for x.pos < len(x.text) {
		r, size := utf8.DecodeRuneInString(x.text[x.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		x.pos += size
	}
	x.start, x.quoted, x.token = x.pos, false, ""
	if x.pos == len(x.text) {
		x.end = x.pos
		return
	}
	rest := x.text[x.pos:]
	switch c := rest[0]; {
	case c == '(' || c == ')' || c == '!':
		x.take(1)
	case strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||"):
		x.take(2)
	case c == '&' || c == '|':
		x.fail("write %q or %q", strings.Repeat(string(c), 2), map[byte]string{'&': "and", '|': "or"}[c])
	case c == '\'' || c == '"':
		x.quotedName(c)
	default:
		n := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()!&|'\"", r) })
		if n < 0 {
			n = len(rest)
		}
		x.take(n)
	}
}

func (x *exprScanner) take(n int) {
	x.token, x.pos = x.text[x.pos:x.pos+n], x.pos+n
	x.end = x.pos
}

// quotedName reads a name in quotes; a backslash takes what follows as it is.
func (x *exprScanner) quotedName(quote byte) {
	var b strings.Builder
	for i := x.pos + 1; i < len(x.text); i++ {
		switch c := x.text[i]; {
		case c == '\\' && i+1 < len(x.text):
			i++
			b.WriteByte(x.text[i])
		case c == quote:
			x.pos, x.end, x.token, x.quoted = i+1, i+1, b.String(), true
			if x.token == "" {
				x.fail("a name must not be empty")
			}
			return
		default:
			b.WriteByte(c)
		}
	}
	x.fail("the quote is not closed")
}

// is reports whether the token is one of the words or signs.
func (x *exprScanner) is(words ...string) bool {
	if x.quoted {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(x.token, w) {
			return true
		}
	}
	return false
}

func (x *exprScanner) or() *eventExpr  { return x.list("or", x.and, "or", "||") }
func (x *exprScanner) and() *eventExpr { return x.list("and", x.not, "and", "&&") }

// list reads what an operator joins; one item stands for itself, and nested lists of
// the same operator are one.
func (x *exprScanner) list(op string, item func() *eventExpr, words ...string) *eventExpr {
	items := join(nil, op, item())
	for x.is(words...) {
		x.operators = true
		x.next()
		items = join(items, op, item())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &eventExpr{op: op, items: items}
}

func join(items []*eventExpr, op string, one *eventExpr) []*eventExpr {
	if one != nil && one.op == op {
		return append(items, one.items...)
	}
	return append(items, one)
}

func (x *exprScanner) not() *eventExpr {
	at, end := x.start, x.end
	if x.depth++; x.depth > maxExprNested {
		x.fail("more than %d levels (limit event-expression-nesting)", maxExprNested)
	}
	defer func() { x.depth-- }()
	switch {
	case x.err != nil:
	case x.is("not", "!"):
		x.operators = true
		x.next()
		return &eventExpr{op: "not", items: []*eventExpr{x.not()}, at: x.node.SpanIn(at, end)}
	case x.is("("):
		x.next()
		e := x.or()
		if x.err == nil && !x.is(")") {
			x.fail("a parenthesis is not closed")
		}
		x.next()
		return e
	case !x.quoted && x.token == "":
		x.fail("the name of an event is missing")
	case x.is("and", "or", "&&", "||", ")"):
		x.fail("the name of an event is missing before %s", strconv.Quote(x.token))
	default:
		e := &eventExpr{name: x.token, at: x.node.SpanIn(at, end)}
		x.leaves++
		x.next()
		return e
	}
	return &eventExpr{}
}

// firstNot finds a negation, nil where there is none.
func (e *eventExpr) firstNot() *eventExpr {
	if e == nil || e.op == "not" {
		return e
	}
	for _, item := range e.items {
		if n := item.firstNot(); n != nil {
			return n
		}
	}
	return nil
}

// leaves are the events of an expression, in order.
func (e *eventExpr) leaves() []*eventExpr {
	if e == nil {
		return nil
	}
	if e.op == "" {
		return []*eventExpr{e}
	}
	var out []*eventExpr
	for _, item := range e.items {
		out = append(out, item.leaves()...)
	}
	return out
}

// normal moves negations to the events: not (A and B) is not A or not B. Negated
// leaves bear the operator "not" with that one item.
func (e *eventExpr) normal(negate bool) *eventExpr {
	switch e.op {
	case "":
		leaf := *e // each occurrence is one of its own
		if !negate {
			return &leaf
		}
		return &eventExpr{op: "not", items: []*eventExpr{&leaf}, at: e.at}
	case "not":
		return e.items[0].normal(!negate)
	}
	op := e.op
	if negate {
		op = map[string]string{"and": "or", "or": "and"}[op]
	}
	var items []*eventExpr
	for _, item := range e.items {
		items = join(items, op, item.normal(negate))
	}
	return &eventExpr{op: op, items: items}
}
