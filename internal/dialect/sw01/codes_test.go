package sw01

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// complete makes a definition of an excerpt: a list of states, or a part of the
// top level.
func complete(excerpt string) string {
	if strings.HasPrefix(excerpt, "- id:") {
		return excerpt // meant as a whole
	}
	if strings.HasPrefix(excerpt, "- ") {
		excerpt = "states:\n" + excerpt
	}
	if !regexp.MustCompile(`(?m)^states:`).MatchString(excerpt) {
		excerpt += "states:\n- {name: Only, type: END, start: true}\n"
	}
	return excerpt
}

// known is the catalogue of the examples.
var known = dialect.Options{Functions: []string{"charge", "pack", "f"}}

// compileText compiles as the engine does, with the form that the text shows.
func compileText(t testing.TB, file, source string) (dialect.Compiled, dialect.Diagnostics) {
	t.Helper()
	opts := known
	opts.Dialect = Family
	return dialect.NewRegistry(FrontEnds()...).Compile(file, []byte(source), nil, opts)
}

func codesOf(ds dialect.Diagnostics) []string {
	var codes []string
	for _, d := range ds {
		codes = append(codes, d.Code)
	}
	return codes
}

// Every explanation's Bad leads to its code, and its Good is a definition without
// errors that does not.
func TestExplanations(t *testing.T) {
	for _, e := range Codes() {
		t.Run(e.Code, func(t *testing.T) {
			if e.Title == "" || e.Text == "" {
				t.Error("no title or text")
			}
			found := compileBad(t, complete(e.Bad))
			if !slices.Contains(codesOf(found), e.Code) {
				t.Errorf("Bad does not lead to the code, but to:\n%v", found)
			}
			for _, d := range found {
				if d.Severity == dialect.Error && d.Code != e.Code {
					t.Errorf("Bad leads to another error:\n%v", d)
				}
			}
			c, found := compileText(t, "good.yaml", complete(e.Good))
			if found.HasErrors() || slices.Contains(codesOf(found), e.Code) {
				t.Errorf("Good leads to:\n%v", found)
			} else {
				roundTrip(t, c.Program)
			}
		})
	}
}

// compileBad compiles also what is no object.
func compileBad(t *testing.T, source string) dialect.Diagnostics {
	t.Helper()
	doc, found := dialect.Read("bad.yaml", []byte(source))
	if len(found) > 0 {
		t.Fatalf("cannot be read: %v", found)
	}
	for _, f := range FrontEnds() {
		if _, ok := f.(FrontEnd).DetectWithin(doc.Root); ok {
			_, found = f.Compile(dialect.Source{Document: doc, Bundle: dialect.NoBundle, Options: known})
			return found
		}
	}
	t.Fatal("no form takes it")
	return nil
}

// Every code that the sources name is explained, once, and in order.
func TestEveryCodeIsExplained(t *testing.T) {
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`"(SV\d+)"`).FindAllStringSubmatch(string(source), -1)
	var want, got []string
	for _, m := range declared {
		want = append(want, m[1])
	}
	for _, e := range Codes() {
		got = append(got, e.Code)
	}
	if !slices.Equal(want, got) {
		t.Errorf("declared %v\nexplained %v", want, got)
	}
}

// roundTrip checks that a program passes its own check and survives encoding.
func roundTrip(t testing.TB, p *ir.Program) {
	t.Helper()
	if p == nil {
		t.Fatal("no program")
	}
	text, err := ir.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ir.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ir.Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(again) {
		t.Errorf("encoding differs after decoding:\n%s\n%s", text, again)
	}
}
