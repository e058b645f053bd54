package format_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writer generates documents as people might write them: any indentation, any
// style of scalars, comments and empty lines wherever they may stand.
type writer struct {
	*rapid.T
	out      strings.Builder
	comments int
	anchors  int
	ready    []int // anchors whose values are complete
}

func (w *writer) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(w.T, "chance") <= percent
}

func (w *writer) pick(words ...string) string { return rapid.SampledFrom(words).Draw(w.T, "word") }

func (w *writer) comment() string {
	w.comments++
	return fmt.Sprintf("# c%03d: 'x' {y", w.comments)
}

// pause writes comments and empty lines before an entry at a column.
func (w *writer) pause(column int) {
	for w.chance(15) {
		if w.chance(40) {
			w.out.WriteString("\n")
			continue
		}
		at := column
		if w.chance(20) {
			at += rapid.IntRange(0, 4).Draw(w.T, "more")
		}
		w.out.WriteString(strings.Repeat(" ", at) + w.comment() + "\n")
	}
}

func (w *writer) endLine() {
	if w.chance(15) {
		w.out.WriteString(strings.Repeat(" ", rapid.IntRange(1, 3).Draw(w.T, "blanks")) + w.comment())
	}
	w.out.WriteString("\n")
}

var texts = []string{
	"a", "1", "1.10", "true", "on", "null", "~", "2026-01-01", "PT5S", "12:30", "'quoted'", `'it''s'`, `"double"`, `"a\tb"`, `"{{ $.a }}"`,
	`'{{ $["a"] }}'`, "text {{ $.b }} text", "$.path", "é ✓ 漢字", "with spaces  inside", "a#b", "http://x.y/z#GET", `"#"`, "'- x'", "'a: b'", `""`, "''",
	"0x1F", "1e3", "-5", "'*'", "[]", "{}", "[1, 'a', {b: c}]", "{b: 1, 'a': [x, \"{{ $ }}\"], c: }", "!!str 5",
}

func (w *writer) scalar(column int) {
	inside := strings.Repeat(" ", column+rapid.IntRange(1, 4).Draw(w.T, "indent"))
	switch rapid.IntRange(0, 9).Draw(w.T, "style") {
	case 0:
		header := w.pick("|", ">", "|-", ">-", "|+")
		w.out.WriteString(header + "\n" + inside + "first\n\n" + inside + "  more\n" + inside + "# no comment\n")
	case 1:
		w.out.WriteString("plain text\n" + inside + "goes on")
		w.endLine()
	case 2:
		w.out.WriteString("\"double \\\n" + inside + "  goes\n\n" + inside + "on\"")
		w.endLine()
	case 3:
		w.out.WriteString("[a,\n" + inside + "'b', " + "\n" + inside + "{c: 1}]")
		w.endLine()
	default:
		w.out.WriteString(rapid.SampledFrom(texts).Draw(w.T, "text"))
		w.endLine()
	}
}

var keys = []string{"id", "name", "states", "type", "kind", "end", "start", "data", "transition", "x", "'quoted'", `"a b"`, "200", "on", "é"}

// value writes what follows a key or dash that stands at a column.
func (w *writer) value(column, depth int, item bool) {
	if w.chance(5) {
		w.anchors++
		name := w.anchors
		defer func() { w.ready = append(w.ready, name) }()
		fmt.Fprintf(&w.out, " &a%d", name)
		if w.chance(50) || depth == 0 {
			w.out.WriteString(" anchored")
			w.endLine()
			return
		}
		w.endLine()
		w.container(column+2, depth-1)
		return
	}
	switch {
	case depth == 0 || w.chance(40):
		if len(w.ready) > 0 && w.chance(10) {
			fmt.Fprintf(&w.out, " *a%d", rapid.SampledFrom(w.ready).Draw(w.T, "anchor"))
			w.endLine()
			return
		}
		if w.chance(5) {
			w.endLine() // nothing
			return
		}
		w.out.WriteString(w.pick(" ", "  "))
		w.scalar(column)
	case item && w.chance(70):
		blanks := rapid.IntRange(1, 3).Draw(w.T, "blanks")
		w.out.WriteString(strings.Repeat(" ", blanks))
		w.mapping(column+1+blanks, depth-1, true)
	case !item && w.chance(20):
		w.endLine()
		w.sequence(column, depth-1) // not indented
	default:
		w.endLine()
		w.container(column+rapid.IntRange(1, 4).Draw(w.T, "indent"), depth-1)
	}
}

func (w *writer) container(column, depth int) {
	if w.chance(50) {
		w.sequence(column, depth)
	} else {
		w.mapping(column, depth, false)
	}
}

func (w *writer) mapping(column, depth int, begun bool) {
	chosen := rapid.Permutation(keys).Draw(w.T, "keys")
	for i, key := range chosen[:rapid.IntRange(1, 4).Draw(w.T, "members")] {
		if !begun || i > 0 {
			w.pause(column)
			w.out.WriteString(strings.Repeat(" ", column))
		}
		w.out.WriteString(key + ":")
		w.value(column, depth, false)
	}
}

func (w *writer) sequence(column, depth int) {
	for range rapid.IntRange(1, 3).Draw(w.T, "items") {
		w.pause(column)
		w.out.WriteString(strings.Repeat(" ", column) + "-")
		w.value(column, depth, true)
	}
}

// Whatever a document looks like: formatted twice is formatted once, no value
// changes, and every comment is still there.
func TestGeneratedDocuments(t *testing.T) {
	definitions, _ := orders(t)
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{T: t}
		w.mapping(0, 4, false)
		w.pause(0)
		src := w.out.String()
		out := keepsEverything(t, "generated.yaml", []byte(src), definitions)
		for i := range w.comments {
			if n := strings.Count(string(out), fmt.Sprintf("# c%03d:", i+1)); n != 1 {
				t.Fatalf("comment %d is there %d times:\n%s\nfrom:\n%s", i+1, n, out, src)
			}
		}
		for line := range strings.Lines(string(out)) {
			if slices.Contains([]string{" \n", "\t\n"}, line) {
				t.Fatalf("a line of blanks:\n%s", out)
			}
		}
	})
}
