package wfx

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Every explanation's Bad leads to its code, and its Good is a workflow without errors
// that does not. The example of the longest list is abridged; see TestLimits.
func TestExplanations(t *testing.T) {
	for _, e := range Codes() {
		t.Run(e.Code, func(t *testing.T) {
			if e.Title == "" || e.Text == "" {
				t.Error("no title or text")
			}
			doc, found := dialect.Read("bad.yaml", []byte(complete(e.Bad)))
			if len(found) > 0 {
				t.Fatalf("Bad cannot be read: %v", found)
			}
			_, found = FrontEnd{}.Compile(dialect.Source{Document: doc})
			if !slices.Contains(codesOf(found), e.Code) && e.Code != codeTooMany {
				t.Errorf("Bad does not lead to the code, but to:\n%v", found)
			}
			for _, d := range found {
				together := e.Code == codeNoInitial || e.Code == codeUnreachable // both need a circle
				if d.Severity == dialect.Error && d.Code != e.Code && !(together && d.Code == codeCycle) {
					t.Errorf("Bad leads to another error:\n%v", d)
				}
			}
			p, found := compileText(complete(e.Good))
			if found.HasErrors() || slices.Contains(codesOf(found), e.Code) {
				t.Errorf("Good leads to:\n%v", found)
			} else {
				roundTrip(t, p)
			}
		})
	}
}

// Every code that the sources name is explained, once, and in order.
func TestEveryCodeIsExplained(t *testing.T) {
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, m := range regexp.MustCompile(`"(WFX\d+)"`).FindAllStringSubmatch(string(source), -1) {
		want = append(want, m[1])
	}
	for _, e := range Codes() {
		got = append(got, e.Code)
	}
	if !slices.Equal(want, got) {
		t.Errorf("declared %v\nexplained %v", want, got)
	}
}
