package graph

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// script is a graph that is being written in the language of another program.
type script struct {
	bytes.Buffer
	g   *Graph
	ids []string // by node
	in  int      // number of parts that have an identifier
}

func newScript(g *Graph) script { return script{g: g, ids: g.identifiers()} }

func (s *script) putf(format string, args ...any) { fmt.Fprintf(&s.Buffer, format, args...) }

// partID is the identifier of the next part of a state.
func (s *script) partID(state string) string {
	s.in++
	return fmt.Sprintf("%s__%d", state, s.in)
}

// ends returns the identifiers of the states that an edge connects; start and end are the
// identifiers for the outside.
func (s *script) ends(e Edge, start, end string) (from, to string) {
	from, to = start, end
	if e.From >= 0 {
		from = s.ids[e.From]
	}
	if e.To >= 0 {
		to = s.ids[e.To]
	}
	return from, to
}

// identifiers gives every state an identifier that is valid in all output languages: s_ and the
// letters and digits of its name.
func (g *Graph) identifiers() []string {
	out := make([]string, len(g.Nodes))
	taken := map[string]bool{}
	for i, n := range g.Nodes {
		id := "s_" + strings.Trim(strings.Map(func(r rune) rune {
			if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				return r
			}
			return '_'
		}, n.Name), "_")
		for unique, k := id, 2; ; k++ {
			if !taken[unique] {
				id = unique
				break
			}
			unique = fmt.Sprintf("%s_%d", id, k)
		}
		taken[id] = true
		out[i] = id
	}
	return out
}

// harmless escapes a text so that no character in it has a special meaning: letters, digits, spaces
// and commas stay, and -_.: between two letters or digits; everything else is escaped.
func harmless(text string, escape func(rune) string) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	plain := func(i int) bool {
		if i < 0 || i >= len(runes) {
			return false
		}
		r := runes[i]
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
	}
	var b strings.Builder
	for i, r := range runes {
		switch {
		case plain(i), r == ' ', r == ',',
			strings.ContainsRune("-_.:", r) && plain(i-1) && plain(i+1):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

// lines returns an edge's labels in another language, without empty ones.
func (e Edge) lines(escape func(string) string) []string {
	var out []string
	for _, l := range e.Labels {
		l = clean(l)
		if l != "" {
			out = append(out, escape(l))
		}
	}
	return out
}

// line is the text of a part, without the parts inside it.
func (p Part) line() string {
	text := clean(p.Text)
	if p.Note != "" {
		text = strings.TrimSpace(text + " (" + clean(p.Note) + ")")
	}
	return text
}

// insideLines returns the parts of a state with those of its areas, one per line, groups indented.
func insideLines(n Node) []string {
	n.Parts, n.Areas = n.all(), nil
	return n.words()
}

// words are the parts and the notes of a state, one per line, groups indented.
func (n Node) words() []string {
	var out []string
	var walk func(parts []Part, depth int)
	walk = func(parts []Part, depth int) {
		for _, p := range parts {
			if text := p.line(); text != "" {
				out = append(out, strings.Repeat("  ", depth)+text)
			}
			walk(p.Parts, depth+1)
		}
	}
	walk(n.Parts, 0)
	for _, note := range n.Notes {
		out = append(out, clean(note))
	}
	return out
}

// lines returns the group of a state and its parts, for languages without frames around states.
func (n Node) lines() []string {
	if n.Group == "" {
		return insideLines(n)
	}
	return append([]string{"group " + clean(n.Group)}, insideLines(n)...)
}

// groups reports whether a state is drawn around its parts.
func (n Node) groups() bool {
	for _, p := range n.all() {
		if p.group() {
			return true
		}
	}
	return false
}

// caption is the title of a state that is drawn around its parts.
func (n Node) caption() string {
	text := clean(n.label())
	if len(n.Notes) > 0 {
		text += " (" + clean(strings.Join(n.Notes, ", ")) + ")"
	}
	return text
}
