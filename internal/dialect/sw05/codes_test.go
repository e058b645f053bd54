package sw05

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
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
	for key, text := range map[string]string{
		"id": "id: example\n", "name": "name: Example\n",
		"states": "states:\n- {name: Only, type: inject, data: {x: 1}, start: {kind: default}, end: {kind: default}}\n",
	} {
		if !regexp.MustCompile(`(?m)^` + key + `:`).MatchString(excerpt) {
			excerpt += text
		}
	}
	return excerpt
}

var exampleFiles = dialect.MapBundle{
	"functions.json":      []byte(`{"functions": [{"name": "charge", "operation": "bank.json#charge"}]}`),
	"order.schema.json":   []byte(`{"type": "object", "required": ["id"]}`),
	"broken.schema.json":  []byte(`{"type": "objekt"}`),
	"outside.schema.json": []byte(`{"$ref": "other.json"}`),
}

// compileText compiles with the registry, as the engine does.
func compileText(t testing.TB, file, source string, files dialect.MapBundle) (dialect.Compiled, dialect.Diagnostics) {
	t.Helper()
	return dialect.NewRegistry(FrontEnd{}).Compile(file, []byte(source), files, dialect.Options{Dialect: Name})
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
			doc, found := dialect.Read("bad.yaml", []byte(complete(e.Bad)))
			if len(found) > 0 {
				t.Fatalf("Bad cannot be read: %v", found)
			}
			_, found = FrontEnd{}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
			if !slices.Contains(codesOf(found), e.Code) {
				t.Errorf("Bad does not lead to the code, but to:\n%v", found)
			}
			for _, d := range found {
				if d.Severity == dialect.Error && d.Code != e.Code {
					t.Errorf("Bad leads to another error:\n%v", d)
				}
			}
			c, found := compileText(t, "good.yaml", complete(e.Good), exampleFiles)
			if found.HasErrors() || slices.Contains(codesOf(found), e.Code) {
				t.Errorf("Good leads to:\n%v", found)
			} else {
				roundTrip(t, c.Program)
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
