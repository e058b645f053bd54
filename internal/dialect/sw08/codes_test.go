package sw08

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// complete makes a definition of an excerpt: a list of states, or a part of the top level.
func complete(excerpt string) string {
	if strings.HasPrefix(excerpt, "- id:") {
		return excerpt // meant as a whole
	}
	if strings.HasPrefix(excerpt, "- ") {
		excerpt = "states:\n" + excerpt
	}
	for key, text := range map[string]string{
		"id": "id: example\n", "specVersion": "specVersion: \"0.8\"\n",
		"states": "states:\n- {name: Only, type: inject, data: {x: 1}, end: true}\n",
	} {
		if !regexp.MustCompile(`(?m)^` + key + `:`).MatchString(excerpt) {
			excerpt = strings.TrimSuffix(excerpt, "\n") + "\n" + text
		}
	}
	return excerpt
}

var exampleFiles = dialect.MapBundle{
	"functions.json":     []byte(`{"functions": [{"name": "charge", "operation": "bank.json#charge"}]}`),
	"events.json":        []byte(`[{"name": "Paid", "source": "bank", "type": "paid"}]`),
	"order.schema.json":  []byte(`{"type": "object", "required": ["id"]}`),
	"broken.schema.json": []byte(`{"type": "objekt"}`),
	"constants.json":     []byte(`{"limit": 10}`),
	"secrets.json":       []byte(`["token"]`),
}

var options = dialect.Options{}

func registry() *dialect.Registry { return dialect.NewRegistry(FrontEnds()...) }

// compileText compiles with the registry, as the engine does.
func compileText(t testing.TB, file, source string) (dialect.Compiled, dialect.Diagnostics) {
	t.Helper()
	return registry().Compile(file, []byte(source), exampleFiles, dialect.Options{Dialect: Family})
}

func codesOf(ds dialect.Diagnostics) []string {
	var codes []string
	for _, d := range ds {
		codes = append(codes, d.Code)
	}
	return codes
}

// Every explanation's Bad leads to its code, and its Good is a definition without errors that does not.
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
			f := form08
			if doc.Root.Get("specVersion") != nil {
				f, _ = classify(doc.Root, true)
			}
			_, found = frontEnd{f}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
			if !slices.Contains(codesOf(found), e.Code) {
				t.Errorf("Bad does not lead to the code, but to:\n%v", found)
			}
			for _, d := range found {
				if d.Severity == dialect.Error && d.Code != e.Code {
					t.Errorf("Bad leads to another error:\n%v", d)
				}
			}
			_, found = compileText(t, "good.yaml", complete(e.Good))
			if found.HasErrors() || slices.Contains(codesOf(found), e.Code) {
				t.Errorf("Good leads to:\n%v", found)
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
	declared := regexp.MustCompile(`"(SW\d+)"`).FindAllStringSubmatch(string(source), -1)
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
