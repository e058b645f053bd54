package sw08

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// describe is an expression as programs get it.
func describe(e *expression) string {
	if e == nil {
		return "none"
	}
	out := fmt.Sprintf("%s %s @%d:%d", e.lang, e.src, e.pos.Line, e.pos.Column)
	for _, p := range e.parts {
		out += fmt.Sprintf(" part@%d:%d", p.Line, p.Column)
	}
	for _, v := range e.vars {
		out += " $" + strings.TrimSuffix(v.name+"."+v.member, ".")
	}
	return out
}

// What programs evaluate, and where it stands in the document.
func TestExpressions(t *testing.T) {
	const head = "id: x\nspecVersion: '0.8'\nsecrets: [key]\nconstants: {c: 1}\n"
	functions := map[string]string{
		"jq": "functions: [{name: f}, {name: sum, type: expression, operation: '${ .a + $CONST.c }'}, {name: twice, type: expression, operation: '${ fn:sum }'}]\n",
		// Without ${ anywhere: SonataFlow's style.
		"JQ":       "functions: [{name: f}]\n",
		"jsonpath": "functions: [{name: f}]\n",
	}
	for _, c := range []struct{ language, arguments, want string }{
		{"jq", `{a: 1}`, `jqst {"a":1} @7:85`},
		{"jq", `{a: "${ .x }"}`, `jqst {"a":"${ .x }"} @7:85 part@7:89`},
		{"jq", `{a: "  ${.x}  "}`, `jqst {"a":"${ .x }"} @7:85 part@7:89`},
		{"jq", `{a: "of ${ .x } and ${ {b: "}"} }"}`, ""},
		{"jq", `{b: 'of ${ .x } and ${ {b: "}"} }', a: [{c: '${ .y }'}]}`, `jqst {"a":[{"c":"${ .y }"}],"b":"of ${ .x } and ${ {b: \"}\"} }"} @7:85 part@7:129 part@7:89`},
		{"jq", `{a: '${ $SECRETS.key + $SECRET.other + "$SECRETS" }'}`, `jqst {"a":"${ $secrets.key + $secrets.other + \"$SECRETS\" }"} @7:85 part@7:89 $SECRETS.key $SECRETS.other`},
		{"jq", `{a: '${ fn:twice }'}`, `jqst {"a":"${ .a + $CONST.c }"} @7:85 part@7:89 $CONST.c`},
		{"jq", `{a: .x, b: '${ .y }'}`, `jqst {"a":".x","b":"${ .y }"} @7:85 part@7:96`},
		{"JQ", `{a: .x}`, `jqst {"a":"${ .x }"} @7:85 part@7:89`},
		{"jq", `'{a: .x}'`, `jqs {a: .x} @7:86`},
		{"jq", `'${ {a: .x} }'`, `jqs {a: .x} @7:89`},
		{"jsonpath", `{a: '${ $.x }', b: 'of {{ $.y }}'}`, `template {"a":"{{ $.x }}","b":"of {{ $.y }}"} @7:85 part@7:89 part@7:104`},
		{"jsonpath", `'{{ $.x }}'`, `jsonpath $.x @7:89`},
	} {
		source := head + functions[c.language] + "expressionLang: " + c.language +
			"\nstates: [{name: A, type: operation, actions: [{functionRef: {refName: f, arguments: " + c.arguments + "}}], end: true}]\n"
		doc, found := dialect.Read("f.yaml", []byte(source))
		if c.want == "" { // not YAML
			if !found.HasErrors() {
				t.Errorf("%s can be read", c.arguments)
			}
			continue
		}
		r := &dialect.Reporter{}
		w := newParser(r, dialect.Source{Document: doc, Bundle: exampleFiles}, form08).workflow(doc.Root)
		if r.HasErrors() || len(w.states) == 0 {
			t.Errorf("%s: %v", c.arguments, r.Diagnostics())
			continue
		}
		if got := describe(w.states[0].actions()[0].call.arguments); got != c.want {
			t.Errorf("%s\ngives %s\nwant  %s", c.arguments, got, c.want)
		}
	}
}

// Where results go.
func TestTargets(t *testing.T) {
	for text, want := range map[string]string{
		".":                  "[]",
		".a":                 `["a"]`,
		"${ .a.b }":          `["a" "b"]`,
		`.a["b c"]."d"`:      `["a" "b c" "d"]`,
		`.["a"]`:             `["a"]`,
		".a[0]":              "",
		".a | .b":            "",
		"a":                  "",
		`."\(.x)"`:           "",
		"..":                 "",
		".a.":                "",
		"${ .a } and ${ .b}": "",
	} {
		r := &dialect.Reporter{}
		doc, _ := dialect.Read("f.json", []byte(fmt.Sprintf(`{"to": %q}`, text)))
		p := newParser(r, dialect.Source{Document: doc}, form08)
		p.w = &workflow{}
		got := ""
		if to := p.target(doc.Root.Get("to")); to != nil {
			got = fmt.Sprintf("%q", to.path)
		}
		if got != want || (got == "") != r.HasErrors() {
			t.Errorf("%s is %s, want %s: %v", text, got, want, r.Diagnostics())
		}
	}
}
