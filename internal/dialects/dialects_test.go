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
		"id: x\nspecVersion: '0.7'\nstates: [{name: a, type: inject, data: {a: '{{ $.b }}'}, end: true}]":                                         "sw07",
		"id: x\nstart: a\nstates: [{name: a, type: operation, stateDataFilter: {input: .a}, actions: [{functionRef: f}], end: true}]":             "sw08",
		"id: x\nexpressionLang: jsonpath\nstates: [{name: a, type: switch, dataConditions: [{condition: '{{ $.a }}', end: true}]}]":               "sw08",
		"id: x\nstart: a\nstates: [{name: a, type: subflow, workflowId: b, compensatedBy: c, end: true}]":                                         "sw06",
		"name: x\nstart: a\nstates: [{name: a, type: operation, actions: [{functionRef: f}], end: true}]":                                         "sw09",
		"id: x\nstates: [{name: a, type: operation, start: {kind: default}, actions: [{functionRef: {refName: f}}], transition: {nextState: b}}]": "sw05",
		"id: x\nstates: [{name: a, type: switch, dataConditions: [{condition: '{{ $.a }}', end: {kind: default}}]}]":                              "sw05",
		"id: x\nstates: [{name: a, type: operation, stateDataFilter: {dataInputPath: '{{ $.a }}'}, actions: [], transition: b}]":                  "sw05",
		"id: x\nstates: [{name: a, type: callback, eventRef: e, eventDataFilter: {}}]":                                                            "sw05",
		"id: x\nstates: [{name: a, type: RELAY, end: {kind: DEFAULT}}]":                                                                           "sw01-final",
		"id: x\nstates: [{name: a, type: DELAY, timeDelay: PT1S, end: {kind: DEFAULT}}]":                                                          "sw01-final",
		"id: x\nfunctions: [{name: f, resource: r}]\nstates: [{name: a, type: inject, end: {kind: default}}]":                                     "sw02",
		"id: x\nstates: [{name: a, type: inject, end: {kind: DEFAULT}}]":                                                                          "sw02",
		"id: x\nstates: [{name: a, type: event, eventsActions: [], end: {kind: default}}]":                                                        "sw02",
		"id: x\nstates: [{name: a, type: inject, data: {eventsActions: []}, end: {kind: default}}]":                                               "sw05",
		"id: x\nfunctions: [{name: f, resource: r, operation: o}]\nstates: [{name: a, type: inject, end: {kind: default}}]":                       "sw05",
		"id: x\nstates: [{name: a, type: delay, onError: [], onErrors: [], end: {kind: default}}]":                                                "sw05",
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
