package format_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/format"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func orders(t testing.TB) (definitions, scenarios *format.Order) {
	t.Helper()
	definitions, err := format.OrderOf(sw05.FrontEnd{}.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if scenarios, err = format.OrderOf(scenario.Schema()); err != nil {
		t.Fatal(err)
	}
	return definitions, scenarios
}

// Each archive has a document, in.yaml or in.json, and what becomes of it.
func TestGolden(t *testing.T) {
	definitions, scenarios := orders(t)
	paths, _ := filepath.Glob("testdata/*.txtar")
	if len(paths) == 0 {
		t.Fatal("no golden files")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			order := definitions
			if strings.Contains(path, "scenario") {
				order = scenarios
			}
			in, out := archive.Files[0], &archive.Files[1]
			got := keepsEverything(t, in.Name, in.Data, order)
			if *update {
				out.Data = got
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, out.Data) {
				t.Errorf("got:\n%s\nwant:\n%s", got, out.Data)
			}
		})
	}
}

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// keepsEverything formats, and checks what holds for every document: twice is
// once, and values stay.
func keepsEverything(t failer, file string, src []byte, order *format.Order) []byte {
	t.Helper()
	out, err := format.Source(file, src, order)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	unchanged(t, file, src, out, order)
	return out
}

func unchanged(t failer, file string, src, out []byte, order *format.Order) {
	t.Helper()
	again, err := format.Source(file, out, order)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("formatted twice (%v):\n%s\nonce:\n%s\nfrom:\n%s", err, again, out, src)
	}
	before, _ := dialect.Read(file, src)
	after, found := dialect.Read(file, out)
	if found.HasErrors() || !expr.Equal(before.Root.Value(), after.Root.Value()) {
		t.Fatalf("the value changed (%v):\n%s\nfrom:\n%s", found, out, src)
	}
}

// corpus are the documents of the examples and the conformance cases.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	paths, _ := filepath.Glob("../../examples/*.yaml")
	archives, _ := filepath.Glob("../conformance/*/*.txtar")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = text
	}
	golden, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range append(archives, golden...) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if ext := filepath.Ext(f.Name); ext == ".yaml" || ext == ".json" {
				all[path+"/"+f.Name] = f.Data
			}
		}
	}
	if len(all) < 200 {
		t.Fatalf("only %d documents", len(all))
	}
	return all
}

func TestCorpus(t *testing.T) {
	definitions, scenarios := orders(t)
	for file, src := range corpus(t) {
		doc, found := dialect.Read(file, src)
		if found.HasErrors() {
			continue // cases about documents that cannot be read
		}
		order := definitions
		if doc.Root.Get("scenarios") != nil {
			order = scenarios
		}
		keepsEverything(t, file, src, order)
		keepsEverything(t, file, src, nil)
	}
}

func TestLineBreaksStay(t *testing.T) {
	src := "id:   a\r\nname: >\r\n    two\r\n    lines\r\nstates:   # here\r\n  - name: \"é ✓\"\r\n"
	want := "id: a\r\nname: >\r\n  two\r\n  lines\r\nstates:   # here\r\n- name: \"é ✓\"\r\n"
	if got := keepsEverything(t, "a.yaml", []byte(src), nil); string(got) != want {
		t.Errorf("got %q", got)
	}
	if got := keepsEverything(t, "a.json", []byte("{\r\n\"a\":1}"), nil); string(got) != "{\r\n  \"a\": 1\r\n}\r\n" {
		t.Errorf("got %q", got)
	}
	if got := keepsEverything(t, "a.yaml", []byte("\ufeffa:   1\n"), nil); string(got) != "\ufeffa: 1\n" {
		t.Errorf("got %q", got)
	}
}

func TestSyntaxErrorsAreDiagnostics(t *testing.T) {
	for _, src := range []string{"a: [1,\n", "a: 1\na: 2\n", "{\"a\": 1,}", "\xff"} {
		_, err := format.Source("bad.yaml", []byte(src), nil)
		var found dialect.Diagnostics
		if !errors.As(err, &found) || found[0].Line == 0 {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// What has no house layout is refused, with its line.
func TestRefused(t *testing.T) {
	for _, src := range []string{"id: x\n? explicit\n: 1\n", "&whole\nid: x\n", "text\n"} {
		_, err := format.Source("odd.yaml", []byte(src), nil)
		if !errors.Is(err, format.ErrRefused) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// A key behind "?" has no layout here, and it is said what to write instead.
func TestExplicitKeysAreToldHowToBeWritten(t *testing.T) {
	for src, line := range map[string]string{"id: x\n? explicit\n: 1\n": "line 2", "? first\n: 1\n": "line 1", "a:\n- b: 1\n- ? c\n  : 1\n": "line 3"} {
		_, err := format.Source("odd.yaml", []byte(src), nil)
		if !errors.Is(err, format.ErrRefused) || !strings.Contains(err.Error(), line+` marks a key with "?"; write it as "key: value"`) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestTheVersionOfYAMLStaysOnTop(t *testing.T) {
	definitions, _ := orders(t)
	src := "# mine\n%YAML 1.2  # the new one\n---\nname:   a\nid: yes\n"
	want := "# mine\n%YAML 1.2  # the new one\n---\nid: \"yes\"\nname: a\n"
	if got := keepsEverything(t, "a.yaml", []byte(src), definitions); string(got) != want {
		t.Errorf("got:\n%s", got)
	}
}

// Sorted, an alias would stand before its anchor: then keys stay where they are.
func TestAnAliasNeverComesBeforeItsAnchor(t *testing.T) {
	definitions, _ := orders(t)
	src := "states:\n- name: &n A\n  type: inject\n  end:   {kind: default}\nid: *n\nname: *n\n"
	want := "states:\n- name: &n A\n  type: inject\n  end: {kind: default}\nid: *n\nname: *n\n"
	if got := keepsEverything(t, "a.yaml", []byte(src), definitions); string(got) != want {
		t.Errorf("got:\n%s", got)
	}
}

func FuzzSource(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src)
	}
	for _, src := range []string{"a: |2\n   b\n", "- - a\n  - b\n", "a:\n- b\n # c\nd: 1\n", "a: >+\n  b\n\n\n", "? a\n: b\n", "a: !!str 1\n", "[]: 1\n"} {
		f.Add([]byte(src))
	}
	definitions, _ := orders(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		out, err := format.Source("fuzz.yaml", src, definitions)
		if err == nil {
			unchanged(t, "fuzz.yaml", src, out, definitions)
		}
	})
}

// What is no mapping is told so, not by the text before it.
func TestWhatIsNoMappingIsTold(t *testing.T) {
	for src, want := range map[string]string{
		"null\n":         "the document must be a mapping",
		"# a\ntext\n":    "the document must be a mapping",
		"&all\nid: x\n":  "the document must be a mapping without an anchor or a tag",
		"!!map\nid: x\n": "the document must be a mapping without an anchor or a tag",
	} {
		if _, err := format.Source("odd.yaml", []byte(src), nil); !errors.Is(err, format.ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// Separators are text like any other, also at the end of a comment.
func TestSeparatorsStay(t *testing.T) {
	src := "a:   x\u2028y  # one\u0085\n# two\u2029b: 1\nb:   'z\u0085'\n"
	want := "a: x\u2028y  # one\u0085\n# two\u2029b: 1\nb: 'z\u0085'\n"
	if got := keepsEverything(t, "a.yaml", []byte(src), nil); string(got) != want {
		t.Errorf("got %q", got)
	}
}
