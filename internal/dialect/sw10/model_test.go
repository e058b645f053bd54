package sw10

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/jqvar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// wholeModel checks that a definition without errors has everything that a compiler needs.
func wholeModel(t *testing.T, d *definition) {
	t.Helper()
	if d.document.name == nil || d.document.namespace == nil || d.document.version == nil || d.do == nil {
		t.Error("no name or tasks")
	}
	eachTask(d, func(one *task) {
		switch {
		case one.kind == "" || one.body == nil:
			t.Errorf("%s has no body", one.ref)
			return
		case d.node.Lookup(pointer(one.ref)...) != one.node:
			t.Errorf("%s is not where the task stands", one.ref)
		case one.list != nil && one.list.tasks[one.index] != one:
			t.Errorf("%s is not at its index", one.ref)
		}
		for _, way := range one.ways() {
			if way.flow == flowTask && (way.to == nil || way.to.list != one.list) {
				t.Errorf("%s leads nowhere", one.ref)
			}
		}
		if one.timeout.name != nil && one.timeout.def == nil {
			t.Errorf("%s: timeout", one.ref)
		}
		switch b := one.body.(type) {
		case *callTask:
			if (b.custom == nil) == (b.args == nil) || b.custom == nil && b.with == nil {
				t.Errorf("%s: call", one.ref)
			}
		case *raiseTask:
			if b.err.def == nil || b.err.def.value == nil || b.err.def.typ == nil {
				t.Errorf("%s: error", one.ref)
			}
		case *tryTask:
			if b.try == nil || b.catch == nil || b.catch.retry.name != nil && b.catch.retry.def == nil {
				t.Errorf("%s: catch", one.ref)
			}
		case *runTask:
			if b.process == nil {
				t.Errorf("%s: process", one.ref)
			}
		}
	})
	for _, e := range d.expressions {
		if e.pos.Line == 0 || e.src == "" {
			t.Errorf("%+v has no place or source", e)
		}
		switch e.lang {
		case langJQ, langIf:
			if _, err := jqvar.Find(e.src); err != nil {
				t.Errorf("%s: %v", e.src, err)
			}
		default:
			if _, err := expr.ParseJSON([]byte(e.src)); err != nil {
				t.Errorf("%s: %v", e.src, err)
			}
		}
	}
}

// pointer splits a JSON pointer.
func pointer(ref string) []string {
	parts := strings.Split(ref, "/")[1:]
	for i, part := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts
}

// eachTask visits all tasks of a definition.
func eachTask(d *definition, visit func(*task)) {
	var list func(*taskList)
	one := func(t *task) {
		visit(t)
		if t.body != nil {
			for _, l := range t.body.lists() {
				list(l)
			}
		}
	}
	list = func(l *taskList) {
		if l != nil {
			for _, t := range l.tasks {
				one(t)
			}
		}
	}
	for _, f := range d.use.functions {
		one(f.task)
	}
	for _, x := range d.use.extensions {
		list(x.before)
		list(x.after)
	}
	list(d.do)
}

func TestSamplesAreWhole(t *testing.T) {
	for _, s := range samples(t) {
		d, r := analyse(dialect.Source{Document: s.read(t), Bundle: exampleFiles})
		if !r.HasErrors() {
			wholeModel(t, d)
		}
	}
}

