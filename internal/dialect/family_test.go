package dialect

import (
	"slices"
	"testing"
)

// member is a front-end of the family "f" for documents that have its key, or at least
// a weaker one.
type member struct {
	keyFrontEnd
	weak string
}

func (m member) Family() string { return "f" }

func (m member) DetectWithin(root *Node) (string, bool) {
	if reason, ok := m.Detect(root); ok {
		return reason, true
	}
	return "weakly " + m.weak, root.Get(m.weak) != nil
}

func TestFamilies(t *testing.T) {
	registry := NewRegistry(
		member{keyFrontEnd{"f-one", "One", "one"}, "a"}, member{keyFrontEnd{"f-two", "Two", "two"}, "b"}, keyFrontEnd{"g", "Other", "other"},
	)
	if got, want := registry.Names(), []string{"f", "f-one", "f-two", "g"}; !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	if got := len(registry.Codes()); got != 3 { // this package's, the family's, the other's
		t.Errorf("%d tables of codes", got)
	}
	for _, c := range []struct{ src, forced, want string }{
		{"two: 1", "", "f-two key two"},
		{"two: 1", "f", "f-two --dialect f, key two"},
		{"b: 1", "f", "f-two --dialect f, weakly b"},
		{"b: 1", "f-one", "f-one --dialect f-one"},
		{"other: 1\na: 1", "f", "f-one --dialect f, weakly a"},
		{"b: 1", "f-tow", `f error DIA002 there is no dialect "f-tow"; did you mean "f-two"?`},
		{"b: 1", "none", `f error DIA002 there is no dialect "none"; the dialects are f, f-one, f-two, g`},
	} {
		f, reason, ds := registry.Detect(mustRead(t, "f", c.src), c.forced)
		got := ds.Error()
		if f != nil {
			got += f.Name() + " " + reason
		}
		if got != c.want {
			t.Errorf("%q with %q: %s\nwant %s", c.src, c.forced, got, c.want)
		}
	}
}
