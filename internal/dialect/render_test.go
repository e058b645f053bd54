package dialect

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	for _, c := range []struct {
		name, src    string
		line         int
		column, stop int
		want         string
	}{
		{"plain", "a: 1\n  type: operaton\n", 2, 9, 17, "    2 |   type: operaton\n      |         ^^^^^^^^\n"},
		{"tabs", "{\n\t\"a\":\tx\n", 2, 7, 8, "    2 |     \"a\":    x\n      |             ^\n"},
		{"over a tab", "a\tb\n", 1, 1, 4, "    1 | a   b\n      | ^^^^^\n"},
		{"no extent", "abc\n", 1, 2, 0, "    1 | abc\n      |  ^\n"},
		{"wide", "日本: e\u0301x\n", 1, 5, 8, "    1 | 日本: e\u0301x\n      |       ^^\n"},
		{"behind the end", "abc\r\n", 1, 4, 0, "    1 | abc\n      |    ^\n"},
		{"terminal escapes", "a: \x1b[31m\u202eb\n", 1, 4, 5, "    1 | a: ·[31m·b\n      |    ^\n"},
		{
			"long", strings.Repeat("a", 200) + "X" + strings.Repeat("b", 200), 1, 201, 202,
			"    1 | … " + strings.Repeat("a", 60) + "X" + strings.Repeat("b", 39) + " …\n      |   " + strings.Repeat(" ", 60) + "^\n",
		},
		{"long at its end", strings.Repeat("a", 300), 1, 301, 0, "    1 | … " + strings.Repeat("a", 60) + "\n      |   " + strings.Repeat(" ", 60) + "^\n"},
		{"outside", "abc\n", 9, 1, 2, ""},
		{"whole file", "abc\n", 0, 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, _ := Read("f", []byte(c.src))
			d := Diagnostic{File: "f", Line: c.line, Column: c.column, EndColumn: c.stop, Severity: Error, Code: "X", Message: "m"}
			var b strings.Builder
			if err := Render(&b, doc, d); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimPrefix(b.String(), d.String()+"\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			d.File = "other"
			b.Reset()
			if _ = Render(&b, doc, d); b.String() != d.String()+"\n" {
				t.Error("a snippet of another file")
			}
			b.Reset()
			if _ = Render(&b, nil, d); b.String() != d.String()+"\n" {
				t.Error("a snippet of no file")
			}
		})
	}
}

func TestRenderColor(t *testing.T) {
	doc := mustRead(t, "a error b.yaml", "type: operaton\n")
	d := Diagnostic{File: "a error b.yaml", Line: 1, Column: 7, EndColumn: 15, Severity: Error, Code: "SW104", Message: "unknown"}
	var plain, colored strings.Builder
	if err := errors.Join(Render(&plain, doc, d), RenderColor(&colored, doc, d)); err != nil {
		t.Fatal(err)
	}
	want := "a error b.yaml:1:7 \x1b[31merror\x1b[0m SW104 unknown\n    1 | type: operaton\n      |       \x1b[31m^^^^^^^^\x1b[0m\n"
	if got := colored.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(colored.String()); got != plain.String() {
		t.Errorf("without the colours it is %q, not %q", got, plain.String())
	}
}

// In minified JSON every diagnostic is about one line. What a snippet looks at must not
// grow with it: thousands of mistakes once took minutes.
func TestSnippetsOfOneLongLine(t *testing.T) {
	text := `{"a": "` + strings.Repeat("ä", 1<<20) + `"}`
	doc := mustRead(t, "f", text)
	for _, column := range []int{1, 50, 1 << 19, 1 << 20} {
		d := Diagnostic{File: "f", Line: 1, Column: column, EndColumn: column + 1, Severity: Error, Code: "X", Message: "m"}
		const times = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			_ = Render(io.Discard, doc, d)
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 64<<10 {
			t.Errorf("column %d: %d bytes for one snippet", column, each)
		}
	}
}

// A name that turns the direction of writing must not turn the message.
func TestMessagesAreShownPlain(t *testing.T) {
	var b strings.Builder
	if err := Render(&b, nil, Diagnostic{File: "f", Line: 1, Column: 1, EndColumn: 2, Severity: Error, Code: "X", Message: "no \u202ename\x1b[31m"}); err != nil {
		t.Fatal(err)
	}
	if want := "f:1:1 error X no ·name·[31m\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
