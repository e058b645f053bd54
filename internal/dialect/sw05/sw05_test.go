package sw05

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ source, reason string }{
		{"states:\n- name: A\n  end:\n    kind: default\n", `"end" with a kind at line 3`},
		{"states:\n- start: {kind: default}\n", `"start" with a kind at line 2`},
		{"states:\n- onEvents: []\n", `key "onEvents" at line 2`},
		{"states:\n- actions:\n  - functionRef: {refName: f}\n", `key "functionRef" at line 3`},
		{"states:\n- condition: '{{ $.x }}'\n", `an expression in {{ }} at line 2`},
		{"states:\n- actions: [{parameters: {end: {kind: x}, text: '{{ $.x }}'}}]\n", `an expression in {{ }} at line 2`},
		{"metadata: {end: {kind: default}, x: '{{ $.x }}'}\nstates: [{data: {functionRef: 1}}]\n", ""},
		{"states:\n- {name: A, end: true}\n", ""},
		{"{}", ""},
	} {
		doc, found := dialect.Read("d.yaml", []byte(c.source))
		if len(found) > 0 {
			t.Fatal(found)
		}
		reason, ok := FrontEnd{}.Detect(doc.Root)
		if reason != c.reason || ok != (c.reason != "") {
			t.Errorf("%q: %q, %t; want %q", c.source, reason, ok, c.reason)
		}
	}
}

// What a definition refers to is part of it: another function file, another digest.
func TestDigestCoversResources(t *testing.T) {
	const source = "id: a\nname: A\nfunctions: f.json\nstates: [{name: S, type: operation, actions: [{functionRef: {refName: f}}], end: {kind: default}}]\n"
	digest := func(operation string) string {
		c, found := compileText(t, "a.yaml", source, dialect.MapBundle{"f.json": []byte(`[{"name": "f", "operation": "` + operation + `"}]`)})
		if c.Program == nil {
			t.Fatal(found)
		}
		return c.Program.Digest
	}
	if one, other := digest("x.json#a"), digest("x.json#b"); one == other || len(one) != 64 || one != digest("x.json#a") {
		t.Errorf("digests %s and %s", one, other)
	}
}

func TestProgramProperties(t *testing.T) {
	const source = `
id: order
name: 'Order \{{ literal }}'
version: 1.10
description: "for {{ $.who }}"
metadata: {team: shop}
extensions: [{id: kpi}]
dataInputSchema: order.schema.json
functions:
- {name: f, metadata: {image: cow}}
events:
- {names: [A, B], type: t, source: s, correlation: [{contextAttributeName: k}, {contextAttributeName: l, contextAttributeValue: x}]}
states:
- name: First
  id: one
  type: event
  start: {kind: scheduled, schedule: {cron: 0 2 * * *, directInvoke: deny}}
  exclusive: false
  timeout: PT1H
  onEvents:
  - eventRefs: [A, B]
    actions: [{functionRef: {refName: f, parameters: {a: "{{ $.x }}"}}}, {functionRef: {refName: f, parameters: {a: "{{ $.x }}"}}}]
  metadata: {x: 1}
  transition: {nextState: one}
`
	doc, _ := dialect.Read("order.yaml", []byte(source))
	p, found := FrontEnd{}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles, Options: dialect.Options{Schemas: "warn"}})
	if p == nil {
		t.Fatal(found)
	}
	got := fmt.Sprintln(p.ID, "|", p.Name, "|", p.Version, "|", p.Description, "|", p.Dialect, p.Edition, p.WarnSchemas) +
		fmt.Sprintln(p.Metadata, p.Extensions, p.Exprs[p.InputSchema].Src, len(p.Labels), p.Labels[0].Key, p.Exprs[p.Labels[0].Value].Src) +
		fmt.Sprintln(p.Functions, p.Events[1].Name, p.Events[1].Correlate[0], p.Exprs[p.Events[1].Correlate[1].Value].Src) +
		fmt.Sprintln(p.Start.Events, p.Start.All, p.Start.Window.Nanos, p.Start.Schedule.Cron, p.Start.Schedule.DirectInvoke) +
		fmt.Sprintln(p.States, p.Edges, len(p.Exprs))
	want := `order | Order {{ literal }} | 1.10 |  | sw05 1 true
{"team":"shop"} [{"id":"kpi"}] {"required":["id"],"type":"object"} 1 description "for {{ $.who }}"
[{f   0 {"image":"cow"} {10 3}}] B {k  0 0} "x"
[0 1] true 3600000000000 0 2 * * * false
[{First one event     true false false {"x":1} {14 3}}] [{First First next   false}] 6
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The path rules of semantics.md §Data filters 2, 4 and 8, as picks.
func TestPicks(t *testing.T) {
	for _, c := range []struct{ path, state, results, event string }{
		{"$", "all", "all", "all"},
		{"{{ $ }}", "all", "all", "all"},
		{"$.a", "$.a as single:a", "$.a as always:a", "$.a as always:a of a"},
		{" {{ $.a }} ", "$.a as single:a", "$.a as always:a", "$.a as always:a of a"},
		{"$['a b']", "$['a b'] as single:a b", "$['a b'] as always:a b", "$['a b'] as always:a b of a b"},
		{"$.a.b", "$.a.b", "$.a.b as always:b", "$.a.b as always:b of a"},
		{"$.items[0]", "$.items[0]", "$.items[0] as always:items", "$.items[0] as always:items of items"},
		{"$[0]", "$[0]", "$[0] as always:", "$[0] as always:"},
		{"$.a[*]", "$.a[*]", "$.a[*] as matches:a", "$.a[*] as matches:a of a"},
		{"$.a.[?(@.b)]", "$.a.[?(@.b)]", "$.a.[?(@.b)] as matches:a", "$.a.[?(@.b)] as matches:a of a"},
		{"$..b", "$..b", "$..b as matches:b", "$..b as matches:b"},
		{"$.data", "$.data as single:data", "$.data as always:data", "all"},
		{"$.data.x", "$.data.x", "$.data.x as always:x", "$.data.x as always:x of data"},
	} {
		source := fmt.Sprintf(`
