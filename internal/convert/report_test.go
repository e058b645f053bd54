package convert

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// The page of a conversion has what a team decides about, and nothing of it is markup.
func TestReport(t *testing.T) {
	src := `name: door
states:
# Asks & waits.
- {name: Ask, type: OPERATION, start: true, actions: [{function: "<b>"}], next-state: E}
- name: E
  type: END
  status: FAILURE
`
	o, c := definition(t, "door.yaml", src)
	r := Convert(o, Options{})
	k, err := Compare(context.Background(), Early(o, c.Program), r, CompareOptions{Cases: 10, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(src, "\n")
	var b bytes.Buffer
	report := Report{
		File: "door.yaml", Title: "Serverless Workflow 0.1", Source: Early(o, c.Program), Result: r, Comparison: &k, Seed: 3,
		Lines: func(n int) (string, bool) {
			if n > len(lines) {
				return "", false
			}
			return lines[n-1], true
		},
	}
	if err := report.Write(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"door.yaml: Serverless Workflow 0.1 → 0.5", "END with status FAILURE", "keep what is needed of the output elsewhere",
		"same 10 generated cases (seed 3)", "function: &#34;&lt;b&gt;&#34;", "status: FAILURE</pre>", "refName: &#34;&lt;b&gt;&#34;", "<td class=\"place\">line 4",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing:\n%s", want, page)
		}
	}
	for _, bad := range []string{"<b>", "# Asks &amp; waits.</pre>", "<script", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q:\n%s", bad, page)
		}
	}
}
