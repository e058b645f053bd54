package scenario

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

const wholeFile = `workflow: [order.yaml, ship.yaml]
scenarios:
- name: everything
  clock: 2026-05-01T12:00:00Z
  input: {order: 42}
  mocks:
    charge:
    - {error: {name: CardDeclined, code: 402}}
    - {delay: PT2S, result: {ok: true}}
    echoBack: {echo: true}
    "*": {result: null}
  events:
  - {at: PT1M, event: {type: paid, source: shop, id: e1, orderid: "42", data: {amount: 10}}}
  - event: {type: bare}
  expect:
    status: failed
    error: {name: CardDeclined, code: 402}
    path: [Charge, Ship]
    calls: [{function: charge, arguments: {order: 42}}, {function: ship}]
    produced: [{type: shipped}]
    elapsed: PT2S
    instances: 1
`

func TestParseReadsEverything(t *testing.T) {
	f, err := Parse("dir/order_test.yaml", []byte(wholeFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Workflows[0].Path + " " + f.Workflows[1].Path; got != "dir/order.yaml dir/ship.yaml" {
		t.Errorf("workflows = %s", got)
	}
	s := f.Scenarios[0]
	if s.Name != "everything" || s.Clock.Format("2006-01-02 15:04") != "2026-05-01 12:00" || !s.HasInput || s.Input.String() != `{"order":42}` {
		t.Errorf("scenario = %+v", s)
	}
	if got := s.Mocks["charge"]; len(got) != 2 || got[0].Error.Code != "402" || got[1].Delay.Seconds() != 2 {
		t.Errorf("mocks of charge = %+v", got)
	}
	if got := s.Events[0].After.String() + " " + s.Events[0].Value.String(); got != `PT1M {"data":{"amount":10},"id":"e1","orderid":"42","source":"shop","specversion":"1.0","type":"paid"}` {
		t.Errorf("first event = %s", got)
	}
	if got := s.Events[1].Value.String(); got != `{"id":"event-2","source":"lockstep/scenario","specversion":"1.0","type":"bare"}` {
		t.Errorf("an event without id and source = %s", got)
	}
	e := s.Expect
	if e.Status != "failed" || e.Error.String() != `{"code":"402","name":"CardDeclined"}` || len(*e.Path) != 2 ||
		(*e.Calls)[1].Arguments != nil || len(*e.Produced) != 1 || e.Elapsed.String() != "PT2S" || *e.Instances != 1 || e.Output != nil {
		t.Errorf("expect = %+v", e)
	}
}

func TestParseReportsEveryMistakeWithItsPlace(t *testing.T) {
	const src = `workflw: order.yaml
workflow: 7
scenarios:
- name: one
  clock: yesterday
  mocks:
    a: {result: 1, error: {name: X}}
    b: []
    c: {delay: 2s}
    d: {delay: P1M}
    e: {resutl: 1}
  events:
  - {type: paid}
  - {at: PT1X, event: {source: s}}
  - event: {type: a, source: s, deep: {x: 1}}
  takes:
  - {actor: ROBOT, state: DONE}
  expect:
    status: complete
    ouput: 1
    path: Charge
    calls: [{arguments: {}}]
    instances: -1
- name: one
  expect: {status: completed, error: {name: X}}
- {name: two}
`
	_, err := Parse("x_test.yaml", []byte(src))
	var found dialect.Diagnostics
	if !errors.As(err, &found) {
		t.Fatalf("error = %v", err)
	}
	want := []string{
		`1:1 TS101 unknown key "workflw" in a scenario file; did you mean "workflow"?`,
		`2:11 TS102 the path of a definition must be a string, not a number`,
		`5:10 TS104 clock is not a date and time`,
		`7:20 TS106 a mock's answer has both "result" and "error"`,
		`8:8 TS103 the mock of "b" is an empty list: it has no answer`,
		`9:16 TS104 delay is not an ISO 8601 duration`,
		`10:16 TS104 a delay has no months or years, whose length is not fixed; write days`,
		`11:9 TS101 unknown key "resutl" in a mock's answer; did you mean "result"?`,
		`13:5 TS103 an item of events needs the key "event"`,
		`14:13 TS104 at is not an ISO 8601 duration`,
		`14:23 TS103 an event needs the key "type"`,
		`15:39 TS104 event attribute "deep": an extension must be a string, a number or a boolean`,
		`17:13 TS104 actor "ROBOT" is none of CLIENT, WFX`,
		`19:13 TS104 status "complete" is none of completed, failed, cancelled, waiting, none; did you mean "completed"?`,
		`20:5 TS101 unknown key "ouput" in expect; did you mean "output"?`,
		`21:11 TS102 path must be an array, not a string`,
		`22:13 TS103 an expected call needs the key "function"`,
		`23:16 TS102 instances must be a whole number from 0 on`,
		`24:9 TS105 another scenario of this file is already called "one"`,
		`25:31 TS106 error is given, but status is "completed"`,
		`26:3 TS103 a scenario needs the key "expect"`,
	}
	var got []string
	for _, d := range found {
		got = append(got, fmt.Sprintf("%d:%d %s %s; %s", d.Line, d.Column, d.Code, d.Message, d.Hint))
	}
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want):
			t.Errorf("not expected: %s", got[i])
		case !strings.HasPrefix(got[i], want[i]):
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

func TestReadEventsTakesEveryForm(t *testing.T) {
	for name, src := range map[string]string{
		"one as JSON":  `{"type": "a", "id": "1"}`,
		"one as YAML":  "type: a\nid: '1'\n",
		"a list":       "- {type: a, id: '1'}\n- {at: PT1M, event: {type: b, id: '2'}}\n",
		"an array":     `[{"type": "a", "id": "1"}, {"at": "PT1M", "event": {"type": "b", "id": "2"}}]`,
		"JSON by line": `{"type": "a", "id": "1"}` + "\n\n" + `{"at": "PT1M", "event": {"type": "b", "id": "2"}}` + "\n",
	} {
		events, _, found := ReadEvents("events", []byte(src))
		if found.HasErrors() {
			t.Errorf("%s: %v", name, found)
			continue
		}
		got := Describe(events[0].Value)
		if len(events) > 1 {
			got += ", " + events[1].After.String() + " " + Describe(events[1].Value)
		}
		if want := "a from lockstep/scenario (id 1), PT1M b from lockstep/scenario (id 2)"; !strings.HasPrefix(want, got) {
			t.Errorf("%s: %s", name, got)
		}
	}
	_, _, found := ReadEvents("events", []byte("{\"type\": \"a\"}\n{\"id\": \"x\"}\n"))
	if got := found.Error(); !strings.HasPrefix(got, "events:2:1 ") {
		t.Errorf("a mistake in the second line: %s", got)
	}
}