// References are JSON pointers into the document.
func TestReferences(t *testing.T) {
	d := valid(t, `
use:
  functions:
    a/b: {do: [{x: {set: {n: 1}}}]}
  extensions:
  - log~: {extend: all, before: [{y: {set: {n: 1}}}]}
do:
- one: {call: a/b}
- two: {do: [{in/ner: {set: {n: 1}}}]}
- three: {for: {in: .x}, do: [{body: {set: {n: 1}}}]}
- four: {fork: {branches: [{l: {set: {n: 1}}}, {r: {do: [{rr: {set: {n: 1}}}]}}]}}
- five: {try: [{t: {set: "${ . }"}}], catch: {do: [{c: {set: {n: 1}}}]}}
- six: {listen: {to: {any: []}}, foreach: {do: [{f: {set: {n: 1}}}]}}
`)
	var got []string
	eachTask(d, func(one *task) { got = append(got, one.ref) })
	want := []string{
		"/use/functions/a~1b", "/use/functions/a~1b/do/0/x", "/use/extensions/0/log~0/before/0/y",
		"/do/0/one", "/do/1/two", "/do/1/two/do/0/in~1ner", "/do/2/three", "/do/2/three/do/0/body",
		"/do/3/four", "/do/3/four/fork/branches/0/l", "/do/3/four/fork/branches/1/r", "/do/3/four/fork/branches/1/r/do/0/rr",
		"/do/4/five", "/do/4/five/try/0/t", "/do/4/five/catch/do/0/c", "/do/5/six", "/do/5/six/foreach/do/0/f",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	wholeModel(t, d)
}

// show writes an expression as the program would have it.
func show(e *expression) string {
	if e == nil {
		return "none"
	}
	s := fmt.Sprintf("%d:%d %s %s", e.pos.Line, e.pos.Column, e.lang, e.src)
	for _, p := range e.parts {
		s += fmt.Sprintf(" %d:%d", p.Line, p.Column)
	}
	if e.constant {
		s += " constant"
	}
	return s
}

func TestExpressions(t *testing.T) {
	d := valid(t, `do:
- a:
    if: ${ .x }
    input: {from: .y}
    output: {as: {z: "${ .z }", a: ["${ .a }", text]}}
    set: "  ${ .s }  "
- b:
    if: .x > 1
    set:
      b: |
        ${ .long
           | .text }
      a: "${ .a }"
      c: plain
- c:
    set: {a: {b: c}}
- d:
    call: http
    with:
      method: get
      endpoint: https://example.com/{id}
      body: "${ .body }"
`)
	tasks := d.do.tasks
	call := tasks[3].body.(*callTask)
	http := call.args.(*httpCall)
	for i, c := range []struct {
		got  *expression
		want string
	}{
		{tasks[0].when, "3:12 jqif .x"},
		{tasks[0].input.value, "4:19 jq .y"},
		{tasks[0].output.value, `5:18 jqt {"a":["${ .a }","text"],"z":"${ .z }"} 5:37 5:22`},
		{tasks[0].body.(*setTask).value, "6:16 jq .s"},
		{tasks[1].when, "8:9 jqif .x > 1"},
		{tasks[1].body.(*setTask).value, `10:7 jqt {"a":"${ .a }","b":"${ .long\n   | .text }\n","c":"plain"} 13:10 10:10`},
		{tasks[2].body.(*setTask).value, `16:10 jqt {"a":{"b":"c"}} constant`},
		{http.method, `20:15 jqt "get" constant`},
		{http.endpoint.uri, `21:17 jqt "https://example.com/{id}" constant`},
		{http.body, "22:17 jq .body"},
		{call.with, `20:7 jqt {"body":"${ .body }","endpoint":"https://example.com/{id}","method":"get"} 22:13`},
	} {
		if got := show(c.got); got != c.want {
			t.Errorf("%d: %s\nwant %s", i, got, c.want)
		}
	}
}

// In loose mode every text is an expression of a template; what is always one stays one.
func TestLooseExpressions(t *testing.T) {
	d := valid(t, `do:
- a:
    if: .x
    set: {b: .b, a: "a text", c: 1}
- b: {set: .all}
- c: {wait: .pause}
- d: {wait: PT1S}
evaluate: {mode: loose}
`)
	tasks := d.do.tasks
	for i, c := range []struct {
		got  *expression
		want string
	}{
		{tasks[0].when, "3:9 jqif .x"},
		{tasks[0].body.(*setTask).value, `4:10 jqloose {"a":"a text","b":".b","c":1} 4:14`},
		{tasks[1].body.(*setTask).value, `5:12 jqloose ".all"`},
		{tasks[2].body.(*waitTask).duration.expr, "6:13 jq .pause"},
		{tasks[3].body.(*waitTask).duration.expr, "none"},
	} {
		if got := show(c.got); got != c.want {
			t.Errorf("%d: %s\nwant %s", i, got, c.want)
		}
	}
}

func TestResolved(t *testing.T) {
	d := valid(t, `
use:
  timeouts: {short: {after: {minutes: 1, milliseconds: 5}}}
  retries: {patient: {delay: PT1S, limit: {attempt: {count: 0}}}}
  errors: {gone: {type: https://serverlessworkflow.io/spec/1.0.0/errors/validation, status: 400, instance: "${ .y }", title: "${ .x }"}}
  authentications: {shop: {basic: {username: a, password: b}}}
  catalogs: {shared: {endpoint: https://example.com}}
  functions: {f: {set: {n: 1}}}
do:
- a:
    try:
    - x: {call: http, with: {method: get, endpoint: {uri: https://example.com, authentication: {use: shop}}}}
    catch: {retry: patient, then: c}
    timeout: short
- b: {raise: {error: gone}, if: .x}
- c: {call: f}
- d: {call: log:1.0.0@shared, then: a}
`)
	tasks := d.do.tasks
	try := tasks[0].body.(*tryTask)
	if after := tasks[0].timeout.def.after.value; after.Nanos != 60_005_000_000 {
		t.Errorf("timeout %v", after)
	}
	if r := try.catch.retry.def; r == nil || !r.limited || r.attempts != 0 || try.catch.as != "error" || try.catch.then.to != tasks[2] {
		t.Errorf("catch %+v", try.catch)
	}
	if auth := try.try.tasks[0].body.(*callTask).args.authentication(); auth.def == nil || auth.def.scheme != schemeBasic {
		t.Errorf("authentication %+v", auth)
	}
	raised := tasks[1].body.(*raiseTask).err.def
	if raised == nil || raised.status != 400 {
		t.Fatalf("error %+v", raised)
	}
	want := `5:18 jqt {"status":400,"title":"${ .x }","type":"https://open-workflow-specification.org/spec/1.0.0/errors/validation"} 5:126`
	if got := show(raised.value); got != want {
		t.Errorf("error %s\nwant  %s", got, want)
	}
	if call := tasks[2].body.(*callTask).custom; call.function == nil || call.function.task.ref != "/use/functions/f" {
		t.Errorf("function %+v", call)
	}
	if call := tasks[3].body.(*callTask).custom; call.def == nil || call.name != "log" || call.version != "1.0.0" || tasks[3].then.to.index != 0 {
		t.Errorf("catalog %+v", call)
	}
	if tasks[1].node.JSON() != `{"if":".x","raise":{"error":"gone"}}` || tasks[1].name.IRPos() != (ir.Pos{Line: 15, Column: 3}) {
		t.Errorf("task %s at %v", tasks[1].node.JSON(), tasks[1].name.Pos())
	}
}

func TestAsks(t *testing.T) {
	d := valid(t, "- a: {set: {x: \"${ $workflow.id }\", y: \"${ $task.definition.set }\"}}\n")
	for _, c := range []struct {
		name, member string
		want         bool
	}{
		{"workflow", "id", true}, {"workflow", "definition", false}, {"task", "definition", true}, {"task", "", true}, {"context", "", false},
	} {
		if got := d.asks(c.name, c.member); got != c.want {
			t.Errorf("$%s.%s: %t", c.name, c.member, got)
		}
	}
	if d := valid(t, "- a: {set: {x: \"${ [$workflow] }\"}}\n"); !d.asks("workflow", "definition") {
		t.Error("the whole of $workflow has a definition")
	}
}

func TestStandardErrors(t *testing.T) {
	for typ, want := range map[string]string{
		"https://open-workflow-specification.org/spec/1.0.0/errors/timeout": "timeout",
		"https://serverlessworkflow.io/spec/1.0.0/errors/communication":     "communication",
		"https://serverlessworkflow.io/dsl/errors/types/validation":         "validation",
		"https://serverlessworkflow.io/dsl/errors/types/other":              "",
		"https://example.com/spec/1.0.0/errors/timeout":                     "",
		"timeout": "",
	} {
		name, ok := standardError(typ)
		if ok != (want != "") || ok && name != want {
			t.Errorf("%s: %q %t", typ, name, ok)
		}
		if ok && errorType(typ) != errorBase+name || !ok && errorType(typ) != typ {
			t.Errorf("%s is compared as %s", typ, errorType(typ))
		}
	}
}

// YAML and JSON give the same model.
func TestJSON(t *testing.T) {
	for _, s := range samples(t) {
		yaml, _ := analyse(dialect.Source{Document: s.read(t), Bundle: exampleFiles})
		doc, _ := dialect.Read("x.json", []byte(s.read(t).Root.JSON()))
		json, r := analyse(dialect.Source{Document: doc, Bundle: exampleFiles})
		if r.HasErrors() {
			t.Errorf("%s: %v", s.name, r.Diagnostics())
		}
		sources := func(d *definition) []string {
			var out []string
			for _, e := range d.expressions {
				out = append(out, fmt.Sprintf("%s %s %d %t", e.lang, e.src, len(e.parts), e.constant))
			}
			slices.Sort(out) // JSON has its keys in another order
			return out
		}
		if a, b := sources(yaml), sources(json); !slices.Equal(a, b) {
			t.Errorf("%s: %v\n%v", s.name, a, b)
		}
	}
}

func TestDetect(t *testing.T) {
	for source, want := range map[string]string{
		"document: {dsl: 1.0.3}":           "document.dsl 1.0.3 at line 1",
		"document: {dsl: '1.0.0'}":         "document.dsl 1.0.0 at line 1",
		"\ndocument:\n  dsl: 1.0.0-alpha5": "document.dsl 1.0.0-alpha5 at line 3",
		"document: {dsl: 1.0.17}":          "document.dsl 1.0.17 at line 1",
		"document: {dsl: 1.1.0}":           "document.dsl 1.1.0 at line 1",
		"document: {dsl: 0.9}":             "document.dsl 0.9 at line 1",
		"document: {dsl: {}}":              "",
		"\ndocument: {name: x}\ndo: []":    "document beside do at line 2",
		"document: {name: x}":              "",
		"document: x\ndo: []":              "",
		"document: {name: x}\ndo: {}":      "",
		"document: 1.0.3":                  "",
		"dsl: 1.0.3":                       "",
		"specVersion: '0.8'":               "",
	} {
		doc, _ := dialect.Read("f", []byte(source))
		if reason, ok := (FrontEnd{}).Detect(doc.Root); reason != want || ok != (want != "") {
			t.Errorf("%q: %q %t", source, reason, ok)
		}
	}
}

// A definition four times as large takes four times the work and memory.
func TestLinear(t *testing.T) {
	large := func(tasks int) []byte {
		var b strings.Builder
		b.WriteString("document: {dsl: 1.0.3, namespace: test, name: large, version: 1.0.0}\ndo:\n")
		text := strings.Repeat("text ", 100)
		for i := range tasks {
			fmt.Fprintf(&b, "- task%d:\n    if: .n < %d\n    set:\n", i, i)
			for j := range 5 {
				fmt.Fprintf(&b, "      k%d: \"${ .a%d + $context.b }\"\n      t%d: %s\n", j, i, j, text)
			}
			fmt.Fprintf(&b, "    then: task%d\n", (i*7+1)%tasks)
		}
		return []byte(b.String())
	}
	measure := func(text []byte) (work int, allocs float64) {
		doc, found := dialect.Read("f", text)
		if found.HasErrors() {
			t.Fatal(found)
		}
		allocs = testing.AllocsPerRun(1, func() {
			budget := &dialect.Budget{}
			if _, r := analyse(dialect.Source{Document: doc, Bundle: exampleFiles, Budget: budget}); r.HasErrors() {
				t.Fatal(r.Diagnostics())
			}
			work = budget.Work()
		})
		return work, allocs
	}
	big := large(400)
	if len(big) < 1<<20-1<<17 {
		t.Fatalf("only %d bytes", len(big))
	}
	work, allocs := measure(large(100))
	work4, allocs4 := measure(big)
	if float64(work4) > 4.4*float64(work) || allocs4 > 4.4*allocs {
		t.Errorf("100 tasks: %d steps, %.0f allocations; 400 tasks: %d, %.0f", work, allocs, work4, allocs4)
	}
}
