package sw08

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/verdicts.txt")

// What is accepted, warned of and refused, with places. A case is a definition, or a part of one, and what is
// reported; its name says what must come out of it.
func TestVerdicts(t *testing.T) {
	const file = "testdata/verdicts.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cases := strings.Split(strings.TrimPrefix(string(text), "== "), "\n== ")
	if len(cases) < 80 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, one := range cases {
		name, rest, _ := strings.Cut(one, "\n")
		source, want, _ := strings.Cut(rest+"\n", "\n--\n")
		_, found := compileText(t, "f", complete(source+"\n"))
		var got strings.Builder
		var severities []string
		for _, d := range found {
			fmt.Fprintf(&got, "%d:%d %v %s %s", d.Line, d.Column, d.Severity, d.Code, d.Message)
			if d.Hint != "" {
				fmt.Fprintf(&got, "; %s", d.Hint)
			}
			got.WriteString("\n")
			severities = append(severities, fmt.Sprint(d.Severity))
		}
		switch kind, _, _ := strings.Cut(name, ":"); kind {
		case "accept":
			if len(found) > 0 {
				t.Errorf("%s: it is not accepted without a word:\n%s", name, &got)
			}
		case "warn":
			if len(found) == 0 || found.HasErrors() {
				t.Errorf("%s: it is not warned of:\n%s", name, &got)
			}
		case "refuse":
			if !slices.Contains(severities, "error") {
				t.Errorf("%s: it is not refused:\n%s", name, &got)
			}
		}
		if strings.TrimSpace(want) != strings.TrimSpace(got.String()) && !*update {
			t.Errorf("%s:\n%s\nwant\n%s", name, &got, want)
		}
		fmt.Fprintf(&out, "== %s\n%s\n--\n%s", name, source, &got)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
