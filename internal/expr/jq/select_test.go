package jq

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// What is selected is one value or a list, and nothing is told from something.
func TestSelect(t *testing.T) {
	for src, want := range map[string]string{
		`.n`:                     `1.10`,
		`.a.b[2].c`:              `"x"`,
		`.list[]`:                `[3,1,2]`,
		`.list`:                  `[3,1,2]`,
		`.list[] | select(. >2)`: `3`,
		`(.no, null)`:            `[false,null]`,
		`.no`:                    `false`,
		`[]`:                     `[]`,
		`.none`:                  `nothing`,
		`.none.at.all`:           `nothing`,
		`empty`:                  `nothing`,
		`null`:                   `nothing`,
		`.lent.k`:                `7`,
		`.deep`:                  `{"k":1}`,
		`keys | length`:          `8`,
		`$item`:                  `"it"`,
		`now`:                    `1772357405.25`,
	} {
		r, err := evalLent(t, SelectLang, src)
		got := r.Value.String()
		if r.Missing {
			got = "nothing"
		}
		if err != nil || got != want || r.Missing && !r.Value.IsNull() {
			t.Errorf("%s selects %s, %v; want %s", src, got, err, want)
		}
	}
	if e := compileIn(t, SelectLang, `.a.b`).(*expression); e.direct == nil {
		t.Error("a path is not evaluated directly")
	}
}

// evalLent evaluates in the scope of the tests, which lends something.
func evalLent(t *testing.T, lang, src string) (expr.Result, error) {
	t.Helper()
	in := testScope(t)
	in.Lent = parseJSON(t, `{"lent":{"k":7},"deep":"covered"}`)
	b := expr.NewBudget()
	return compileIn(t, lang, src).EvalIn(in, &b)
}

// Only data that is an object has something below it.
func TestLentToNoObject(t *testing.T) {
	b := expr.NewBudget()
	r, err := compileIn(t, SelectLang, `.`).EvalIn(expr.Scope{Data: expr.Int(1), Lent: parseJSON(t, `{"k":7}`)}, &b)
	if err != nil || r.Value.String() != "1" {
		t.Errorf("%s, %v", r.Value, err)
	}
}

// A condition is true or false, and says what it is else, but not which secret.
func TestStrictCondition(t *testing.T) {
	for src, want := range map[string]string{
		`.n > 1`:               `true`,
		`.n > 5`:               `false`,
		`.lent.k == 7`:         `true`,
		`.none`:                `false`,
		`empty`:                `false`,
		`.list[] | . > 7`:      `the expression gives more than one value; a condition must be true or false`,
		`.text`:                `the expression gives a string; a condition must be true or false`,
		`.n`:                   `the expression gives a number; a condition must be true or false`,
		`.list`:                `the expression gives an array; a condition must be true or false`,
		`$secrets.KEY`:         `the expression gives a string; a condition must be true or false`,
		`$secrets.KEY | error`: `error was called (values are not shown, because the expression uses $secrets)`,
	} {
		r, err := evalLent(t, StrictLang, src)
		got := r.Value.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s; want %s", src, got, want)
		}
	}
}

// A text with expressions in it is a text; one that is an expression is its value.
func TestText(t *testing.T) {
	for src, want := range map[string]string{
		`"${ .n }"`:                             `1.10`,
		`" ${ .list } "`:                        `[3,1,2]`,
		`"n: ${ .n }"`:                          `"n: 1.10"`,
		`"${ .text }${ .no }"`:                  `"héllofalse"`,
		`"[${ .none }${ empty }${ null }]"`:     `"[]"`,
		`"${ .deep } and ${ .list[0] }"`:        `"{\"k\":1} and 3"`,
		`"${ .list[] }"`:                        `[3,1,2]`,
		`"all: ${ .list[] }"`:                   `"all: [3,1,2]"`,
		`"${ empty }"`:                          `null`,
		`"${ {a: \"}\"} }"`:                     `{"a":"}"}`,
		`{"k":["${ .none }","x${ .lent.k }y"]}`: `{"k":[null,"x7y"]}`,
		`".gitignore"`:                          `".gitignore"`,
		`"$ {.n} $5"`:                           `"$ {.n} $5"`,
		`{"now":"${ now }"}`:                    `{"now":1772357405.25}`,
	} {
		r, err := evalLent(t, TextLang, src)
		if err != nil || r.Value.String() != want || r.Missing {
			t.Errorf("%s: %s, %v; want %s", src, r.Value, err, want)
		}
	}
}

// An error is told at its place: the string, as front-ends count them, and the expression.
func TestTextFails(t *testing.T) {
	_, err := evalLent(t, TextLang, `{"a":"${ .n }","b":"${ .n } ${ .list | error }","c":"${ .n }"}`)
	part := (*expr.PartError)(nil)
	if !errors.As(err, &part) || part.Part != 1 || part.Src != ".list | error" {
		t.Errorf("%#v", err)
	}
	for src, offset := range map[string]int{
		`{"a":"b","c":"x ${ .n"}`:     16,
		`{"a":"b","c":"x ${ .n | }"}`: 24,
		`"${ .n } ${ ( }"`:            14,
		`"${}"`:                       3,
	} {
		_, err := Languages(testRuntime)[TextLang].Compile(src)
		syntax := (*expr.SyntaxError)(nil)
		if !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%s: %v, want column %d", src, err, offset+1)
		}
	}
}

// What is produced is paid for, however small the data is.
func TestTextIsPaidFor(t *testing.T) {
	large := expr.String(strings.Repeat("x", 1<<20))
	b := expr.NewBudget()
	_, err := compileIn(t, TextLang, `"`+strings.Repeat("-${ . }", 17)+`"`).EvalIn(expr.Scope{Data: large}, &b)
	limit := (*expr.LimitError)(nil)
	if !errors.As(err, &limit) {
		t.Errorf("17 MiB of text: %v", err)
	}
	b = expr.NewBudget()
	if _, err := compileIn(t, SelectLang, `range(infinite)`).EvalIn(expr.Scope{}, &b); !errors.As(err, &limit) {
		t.Errorf("values without an end: %v", err)
	}
}

func TestParts(t *testing.T) {
	for text, want := range map[string][]Part{
		``:                             nil,
		`a $ {`:                        {{Src: `a $ {`}},
		`a${ .b }c ${.d}`:              {{Src: `a`}, {Src: ` .b `, Offset: 3, Expr: true}, {Src: `c `, Offset: 8}, {Src: `.d`, Offset: 12, Expr: true}},
		`${ {a: "}"} }`:                {{Src: ` {a: "}"} `, Offset: 2, Expr: true}},
		`${ "\("\({b: "}"}.b)") }" }}`: {{Src: ` "\("\({b: "}"}.b)") }" `, Offset: 2, Expr: true}, {Src: `}`, Offset: 27}},
		"${ .a # }\n }":                {{Src: " .a # }\n ", Offset: 2, Expr: true}},
		`${ ( }`:                       {{Src: ` ( `, Offset: 2, Expr: true}},
		`${ "\"}" }`:                   {{Src: ` "\"}" `, Offset: 2, Expr: true}},
	} {
		got, err := Parts(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, offset := range map[string]int{`a ${ .b`: 2, `${ "} `: 0, `${ .a } ${ {}`: 8, `${ .a # }`: 0} {
		_, err := Parts(text)
		syntax := (*expr.SyntaxError)(nil)
		if !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%s: %v", text, err)
		}
	}
}
