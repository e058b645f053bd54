package graph_test

import (
	"regexp"
	"strings"
	"testing"
)

// Fonts differ in how wide they are; every text says how wide it may be.
func TestEveryTextSaysHowWideItIs(t *testing.T) {
	for _, file := range []string{"testdata/kinds.yaml", "testdata/tasks.yaml", "../../examples/jobs/firmware.yaml"} {
		svg := render(t, "svg", load(t, file))
		texts := regexp.MustCompile(`<text [^>]*>`).FindAllString(svg, -1)
		if len(texts) < 10 {
			t.Fatalf("%s: %d texts", file, len(texts))
		}
		for _, text := range texts {
			if !strings.Contains(text, ` textLength="`) {
				t.Errorf("%s: %s", file, text)
			}
		}
	}
}

func TestStatesAndLinesBearWhatAPageTells(t *testing.T) {
	svg := render(t, "svg", load(t, "testdata/kinds.yaml"))
	for _, want := range []string{
		`data-state="Ask" data-type="callback" data-does="look (30 s at most)&#10;wait for Paid (2 days at most)"`,
		`data-runs="other"`,
		`data-from="Decide" data-to="Both" data-label="more&#10;much more"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("missing %q", want)
		}
	}
}

func TestJobsThatFailedEndDifferently(t *testing.T) {
	svg := render(t, "svg", load(t, "../../examples/jobs/firmware.yaml"))
	state := func(name string) string {
		at := strings.Index(svg, `data-state="`+name+`"`)
		start := strings.LastIndex(svg[:at], "<g ")
		return svg[start : at+strings.Index(svg[at:], "</g>")]
	}
	broken, active := state("BROKEN"), state("ACTIVE")
	if !strings.Contains(broken, "ls-raise") || strings.Contains(active, "ls-raise") {
		t.Error("BROKEN must look like a failure, and ACTIVE not")
	}
	for name, group := range map[string]string{"BROKEN": broken, "ACTIVE": active} {
		if !strings.Contains(group, "ls-final") {
			t.Errorf("%s does not look final", name)
		}
	}
	if strings.Contains(state("INSTALLED"), "ls-final") {
		t.Error("INSTALLED looks final")
	}
}
