package dialect

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDiagnosticText(t *testing.T) {
	d := Diagnostic{File: "order.yaml", Line: 14, Column: 9, EndColumn: 17, Severity: Error, Code: "SW104", Message: `unknown state type "operaton"`}
	d.DidYouMean("operaton", []string{"event", "operation"})
	if got, want := d.String(), `order.yaml:14:9 error SW104 unknown state type "operaton"; did you mean "operation"?`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got, err := json.Marshal(Diagnostics{d, {File: "f", Severity: Warning, Code: "X", Message: "m"}})
	want := `[{"file":"order.yaml","line":14,"column":9,"severity":"error","code":"SW104",` +
		`"message":"unknown state type \"operaton\"","hint":"did you mean \"operation\"?"},` +
		`{"file":"f","line":0,"column":0,"severity":"warning","code":"X","message":"m","hint":""}]`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := (Diagnostic{File: "f", Severity: Error, Code: "X", Message: "m"}).String(); got != "f error X m" {
		t.Errorf("without a line: %s", got)
	}
}

func TestReporter(t *testing.T) {
	doc := mustRead(t, "f.yaml", "a: text\nb: &b {type: operaton}\nc: *b\n")
	r := Reporter{File: "f.yaml"}
	// Hints reach a diagnostic that others have followed.
	late := r.Errorf(doc.Root.Get("c"), "T3", "third")
	for _, key := range []string{"c", "b"} {
		n := doc.Root.Lookup(key, "type")
		r.Errorf(n, "T2", "unknown type %q", n.Text).DidYouMean(n.Text, []string{"operation"})
	}
	r.Warnf(doc.Root.Get("a").KeySpan(), "T1", "key")
	r.Errorf(doc.Root.Get("a").ColumnIn(2), "T1", "inside")
	r.Errorf(nil, "T0", "whole file")
	r.Errorf(doc.Root.Get("none"), "T0", "nothing there")
	late.WithHint("hint %d", 1)
	want := `f.yaml error T0 nothing there
f.yaml error T0 whole file
f.yaml:1:1 warning T1 key
f.yaml:1:6 error T1 inside
f.yaml:2:7 error T3 third; hint 1
f.yaml:2:14 error T2 unknown type "operaton"; did you mean "operation"?`
	ds := r.Diagnostics()
	if got := ds.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if e, w := ds.Counts(); e != 5 || w != 1 || !ds.HasErrors() || !r.HasErrors() {
		t.Errorf("%d errors, %d warnings", e, w)
	}
	var none Reporter
	none.Warnf(nil, "W", "w")
	if none.HasErrors() || none.Diagnostics().HasErrors() {
		t.Error("a warning is no error")
	}
}

func TestSort(t *testing.T) {
	ds := Diagnostics{{File: "b"}, {File: "a", Line: 2}, {File: "a", Line: 1, Column: 2}, {File: "a", Line: 1, Column: 1, Code: "Y"}, {File: "a", Line: 1, Column: 1, Code: "X"}}
	ds.Sort()
	var got []string
	for _, d := range ds {
		got = append(got, d.Pos().String()+d.Code)
	}
	if s := strings.Join(got, " "); s != "a:1:1X a:1:1Y a:1:2 a:2:0 b" {
		t.Error(s)
	}
}

func TestSuggest(t *testing.T) {
	types := []string{"operation", "event", "parallel", "subflow", "inject", "foreach", "callback", "switch", "delay"}
	for got, want := range map[string]string{
		"operaton": "operation", "opreation": "operation", "OPERATION": "operation", "Event": "event", "evnt": "event",
		"forEach": "foreach", "sub-flow": "subflow", "swich": "switch", "x": "", "": "", "workflow": "", "operation": "",
		strings.Repeat("x", 1000): "",
	} {
		if s := Suggest(got, types); s != want {
			t.Errorf("Suggest(%q) = %q, want %q", got, s, want)
		}
	}
	for _, c := range []struct{ got, among, want string }{
		{"Shipp", "Pay Ship", "Ship"},
		{"ship", "shop Ship", "Ship"}, // only the case is wrong
		{"ab", "cd ba", "ba"},
		{"a", "b", ""},
		{"größe", "grösse Größe", "Größe"},
		{"sw5", "sw01 sw05 wfx", "sw05"},
	} {
		if s := Suggest(c.got, strings.Fields(c.among)); s != c.want {
			t.Errorf("Suggest(%q) = %q, want %q", c.got, s, c.want)
		}
	}
}
