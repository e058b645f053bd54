package dialect_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
)

var registry = dialect.NewRegistry(append([]dialect.FrontEnd{wfx.FrontEnd{}}, append(sw01.FrontEnds(), sw05.FrontEnd{})...)...)

// times writes a text n times, with its number for N.
func times(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#N", fmt.Sprint(i)))
	}
	return b.String()
}

const regex = "[a-z]{1,1000}#N"

// heavy are definitions with n large regular expressions, at every kind of place that has them.
var heavy = map[string]func(n int) string{
	"sw05 conditions": func(n int) string {
		return "id: d\nname: D\nstates:\n- name: A\n  type: switch\n  start: {kind: default}\n  dataConditions:\n" +
			times(n, "  - {condition: '{{ $.s[?(@ =~ /"+regex+"/)] }}', end: {kind: default}}\n") + "  default: {end: {kind: default}}\n"
	},
	"sw05 templates": func(n int) string {
		return "id: d\nname: D\nfunctions: [{name: f, operation: 'http://x.example#f'}]\nstates:\n- name: A\n  type: operation\n  start: {kind: default}\n  end: {kind: default}\n  actionMode: sequential\n  actions:\n" +
			times(n, "  - {functionRef: {refName: f, parameters: {a: {b: ['x {{ $.s[?(@ =~ /"+regex+"/)] }}']}}}}\n")
	},
	"sw05 correlation": func(n int) string {
		return "id: d\nname: D\nevents:\n" +
			times(n, "- {name: e#N, type: t#N, source: s, kind: consumed, correlation: [{contextAttributeName: a, contextAttributeValue: '{{ $.s[?(@ =~ /"+regex+"/)] }}'}]}\n") +
			"states:\n- {name: A, type: inject, data: {}, start: {kind: default}, end: {kind: default}}\n"
	},
	"sw05 schema": func(n int) string {
		return "id: d\nname: D\ndataInputSchema: schema.json\nstates:\n- {name: A, type: inject, data: {}, start: {kind: default}, end: {kind: default}}\n"
	},
	"sw01 choices": func(n int) string {
		return "id: d\nname: D\nstartsAt: A\nstates:\n- name: A\n  type: SWITCH\n  choices:\n" +
			times(n, "  - {single: [{path: '$.s[?(@ =~ /"+regex+"/)]', operator: EQ, value: 1}], nextState: B}\n") + "  default: B\n- {name: B, type: END, status: SUCCESS}\n"
	},
	"sw01 parameters": func(n int) string {
		return "id: d\nname: D\nstartsAt: A\nstates:\n- name: A\n  type: OPERATION\n  actionMode: SEQUENTIAL\n  end: true\n  actions:\n" +
			times(n, "  - {function: {name: f, type: http, parameters: {a: ['$.s[?(@ =~ /"+regex+"/)]']}}}\n")
	},
}

func schemaFile(n int) dialect.MapBundle {
	parts := strings.TrimSuffix(times(n, `"p#N":{"pattern":"`+regex+`"},`), ",")
	return dialect.MapBundle{"schema.json": []byte(`{"properties":{` + parts + `}}`)}
}

// TestProgramsOfADefinition: a definition whose programs are too large together is refused
// in every dialect, at the place where it became too large, and whatever a front-end takes
// can be linked.
func TestProgramsOfADefinition(t *testing.T) {
	for name, write := range heavy {
		t.Run(name, func(t *testing.T) {
			if c, ds := registry.Compile("d.yaml", []byte(write(300)), schemaFile(300), dialect.Options{}); c.Program != nil || len(ds) == 0 {
				t.Fatalf("taken: %v", ds)
			} else if d := ds[len(ds)-1]; d.Code != dialect.CodePrograms || d.Line == 0 || d.Hint == "" || !strings.Contains(d.Message, "limit definition-programs") {
				t.Fatalf("%#v", d)
			}
			budget := &dialect.Budget{}
			c, ds := registry.Compile("d.yaml", []byte(write(80)), schemaFile(80), dialect.Options{Budget: budget})
			if c.Program == nil {
				t.Fatalf("%d programs of %d bytes: %v", 80, budget.Programs(), ds)
			}
			if _, err := core.Link(c.Program, languages.All(), jobdata.Model{}); err != nil {
				t.Fatal(err)
			}
			linked := 0
			seen := map[string]bool{}
			for _, e := range c.Program.Exprs[1:] {
				if p, err := languages.All()[e.Lang].Compile(e.Src); err != nil {
					t.Fatal(err)
				} else if w, ok := p.(expr.Weighed); ok && !seen[e.Lang+e.Src] {
					seen[e.Lang+e.Src] = true
					linked += w.Weight()
				}
			}
			if budget.Programs() < linked || linked < 80*80_000 {
				t.Errorf("the front-end counts %d bytes, linking %d", budget.Programs(), linked)
			}
		})
	}
}

