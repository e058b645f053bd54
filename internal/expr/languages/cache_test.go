package languages

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/cache"
)

// sources are expressions of each language whose programs are large.
func sources(i int) map[string]string {
	long := fmt.Sprintf("[%s(.s | map(.))]", strings.Repeat(fmt.Sprintf("(.s[] | select(. > %d)), ", i), 30))
	return map[string]string{
		"jq":         long,
		"jqif":       long + " | length > 2",
		"jqt":        fmt.Sprintf(`{"a":["${ %s }"]}`, long),
		"jqloose":    fmt.Sprintf(`{"a":["b c","%s | first"]}`, long),
		"jsonpath":   fmt.Sprintf("$.s[?(@ =~ /(?=a)b{1,1600}%d/ || @ =~ /[a-z]{1,900}%d/)]", i, i),
		"template":   fmt.Sprintf(`{"a":["{{ $.s[?(@ =~ /x%d[a-z]{1,900}/)] }}"]}`, i),
		"choice":     fmt.Sprintf(`{"and":[{"op":"eq","path":"$.s[?(@ =~ /y%d[a-z]{1,900}/)]","value":1}]}`, i),
		"jsonschema": fmt.Sprintf(`{"properties":{"s":{"items":{"pattern":"^z%d[a-z]{1,900}$"}}}}`, i),
	}
}

// TestIdleProgramsCostTheirText: what is compiled and never evaluated keeps no program, and
// what is evaluated keeps no more than the cache holds, however many programs there are.
func TestIdleProgramsCostTheirText(t *testing.T) {
	const each = 400
	langs := All()
	var programs []expr.Program
	weight := 0
	before := heap()
	for i := range each {
		for lang, src := range sources(i) {
			p, err := langs[lang].Compile(src)
			if err != nil {
				t.Fatal(err)
			}
			programs = append(programs, p)
			w, ok := p.(expr.Weighed)
			if !ok || w.Weight() < 50_000 {
				t.Fatalf("%s does not tell its weight", lang)
			}
			weight += w.Weight()
		}
	}
	if idle := heap() - before; idle > 16<<20 {
		t.Errorf("%d programs that nobody evaluates take %d bytes", len(programs), idle)
	}
	data := expr.Object(expr.Member{Key: "s", Value: expr.Array(expr.String("ab"), expr.String("b1"))})
	var first []string
	for round := range 2 { // in the second one, much is compiled again
		for i, p := range programs {
			b := expr.NewBudget()
			r, err := p.Eval(data, &b)
			got := fmt.Sprint(r, err, b)
			if round == 0 {
				first = append(first, got)
			} else if got != first[i] {
				t.Fatalf("program %d gives %s, and gave %s before", i, got, first[i])
			}
			if n := cache.Bytes(); n > cache.MaxBytes {
				t.Fatalf("the cache has %d bytes", n)
			}
		}
	}
	if weight < 2*cache.MaxBytes {
		t.Fatalf("a weight of %d shows nothing", weight)
	}
	if used := heap() - before; used > cache.MaxBytes+(16<<20) {
		t.Errorf("%d programs take %d bytes", len(programs), used)
	}
	runtime.KeepAlive(programs)
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