id: p
name: P
events: [{name: E, type: e, source: s}]
states:
- name: S
  type: event
  stateDataFilter: {dataOutputPath: %q}
  onEvents:
  - eventRefs: [E]
    eventDataFilter: {dataOutputPath: %q}
    actions: [{functionRef: {refName: f}, actionDataFilter: {dataInputPath: %q, dataResultsPath: %q}}]
  start: {kind: default}
  end: {kind: default}
`, c.path, c.path, c.path, c.path)
		compiled, found := compileText(t, "p.yaml", source, nil)
		if compiled.Program == nil {
			t.Fatal(found)
		}
		dump := Dump(compiled.Program)
		wants := []string{"call f merge " + c.results, "E merge " + c.event + " →"}
		if c.state != "all" {
			wants = append(wants, "eval replace "+c.state+" →")
			wants[0] = "call f scope " + c.state + " merge " + c.results + " →"
		} else if strings.Contains(dump, "replace") {
			t.Errorf("%s: a filter that selects all is a node:\n%s", c.path, dump)
		}
		for _, want := range wants {
			if !strings.Contains(dump, want) {
				t.Errorf("%s: no %q in\n%s", c.path, want, dump)
			}
		}
	}
}

// A definition as large as the limits allow, with a mistake in every state, is
// answered soon.
func TestManyMistakesAreReportedSoon(t *testing.T) {
	var b strings.Builder
	b.WriteString("id: big\nname: Big\nfunctions: []\nstates:\n")
	for i := range 8_000 {
		fmt.Fprintf(&b, "- {name: a rather long name for a state %d, type: operation, actoins: [], actions: [{functionRef: {refName: some function %d}}], "+
			"transition: {nextState: a rather log name for a state %dx}}\n", i, i, i)
	}
	_, found := compileText(t, "big.yaml", b.String(), nil)
	if last := found[len(found)-1]; len(found) != dialect.MaxDiagnostics+1 || last.Code != dialect.CodeMore {
		t.Errorf("%d diagnostics, the last: %v", len(found), last)
	}
}

// A reference that is near to nothing tells what there is, where that is not much.
func TestHintsListFewNames(t *testing.T) {
	const source = `
id: a
name: A
events: [{name: Paid, source: s, type: t}, {name: Shipped, source: s, type: u}]
retries: EVENTS
states:
- name: S
  type: event
  start: {kind: default}
  onEvents: [{eventRefs: [Zzzzzzzz], actions: []}]
  onErrors: [{error: X, retryRef: Zzzzzzzz, transition: {nextState: S}}]
  end: {kind: default}
`
	names := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("{name: r%d, delay: PT1S}", i))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	for n, want := range map[int]string{0: "", 2: `defined here: "r0", "r1"`, 7: ""} {
		_, found := compileText(t, "a.yaml", strings.ReplaceAll(source, "EVENTS", names(n)), nil)
		hints := map[string]string{}
		for _, d := range found {
			hints[d.Code] = d.Hint
		}
		if hints[codeNoEvent] != `defined here: "Paid", "Shipped"` || hints[codeNoRetry] != want {
			t.Errorf("%d retries: %v", n, found)
		}
	}
}
