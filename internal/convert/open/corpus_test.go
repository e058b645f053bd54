package open

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/convert"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw08"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
)

// Every definition of states at hand is converted: the conformance cases, the examples, and the shared corpus where it
// is there. Where nothing is lost, both must do the same.
func TestCorpus(t *testing.T) {
	count := map[string]int{}
	for _, pattern := range []string{"../../conformance/sw05/*.txtar", "../../conformance/sw02/*.txtar", "../../../examples/v02/*.yaml", "../../conformance/sw08/*.txtar", "../../../examples/*.yaml", "../../../examples/v08/*.yaml", "../../../../shared/corpus/v0.5/*.json"} {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Logf("no files %s", pattern)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for name, src := range sources(file, string(text)) {
				t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
					count[corpusCase(t, name, src, sources(file, string(text)))]++
				})
			}
		}
	}
	t.Log(count)
	if count["kept"] == 0 {
		t.Error("nothing was kept")
	}
}

// outliner is a front-end whose definitions are states.
type outliner interface {
	Outline(dialect.Source) (*states.Outline, dialect.Diagnostics)
}

func corpusCase(t *testing.T, name, src string, files map[string]string) string {
	bundle := dialect.MapBundle{}
	for n, text := range files {
		bundle[n] = []byte(text)
	}
	c, found := dialect.NewRegistry(append(sw08.FrontEnds(), sw05.FrontEnds()...)...).Compile(name, []byte(src), bundle, dialect.Options{})
	if found.HasErrors() {
		return "not valid"
	}
	o, _ := c.FrontEnd.(outliner).Outline(dialect.Source{Document: c.Document, Bundle: bundle})
	if o == nil {
		t.Fatal("it has no outline")
	}
	exact := States(o, convert.Options{Exact: true})
	r := States(o, convert.Options{})
	documents(t, exact)
	text := documents(t, r)
	k, err := convert.Compare(context.Background(), convert.Stateful(o, c.Program), r, convert.CompareOptions{Cases: 12, Seed: 7, Exact: &exact})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, l := range r.Lost {
		t.Logf("lost: %s: %s; %s", l.Pos, l.What, l.Why)
	}
	if len(r.Lost) > 0 {
		return "lossy"
	}
	if k.First != nil {
		t.Errorf("%d of %d agree, %d break assumptions; %s\n%s\n%s", k.Agreed, k.Cases, k.Broke, k.First, src, documents(t, exact))
	}
	if k.Broke > 0 && len(r.Assumed) == 0 {
		t.Errorf("nothing is assumed, and %s\n%s\n%s", k.Breaks, src, text)
	}
	if k.Agreed+k.Broke == 0 {
		t.Errorf("no case agrees: %s\n%s\n%s", k.Breaks, src, text)
	}
	return "kept"
}

// documents are the texts of a conversion, which must be valid.
func documents(t testing.TB, r convert.Result) string {
	t.Helper()
	var b strings.Builder
	for _, d := range r.Definitions {
		text, err := r.Text(d, dialect.YAML)
		if err != nil {
			t.Fatalf("%s: %v", d.ID, err)
		}
		if _, found := dialect.NewRegistry(sw10.FrontEnd{}).Compile(d.ID+".yaml", text, nil, dialect.Options{Dialect: sw10.Name}); found.HasErrors() {
			t.Fatalf("not valid: %v\n%s", found, text)
		}
		b.WriteString("--- " + d.ID + "\n" + string(text))
	}
	return b.String()
}

// sources are the definitions in a file: itself, or those of an archive.
func sources(file, text string) map[string]string {
	base := filepath.Base(file)
	if filepath.Ext(file) != ".txtar" {
		if strings.Contains(base, "_test.") {
			return nil
		}
		return map[string]string{base: text}
	}
	out := map[string]string{}
	name := ""
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(strings.TrimSpace(rest), " --") {
			name = strings.TrimSuffix(strings.TrimSpace(rest), " --")
			continue
		}
		if ext := filepath.Ext(name); (ext == ".yaml" || ext == ".json") && !strings.Contains(name, "_test.") {
			out[name] += line
		}
	}
	return out
}
