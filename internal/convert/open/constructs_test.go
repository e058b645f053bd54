package open

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/convert"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw08"
)

// Each construct by itself. has is what the definition must have, lost what the list of losses must say: "" where all
// is kept. Then the exact conversion does the same in every case, and the plain one in most.
func TestConstructs(t *testing.T) {
	for _, c := range slices.Concat(constructs, constructsBefore05) {
		t.Run(c.name, func(t *testing.T) {
			r, k := converted(t, c.src, 60)
			var lost []string
			for _, l := range r.Lost {
				lost = append(lost, fmt.Sprintf("%s: %s: %s; %s", l.Pos, l.What, l.Why, l.Do))
			}
			all, text := strings.Join(lost, "\n"), documents(t, r)
			switch {
			case c.lost == "" && len(lost) > 0:
				t.Errorf("lost:\n%s", all)
			case !strings.Contains(all, c.lost):
				t.Errorf("lost:\n%s\nwant %q", all, c.lost)
			}
			for _, want := range c.has {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing:\n%s", want, text)
				}
			}
			if c.lost != "" {
				return
			}
			if k.First != nil {
				t.Errorf("%d of %d agree; %s\n%s", k.Agreed, k.Cases, k.First, text)
			}
			if k.Agreed < 5 {
				t.Errorf("only %d of %d agree; %s\n%s", k.Agreed, k.Cases, k.Breaks, text)
			}
			if len(k.Missed) > 0 {
				t.Errorf("states never entered: %v", k.Missed)
			}
		})
	}
}

// converted converts a definition and compares both.
func converted(t testing.TB, src string, cases int) (convert.Result, convert.Comparison) {
	t.Helper()
	c, found := dialect.NewRegistry(append(sw08.FrontEnds(), sw05.FrontEnds()...)...).Compile("flow.yaml", []byte(src), nil, dialect.Options{})
	if found.HasErrors() {
		t.Fatalf("the source is not valid: %v\n%s", found, src)
	}
	o, _ := c.FrontEnd.(outliner).Outline(dialect.Source{Document: c.Document, Bundle: dialect.MapBundle{}})
	exact, r := States(o, convert.Options{Exact: true}), States(o, convert.Options{})
	documents(t, exact)
	k, err := convert.Compare(context.Background(), convert.Stateful(o, c.Program), r, convert.CompareOptions{Cases: cases, Seed: 1, Exact: &exact})
	if err != nil {
		t.Fatalf("%v\n%s", err, documents(t, r))
	}
	return r, k
}

// The exact conversion assumes nothing of the data.
func TestExactAssumesNothing(t *testing.T) {
	for _, c := range constructs {
		r, _ := converted(t, c.src, 0)
		for _, a := range r.Assumed {
			if a.Text == "" || strings.HasSuffix(a.Text, ".") {
				t.Errorf("%s: an assumption is %q", c.name, a.Text)
			}
		}
	}
	c, _ := dialect.NewRegistry(sw05.FrontEnds()...).Compile("flow.yaml", []byte(constructs[0].src), nil, dialect.Options{})
	o, _ := sw05.FrontEnd{}.Outline(dialect.Source{Document: c.Document, Bundle: dialect.MapBundle{}})
	if exact := States(o, convert.Options{Exact: true}); len(exact.Assumed) > 0 {
		t.Errorf("%v", exact.Assumed)
	}
	if plain := States(o, convert.Options{}); len(plain.Assumed) == 0 {
		t.Error("plain expressions assume nothing")
	}
}

type construct struct {
	name, lost, src string
	has             []string
}

