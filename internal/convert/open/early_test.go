package open

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/convert"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// Every definition of 0.1 at hand is converted. Where nothing is lost but the names of parameters, both must do the
// same.
func TestEarlyCorpus(t *testing.T) {
	count := map[string]int{}
	for _, pattern := range []string{"../../conformance/sw01/*.txtar", "../../../examples/v01/*.yaml", "../../../examples/v01/*.json", "../../../../shared/corpus/v0.1-*/*.json"} {
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
				t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) { count[earlyCase(t, name, src, 12)]++ })
			}
		}
	}
	t.Log(count)
	if count["kept"] == 0 {
		t.Error("nothing was kept")
	}
}

func earlyCase(t *testing.T, name, src string, cases int) string {
	c, found := dialect.NewRegistry(sw01.FrontEnds()...).Compile(name, []byte(src), nil, dialect.Options{})
	front, ok := c.FrontEnd.(sw01.FrontEnd)
	if !ok || found.HasErrors() {
		return "not valid"
	}
	o, _ := front.Outline(c.Document, dialect.Options{})
	exact, r := Early(o, convert.Options{Exact: true}), Early(o, convert.Options{})
	text := documents(t, r)
	k, err := convert.Compare(context.Background(), convert.Early(o, c.Program), r, convert.CompareOptions{Cases: cases, Seed: 7, Exact: &exact})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	lost := 0
	for _, l := range r.Lost {
		if !strings.HasPrefix(l.What, "the call of ") {
			lost++
			t.Logf("lost: %s: %s; %s", l.Pos, l.What, l.Why)
		}
	}
	if lost > 0 {
		return "lossy"
	}
	if k.First != nil {
		t.Errorf("%d of %d agree, %d break assumptions; %s\n%s\n%s", k.Agreed, k.Cases, k.Broke, k.First, src, documents(t, exact))
	}
	if k.Broke > 0 && len(r.Assumed) == 0 {
		t.Errorf("nothing is assumed, and %s\n%s\n%s", k.Breaks, src, text)
	}
	return "kept"
}
