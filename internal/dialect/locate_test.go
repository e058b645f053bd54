package dialect

import (
	"strings"
	"testing"
)

// TestColumnIn points at the X of each text.
func TestColumnIn(t *testing.T) {
	for _, c := range []struct {
		src          string
		line, column int
	}{
		{"a: plain X", 1, 10},
		{"é: ünX", 1, 6},
		{"a: 'it''s X'", 1, 11},
		{`a: "tab\t\"\x41\u00e9\U0001F600\_\L X"`, 1, 37},
		{"a: one\n  two X three\n", 2, 7},
		{"a: one\n\n\n  two X\n", 4, 7},
		{"a: 'one  \n\n  two X'\n", 3, 7},
		{"a: \"one \\\n   two X\"\n", 2, 8},
		{"a: \"one \\\r\n\r\n   two X\"\n", 3, 8},
		{"a: \"one\\\n   X\"\n", 2, 4},
		{"a: !!str &b plain X", 1, 19},
		{"a: 'one \u0085 \u0085two \u2028 \u2028 X'", 1, 20},
		{"a: |\n  one\n  two X\n", 3, 7},
		{"a: |-\r\n  one\r\n\r\n    two X\r\n", 4, 9},
		{"a: |2\n    X\n", 2, 5},
		{"a: >\n  one\n  two X\n\n  three\n", 3, 7},
		{"a: >-\n  one\n\n   X y\n  z\n", 4, 4},
		{`{"a": "plain X"}`, 1, 14},
		{"{\n\t\"a\":\t\"\\u00e9\\ud83d\\ude00\\n\\\"X\"}", 2, 30},
		{`{"a": "日本X"}`, 1, 10},
	} {
		n := mustRead(t, "f", c.src).Root.Members[0]
		at := strings.Index(n.Text, "X")
		if at < 0 {
			t.Fatalf("no X in %q", n.Text)
		}
		if got := n.ColumnIn(at); got.Line != c.line || got.Column != c.column {
			t.Errorf("%q: X is at %d:%d, want %d:%d", c.src, got.Line, got.Column, c.line, c.column)
		}
		if got := n.SpanIn(at, at+1); got.EndColumn != c.column+1 {
			t.Errorf("%q: X ends at %d, want %d", c.src, got.EndColumn, c.column+1)
		}
	}
}

func TestColumnInOutside(t *testing.T) {
	for src, want := range map[string]int{"a: text": 8, "a: 'text'": 9, `{"a": "text"}`: 12, "a: 1234": 8, "a:": 3, `["a"]`: 2} {
		root := mustRead(t, "f", src).Root
		n := root
		if len(root.Members) > 0 {
			n = root.Members[0]
		}
		if got := n.ColumnIn(99); got.Line != 1 || got.Column != want {
			t.Errorf("%q: the end is at %v, want column %d", src, got, want)
		}
		if got, begin := n.ColumnIn(-1), n.Pos(); got.Column < begin.Column || got.Column > begin.Column+1 {
			t.Errorf("%q: the beginning is at %v", src, got)
		}
	}
}
