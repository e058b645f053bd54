package sw08

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ source, name, reason string }{
		{"id: x\nspecVersion: '0.8'\nstates: []", Name08, "specVersion 0.8 at line 2"},
		{"specVersion: 0.7\nstates: []", Name07, "specVersion 0.7 at line 1"},
		{"specVersion: 0.6.1\nstates: []", Name06, "specVersion 0.6.1 at line 1"},
		{"specVersion: v0.9\nstates: []", Name09, "specVersion v0.9 at line 1"},
		{"specVersion: '1.0'\nstates: []", Name08, "specVersion 1.0 at line 1, in the shape of 0.8: taken for 0.8"},
		{"specVersion: latest\nstates: []", Name08, "specVersion latest at line 1: taken for 0.8"},
		{"specVersion: '1.0'\ndocument: {dsl: 1.0.0}\nstates: []", "", ""},
		{"id: x\nstart: A\nstates: []", Name08, `key "start" at line 2, no specVersion: taken for 0.8`},
		{"id: x\nstates:\n- {name: A, type: sleep, end: true}", Name08, `key "end" at line 3, no specVersion: taken for 0.8`},
		{"id: x\nstates:\n- {name: A, type: operation, actions: [{subFlowRef: y}]}", Name08, `key "subFlowRef" at line 3, no specVersion: taken for 0.8`},
		{"id: x\nstates:\n- {name: A, type: operation, actions: [{functionRef: {refName: f, arguments: {a: 1}}}]}", Name08, `key "arguments" at line 3, no specVersion: taken for 0.8`},
		{"id: x\nstates:\n- {name: A, type: inject, data: {a: '${ .b }'}}", Name08, "an expression in ${ } at line 3, no specVersion: taken for 0.8"},
		// 0.6
		{"id: x\nexecTimeout: {duration: PT1H}\nstart: A\nstates: []", Name06, `key "execTimeout" at line 2, no specVersion: taken for 0.6`},
		{"id: x\nstart: A\nstates:\n- {name: A, type: delay, timeDelay: PT1S, end: true}", Name06, "type delay at line 4, no specVersion: taken for 0.6"},
		{"id: x\nstart: A\nstates:\n- {name: A, type: switch, default: {end: true}}", Name06, `key "default" at line 4, no specVersion: taken for 0.6`},
		{"id: x\nstart: A\nstates:\n- {name: A, type: parallel, completionType: xor, end: true}", Name06, "completionType xor at line 4, no specVersion: taken for 0.6"},
		{"id: x\nstart: A\nstates:\n- {name: A, type: operation, onErrors: [{error: E, end: true}]}", Name06, `key "error" at line 4, no specVersion: taken for 0.6`},
		{"id: x\nstart: A\nstates:\n- {name: A, type: operation, actions: [{functionRef: f, timeout: PT1S}]}", Name06, `key "timeout" at line 4, no specVersion: taken for 0.6`},
		// 0.9
		{"id: x\nstart: A\nfunctions: [{name: f, type: http}]\nstates: []", Name09, "type http at line 3, no specVersion: taken for 0.9"},
		{"id: x\nstart: A\nerrors: {handlers: []}\nstates: []", Name09, `key "errors" at line 3, no specVersion: taken for 0.9`},
		{"id: x\nstart: A\nstates:\n- {name: A, onErrors: [{when: [{status: 1}]}]}", Name09, `key "when" at line 4, no specVersion: taken for 0.9`},
		{"name: x\nstart: A\nstates: []", Name09, `key "name" at line 1 without an id, no specVersion: taken for 0.9`},
		{"name: x\nstart: A\nstates: [{name: A, type: sleep, end: true}]", Name08, `key "start" at line 2, no specVersion: taken for 0.8`},
		// Other families.
		{"id: x\nstates: [{name: A, type: inject, start: {kind: default}, data: {a: '${ .b }'}, end: {kind: default}}]", "", ""},
		{"id: x\nstates: [{name: A, type: operation, start: {kind: default}, actions: [{functionRef: {refName: f, parameters: {arguments: 1}}}], end: {kind: default}}]", "", ""},
		{"id: x\nstates: [{name: A, type: inject, data: {specVersion: '0.8', timeouts: 1}, end: {kind: terminate}}]", "", ""},
		{"name: x\nstates: [{name: A, type: DELAY, end: true}]", "", ""},
		{"id: x\nmetadata: {subFlowRef: a, b: '${ .c }'}\nstates: []", "", ""},
		{"id: x\nstates: []", "", ""},
	} {
		doc, _ := dialect.Read("f", []byte(c.source))
		name, reason := "", ""
		for _, f := range FrontEnds() {
			if why, ok := f.Detect(doc.Root); ok {
				if name != "" {
					t.Errorf("%q is %s and %s", c.source, name, f.Name())
				}
				name, reason = f.Name(), why
			}
		}
		if name != c.name || reason != c.reason {
			t.Errorf("%q\nis   %q: %s\nwant %q: %s", c.source, name, reason, c.name, c.reason)
		}
	}
}

// With --dialect sw06-09 every document has one form.
func TestDetectWithin(t *testing.T) {
	for source, want := range map[string]string{
		"id: x\nstates: []": Name08,
		"id: x\nstates: [{name: A, type: inject, start: {kind: default}, end: {kind: default}}]": Name08,
		"id: x\nstates: [{name: A, type: delay}]":                                                Name06,
		"name: x\nstates: []": Name09,
	} {
		doc, _ := dialect.Read("f", []byte(source))
		var got []string
		for _, f := range FrontEnds() {
			if _, ok := f.(dialect.Member).DetectWithin(doc.Root); ok {
				got = append(got, f.Name())
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q is %v, not %s", source, got, want)
		}
	}
}
