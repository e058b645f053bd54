package sw05

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
)

// TestExpressions: the notations of the specification's own examples, and what is refused.
func TestExpressions(t *testing.T) {
	const isX = `{"op":"eq","path":"$.error.name","value":"X"}`
	for text, want := range map[string]string{
		"name eq 'X'":                      isX,
		`name == "X"`:                      isX,
		"'X' == $.error.name":              isX,
		"$.exception.name eq 'X'":          isX,
		"$.errors[0].name == 'X'":          isX,
		"name ne 'X'":                      `{"not":[` + isX + `]}`,
		"not (name eq 'X')":                `{"not":[` + isX + `]}`,
		"name eq 'X' && name eq 'X'":       `{"and":[` + isX + `,` + isX + `]}`,
		"5 < $.n or !$.ok":                 `{"or":[{"op":"gt","path":"$.n","value":5},{"not":[{"op":"holds","path":"$.ok","value":null}]}]}`,
		"{{ $.ok }}":                       `{"op":"holds","path":"$.ok","value":null}`,
		"#jsonPath(d, '$..t') == 'M'":      `{"op":"eq","path":"$..t","some":true,"value":"M"}`,
		"$.a[?(@.b == 'x y')].c >= -1.5e1": `{"op":"ge","path":"$.a[?(@.b == 'x y')].c","some":true,"value":-1.5e1}`,
		"error != null":                    `{"not":[{"or":[{"not":[{"op":"exists","path":"$.error","value":null}]},{"op":"eq","path":"$.error","value":null}]}]}`,
		"name.x == true":                   `{"op":"eq","path":"$.error.name.x","value":true}`,
		"":                                 "!something is missing",
		"name eq":                          "!something is missing",
		"name eq 'X":                       "!the text has no end",
		"(name eq 'X'":                     "!expected )",
		"name eq 'X' name":                 "!unexpected",
		"$.a == $.b":                       "!with a constant only",
		"1 == 1":                           "!two constants",
		"'x'":                              "!decides nothing",
		"$.a > null":                       "!null has no order",
		"$.[ == 1":                         "!",
		"{{ $.a":                           "!has no }}",
		"#jsonPath($.a)":                   "!jsonPath takes",
		strings.Repeat("(", 100) + "name":  "!nested too deep",
		"name == 1x":                       "!unexpected",
		"T(java.lang.Math).random() > 0.5": "!unexpected",
	} {
		tree, err := (&expressionReader{text: text, ofError: true}).read()
		got := ""
		switch {
		case err != nil:
			if got = "!" + err.Msg; want != "" && want[0] == '!' && strings.Contains(got, want[1:]) {
				got = want
			}
		default:
			got = choice.Source(tree)
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// FuzzExpression: no text makes the reader panic, and what it accepts is a condition.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"name eq 'X'", "$.a[?(@.b == 'x')] and not {{ $.c }}", "#jsonPath(d, '$..t') == 'M'", "5 < $.n or (!$.ok)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, ofError := range []bool{false, true} {
			tree, err := (&expressionReader{text: text, ofError: ofError}).read()
			if err != nil {
				if err.Offset < 0 || err.Offset > len(text) || err.Msg == "" {
					t.Errorf("%+v", err)
				}
				continue
			}
			if _, err := (choice.Compiler{}).Compile(choice.Source(tree)); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}
