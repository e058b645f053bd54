package scenario

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

func value(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDiffAlignsLines(t *testing.T) {
	expected := value(t, `{"a": {"deep": [1, 2]}, "kept": {"x": {"y": 1}}, "z": 1}`)
	got := value(t, `{"a": {"deep": [1, 3]}, "kept": {"x": {"y": 1}}}`)
	want := `  {
    "a": {
-     "deep": [1, 2]
+     "deep": [1, 3]
    },
    "kept": {
      "x": {"y": 1}
    },
-   "z": 1
  }`
	if diff := strings.Join(Diff(Pretty(expected), Pretty(got)), "\n"); diff != want {
		t.Errorf("got\n%s\nwant\n%s", diff, want)
	}
}

func TestSubset(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{`{"type": "a"}`, `{"type": "a", "id": "1"}`, true},
		{`{"data": {"x": 1}}`, `{"data": {"x": 1, "y": 2}}`, true},
		{`{"data": {"x": 1}}`, `{"data": {"x": 2}}`, false},
		{`{"data": null}`, `{}`, false},
		{`{"l": [{"a": 1}]}`, `{"l": [{"a": 1, "b": 2}]}`, true},
		{`{"l": [1]}`, `{"l": [1, 2]}`, false},
		{`{"n": 1.0}`, `{"n": 1}`, true},
	} {
		if got := subset(value(t, c.want), value(t, c.got)); got != c.ok {
			t.Errorf("subset(%s, %s) = %t", c.want, c.got, got)
		}
	}
}
