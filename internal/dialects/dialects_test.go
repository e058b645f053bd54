package dialects

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// What marks one dialect may stand in the texts and data of another.
func TestDetect(t *testing.T) {
	for source, want := range map[string]string{
		"document: {dsl: 1.0.3}\ndo: [a: {set: {text: '{{ x }}'}}]":                                      "sw10",
		"document: {dsl: 1.0.3}\ndo: [a: {set: {startsAt: now}}]":                                        "sw10",
		"document: {dsl: 1.0.3}\ndo: [a: {set: {next-state: b}}]":                                        "sw10",
		"document: {dsl: 1.1.0}":                                                                         "sw10",
		"document: {name: x}\ndo: [a: {set: {functionRef: b}}]":                                          "sw10",
		"id: x\nstates: [{name: a, type: inject, end: {kind: default}}]":                                 "sw05",
		"id: x\nstates: [{name: a, type: inject, data: {document: {dsl: 1.0.3}}, end: {kind: default}}]": "sw05",
		"name: x\nstartsAt: a\nstates: [{name: a, type: DELAY, end: true}]":                              "sw01-camel",
		"name: x\nstates: [{name: a}]\ntransitions: []":                                                  "wfx",
		"name: x\nstates: []": "",
	} {
		doc, _ := dialect.Read("f", []byte(source))
		got := ""
		if f, _, _ := All().Detect(doc, ""); f != nil {
			got = f.Name()
		}
		if got != want {
			t.Errorf("%q is %q, not %q", source, got, want)
		}
	}
}