// long is too long for a typing mistake: looking for what was meant has a budget of its own, which
// would hide everything else.
var long = strings.Repeat("x", 81)

// mistaken are definitions with n mistakes each, in n different ways of looking for something,
// and large ones without.
var mistaken = map[string]func(n int) string{
	"functions that are not there": func(n int) string {
		return "id: d\nname: D\nfunctions:\n" + times(n, "- {name: function#N, operation: 'http://x.example#f'}\n") +
			"states:\n- name: A\n  type: operation\n  start: {kind: default}\n  end: {kind: default}\n  actionMode: sequential\n  actions:\n" + times(n, "  - {functionRef: {refName: '"+long+"#N'}}\n")
	},
	"states that are not there": func(n int) string {
		return "id: d\nname: D\nstates:\n- {name: A, type: inject, data: {}, start: {kind: default}, end: {kind: default}}\n" +
			times(n, "- {name: A#N, type: inject, data: {}, transition: {nextState: '"+long+"#N'}}\n")
	},
	"events that are not there": func(n int) string {
		return "id: d\nname: D\nevents:\n" + times(n, "- {name: event#N, type: t#N, source: s, correlation: [{contextAttributeName: c#N}]}\n") +
			"states:\n- name: A\n  type: event\n  start: {kind: default}\n  end: {kind: default}\n  exclusive: true\n  eventsActions:\n" + times(n, "  - {eventRefs: ['"+long+"#N'], actions: []}\n")
	},
	"filters and correlations": func(n int) string {
		return "id: d\nname: D\nevents:\n" + times(n, "- {name: event#N, type: t#N, source: s, correlation: [{contextAttributeName: c#N}]}\n") +
			"states:\n" + times(n, "- {name: A#N, type: switch, stateDataFilter: {dataInputPath: '{{ $.a }}'}, dataConditions: [{condition: '{{ $.b }}', end: {kind: default}}], default: {end: {kind: default}}}\n")
	},
	"unknown keys": func(n int) string {
		return "id: d\nname: D\nstates:\n- {name: A, type: inject, data: {}, start: {kind: default}, end: {kind: default}" + times(n, ", "+long+"#N: 1") + "}\n"
	},
	"states that repeat": func(n int) string {
		return "id: d\nname: D\nstates:\n" + times(n, "- {name: A, type: inject, data: {}, end: {kind: default}}\n")
	},
	"no mistake": func(n int) string {
		return "id: d\nname: D\nstates:\n- {name: A0, type: inject, data: {}, start: {kind: default}, transition: {nextState: A1}}\n" +
			times(n, "- {name: A1#N, type: inject, data: {a: '{{ $.x }}'}, end: {kind: default}}\n")
	},
	"sw01 functions": func(n int) string {
		return "id: d\nname: D\nstartsAt: A\nstates:\n- name: A\n  type: OPERATION\n  actionMode: SEQUENTIAL\n  end: true\n  actions:\n" + times(n, "  - {function: {name: 'f#N', type: http}}\n")
	},
	"sw01 states that are not there": func(n int) string {
		return "id: d\nname: D\nstartsAt: A0\nstates:\n" + times(n, "- {name: A#N, type: DELAY, timeDelay: PT1S, nextState: '"+long+"#N'}\n")
	},
	"wfx states that are not there": func(n int) string {
		return "name: d\nstates:\n" + times(n, "- {name: S#N}\n") + "transitions:\n" + times(n, "- {from: S#N, to: '"+long+"#N', eligible: WFX}\n")
	},
}

// TestCompilingIsLinear: twice the document is about twice the work, counted in steps of the
// budget and in bytes that are allocated.
func TestCompilingIsLinear(t *testing.T) {
	for name, write := range mistaken {
		t.Run(name, func(t *testing.T) {
			const n = 1000
			catalogue := strings.Fields(times(n, "known#N "))
			cost := func(n int) (work, allocated int) {
				text := []byte(write(n))
				budget := &dialect.Budget{}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				registry.Compile("d.yaml", text, nil, dialect.Options{Budget: budget, Functions: catalogue})
				runtime.ReadMemStats(&after)
				return budget.Work(), int(after.TotalAlloc - before.TotalAlloc)
			}
			cost(n)
			work1, bytes1 := cost(n)
			work2, bytes2 := cost(2 * n)
			if float64(work2) > 2.3*float64(work1) || float64(bytes2) > 2.6*float64(bytes1) {
				t.Errorf("work %d and %d, bytes %d and %d", work1, work2, bytes1, bytes2)
			}
			if work1 < n {
				t.Errorf("only %d units of work are counted for %d items", work1, n)
			}
		})
	}
}

