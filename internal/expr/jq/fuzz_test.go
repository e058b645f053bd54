package jq

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// FuzzParts: the parts of a text are the text, and an expression that compiles is found whole.
func FuzzParts(f *testing.F) {
	for _, src := range sameAsGojq {
		f.Add(src)
	}
	f.Add(`a ${ .b } ${ {c: "}"} } # ${ "\("}")" }`)
	f.Add(`${ ( } ) ${`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") {
			return // ends what the parser reads
		}
		parts, err := Parts(text)
		if syntax := (*expr.SyntaxError)(nil); err != nil && (!errors.As(err, &syntax) || !strings.HasPrefix(text[syntax.Offset:], "${")) {
			t.Fatalf("%q: %v", text, err)
		}
		again := ""
		for _, p := range parts {
			if p.Expr {
				again += "${"
			}
			if again += p.Src; p.Offset+len(p.Src) != len(again) {
				t.Errorf("%q: %q is not at %d", text, p.Src, p.Offset)
			}
			if p.Expr {
				again += "}"
			}
		}
		if err == nil && again != text {
			t.Errorf("%q becomes %q", text, again)
		}
		if _, err := check(text + "\n\n"); err == nil { // the end of a comment, also of one that goes on in the next line
			parts, err := Parts("${" + text + "\n\n}")
			if want := []Part{{Src: text + "\n\n", Offset: 2, Expr: true}}; err != nil || !slices.Equal(parts, want) {
				t.Errorf("%q: %v, %v", text, parts, err)
			}
		}
	})
}

// FuzzRun: whatever a filter says, it ends with values or an error that is foreseen, and where
// its budget ends it holds no more memory than a small multiple of that.
func FuzzRun(f *testing.F) {
	for _, src := range sameAsGojq {
		f.Add(src, job)
	}
	for _, src := range hostile {
		f.Add(src, `[1,"a",{"b":null}]`)
	}
	idle := live()
	f.Fuzz(func(t *testing.T, src, input string) {
		v, err := expr.ParseJSON([]byte(input))
		if err != nil {
			return
		}
		const memory = 1 << 20
		filter, err := Compile(src, Budget{Steps: 50_000, Output: 1 << 20, Memory: memory})
		var syntax *expr.SyntaxError
		var limit *expr.LimitError
		if err != nil {
			if !errors.As(err, &syntax) && !errors.As(err, &limit) || syntax != nil && (syntax.Offset < 0 || syntax.Offset > len(src)) {
				t.Fatalf("%q: %#v", src, err)
			}
			return
		}
		m, err := newMachine(filter.src, filter.code, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.meter = filter.meter(theTime, nil)
		m.ended = func() {
			if held := live() - idle; held > 8*memory+64*len(input) {
				t.Errorf("%q holds %d KiB", src, held>>10)
			}
		}
		var results []expr.Value
		err = filter.run(m, v, func(text []byte) error {
			result, err := expr.ParseJSON(text)
			if err != nil {
				t.Errorf("%q gives %q: %v", src, text, err)
			}
			results = append(results, result)
			return nil
		})
		var failed *Error
		if err != nil && !errors.As(err, &failed) && !errors.As(err, &limit) {
			t.Errorf("%q: %#v", src, err)
		}
		if limit == nil {
			sameAsFilter(t, src, v, results, err)
		}
	})
}
