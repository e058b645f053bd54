package uritemplate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

func value(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestExpand(t *testing.T) {
	in := value(t, `{"petId":7,"name":"a b/ü&c","a.b":"dotted","a":{"b":1},"list":[1],"yes":true,"no":false,"none":null,"half":0.5,"empty":"","x":1024,"y":768,"up":".."}`)
	for template, want := range map[string]string{
		"https://x.example/pet/{petId}":       "https://x.example/pet/7",
		"https://x.example/{name}":            "https://x.example/a%20b%2F%C3%BC%26c",
		"https://x.example/{a.b}":             "https://x.example/dotted",
		"https://x.example/{yes}/{no}/{half}": "https://x.example/true/false/0.5",
		"https://x.example/{none}/{absent}/":  "https://x.example///",
		"https://x.example/{empty}":           "https://x.example/",
		"https://x.example/map?{x,y}":         "https://x.example/map?1024,768",
		"https://x.example/map?{x,none,y}":    "https://x.example/map?1024,768",
		"https://x.example/{up}":              "https://x.example/..",
		"https://x.example/a b?q=ü&%41%4":     "https://x.example/a%20b?q=%C3%BC&%41%254",
		"https://x.example/[1]@;=+$,!'()*~":   "https://x.example/[1]@;=+$,!'()*~",
		"relative/{petId}.json":               "relative/7.json",
		"":                                    "",
	} {
		got, err := Expand(template, in)
		if err != nil || got != want {
			t.Errorf("%s gives %q, %v, want %q", template, got, err, want)
		}
	}
	for template, says := range map[string]string{"/{a}": "an object", "/{list}": "an array", "/{petId}{list}": "{list}"} {
		if got, err := Expand(template, in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s gives %q, %v", template, got, err)
		}
	}
	if got, err := Expand("/{a}", expr.String("text")); err != nil || got != "/" {
		t.Errorf("of data that is no object: %q, %v", got, err)
	}
}

func TestSyntax(t *testing.T) {
	for template, want := range map[string]struct {
		offset int
		says   string
	}{
		"/a}":      {2, "no {"},
		"/{a":      {1, "no }"},
		"/{a{b}":   {1, "no }"},
		"/{}":      {2, "name is missing"},
		"/{a,}":    {4, "name is missing"},
		"/{+a}":    {2, `operator "+"`},
		"/{?a}":    {2, `operator "?"`},
		"/{.a}":    {2, `operator "."`},
		"/{a*}":    {3, `modifier "*"`},
		"/{a,b:3}": {5, `modifier ":3"`},
		"/{ .a }":  {2, "blanks"},
		"/{a b}":   {3, "blanks"},
	} {
		_, err := Parse(template)
		var at *expr.SyntaxError
		if !errors.As(err, &at) || at.Offset != want.offset || !strings.Contains(at.Msg, want.says) {
			t.Errorf("%s gives %v, want %q at %d", template, err, want.says, want.offset)
		}
	}
	if _, err := Parse(strings.Repeat("x", MaxSource+1)); err == nil || !strings.Contains(err.Error(), "expression-source") {
		t.Errorf("a long template gives %v", err)
	}
}

// TestFixedHost: whether data can choose where a call goes.
func TestFixedHost(t *testing.T) {
	for template, want := range map[string]bool{
		"https://x.example/{a}":   true,
		"https://x.example?q={a}": true,
		"https://x.example":       true,
		"relative":                true,
		"":                        true,
		"https://x.example{a}":    false,
		"https://{a}/":            false,
		"https://x.example:{p}/":  false,
		"{scheme}://x.example/":   false,
		"{a}":                     false,
		"/{a}":                    false,
	} {
		p, err := Parse(template)
		if err != nil || p.FixedHost() != want {
			t.Errorf("%s: %t, %v", template, p.FixedHost(), err)
		}
	}
	p, _ := Parse("/{b}/{a,b}")
	if names := p.Names(); !slices.Equal(names, []string{"b", "a", "b"}) {
		t.Errorf("names are %v", names)
	}
}

// TestBudget: a value that stands in a template a thousand times is paid for as often.
func TestBudget(t *testing.T) {
	in := expr.Object(expr.Member{Key: "a", Value: expr.String(strings.Repeat("ü", 32<<10))})
	for times, want := range map[int]string{100: "expression-output", 10: ""} {
		p, err := Compiler{}.Compile(strings.Repeat("{a}", times))
		if err != nil {
			t.Fatal(err)
		}
		b := expr.NewBudget()
		got := ""
		var limit *expr.LimitError
		if _, err := p.Eval(in, &b); errors.As(err, &limit) {
			got = limit.Limit
		}
		if got != want {
			t.Errorf("%d times: %q, want %q", times, got, want)
		}
	}
}

// FuzzExpand: what data gives can never be more than one step of a path.
func FuzzExpand(f *testing.F) {
	f.Add("https://x.example/{a}/b?{a}", "x/../y")
	f.Fuzz(func(t *testing.T, template, text string) {
		in := expr.Object(expr.Member{Key: "a", Value: expr.String(text)})
		p, err := Parse(template)
		if err != nil {
			return
		}
		b := expr.NewBudget()
		r, err := p.Eval(in, &b)
		if err != nil {
			return
		}
		b = expr.NewBudget()
		without, _ := p.Eval(expr.EmptyObject, &b)
		for _, c := range "/?#&@:% " {
			if c != '%' && strings.Count(r.Value.Str(), string(c)) != strings.Count(without.Value.Str(), string(c)) {
				t.Errorf("%q with %q gives %q", template, text, r.Value.Str())
			}
		}
	})
}
