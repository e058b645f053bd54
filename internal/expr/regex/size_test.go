package regex

import (
	"regexp/syntax"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// disjoint is a pattern of optional sets without a character in common: each branch of Go's
// one-pass form would hold the ranges of all that follow it.
func disjoint(sets, ranges int) string {
	var b strings.Builder
	next := rune(0x4e00)
	for range sets {
		b.WriteByte('[')
		for range ranges {
			b.WriteRune(next)
			next += 2
		}
		b.WriteString("]?")
	}
	return b.String()
}

var sizedPatterns = []string{
	"a", "abc", "[a-z]{1,1000}", "[a-z]{1,100}", "(?=a)b{1,1600}", "a{500}", ".*a.{900}c", `\pL{1,500}`, `(?U)\w{1,100}`, `(?U)(?:[\w\s]?){1,40}`,
	`(?=a)\pL{1,1600}`, "(a|b|c|d){1,250}", "(?i)abcdefgh{1,100}", strings.Repeat("[a-c]x?", 300), strings.Repeat("ab|", 1000),
	strings.Repeat("(ab|c)*", 100), "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z$", `(?:[a-z]{1,30}\.){1,30}`, disjoint(300, 20), disjoint(8, 8), disjoint(30, 200),
	`(?=(a(b(c)?)?)?)` + strings.Repeat("(?:x|yz|[0-9a-f])", 200), `(?<!` + strings.Repeat("a", 2000) + `)b`, strings.Repeat(`(a)\1`, 500), `\p{IsAlphabetic}(?=x)`,
}

// TestWeightIsTheMemory: a program takes no more than its pattern says, and not much less,
// so that a budget of weights is one of memory.
func TestWeightIsTheMemory(t *testing.T) {
	for _, src := range sizedPatterns {
		p := compileOrFail(t, src, "")
		p.compile() // tables of characters are made once
		copies := max(4, min(200, (8<<20)/p.Weight()))
		kept := make([]*compiled, copies)
		before := heap()
		for i := range kept {
			kept[i] = p.compile()
		}
		each := (heap() - before) / copies
		runtime.KeepAlive(kept)
		show := src[:min(len(src), 30)]
		if each > p.Weight() {
			t.Errorf("/%s/ takes %d bytes and says %d", show, each, p.Weight())
		}
		if p.Weight() > 12*each+2*patternBytes {
			t.Errorf("/%s/ takes %d bytes and says %d: far too many", show, each, p.Weight())
		}
	}
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestSizeWithoutCompiling: what is counted without compiling is what compiling makes.
func TestSizeWithoutCompiling(t *testing.T) {
	check := func(t rapid.TB, src string) {
		p, serr := Compile(src, 0)
		if serr != nil {
			t.Fatalf("/%s/: %v", src, serr)
		}
		c := p.compile()
		if c.prog != nil {
			if p.size != len(c.prog.insts) {
				t.Fatalf("/%s/ has %d instructions and says %d", src, len(c.prog.insts), p.size)
			}
			return
		}
		re, err := syntax.Parse(c.linear.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := syntax.Compile(re.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		made := len(prog.Inst)
		if !p.onepass {
			made -= 4 // the group that keeps it from having a one-pass form
		}
		if p.size < made || p.size > 3*made+8 {
			t.Fatalf("/%s/ has %d instructions and says %d", src, made, p.size)
		}
	}
	for _, src := range sizedPatterns {
		check(t, src)
	}
	rapid.Check(t, func(t *rapid.T) {
		src := regular(4).Draw(t, "pattern")
		if rapid.Bool().Draw(t, "backtracking") {
			src += "(?=a)"
		}
		check(t, src)
	})
}
