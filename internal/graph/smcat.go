package graph

import (
	"fmt"
	"io"
	"strings"
)

// Smcat writes the language of state-machine-cat. States with groups are state
// machines of their own.
func Smcat(w io.Writer, g *Graph) error {
	s := &smcat{newScript(g)}
	s.putf("# %s\n", clean(g.Title()))
	var states []string
	starts, ends := false, false
	for _, e := range g.Edges {
		starts, ends = starts || e.From < 0, ends || e.To < 0
	}
	if starts {
		states = append(states, "initial")
	}
	for i, n := range g.Nodes {
		states = append(states, s.state(i, n))
	}
	if ends {
		states = append(states, "final")
	}
	if len(states) > 0 {
		s.putf("%s;\n\n", strings.Join(states, ",\n"))
	}
	for _, e := range g.Edges {
		s.edge(e)
	}
	_, err := w.Write(s.Bytes())
	return err
}

type smcat struct{ script }

// smcatType says that a state is one like others: without it the language takes a name such
// as initialized or finalize for that of a pseudo-state.
const smcatType = " type=regular"

func (s *smcat) state(i int, n Node) string {
	look := smcatType
	if n.Type != "" {
		look += fmt.Sprintf(" class=\"%s\"", class(n.Type))
	}
	head := fmt.Sprintf("%s [label=%s%s]", s.ids[i], smcatText(clean(n.label())), look)
	if n.groups() {
		head = fmt.Sprintf("%s [label=%s%s]", s.ids[i], smcatText(n.caption()), look)
		return head + " {\n" + s.parts(s.ids[i], n.all(), "  ") + "}"
	}
	if lines := n.lines(); len(lines) > 0 {
		head += ": " + smcatText(strings.Join(lines, "\n"))
	}
	return head
}

func (s *smcat) parts(prefix string, parts []Part, indent string) string {
	var states, ways []string
	before := ""
	for _, p := range parts {
		id := s.partID(prefix)
		text := p.line()
		state := fmt.Sprintf("%s%s [label=%s%s]", indent, id, smcatText(text), smcatType)
		switch {
		case p.Kind == PartFan && len(p.Parts) > 0:
			var regions []string
			for _, q := range p.Parts {
				regions = append(regions, strings.TrimSuffix(s.parts(prefix, []Part{q}, indent+"  "), ";\n"))
			}
			state = fmt.Sprintf("%s%s [label=%s type=parallel] {\n%s;\n%s}", indent, id, smcatText(text), strings.Join(regions, ",\n"), indent)
		case p.group() && len(p.Parts) > 0:
			state += " {\n" + s.parts(prefix, p.Parts, indent+"  ") + indent + "}"
		}
		states = append(states, state)
		if before != "" {
			ways = append(ways, fmt.Sprintf("%s%s => %s;\n", indent, before, id))
		}
		before = id
		if p.Last {
			before = ""
		}
	}
	return strings.Join(states, ",\n") + ";\n" + strings.Join(ways, "")
}

func (s *smcat) edge(e Edge) {
	from, to := s.ends(e, "initial", "final")
	look := ""
	switch e.stroke() {
	case "dashed":
		look = ` [color="#b3261e" class="error"]`
	case "dotted":
		look = ` [color="#7a4fc4" class="compensate"]`
	}
	label := ""
	if lines := e.lines(clean); len(lines) > 0 {
		label = ": " + smcatText(strings.Join(lines, "\n"))
	}
	s.putf("%s => %s%s%s;\n", from, to, look, label)
}

// smcatText quotes a text. The language has an escape for quotes but none for
// backslashes, which would swallow the quote behind them.
func smcatText(text string) string {
	r := strings.NewReplacer(`\`, "\u2216", `"`, `\"`)
	return `"` + r.Replace(strings.ToValidUTF8(text, "\uFFFD")) + `"`
}
