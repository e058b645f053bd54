package graph_test

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/internal/graph"
)

var hostile = []string{
	`"`, `"]`, `"; drop`, `\`, `\"`, `a\`, `<script>alert(1)</script>`, `]]>`, `-->`, `--`, `a -- b`, "a\nb", "a\r\nb", "\x00\x01",
	`{{ $.x }}`, `[*]`, `end`, `subgraph`, `%%{init: {}}%%`, `#quot;`, `&amp;`, `&#34;`, `@enduml`, `!include x`, `'comment`, "`code`", `**b**`, `1. one`,
	`日本語の名前`, `😀`, `שלום`, "e\u0301", "\u202e", "\xff\xfe", ``, ` `, `a|b`, `a;b`, `<<x>>`, `$$x$$`, `<U+0022>`, `/* x */`, `// x`,
}

// everywhere is a graph with a text in every place that takes one.
func everywhere(text string) *graph.Graph {
	return &graph.Graph{
		ID: text, Name: text, Version: text,
		Nodes: []graph.Node{
			{Name: text, Type: text, Start: true, Notes: []string{text}, Parts: []graph.Part{
				{Kind: graph.PartCall, Text: text, Note: text},
				{Kind: graph.PartEach, Text: text, Note: text, Parts: []graph.Part{{Kind: graph.PartCall, Text: text}}},
			}},
			{Name: text + "2", Type: "switch", Compensation: true, Parts: []graph.Part{{Kind: graph.PartCall, Text: text}}},
		},
		Edges: []graph.Edge{
			{From: graph.Outside, To: 0, Kind: graph.Start, Labels: []string{text}},
			{From: 0, To: 1, Kind: graph.Error, Labels: []string{text, text}},
			{From: 1, To: 1, Kind: graph.Condition, Labels: []string{text}},
			{From: 1, To: graph.Outside, Kind: graph.Next},
		},
	}
}

var (
	quoted      = regexp.MustCompile(`"[^"]*"`)
	dotQuoted   = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	smcatQuoted = regexp.MustCompile(`"(\\"|[^"])*?[^\\]"|""`)
	plantText   = regexp.MustCompile(` : .*|(title) .*`)
	// What is left when texts are taken out: names, punctuation, keywords.
	structure = regexp.MustCompile(`^[-\w \t\n(){}\[\]<>|.,:;=#*@/+]*$`)
	// Nothing in a text of Mermaid and PlantUML means anything to them.
	mermaidText = regexp.MustCompile(`^([\p{L}\p{N}\p{M} ,]|[-_.:]|#\d+;|<br/>)*$`)
	plantLine   = regexp.MustCompile(`^([\p{L}\p{N}\p{M} ,]|[-_.:]|<U\+[0-9A-F]+>|\\n)*$`)
)

func checkEscapes(t *testing.T, text string) {
	g := everywhere(text)

	wellFormed(t, render(t, "svg", g), text)

	m := render(t, "mermaid", g)
	_, body, ok := strings.Cut(m, "\n---\n")
	if !ok || strings.Count(m, "\n---\n") != 1 {
		t.Fatalf("%q breaks the front matter of Mermaid:\n%s", text, m)
	}
	for _, q := range quoted.FindAllString(body, -1) {
		if !mermaidText.MatchString(strings.Trim(q, `"`)) {
			t.Errorf("%q: Mermaid may understand %s", text, q)
		}
	}
	sameStructure(t, "mermaid", text, quoted.ReplaceAllString(body, "T"), func(plain string) string {
		_, b, _ := strings.Cut(plain, "\n---\n")
		return quoted.ReplaceAllString(b, "T")
	})

	strip := func(s string) string { return plantText.ReplaceAllString(quoted.ReplaceAllString(s, "T"), "$1 T") }
	p := render(t, "puml", g)
	for _, found := range append(quoted.FindAllString(p, -1), plantText.FindAllString(p, -1)...) {
		words := strings.TrimPrefix(strings.TrimPrefix(strings.Trim(found, `"`), "title "), " : ")
		if !plantLine.MatchString(words) {
			t.Errorf("%q: PlantUML may understand %s", text, found)
		}
	}
	sameStructure(t, "puml", text, strip(p), strip)

	strip = func(s string) string { return dotQuoted.ReplaceAllString(s, "T") }
	sameStructure(t, "dot", text, strip(render(t, "dot", g)), strip)

	strip = func(s string) string {
		_, s, _ = strings.Cut(s, "\n") // the comment
		return smcatQuoted.ReplaceAllString(s, "T")
	}
	sameStructure(t, "smcat", text, strip(render(t, "smcat", g)), strip)
}

