package sw08

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The definitions in the manual are sound: whole ones without a remark, the others as far as excerpts can be, which
// refer to what is not shown. A comment at the beginning of an excerpt names its version.
func TestManual(t *testing.T) {
	page, err := os.ReadFile("../../../docs/definitions-0.8.md")
	if err != nil {
		t.Fatal(err)
	}
	files := dialect.MapBundle{"in.json": []byte("{}"), "functions.json": []byte(`{"functions": [{"name": "work", "operation": "https://work.example.com"}]}`)}
	registry := dialect.NewRegistry(FrontEnds()...)
	words := strings.Join(strings.Fields(string(page)), " ")
	whole, excerpts := 0, 0
	for _, block := range regexp.MustCompile("```yaml(?: \\S+)?\n").Split(string(page), -1)[1:] {
		block, _, _ = strings.Cut(block, "```")
		switch {
		case strings.HasPrefix(block, "workflow:"), strings.HasPrefix(block, "# functions.yaml"): // no definitions: examples/readme_test.go
		case strings.Contains(block, "specVersion:"):
			whole++
			if c, found := registry.Compile("manual.yaml", []byte(block), files, dialect.Options{}); c.Program == nil || len(found) > 0 {
				t.Errorf("%v in\n%s", found, block)
			}
		default:
			excerpts++
			_, found := registry.Compile("manual.yaml", []byte(completed(block)), files, dialect.Options{})
			for _, d := range found {
				if !leftOut[d.Code] {
					t.Errorf("%v in\n%s", d, completed(block))
				}
				if d.Code == codeCustom && strings.HasPrefix(d.Message, "custom") && !strings.Contains(words, "*"+d.Message+"*") {
					t.Errorf("the page does not say what validate does: %s", d.Message)
				}
			}
		}
	}
	for _, code := range regexp.MustCompile("`SW8[0-9]{2}`").FindAllString(words, -1) {
		if known := func(e dialect.Explanation) bool { return "`"+e.Code+"`" == code }; !slices.ContainsFunc(Codes(), known) {
			t.Errorf("the page names %s, which does not exist", code)
		}
	}
	if whole < 3 || excerpts < 25 {
		t.Errorf("only %d definitions and %d excerpts", whole, excerpts)
	}
}

// leftOut are findings about what an excerpt does not show.
var leftOut = map[string]bool{
	codeNoState: true, codeNoFunction: true, codeNoEvent: true, codeNoError: true, codeNoRetry: true,
	codeUnreachable: true, codeUnused: true, codeNoCorrelation: true, codeCustom: true,
}

// completed makes a definition of an excerpt of one.
func completed(block string) string {
	version := "0.8"
	if first, _, _ := strings.Cut(block, "\n"); strings.HasPrefix(first, "# 0.") {
		version = strings.Fields(first)[1]
		block = strings.TrimPrefix(block, first+"\n")
	}
	head := "id: manual\nname: manual\nversion: 1.0.0\nspecVersion: \"" + version + "\"\n"
	if version == "0.9" {
		head = strings.TrimPrefix(head, "id: manual\n")
	}
	const state = "states:\n- name: first\n  type: operation\n  actions: [{name: a, functionRef: work}]\n  end: true\n"
	switch {
	case strings.HasPrefix(block, "- name:"):
		block = "states:\n" + block
	case strings.HasPrefix(block, "actions:"):
		block = "states:\n- name: first\n  type: operation\n  " + strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n  ") + "\n  end: true\n"
	case !strings.Contains(block, "\nstates:"):
		block += state
	}
	if !strings.Contains(block, "start:") {
		_, first, _ := strings.Cut(block, "- name: ")
		if at := strings.Index(block, "states:"); at >= 0 {
			_, first, _ = strings.Cut(block[at:], "name: ")
		}
		first, _, _ = strings.Cut(first, "\n")
		first, _, _ = strings.Cut(first, ",")
		head += "start: " + first + "\n"
	}
	return head + block
}
