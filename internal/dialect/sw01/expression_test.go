package sw01

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// shape writes an expression with all its parentheses.
func (e *eventExpr) shape() string {
	if e.op == "" {
		return e.name
	}
	var parts []string
	for _, item := range e.items {
		parts = append(parts, item.shape())
	}
	if e.op == "not" {
		return "!" + parts[0]
	}
	return "(" + strings.Join(parts, " "+e.op+" ") + ")"
}

func parseExpression(t testing.TB, source string, names ...string) (*eventExpr, dialect.Diagnostics) {
	t.Helper()
	doc, found := dialect.Read("f.json", []byte(fmt.Sprintf("%q", source)))
	if found.HasErrors() {
		t.Fatal(found)
	}
	r := &dialect.Reporter{}
	p := newParser(r, early)
	p.w = &workflow{}
	for _, name := range names {
		n, _ := dialect.Read("f.json", []byte(fmt.Sprintf("%q", name)))
		p.w.triggers = append(p.w.triggers, &trigger{name: n.Root})
	}
	return p.eventExpression(doc.Root), r.Diagnostics()
}

func TestEventExpressions(t *testing.T) {
	for source, want := range map[string]string{
		"A":                         "A",
		"  A ":                      "A",
		"A or B":                    "(A or B)",
		"A OR B Or C":               "(A or B or C)",
		"A and B or C and D":        "((A and B) or (C and D))",
		"A and (B or C)":            "(A and (B or C))",
		"not A and B":               "(!A and B)",
		"not (A and B)":             "!(A and B)",
		"!A&&B||C":                  "((!A and B) or C)",
		"!!A":                       "!!A",
		"NOT NOT A":                 "!!A",
		"(A)":                       "A",
		"A and B and (C and D)":     "(A and B and C and D)",
		"'A and B' or \"C \\\" D\"": `(A and B or C " D)`,
		"'or' or 'not'":             "(or or not)",
		"OBS-EVENT or order.paid:1": "(OBS-EVENT or order.paid:1)",
		"ändern oder":               "ändern oder", // a trigger's name, as a whole
	} {
		e, found := parseExpression(t, source, "ändern oder")
		if e == nil || e.shape() != want {
			t.Errorf("%q: %v\n%v", source, e, found)
			continue
		}
		// Negations move to the events, and nothing else changes.
		normal := e.normal(false)
		for bits := range 1 << len(e.leaves()) {
			i := 0
			if got, want := normal.eval(bits, new(int)), e.eval(bits, &i); got != want {
				t.Errorf("%q with %b: %t, in normal form %t", source, bits, want, got)
			}
		}
		if strings.Contains(normal.shape(), "!(") || strings.Contains(normal.shape(), "!!") {
			t.Errorf("%q: %s is not normal", source, normal.shape())
		}
	}
}

// eval decides an expression; the i-th bit says whether its i-th event came.
func (e *eventExpr) eval(bits int, i *int) bool {
	switch e.op {
	case "":
		*i++
		return bits>>(*i-1)&1 == 1
	case "not":
		return !e.items[0].eval(bits, i)
	}
	out := e.op == "and"
	for _, item := range e.items {
		if v := item.eval(bits, i); e.op == "and" {
			out = v && out
		} else {
			out = v || out
		}
	}
	return out
}

func TestMalformedEventExpressions(t *testing.T) {
	for source, want := range map[string]string{
		"A or":        "1:6 malformed event expression: the name of an event is missing",
		"or A":        `1:2 malformed event expression: the name of an event is missing before "or"`,
		"A B":         `1:4 malformed event expression: expected "and" or "or" before "B"; put a name with blanks in quotes: 'A B'`,
		"(A or B":     "1:9 malformed event expression: a parenthesis is not closed",
		"A)":          `1:3 malformed event expression: expected "and" or "or" before ")"`,
		"'A":          "1:2 malformed event expression: the quote is not closed",
		"''":          "1:2 malformed event expression: a name must not be empty",
		"A & B":       `1:4 malformed event expression: write "&&" or "and"`,
		"A | B":       `1:4 malformed event expression: write "||" or "or"`,
		"not":         "1:5 malformed event expression: the name of an event is missing",
		"()":          `1:3 malformed event expression: the name of an event is missing before ")"`,
		"order payed": `1:8 malformed event expression: expected "and" or "or" before "payed"; did you mean "order paid"?`,
		"A and and B": `1:8 malformed event expression: the name of an event is missing before "and"`,
		deep("(", 40): "1:34 malformed event expression: more than 32 levels (limit event-expression-nesting)",
		deep("!", 40): "1:34 malformed event expression: more than 32 levels (limit event-expression-nesting)",
		many("A", 65): "1:1 an event expression has at most 64 events (limit event-expression)",
	} {
		e, found := parseExpression(t, source, "order paid")
		got := ""
		for _, d := range found {
			got += fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Message)
			if d.Hint != "" {
				got += "; " + d.Hint
			}
		}
		if e != nil || got != want {
			t.Errorf("%q\ngot  %s\nwant %s", source, got, want)
		}
	}
}

func deep(sign string, n int) string { return strings.Repeat(sign, n) + "A" }

func many(name string, n int) string {
	return strings.TrimSuffix(strings.Repeat(name+" or ", n), " or ")
}

func TestAlternatives(t *testing.T) {
	for source, want := range map[string]string{
		"A":                       "[[0]]",
		"A or B":                  "[[0] [1]]",
		"A and B":                 "[[0 1]]",
		"A and (B or C)":          "[[0 1] [0 2]]",
		"(A or B) and (C or D)":   "[[0 2] [0 3] [1 2] [1 3]]",
		"A and not B":             "[[0]]",
		"not A":                   "[[]]",
		"not A or B":              "[[] [0]]",
		"not (A and not B) and C": "[[1] [0 1]]",
	} {
		e, found := parseExpression(t, source)
		if e == nil {
			t.Fatal(found)
		}
		if sets, ok := alternatives(e.normal(false), new(int)); !ok || fmt.Sprint(sets) != want {
			t.Errorf("%q: %v, want %s", source, sets, want)
		}
	}
}