// TestCompilingStops: whoever waits for it is asked often, and can end it at any time.
func TestCompilingStops(t *testing.T) {
	gone := errors.New("nobody waits any more")
	for name, write := range mistaken {
		text := []byte(write(1500))
		asked := 0
		whole := &dialect.Budget{Stop: func() error { asked++; return nil }}
		registry.Compile("d.yaml", text, nil, dialect.Options{Budget: whole})
		if asked < 3 {
			t.Errorf("%s: asked %d times", name, asked)
		}
		for _, at := range []int{1, asked - 1} {
			again := 0
			stop := &dialect.Budget{Stop: func() error {
				if again++; again > at {
					return gone
				}
				return nil
			}}
			c, ds := registry.Compile("d.yaml", text, nil, dialect.Options{Budget: stop})
			if c.Program != nil || len(ds) == 0 || again != at+1 {
				t.Fatalf("%s: asked %d times, %d diagnostics", name, again, len(ds))
			}
			told := 0
			for _, d := range ds {
				if d.Code == dialect.CodeStopped && strings.Contains(d.Message, gone.Error()) {
					told++
				}
			}
			if told != 1 {
				t.Errorf("%s: %v", name, ds)
			}
		}
	}
}

// TestDiagnosticsAreTruncated: of very many the first are told, errors before warnings, and
// the last says how many more there are.
func TestDiagnosticsAreTruncated(t *testing.T) {
	for _, n := range []int{99, 100, 101, 5000} {
		c, ds := registry.Compile("d.yaml", []byte(mistaken["unknown keys"](n)), nil, dialect.Options{})
		if c.Program == nil {
			t.Fatalf("warnings stop it: %v", ds[0])
		}
		if n <= dialect.MaxDiagnostics {
			if len(ds) != n {
				t.Errorf("%d of %d are told", len(ds), n)
			}
			continue
		}
		last := ds[len(ds)-1]
		want := fmt.Sprintf("%d more", n-dialect.MaxDiagnostics)
		if len(ds) != dialect.MaxDiagnostics+1 || last.Code != dialect.CodeMore || !strings.HasPrefix(last.Message, want) || last.Severity != dialect.Warning {
			t.Errorf("%d of %d are told, the last: %v", len(ds), n, last)
		}
	}
	// An error behind thousands of warnings.
	text := mistaken["unknown keys"](5000) + "- {name: B, type: inject, data: {}, transition: {nextState: C}}\n"
	c, ds := registry.Compile("d.yaml", []byte(text), nil, dialect.Options{})
	if errors, _ := ds.Counts(); c.Program != nil || errors != 1 || len(ds) != dialect.MaxDiagnostics+1 {
		t.Errorf("%d errors of %d", errors, len(ds))
	}
}

// TestNamesOfADefinition: a long name is not multiplied by the steps of its state.
func TestNamesOfADefinition(t *testing.T) {
	name := strings.Repeat("n", 1<<20)
	text := "id: d\nname: D\nfunctions: [{name: f, operation: 'http://x.example#f'}]\nstates:\n- name: " + name +
		"\n  type: operation\n  start: {kind: default}\n  end: {kind: default}\n  actionMode: sequential\n  actions:\n" + times(1000, "  - {functionRef: {refName: f}}\n")
	c, ds := registry.Compile("d.yaml", []byte(text), nil, dialect.Options{})
	if c.Program != nil || len(ds) == 0 || !strings.Contains(ds.Error(), "limit definition-names") {
		t.Errorf("%t %.300s", c.Program != nil, ds.Error())
	}
}

// TestStepsOfADefinition: what extensions add to each task is bounded, and a document
// without any that is as long as one may be is below that.
func TestStepsOfADefinition(t *testing.T) {
	registry := dialect.NewRegistry(sw10.FrontEnd{})
	const head = "document: {dsl: 1.0.3, namespace: default, name: d, version: 1.0.0}\n"
	compile := func(text string) (bool, string) {
		c, ds := registry.Compile("d.yaml", []byte(text), nil, dialect.Options{})
		return c.Program != nil, ds.Error()
	}
	extensions := ""
	for i := range 200 {
		extensions += fmt.Sprintf("  - e%d: {extend: all, before: [{b: {set: {y: 1}}}]}\n", i)
	}
	tasks := ""
	for i := range 1000 {
		tasks += fmt.Sprintf("- t%d: {set: {x: 1}}\n", i)
	}
	if ok, ds := compile(head + "use:\n  extensions:\n" + extensions + "do:\n" + tasks); ok || !strings.Contains(ds, "limit definition-steps") {
		t.Errorf("%t %.300s", ok, ds)
	}
	if ok, ds := compile(head + "do:\n- t: {set: {x: \"${ .a }\", y: '" + strings.Repeat("y", 4<<20-200) + "'}}\n"); !ok {
		t.Errorf("%.300s", ds)
	}
}
