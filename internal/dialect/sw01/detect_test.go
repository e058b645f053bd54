package sw01

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func TestDetect(t *testing.T) {
	registry := dialect.NewRegistry(FrontEnds()...)
	for _, c := range []struct{ source, forced, want string }{
		{"states: [{name: A, next-state: B}]", "", `sw01-early: key "next-state" at line 1`},
		{"states: [{time-delay: 5}]", "", `sw01-early: key "time-delay" at line 1`},
		{"name: x\nstates: [{next-state: B}]", "", `sw01-kebab: key "next-state" at line 2, key "name" at line 1`},
		{"name: x\nstates:\n- next-state: B\n  actions: [{function: f}]", "", `sw01-early: key "next-state" at line 3, a name as "function" at line 4`},
		{"states:\n- next-state: B\n  actions: [{function: {name: f}}]", "", `sw01-kebab: key "next-state" at line 2, an object as "function" at line 3`},
		{"states:\n- next-state: B\n  actions: [{function: {name: f}, retry: []}]", "", `sw01-early: key "next-state" at line 2, a list as "retry" at line 3`},
		{"trigger-defs: [{eventID: e, type: t}]", "", `sw01-early: key "trigger-defs" at line 1, key "eventID" at line 1`},
		{"trigger-defs: [{type: t}]", "", `sw01-kebab: key "trigger-defs" at line 1, key "type" at line 1`},
		{"exec-status: SYS.Fail", "", `sw01-kebab: key "exec-status" at line 1, key "exec-status" at line 1`},
		{"startsAt: A", "", `sw01-camel: key "startsAt" at line 1`},
		{"states:\n- nextState: A", "", `sw01-camel: key "nextState" at line 2`},
		{"states:\n- events: [{eventExpression: A}]", "", `sw01-camel: key "eventExpression" at line 2`},
		{"startsAt: A\nstates: [{next-state: B}]", "", `sw01-early: key "next-state" at line 2`},
		// 0.5 has the key elsewhere, and what stands in an author's own values is no mark.
		{"states:\n- transition: {nextState: A}", "", ""},
		{"metadata: {next-state: A}\nstates: [{data: {startsAt: x}, actions: [{parameters: {triggerDefs: 1}}]}]\nextensions: [{next-state: 1}]", "", ""},
		{"states: [{name: A, type: END}]", "", ""},
		{"states: [{name: A, type: END}]", "sw01", "sw01-early: --dialect sw01, without marks of a later form"},
		{"states: [{name: A, type: DELAY, timeDelay: PT1S}]", "sw01", `sw01-camel: --dialect sw01, key "timeDelay" at line 1`},
		{"name: x\nstates: [{name: A, type: END}]", "sw01", `sw01-kebab: --dialect sw01, key "name" at line 1`},
		{"startsAt: A", "sw01", `sw01-camel: --dialect sw01, key "startsAt" at line 1`},
		{"startsAt: A", "sw01-kebab", "sw01-kebab: --dialect sw01-kebab"},
	} {
		doc, _ := dialect.Read("f.yaml", []byte(c.source))
		f, reason, _ := registry.Detect(doc, c.forced)
		got := ""
		if f != nil {
			got = f.Name() + ": " + reason
		}
		if got != c.want {
			t.Errorf("%q %s\ngot  %s\nwant %s", c.source, c.forced, got, c.want)
		}
	}
}

// Exactly one form says yes within the family, whatever the document.
func TestDetectWithin(t *testing.T) {
	for _, s := range append(samples(t), sample{"", "{}"}, sample{"", "[]"}, sample{"", "a"}, sample{"", "start: 1\nend: 2"}) {
		doc, _ := dialect.Read("f.yaml", []byte(s.text))
		n := 0
		for _, f := range FrontEnds() {
			if _, ok := f.(FrontEnd).DetectWithin(doc.Root); ok {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d forms take it", s.name, n)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct{ name, code, status, category, kebab, camel string }{
		{"", "", "", "", "SYS.Success", "Success"},
		{"Timeout", "", "", "SYS.Timeout", "SYS.Timeout", "Timeout"},
		{"SYS.Timeout", "", "", "SYS.Timeout", "SYS.Timeout", "Timeout"},
		{"ExpressionError", "", "", "SYS.FilterError", "SYS.Fail", "Fail"},
		{"Error", "403", "", "SYS.Permission", "SYS.Fail", "Fail"},
		{"Denied", "x", "401", "SYS.Permission", "SYS.Fail", "Fail"},
		{"Error", "", "400", "SYS.InvalidParameter", "SYS.InvalidParameter", "Invalid"},
		{"Error", "422", "", "SYS.InvalidParameter", "SYS.InvalidParameter", "Invalid"},
		{"Error", "500", "", "SYS.Fail", "SYS.Fail", "Fail"},
		{"CardDeclined", "", "", "SYS.Fail", "SYS.Fail", "Fail"},
		{"SYS.Fail", "403", "", "SYS.Fail", "SYS.Fail", "Fail"},
	} {
		for i, want := range []string{c.kebab, c.kebab, c.camel} {
			word, category := FrontEnds()[i].(FrontEnd).ExecStatus(c.name, c.code, c.status)
			if word != want || category != c.category {
				t.Errorf("%+v in form %d: %s, %s", c, i, word, category)
			}
		}
	}
}
