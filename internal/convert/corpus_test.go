package convert

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// Every definition of 0.1 at hand is converted: the conformance cases, the examples,
// and the shared corpus where it is there. Where nothing is lost but the names of
// parameters, both must do the same.
func TestCorpus(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../conformance/sw01/*.txtar", "../../examples/v01/*.yaml", "../../examples/v01/*.json", "../../../shared/corpus/v0.1-*/*.json"} {
		found, _ := filepath.Glob(pattern)
		if len(found) == 0 {
			t.Logf("no files %s", pattern)
		}
		files = append(files, found...)
	}
	kept, lossy, invalid := 0, 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, src := range sources(file, string(text)) {
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				switch corpusCase(t, name, src) {
				case 0:
					invalid++
				case 1:
					lossy++
				case 2:
					kept++
				}
			})
		}
	}
	t.Logf("%d kept, %d with losses, %d not valid or not of 0.1", kept, lossy, invalid)
	if kept == 0 {
		t.Error("nothing was kept")
	}
}

func corpusCase(t *testing.T, name, src string) int {
	c, found := dialect.NewRegistry(sw01.FrontEnds()...).Compile(name, []byte(src), nil, dialect.Options{})
	front, ok := c.FrontEnd.(sw01.FrontEnd)
	if !ok || found.HasErrors() {
		return 0
	}
	o, _ := front.Outline(c.Document, dialect.Options{})
	r := Convert(o, Options{})
	lost := 0
	for _, l := range r.Lost {
		if !strings.HasPrefix(l.What, "the call of ") {
			lost++
			t.Log("lost: ", l)
		}
	}
	documents(t, r)
	k, err := Compare(context.Background(), Early(o, c.Program), r, CompareOptions{Cases: 30, Seed: 7})
	if err != nil {
		t.Fatalf("%v\n%s", err, documents(t, r))
	}
	if lost > 0 {
		return 1
	}
	if k.First != nil {
		t.Errorf("%d of %d agree; %s\n%s\n%s", k.Agreed, k.Cases, k.First, src, documents(t, r))
	}
	return 2
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