var constructs = []construct{
	{name: "results are merged", has: []string{`as: "$input * ."`}, src: `
id: a
name: A
functions: [{name: f}]
states:
- {name: A, type: operation, start: {kind: default}, actions: [{functionRef: {refName: f, parameters: {x: "{{ $.x }}", t: "is {{ $.y }}"}}}], end: {kind: default}}
`},
	{name: "filters of states", has: []string{`from: "(.a | arrays) // {a: .a}"`}, src: `
id: a
name: A
states:
- {name: A, type: inject, start: {kind: default}, data: {n: 1}, stateDataFilter: {dataInputPath: "{{ $.a }}", dataOutputPath: "{{ $.a.b }}"}, end: {kind: default}}
`},
	{name: "what a filter of an action selects", has: []string{"$input * {id: .r.id}"}, src: `
id: a
name: A
functions: [{name: f}]
states:
- name: A
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: f, parameters: {x: "{{ $.x }}"}}, actionDataFilter: {dataInputPath: "{{ $.a.b }}", dataResultsPath: "{{ $.r.id }}"}}]
  end: {kind: default}
`},
	{name: "a switch", has: []string{`when: ".total > 10"`, `when: ".kind == \"x\" and .ok"`}, src: `
id: a
name: A
states:
- name: A
  type: switch
  start: {kind: default}
  dataConditions:
  - {condition: "{{ $[?(@.total > 10)] }}", transition: {nextState: B}}
  - {condition: "{{ $[?(@.kind == 'x' && @.ok)] }}", transition: {nextState: C}}
  default: {end: {kind: default}}
- {name: B, type: inject, data: {b: true}, end: {kind: default}}
- {name: C, type: inject, data: {c: true}, end: {kind: default}}
`},
	{name: "one error definition with a retry", has: []string{"title: Busy", "count: 2", "delay: PT5S"}, src: `
id: a
name: A
functions: [{name: f}]
retries: [{name: r, delay: PT5S, maxAttempts: 2}]
states:
- name: A
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: f}, timeout: PT20S}]
  onErrors: [{error: Busy, retryRef: r, transition: {nextState: B}}]
  end: {kind: default}
- {name: B, type: inject, data: {b: true}, end: {kind: default}}
`},
	{name: "several error definitions", has: []string{"A failed:", "any error:"}, src: `
id: a
name: A
functions: [{name: f}]
states:
- name: A
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: f}, timeout: PT20S}]
  onErrors: [{error: "*", end: {kind: default}}, {error: Busy, transition: {nextState: B}}, {error: Timeout, transition: {nextState: C}}]
  stateDataFilter: {dataOutputPath: "{{ $.a }}"}
  end: {kind: default}
- {name: B, type: inject, data: {b: true}, end: {kind: default}}
- {name: C, type: inject, data: {c: true}, end: {kind: default}}
`},
	{name: "several retries", lost: "count their attempts one by one", src: `
id: a
name: A
functions: [{name: f}]
retries: [{name: r, delay: PT5S, maxAttempts: 2}]
states:
- name: A
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: f}}]
  onErrors: [{error: Busy, retryRef: r, end: {kind: default}}, {error: Gone, retryRef: r, end: {kind: default}}]
  end: {kind: default}
`},
	{name: "an event with a timeout", has: []string{"listen:", "then: exit", "errors/timeout"}, src: `
id: a
name: A
functions: [{name: f}]
events: [{name: e, type: e, source: s}, {name: g, type: g, source: s}]
states:
- {name: A, type: event, start: {kind: default}, onEvents: [{eventRefs: [e], actions: []}], transition: {nextState: B}}
- name: B
  type: event
  onEvents: [{eventRefs: [g], eventDataFilter: {dataOutputPath: "{{ $.data.v }}"}, actions: [{functionRef: {refName: f, parameters: {v: "{{ $.v }}"}}}]}]
  timeout: PT1M
  end: {kind: default}
`},
	{name: "events of one instance", has: []string{"$context.key"}, lost: "further events", src: `
id: a
name: A
events: [{name: e, type: e, source: s, correlation: [{contextAttributeName: key}]}, {name: g, type: g, source: s, correlation: [{contextAttributeName: key}]}]
states:
- {name: A, type: event, start: {kind: default}, onEvents: [{eventRefs: [e], actions: []}], transition: {nextState: B}}
- {name: B, type: event, onEvents: [{eventRefs: [g], actions: []}], end: {kind: default}}
`},
	{name: "a callback", has: []string{"call: ask", "listen:"}, src: `
id: a
name: A
functions: [{name: ask}]
events: [{name: e, type: e, source: s}]
states:
- {name: A, type: callback, start: {kind: default}, action: {functionRef: {refName: ask}}, eventRef: e, timeout: PT1M, end: {kind: default}}
`},
	{name: "a switch over events", has: []string{"A goes on:", ".entry == 2"}, src: `
id: a
name: A
events: [{name: e, type: e, source: s}, {name: g, type: g, source: s}]
states:
- name: A
  type: switch
  start: {kind: default}
  eventConditions: [{eventRef: e, transition: {nextState: B}}, {eventRef: g, transition: {nextState: C}}]
  eventTimeout: PT1M
  default: {transition: {nextState: D}}
- {name: B, type: inject, data: {b: true}, end: {kind: default}}
- {name: C, type: inject, data: {c: true}, end: {kind: default}}
- {name: D, type: inject, data: {d: true}, end: {kind: default}}
`},
	{name: "branches", has: []string{"fork:", "reduce .[][] as $result"}, src: `
id: a
name: A
functions: [{name: f}, {name: g}, {name: h}]
states:
- name: A
  type: parallel
  start: {kind: default}
  branches:
  - {name: one, actions: [{functionRef: {refName: f}}, {functionRef: {refName: g, parameters: {x: "{{ $.x }}"}}}]}
  - {name: two, actions: [{functionRef: {refName: h}}]}
  end: {kind: default}
`},
	{name: "the first branch", has: []string{"compete: true"}, src: `
id: a
name: A
functions: [{name: f}, {name: g}]
states:
- name: A
  type: parallel
  start: {kind: default}
  completionType: xor
  branches: [{name: one, actions: [{functionRef: {refName: f}}]}, {name: two, actions: [{functionRef: {refName: g}}]}]
  end: {kind: default}
`},
	{name: "items one after the other", has: []string{"each: item", "$item.n"}, src: `
id: a
name: A
functions: [{name: f}]
states:
- name: A
  type: foreach
  start: {kind: default}
  inputCollection: "{{ $.list }}"
  iterationParam: item
  outputCollection: "{{ $.out }}"
  max: 1
  actions: [{functionRef: {refName: f, parameters: {n: "{{ $.item.n }}", s: "{{ $.s }}"}}}]
  end: {kind: default}
`},
	{name: "items at the same time", lost: "a loop of 1.0 takes one item after the other", src: `
id: a
name: A
functions: [{name: f}]
states:
- {name: A, type: foreach, start: {kind: default}, inputCollection: "{{ $.list }}", iterationParam: item, actions: [{functionRef: {refName: f}}], end: {kind: default}}
`},
	{name: "compensation in the catch", has: []string{"do:\n      - UndoB:", "- UndoA:"}, src: `
id: a
name: A
functions: [{name: f}]
states:
- {name: A, type: inject, start: {kind: default}, data: {a: 1}, compensatedBy: UndoA, transition: {nextState: B}}
- {name: B, type: inject, data: {b: 1}, compensatedBy: UndoB, transition: {nextState: C}}
- {name: C, type: operation, actions: [{functionRef: {refName: f}}], onErrors: [{error: Busy, transition: {compensateBefore: true, nextState: D}}], end: {kind: default}}
- {name: D, type: inject, data: {d: 1}, end: {kind: default}}
- {name: UndoA, type: inject, usedForCompensation: true, data: {last: a}}
- {name: UndoB, type: inject, usedForCompensation: true, data: {last: b}}
`},
	{name: "compensation of what was done", has: []string{"$context.undo"}, src: `
id: a
name: A
states:
- name: A
  type: switch
  start: {kind: default}
  dataConditions: [{condition: "{{ $.x }}", transition: {nextState: B}}]
  default: {transition: {nextState: C}}
- {name: B, type: inject, data: {b: 1}, compensatedBy: UndoB, transition: {nextState: C}}
- {name: C, type: inject, data: {c: 1}, end: {kind: default, compensateBefore: true}}
- {name: UndoB, type: inject, usedForCompensation: true, data: {undone: true}}
`},
	{name: "events that are sent, and a restricted transition", has: []string{"A sends P:", "A may go on:"}, src: `
id: a
name: A
events: [{name: P, type: p, source: s, kind: produced}]
states:
- name: A
  type: inject
  start: {kind: default}
  data: {a: 1}
  transition: {nextState: B, expression: "{{ $[?(@.x > 1)] }}", produceEvents: [{eventRef: P, data: {v: "{{ $.x }}"}}]}
- {name: B, type: inject, data: {b: 1}, end: {kind: default}}
`},
	{name: "a sub-workflow", has: []string{"name: child"}, src: `
id: a
name: A
states:
- {name: A, type: subflow, start: {kind: default}, workflowId: child, waitForCompletion: true, end: {kind: default}}
`},
	{name: "0.8: retries of an action", has: []string{"attempt:", "exponential: {}"}, src: `
id: a
specVersion: "0.8"
name: A
version: "1"
start: A
functions: [{name: f}]
errors: [{name: Busy, code: "503"}]
retries: [{name: r, delay: PT1S, multiplier: 2, maxAttempts: 3}]
states:
- {name: A, type: operation, actions: [{functionRef: {refName: f, arguments: {x: "${ .x }"}}, retryRef: r, retryableErrors: [Busy]}], onErrors: [{errorRef: Busy, transition: B}], end: true}
- {name: B, type: inject, data: {b: true}, end: true}
`},
	{name: "0.8: conditions, sleeps and places of results", has: []string{`if: ".x"`, "wait: PT5S", "$input * {out: {f: .r}}"}, src: `
id: a
specVersion: "0.8"
name: A
version: "1"
start: A
functions: [{name: f}]
states:
- name: A
  type: operation
  actions: [{functionRef: f, condition: "${ .x }", sleep: {before: PT5S}, actionDataFilter: {results: "${ .r }", toStateData: "${ .out.f }"}}]
  transition: C
- {name: B, type: inject, data: {b: true}, end: true}
- {name: C, type: operation, actions: [{functionRef: f}], transition: B}
`},
	{name: "0.8: constants and expression functions", has: []string{"as $CONST"}, src: `
id: a
specVersion: "0.8"
name: A
version: "1"
start: A
constants: {limit: 3}
functions: [{name: small, type: expression, operation: ".n < $CONST.limit"}]
states:
- {name: A, type: switch, dataConditions: [{condition: "fn:small", transition: B}], defaultCondition: {end: true}}
- {name: B, type: operation, actions: [{functionRef: small, actionDataFilter: {toStateData: "${ .small }"}}], end: true}
`},
	{name: "0.8: the timeout of the workflow", lost: "at its end the workflow is complete", src: `
id: a
specVersion: "0.8"
name: A
version: "1"
start: A
timeouts: {workflowExecTimeout: PT1H}
states:
- {name: A, type: sleep, duration: PT5S, end: true}
`},
}