var typeWord = regexp.MustCompile(`<<[-\w]*>>| ?class="[^"]*"`)

// sameStructure: without its texts, a rendering does not depend on them.
func sameStructure(t *testing.T, format, text, got string, strip func(string) string) {
	t.Helper()
	if !structure.MatchString(got) {
		t.Errorf("%q leaks into %s:\n%s", text, format, got)
	}
	tidy := regexp.MustCompile(`s_\w*`)
	lines := func(s string) int {
		return strings.Count(tidy.ReplaceAllString(typeWord.ReplaceAllString(s, ""), "S"), "\n")
	}
	if want := strip(render(t, format, everywhere("plain"))); clean(text) && lines(got) != lines(want) {
		t.Errorf("%q changes the lines of %s:\n%s\nwant\n%s", text, format, got, want)
	}
}

// clean: texts that consist of nothing leave out lines, rightly.
func clean(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r > ' ' && r != 0x7f && r != utf8.RuneError && (r < 0x80 || r > 0xa0) && r != 0x1680 && (r < 0x2000 || r > 0x206f) && r != 0x3000
	})
}

// wellFormed: the SVG is XML, has no script and keeps the names.
func wellFormed(t *testing.T, svg, text string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	var names []string
	ids := map[string]bool{}
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%q: not XML: %v\n%s", text, err, svg)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "svg", "g", "title", "desc", "style", "rect", "path", "circle", "text", "tspan":
		default:
			t.Errorf("%q: an element %s", text, start.Name.Local)
		}
		for _, a := range start.Attr {
			switch {
			case a.Name.Local == "data-state":
				names = append(names, a.Value)
			case a.Name.Local == "id" && ids[a.Value]:
				t.Errorf("%q: the id %q twice", text, a.Value)
			case a.Name.Local == "id":
				ids[a.Value] = true
			case strings.HasPrefix(a.Name.Local, "on"), a.Name.Local == "href":
				t.Errorf("%q: an attribute %s", text, a.Name.Local)
			}
		}
	}
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0xFFFE || r == 0xFFFF }) &&
		(len(names) != 2 || names[0] != text) {
		t.Errorf("the states %q, want %q", names, text)
	}
}

// Mermaid 12 and PlantUML refuse empty texts; DOT and state-machine-cat do not.
func TestNoTextIsEmpty(t *testing.T) {
	empty := regexp.MustCompile(`""|\|" *"\||: *\n|: *\\n|title *\n`)
	for _, text := range []string{"", " ", "\x00\x01"} {
		for _, format := range []string{"mermaid", "puml"} {
			out := render(t, format, everywhere(text))
			if format == "mermaid" {
				_, out, _ = strings.Cut(out, "\n---\n")
			}
			if found := empty.FindString(out); found != "" {
				t.Errorf("%q: %s has %q in\n%s", text, format, found, out)
			}
		}
	}
}

func TestHostileTexts(t *testing.T) {
	for _, text := range hostile {
		checkEscapes(t, text)
		check(t, graph.Layout(everywhere(text)))
	}
}

func FuzzTexts(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 500 {
			return
		}
		checkEscapes(t, text)
	})
}
