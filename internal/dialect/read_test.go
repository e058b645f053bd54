package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// mustRead reads a document that has nothing wrong with it.
func mustRead(t *testing.T, file, src string) *Document {
	t.Helper()
	doc, ds := Read(file, []byte(src))
	if len(ds) > 0 {
		t.Fatalf("Read(%q):\n%v", src, ds)
	}
	return doc
}

// places lists every value with its key's and its own place.
func places(n *Node) []string {
	var out []string
	var walk func(n *Node, path string)
	walk = func(n *Node, path string) {
		line := fmt.Sprintf("%s %d:%d", path, n.Pos().Line, n.Pos().Column)
		if n.Key != nil {
			line += fmt.Sprintf(" key %d:%d-%d", n.KeySpan().Line, n.KeySpan().Column, n.KeySpan().EndColumn)
		}
		if n.Kind != expr.KindArray && n.Kind != expr.KindObject {
			line += fmt.Sprintf("-%d %s", n.Span().EndColumn, n.Value())
		}
		out = append(out, line)
		for _, m := range n.Members {
			walk(m, path+"."+m.Name())
		}
		for i, item := range n.Items {
			walk(item, fmt.Sprintf("%s[%d]", path, i))
		}
	}
	walk(n, "$")
	return out
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"json", `{"a": [1, "é", true], "b": {"c": null}}`, `
			$ 1:1
			$.a 1:7 key 1:2-5
			$.a[0] 1:8-9 1
			$.a[1] 1:11-14 "é"
			$.a[2] 1:16-20 true
			$.b 1:28 key 1:23-26
			$.b.c 1:34 key 1:29-32-38 null`},
		{"json with tabs, CRLF and a byte order mark", "\ufeff{\r\n\t\"a\":\t1,\r\n\t\t\"b\\u00e9\": \"😀\", \"c\": -1.50e2\r\n}", `
			$ 1:1
			$.a 2:7 key 2:2-5-8 1
			$.bé 3:14 key 3:3-12-17 "😀"
			$.c 3:24 key 3:19-22-31 -1.50e2`},
		{"yaml", "# head\na: x\nlist:\n  - 1\n  - {b: 'two', \"c\": \"3\"}\nnone:\nlast: |\n  text\n", `
			$ 2:1
			$.a 2:4 key 2:1-2-5 "x"
			$.list 4:3 key 3:1-5
			$.list[0] 4:5-6 1
			$.list[1] 5:5
			$.list[1].b 5:9 key 5:6-7-14 "two"
			$.list[1].c 5:21 key 5:16-19-24 "3"
			$.none 6:6 key 6:1-5-0 null
			$.last 7:7 key 7:1-5-8 "text\n"`},
		{"yaml with CRLF, wide characters and a byte order mark", "\ufeffé: ü\r\n日本: [😀, x]\r\n\"k\": y\r\n", `
			$ 1:1
			$.é 1:4 key 1:1-2-5 "ü"
			$.日本 2:5 key 2:1-3
			$.日本[0] 2:6-7 "😀"
			$.日本[1] 2:9-10 "x"
			$.k 3:6 key 3:1-4-7 "y"`},
		{"yaml anchors and tags stand before the place", "a: &x !!str 12 # c\nb: !!map &y # c\n  c: *x\nd: *y\n", `
			$ 1:1
			$.a 1:13 key 1:1-2-15 "12"
			$.b 3:3 key 2:1-2
			$.b.c 1:13 key 3:3-4-15 "12"
			$.d 3:3 key 4:1-2
			$.d.c 1:13 key 3:3-4-15 "12"`},
		{"yaml line separators do not count as lines", "a: \"x\u2028y\"\nc: d\n", `
			$ 1:1
			$.a 1:4 key 1:1-2-9 ` + expr.String("x\u2028y").String() + `
			$.c 2:4 key 2:1-2-5 "d"`},
		{"text over several lines ends with its first", "a: one\n  two\nb: \"one\n  two\"\n", `
			$ 1:1
			$.a 1:4 key 1:1-2-7 "one two"
			$.b 3:4 key 3:1-2-8 "one two"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := mustRead(t, "f", c.src)
			want := strings.Split(strings.ReplaceAll(strings.TrimSpace(c.want), "\t", ""), "\n")
			if got := places(doc.Root); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		file, src string
		want      Format
	}{
		{"a.yaml", "a: 1", YAML},
		{"a.yaml", " \n\t{\"a\": 1}", JSON},
		{"a", "\ufeff[1]", JSON},
		{"a.JSON", "a: 1", JSON},
		{"a", "// comment\n{}", JSON},
		{"a", "/x", YAML},
		{"", "", YAML},
	} {
		if doc, _ := Read(c.file, []byte(c.src)); doc.Format != c.want {
			t.Errorf("%s %q is read as %s", c.file, c.src, doc.Format)
		}
	}
}

func TestLongLinePlaces(t *testing.T) {
	// Longer than the stride of the line index, with characters of several bytes.
	src := "\n" + `{"a": "` + strings.Repeat("é", 5000) + `", "b": 1}`
	doc := mustRead(t, "f.json", src)
	if got, want := doc.Root.Get("b").Pos(), (Pos{"f.json", 2, 5000 + 16}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := doc.Root.Get("a").ColumnIn(2 * 4000).Column; got != 8+4000 {
		t.Errorf("ColumnIn: %d", got)
	}
}

func TestLine(t *testing.T) {
	doc := mustRead(t, "f", "\ufeffa: 1\r\nb: 2\rc: é\n")
	for n, want := range []string{"", "a: 1", "b: 2", "c: é", "", ""} {
		if got := doc.Line(n); got != want {
			t.Errorf("Line(%d) = %q, want %q", n, got, want)
		}
	}
	if doc.Lines() != 4 {
		t.Errorf("Lines() = %d", doc.Lines())
	}
}

func TestNodeAccess(t *testing.T) {
	var src strings.Builder
	src.WriteString("list: [a, {b: 7}]\nyes: true\nn: 1.0\nbig: 12345678901234567890\nhex: 0x1F\nq: 'it''s'\n")
	for i := range 20 { // enough keys for the index
		fmt.Fprintf(&src, "k%d: %d\n", i, i)
	}
	root := mustRead(t, "f", src.String()).Root
	if v, ok := root.Lookup("list", "1", "b").Int(); !ok || v != 7 {
		t.Errorf("Lookup: %v %v", v, ok)
	}
	if root.Lookup("list", "2") != nil || root.Lookup("list", "x") != nil || root.Lookup("no", "a") != nil || root.Lookup("n", "a") != nil {
		t.Error("Lookup finds what is not there")
	}
	if v, ok := root.Get("yes").Bool(); !v || !ok {
		t.Error("Bool")
	}
	if _, ok := root.Get("yes").Str(); ok {
		t.Error("a boolean is no string")
	}
	if v, ok := root.Get("n").Int(); v != 1 || !ok {
		t.Error("Int of 1.0")
	}
	if _, ok := root.Get("big").Int(); ok || root.Get("big").Text != "12345678901234567890" {
		t.Error("big")
	}
	if v, ok := root.Get("k19").Int(); v != 19 || !ok {
		t.Error("indexed key")
	}
	if n := root.Get("hex"); n.Text != "31" || n.Raw() != "0x1F" || n.Name() != "hex" {
		t.Errorf("hex: %q %q", n.Text, n.Raw())
	}
	if n := root.Get("q"); n.Text != "it's" || n.Raw() != "'it''s'" {
		t.Errorf("quoted: %q %q", n.Text, n.Raw())
	}

	var none *Node
	if none.Get("a") != nil || none.Lookup("a") != nil || none.Is(expr.KindNull) || !none.IsNull() || none.Name() != "" ||
		none.Raw() != "" || none.File() != "" || !none.Value().IsNull() || none.Pos() != (Pos{}) ||
		none.Span() != (Span{}) || none.KeySpan() != (Span{}) || none.ColumnIn(3) != (Pos{}) || none.SpanIn(1, 2) != (Span{}) {
		t.Error("a nil node is a value that is not there")
	}
}
