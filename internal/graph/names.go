package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// identifiers gives every state a name that is safe in every language that is
// written here: s_ and the letters and digits of its own.
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

// harmless rewrites a text so that no character in it means anything: letters,
// digits and single spaces stay, also a mark between two of them; everything else
// goes through escape.
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

// lines are an edge's labels in another language, without those that say nothing.
func (e Edge) lines(escape func(string) string) []string {
	var out []string
	for _, l := range e.Labels {
		if l = clean(l); l != "" {
			out = append(out, escape(l))
		}
	}
	return out
}

// insideLines are the parts of a state, one a line, groups indented.
func insideLines(n Node) []string {
	var out []string
	var walk func(parts []Part, depth int)
	walk = func(parts []Part, depth int) {
		for _, p := range parts {
			text := clean(p.Text)
			if p.Note != "" {
				text = strings.TrimSpace(text + " (" + clean(p.Note) + ")")
			}
			if text != "" {
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

// groups reports whether a state is drawn around its parts.
func (n Node) groups() bool {
	for _, p := range n.Parts {
		if p.group() {
			return true
		}
	}
	return false
}

// caption is the title of a state that is drawn around its parts.
func (n Node) caption() string {
	text := clean(n.Name)
	if len(n.Notes) > 0 {
		text += " (" + clean(strings.Join(n.Notes, ", ")) + ")"
	}
	return text
}
