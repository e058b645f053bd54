package dialect

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	doc, _ := Read("f.yaml", []byte("[a, b, a]"))
	other, _ := Read("lib.yaml", []byte("[b]"))
	var r Reporter
	names := Names[int]{What: "state", Code: "X"}
	for i, n := range append(doc.Root.Items, other.Root.Items[0], nil) {
		if first := names.Add(&r, n, i+1); first != (i < 2 || n == nil) {
			t.Errorf("%d: %v", i, first)
		}
	}
	if names.Get("a") != 1 || names.Get("b") != 2 || names.Get("c") != 0 || !slices.Equal(names.List(), []string{"a", "b"}) {
		t.Errorf("%+v", names)
	}
	want := "f.yaml:1:8 error X state \"a\" is defined twice; the first is at line 1\n" +
		"lib.yaml:1:2 error X state \"b\" is defined twice; the first is at f.yaml:1:5"
	if got := r.Diagnostics().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
