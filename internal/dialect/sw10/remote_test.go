package sw10

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func TestLocation(t *testing.T) {
	const file = "/functions/log/1.0.0/function.yaml"
	for endpoint, want := range map[string]string{
		"https://example.com/catalog":                          "https://example.com/catalog" + file,
		"https://example.com/catalog/":                         "https://example.com/catalog" + file,
		"https://github.com/shop/catalog":                      "https://raw.githubusercontent.com/shop/catalog/HEAD" + file,
		"https://github.com/shop/catalog.git":                  "https://raw.githubusercontent.com/shop/catalog/HEAD" + file,
		"https://github.com/shop/catalog/tree/main":            "https://raw.githubusercontent.com/shop/catalog/refs/heads/main" + file,
		"https://github.com/shop/catalog/tree/main/sub/folder": "https://raw.githubusercontent.com/shop/catalog/refs/heads/main/sub/folder" + file,
		"https://github.com/shop":                              "https://github.com/shop" + file,
		"https://gitlab.com/shop/sub/catalog":                  "https://gitlab.com/shop/sub/catalog/-/raw/HEAD" + file,
		"https://gitlab.com/shop/catalog/-/tree/main":          "https://gitlab.com/shop/catalog/-/raw/main" + file,
		`"${ .catalog }"`:                                      "",
	} {
		d := valid(t, "use: {catalogs: {c: {endpoint: "+endpoint+"}}}\ndo:\n- a: {call: log:1.0.0@c}\n")
		if got := d.do.tasks[0].body.(*callTask).custom.location(); got != want {
			t.Errorf("%s: %s\nwant %s", endpoint, got, want)
		}
	}
	d := valid(t, "- a: {call: https://github.com/shop/catalog/blob/main/functions/f/1.0.0/function.yaml}\n- b: {call: log:1.0.0@default}\n")
	want := "https://raw.githubusercontent.com/shop/catalog/refs/heads/main/functions/f/1.0.0/function.yaml"
	if got := d.do.tasks[0].body.(*callTask).custom.location(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := d.do.tasks[1].body.(*callTask).custom.location(); got != "" {
		t.Errorf("the server's function is at %q", got)
	}
}

func TestAnalyseFunction(t *testing.T) {
	for source, want := range map[string]string{
		"input: {schema: {document: {type: object}}}\ndo:\n- greet: {set: {message: \"${ .name }\"}}\n": "",
		"set: {message: \"${ $item }\"}": "f.yaml:1:20 error OW209 there is no variable $item in set; there are $context, $secrets, $task, $workflow, $runtime, $input",
		"input: {}":                      "f.yaml:1:1 error OW104 a task does not say what it does; give it one of call, for, do, emit, fork, listen, raise, run, set, switch, try, wait",
		"set: {a: 1}\nthen: b":           `f.yaml:2:7 error OW201 there is no task "b" in this list; continue, exit and end are the other words for then`,
		"- 1":                            `f.yaml:1:1 error OW102 the task must be an object, not an array; what it does is indented below its name: one of call, for, do, emit, fork, listen, raise, run, set, switch, try, wait`,
	} {
		doc, _ := dialect.Read("f.yaml", []byte(source))
		f, r := analyseFunction(dialect.Source{Bundle: exampleFiles}, doc)
		if got := r.Diagnostics().Error(); got != want {
			t.Errorf("%q: %s\nwant %s", source, got, want)
		}
		if want == "" && f.body.(*doTask).do.tasks[0].ref != "/do/0/greet" {
			t.Errorf("%q: %+v", source, f)
		}
	}
}
