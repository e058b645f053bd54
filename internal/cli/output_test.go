package cli

import (
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func TestYAMLReadsBack(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `null`, `"yes"`, `12345678901234567890`, `1.50`,
		`{"a": {"b": [1, {"c": null}, [], [[2]], {}]}, "on": "on", "1": "1", "": " x", "e: f": "g # h", "-": "- a", "t": "true"}`,
		`["a b", "a/b", "line\nbreak", "{{ $.x }}", "é", "~", "0x1F", "1e3", "2026-03-01", "a:", "*a", "\u0001"]`,
	} {
		v, err := expr.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		doc, found := dialect.Read("x.yaml", []byte("root:\n"+Indent(ToYAML(v), "  ")+"\n"))
		if found.HasErrors() {
			t.Errorf("%s: %v in\n%s", text, found, ToYAML(v))
			continue
		}
		if got := doc.Root.Get("root").Value(); !expr.Equal(v, got) {
			t.Errorf("%s reads back as %s from\n%s", text, got, ToYAML(v))
		}
	}
}

func TestHumanDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0ms": 0, "250ms": 250 * time.Millisecond, "2s": 2 * time.Second, "2.5s": 2500 * time.Millisecond,
		"1m30s": 90 * time.Second, "1h": time.Hour, "1h0m4s": time.Hour + 4*time.Second, "2h5m": 125 * time.Minute,
		"30d": 720 * time.Hour, "1d12h": 36 * time.Hour,
	} {
		if got := HumanDuration(d); got != want {
			t.Errorf("humanDuration(%s) = %s, want %s", d, got, want)
		}
	}
}

func TestWantsJSON(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"run", "x", "-o", "json"}, true},
		{[]string{"run", "x", "-ojson"}, true},
		{[]string{"run", "x", "-o=json"}, true},
		{[]string{"run", "x", "--output=json"}, true},
		{[]string{"run", "x", "--output", "json"}, true},
		{[]string{"run", "json"}, false},
		{[]string{"run", "x", "-o", "yaml"}, false},
		{[]string{"run", "x", "--", "-o", "json"}, false},
	} {
		if got := WantsJSON(c.args); got != c.want {
			t.Errorf("wantsJSON(%q) = %t", c.args, got)
		}
	}
}
