package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// keyFrontEnd knows documents that have its key.
type keyFrontEnd struct{ name, title, key string }

func (f keyFrontEnd) Name() string         { return f.name }
func (f keyFrontEnd) Title() string        { return f.title }
func (f keyFrontEnd) Codes() []Explanation { return []Explanation{{Code: "T001", Title: f.name}} }
func (f keyFrontEnd) Schema() []byte       { return []byte("{}") }

func (f keyFrontEnd) Detect(root *Node) (string, bool) {
	return "key " + f.key, root.Get(f.key) != nil
}

func (f keyFrontEnd) Compile(src Source) (*ir.Program, Diagnostics) {
	var r Reporter
	if ref, ok := src.Document.Root.Get("use").Str(); ok {
		doc, ds, err := src.Read(ref)
		if err != nil {
			r.Errorf(src.Document.Root.Get("use"), "T001", "%v", err)
			return nil, r.Diagnostics()
		}
		if ds.HasErrors() {
			return nil, ds
		}
		r.Warnf(doc.Root, "T002", "read")
	}
	return &ir.Program{ID: "x", Dialect: f.name}, r.Diagnostics()
}

var testRegistry = NewRegistry(
	keyFrontEnd{"sw01", "Serverless Workflow 0.1", "triggerDefs"},
	keyFrontEnd{"sw05", "Serverless Workflow 0.5", "states"},
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ src, forced, want string }{
		{"states: []", "", "sw05 key states"},
		{"states: []\ntriggerDefs: []", "", "sw01 key triggerDefs"}, // the order decides
		{"states: []", "sw01", "sw01 --dialect sw01"},
		{"id: x", "sw05", "sw05 --dialect sw05"},
		{"id: x", "", "f:1:1 error DIA001 cannot tell which dialect the document is written in; name it with --dialect: sw01 (Serverless Workflow 0.1), sw05 (Serverless Workflow 0.5)"},
		{"states: []", "sw5", `f error DIA002 there is no dialect "sw5"; did you mean "sw05"?`},
		{"states: []", "other", `f error DIA002 there is no dialect "other"; the dialects are sw01, sw05`},
		{"- a", "", "f:1:1 error DIA003 a definition is an object of keys and values, and this document is an array"},
	} {
		f, reason, ds := testRegistry.Detect(mustRead(t, "f", c.src), c.forced)
		got := ds.Error()
		if f != nil {
			got += f.Name() + " " + reason
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.src, got, c.want)
		}
	}
	if _, _, ds := testRegistry.Detect(mustRead(t, "f", "12"), "sw05"); len(ds) != 1 || ds[0].Code != CodeNotObject {
		t.Errorf("forced upon a number: %v", ds)
	}
	if _, _, ds := testRegistry.Detect(&Document{File: "f"}, ""); !ds.HasErrors() {
		t.Error("a document without a root")
	}
}

func TestCompile(t *testing.T) {
	compile := func(src string, files MapBundle, opts Options) (Compiled, Diagnostics) {
		if files == nil {
			return testRegistry.Compile("dir/f.yaml", []byte(src), nil, opts)
		}
		return testRegistry.Compile("dir/f.yaml", []byte(src), files, opts)
	}
	src := "states: []\n"
	c, ds := compile(src, nil, Options{})
	sum := sha256.Sum256([]byte(src))
	if len(ds) > 0 || c.Program == nil || c.FrontEnd.Name() != "sw05" || c.Reason != "key states" || c.Program.Digest != hex.EncodeToString(sum[:]) {
		t.Fatalf("%+v %v", c, ds)
	}

	// The digest covers what was opened.
	src = "states: []\nuse: sub/a.yaml\n"
	first, ds := compile(src, MapBundle{"sub/a.yaml": []byte("x: 1")}, Options{})
	if got := ds.Error(); got != "dir/sub/a.yaml:1:1 warning T002 read" {
		t.Fatal(got)
	}
	second, _ := compile(src, MapBundle{"sub/a.yaml": []byte("x: 2")}, Options{})
	third, _ := compile(src, MapBundle{"sub/a.yaml": []byte("x: 1"), "other": nil}, Options{})
	if first.Program.Digest == second.Program.Digest || first.Program.Digest != third.Program.Digest {
		t.Error("digests")
	}
	if c, ds := compile(src, nil, Options{}); c.Program != nil || !ds.HasErrors() {
		t.Error("compiled without the file it refers to")
	}

	// Errors of reading do not hide those of compiling, and no program comes of them.
	c, ds = compile("states: []\nstates: []\nuse: none\n", MapBundle{}, Options{})
	if len(ds) != 2 || ds[0].Code != CodeDuplicateKey || ds[1].Code != "T001" || c.Program != nil {
		t.Errorf("%v", ds)
	}
	c, ds = compile("states: []\nstates: []\n", nil, Options{})
	if len(ds) != 1 || c.Program != nil || c.FrontEnd == nil {
		t.Errorf("%v", ds)
	}
	if c, ds = compile("states: [\n", nil, Options{}); c.FrontEnd != nil || c.Document == nil || !ds.HasErrors() {
		t.Errorf("%v", ds)
	}
	if c, ds = compile("id: x\n", nil, Options{Dialect: "sw01"}); c.Program == nil || c.Program.Dialect != "sw01" {
		t.Errorf("%v", ds)
	}
}

