package dialect

import (
	"fmt"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	small := Limits{Bytes: 200, Depth: 5, Nodes: 20, Digits: 10}
	deep := func(n int, open, end string) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	for _, c := range []struct{ name, limit, good, bad string }{
		{"bytes", "document-bytes", "a: " + strings.Repeat("x", 197), "a: " + strings.Repeat("x", 198)},
		{"json depth", "document-depth", deep(5, "[", "]"), deep(6, "[", "]")},
		{"json object depth", "document-depth", `{"a":{"a":{"a":{"a":{"a":1}}}}}`, `{"a":{"a":{"a":{"a":{"a":{}}}}}}`},
		{"yaml flow depth", "document-depth", "a: " + deep(4, "[", "]"), "a: " + deep(5, "[", "]")},
		{"yaml block depth", "document-depth", "- - - - -", "- - - - - -"},
		{"yaml mixed depth", "document-depth", "a:\n b:\n  c: [[]]", "a:\n b:\n  c: [[[]]]"},
		{"yaml depth through aliases", "document-depth", "a: &a [[]]\nb: [[*a]]", "a: &a [[]]\nb: [[[*a]]]"},
		{"json nodes", "document-nodes", "[" + strings.Repeat("1,", 18) + "1]", "[" + strings.Repeat("1,", 19) + "1]"},
		{"yaml nodes", "document-nodes", strings.Repeat("- x\n", 19), strings.Repeat("- x\n", 20)},
		{"yaml nodes found before parsing", "document-nodes", "a: [1,2]", "a: [" + strings.Repeat("1,", 45) + "]"},
		{
			"aliases", "document-nodes", "a: &a [1,2,3]\nb: [*a,*a,*a]",
			"a: &a [1,2,3]\nb: [*a,*a,*a,*a,*a]",
		},
		{"merges", "document-nodes", "a: &a {x: 1, y: 2, z: 3}\nb: {<<: [*a]}", "a: &a {x: 1, y: 2, z: 3}\nb: {<<: [*a,*a,*a,*a]}"},
		{"json digits", "document-digits", "[1234567890]", "[12345678901]"},
		{"yaml digits", "document-digits", "a: 1234567890", "a: 12345678901"},
		{"yaml hexadecimal digits", "document-digits", "a: 0x12345678", "a: 0x123456789ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if doc, ds := small.Read("f", []byte(c.good)); len(ds) > 0 || doc.Root == nil {
				t.Errorf("%q is refused: %v", c.good, ds)
			}
			doc, ds := small.Read("f", []byte(c.bad))
			if len(ds) != 1 || ds[0].Code != CodeLimit || !strings.Contains(ds[0].Message, "limit "+c.limit) || doc.Root != nil {
				t.Errorf("%q: %v", c.bad, ds)
			}
		})
	}
}

// The library is stopped while it parses, not after: these documents are not
// well-formed, and still it is the limit that is reported.
func TestLimitsHoldWhileParsing(t *testing.T) {
	for src, limit := range map[string]string{
		"a: " + strings.Repeat("[", 200):                 "document-depth",
		strings.Repeat("- ", 200) + "\"":                 "document-depth",
		"a: [" + strings.Repeat("1,", 500_000):           "document-nodes",
		"a: " + strings.Repeat("&a ", 500_000):           "document-nodes",
		"a: " + strings.Repeat("\"\"", 500_000):          "document-nodes",
		strings.Repeat("- ? a: b\n", 200_000) + "\"open": "document-nodes",
	} {
		_, ds := Read("f", []byte(src))
		if len(ds) != 1 || ds[0].Code != CodeLimit || !strings.Contains(ds[0].Message, limit) {
			t.Errorf("%.20q: %v", src, ds)
		}
	}
}

func TestAliasBombs(t *testing.T) {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	merges := "a0: &a0 {k: 1}\n"
	for i := 1; i <= 30; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9))
		merges += fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d, *a%d]}\n", i, i, i-1, i-1, i-1)
	}
	for _, src := range []string{laughs, merges, "a: &a [&b [*a, *b], *a]\n"} {
		doc, ds := Read("f", []byte(src))
		if !ds.HasErrors() {
			t.Errorf("%.20q is read", src)
		}
		if ds[0].Code == CodeLimit && doc.Root != nil {
			t.Error("a tree beyond a limit")
		}
		t.Logf("%d bytes: %v", len(src), ds[0].Message)
	}
}

// What is cheap to write must be cheap to refuse: what is quadratic here does not end
// before the time that tests have.
func TestHostileDocumentsEndSoon(t *testing.T) {
	for _, piece := range []string{
		"[", "{", "- ", "? ", "a: ", "&a ", "! ", "*a ", "\"", "'", "\"\"", "[1,", "{\"a\":", "{a: ", "[a: ", "#\n", "- #\n", "a:\n", "-\n", "|\n",
		"--- \n", "x", ",", "\t", "\\", "//\n", "/*", "...", "é", "\r", "- - - -\n", "0", "{{", "a: |\n ", "\u2028",
	} {
		src := strings.Repeat(piece, (1<<18)/len(piece))
		for _, head := range []string{"", "a: [", "{\"a\": [", "[\""} {
			Read("f", []byte(head+src))
		}
	}
	// Long white space inside of text.
	doc := mustRead(t, "f", "a: b"+strings.Repeat(" ", 1<<20)+"X")
	if n := doc.Root.Get("a"); n.ColumnIn(1<<20).Column != 4+1<<20 || n.Span().EndColumn != 6+1<<20 {
		t.Error(n.Span())
	}
	// Many nodes on one long line, each asked for its place.
	doc = mustRead(t, "f", "["+strings.Repeat(`"é",`, 150_000)+"1]")
	for _, n := range doc.Root.Items {
		n.Span()
	}
}
