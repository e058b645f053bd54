package scenario

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
)

const wholeFile = `workflow: [order.yaml, ship.yaml]
scenarios:
- name: everything
  clock: 2026-05-01T12:00:00Z
  until: PT1H
  input: {order: 42}
  mocks:
    charge:
    - {error: {name: CardDeclined, code: 402}}
    - {delay: PT2S, result: {ok: true}}
    echoBack: {echo: true}
    "*": {result: null}
  secrets: {bank: {password: abc}, pin: "7"}
  events:
  - {at: PT1M, event: {type: paid, source: shop, id: e1, orderid: "42", data: {amount: 10}}}
  - event: {type: bare}
  expect:
    status: failed
    error: {name: CardDeclined, code: 402, status: 500, instance: /do/0/charge}
    path: [Charge, Ship]
    calls: [{function: charge, arguments: {order: 42}}, {function: ship}]
    produced: [{type: shipped}]
    lifecycle: [{type: io.serverlessworkflow.workflow.started.v1}, {data: {task: /do/0/charge}}]
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
	if s.Until.String() != "PT1H" || len(s.Secrets) != 2 || s.Secrets["bank"].String() != `{"password":"abc"}` {
		t.Errorf("until %v, secrets %v", s.Until, s.Secrets)
	}
	if l := s.Expect.Lifecycle; l == nil || len(*l) != 2 || (*l)[1].String() != `{"data":{"task":"/do/0/charge"}}` {
		t.Errorf("lifecycle %v", l)
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
	if e.Status != "failed" || e.Error.String() != `{"code":"402","instance":"/do/0/charge","name":"CardDeclined","status":"500"}` || len(*e.Path) != 2 ||
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
- {name: three, until: 1h, secrets: [a], expect: {status: completed}}
- {name: four, until: P300Y, expect: {status: completed}}
`
	_, err := Parse("x_test.yaml", []byte(src))
	var found dialect.Diagnostics
	if !errors.As(err, &found) {
		t.Fatalf("error = %v", err)
	}
	want := []string{
		`1:1 TS101 unknown key "workflw" in a scenario file; did you mean "workflow"?`,
		`2:11 TS102 the path of a definition must be a string, not a number`,
		`5:10 TS104 malformed clock: the year needs 4 digits`,
		`7:20 TS106 a mock's answer has both "result" and "error"`,
		`8:8 TS103 the mock of "b" must not be empty: it has no answer`,
		`9:16 TS104 malformed duration: "2s" is not an ISO 8601 duration`,
		`10:16 TS104 a delay has no months or years, whose length is not fixed; write days`,
		`11:9 TS101 unknown key "resutl" in a mock's answer; did you mean "result"?`,
		`13:5 TS103 an item of events needs "event"`,
		`14:13 TS104 malformed duration: "X" is not a unit`,
		`14:16 TS103 an event needs "type"`,
		`15:39 TS104 event attribute "deep": an extension must be a string, a number or a boolean`,
		`17:13 TS104 actor cannot be "ROBOT"; one of CLIENT, WFX`,
		`19:13 TS104 status cannot be "complete"; did you mean "completed"?`,
		`20:5 TS101 unknown key "ouput" in expect; did you mean "output"?`,
		`21:11 TS102 path must be an array, not a string`,
		`22:13 TS103 an expected call needs "function"`,
		`23:16 TS102 instances must be a whole number from 0, not -1`,
		`24:9 TS105 another scenario of this file is already called "one"`,
		`25:31 TS106 error is given, but status is "completed"`,
		`26:3 TS103 scenario "two" needs "expect"`,
		`27:24 TS104 malformed duration`,
		`27:37 TS102 secrets must be an object, not an array`,
		`28:23 TS104 the end comes at 2326-03-01T00:00:00Z, beyond the year 2261 (limit timer-horizon)`,
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

func TestReadMocks(t *testing.T) {
	mocks, _, found := ReadMocks("mocks.yaml", []byte(`
charge: [{error: {name: CardDeclined, code: 402, message: no}}, {delay: PT2S, result: {ok: true}}]
echo: {echo: true, delay: P1DT1S}
named: {error: Boom}
nothing: {}
none: {result: null}
`))
	if found.HasErrors() {
		t.Fatal(found)
	}
	want := mock.Mocks{
		"charge": {
			{Error: &effect.Failure{Name: "CardDeclined", Code: "402", Detail: "no"}},
			{Delay: 2 * time.Second, Result: expr.Object(expr.Member{Key: "ok", Value: expr.Bool(true)}), HasResult: true},
		},
		"echo":    {{Echo: true, Delay: 24*time.Hour + time.Second}},
		"named":   {{Error: &effect.Failure{Name: "Boom"}}},
		"nothing": {{}},
		"none":    {{HasResult: true}},
	}
	if got, want := fmt.Sprintf("%+v", mocks["charge"][1:]), fmt.Sprintf("%+v", want["charge"][1:]); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for name, answers := range want {
		for i, a := range answers {
			b := mocks[name][i]
			if a.Error != nil && (b.Error == nil || *a.Error != *b.Error) {
				t.Errorf("%s: got %+v, want %+v", name, b.Error, a.Error)
			}
			a.Error, b.Error = nil, nil
			if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
				t.Errorf("%s: got %+v, want %+v", name, b, a)
			}
		}
	}
	for text, says := range map[string]string{
		`{"workflow": "f", "scenarios": []}`: `TS103 this is a scenario file, not a file of mocks; "lockstep test" runs it`,
		`[]`:                                 `TS102 a file of mocks must be an object, not an array`,
		`{"f": 1}`:                           `TS102 a mock's answer must be an object, not a number`,
		`{"f": []}`:                          `TS103 the mock of "f" must not be empty`,
		`{"f": [{}, 1]}`:                     `1:12 error TS102 a mock's answer must be an object, not a number`,
		`{"f": {"reslut": 1}}`:               `TS101 unknown key "reslut" in a mock's answer; did you mean "result"?`,
		`{"f": {"result": 1, "error": "x"}}`: `TS106 a mock's answer has both "result" and "error"; only one is allowed`,
		`{"f": {"result": 1, "echo": true}}`: `TS106 a mock's answer has both "result" and "echo"`,
		`{"f": {"echo": "yes"}}`:             `TS102 echo must be a boolean, not a string`,
		`{"f": {"delay": 2}}`:                `TS102 delay must be a string, not a number`,
		`{"f": {"delay": "2s"}}`:             `TS104 malformed duration: `,
		`{"f": {"delay": "P1M"}}`:            `TS104 a delay has no months or years, whose length is not fixed; write days`,
		`{"f": {"delay": "P200000D"}}`:       `TS104 delay "P200000D" is too long`,
		`{"f": {"error": 1}}`:                `TS102 a mock's error must be an object, not a number`,
		`{"f": {"error": {"nam": "x"}}}`:     `TS101 unknown key "nam" in a mock's error; did you mean "name"?`,
		`{"f": {"error": {"code": []}}}`:     `TS102 code must be a string, not an array`,
		`{"mocks": {}, "moks": {}}`:          `TS101 unknown key "moks" in a file of mocks; did you mean "mocks"?`,
	} {
		if _, _, found := ReadMocks("f", []byte(text)); !strings.Contains(found.Error(), says) {
			t.Errorf("%s\ngot  %s\nwant %s", text, found.Error(), says)
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