func TestDigestDoesNotDependOnOrder(t *testing.T) {
	files := MapBundle{"a": []byte("1"), "b": []byte("2"), "c": []byte("3"), "d": []byte("4")}
	digest := func(refs string) string {
		b := &openedBundle{Bundle: files, files: map[string][]byte{}}
		for _, ref := range strings.Fields(refs) {
			if _, err := b.Open(ref); err != nil {
				t.Fatal(err)
			}
		}
		return b.digest([]byte("doc"))
	}
	for range 20 {
		if digest("a b c d") != digest("d b a c b") {
			t.Fatal("the digest depends on the order of opening")
		}
	}
	if digest("a b") == digest("a c") || digest("a") == digest("") {
		t.Error("the digest does not cover every file")
	}
}

// Every code is explained, and the examples prove it.
func TestExplanations(t *testing.T) {
	tables := testRegistry.Codes()
	if e, ok := Explain("doc002", tables...); !ok || e.Code != CodeDuplicateKey {
		t.Error("Explain DOC002")
	}
	if e, ok := Explain("T001", tables...); !ok || e.Title != "sw01" {
		t.Error("Explain T001")
	}
	if _, ok := Explain("DOC999", tables...); ok {
		t.Error("Explain DOC999")
	}
	seen := map[string]bool{}
	for _, e := range Codes() {
		if seen[e.Code] || e.Title == "" || e.Text == "" || strings.HasSuffix(e.Title, ".") {
			t.Errorf("%s: repeated or incomplete", e.Code)
		}
		seen[e.Code] = true
		if strings.HasPrefix(e.Code, "DEF") || strings.HasPrefix(e.Code, "BND") || e.Code == CodeNoJobs {
			continue // it takes a front-end, and a large or a second definition: see budget_test.go, job_test.go, and bundles in package server
		}
		var opts Options
		if e.Code == CodeUnknownDialect {
			opts.Dialect = "sw5"
		}
		codes := func(src string) string {
			_, ds := testRegistry.Compile("f", []byte(src), nil, opts)
			var codes []string
			for _, d := range ds {
				if strings.HasPrefix(e.Code, "DIA") || !strings.HasPrefix(d.Code, "DIA") {
					codes = append(codes, d.Code)
				}
			}
			return strings.Join(codes, " ")
		}
		if got := codes(e.Bad); got != e.Code {
			t.Errorf("%s: the bad example gives %q", e.Code, got)
		}
		opts.Dialect = ""
		if got := codes(e.Good); strings.Contains(got, e.Code) || strings.Contains(got, "DOC") {
			t.Errorf("%s: the good example gives %q", e.Code, got)
		}
	}
	for _, code := range []string{
		CodeSyntax, CodeDuplicateKey, CodeLimit, CodeEncoding, CodeEmpty, CodeDocuments, CodeTag, CodeKey, CodeNumber,
		CodeAlias, CodeLeadingZero, CodeUndecided, CodeUnknownDialect, CodeNotObject, CodePrograms, CodeStopped, CodeMore, CodeSameID, CodeNoWorkflow,
	} {
		if !seen[code] {
			t.Errorf("%s is not explained", code)
		}
	}
}
