package graph

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Mermaid writes a flowchart: unlike Mermaid's state diagrams it knows dashed and
// dotted lines.
func Mermaid(w io.Writer, g *Graph) error {
	m := &mermaid{newScript(g)}
	title, err := json.Marshal(clean(g.Title())) // which is YAML as well
	if err != nil {
		return err
	}
	m.putf("---\ntitle: %s\n---\nflowchart TD\n", title)
	for _, i := range g.members("") {
		m.node(i, g.Nodes[i])
	}
	for k, group := range g.Groups {
		m.putf("  subgraph group_%d[\"%s\"]\n", k, mermaidText(clean(group)))
		for _, i := range g.members(group) {
			m.node(i, g.Nodes[i])
		}
		m.putf("  end\n")
	}
	for i, e := range g.Edges {
		m.edge(i, e)
	}
	if slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Compensation }) {
		m.putf("  classDef compensates stroke-dasharray: 5 3\n")
	}
	for i, n := range g.Nodes {
		if n.Compensation {
			m.putf("  class %s compensates\n", m.ids[i])
		}
	}
	_, err = w.Write(m.Bytes())
	return err
}

type mermaid struct{ script }

func (m *mermaid) node(i int, n Node) {
	if n.groups() {
		m.putf("  subgraph %s[\"%s\"]\n", m.ids[i], mermaidText(n.caption()))
		m.parts(m.ids[i], n.all(), "    ")
		m.putf("  end\n")
		return
	}
	lines := append([]string{clean(n.label())}, insideLines(n)...)
	for k := range lines {
		lines[k] = mermaidText(lines[k])
	}
	open, end := "(", ")"
	if n.Type == "switch" {
		open, end = "{", "}"
	}
	m.putf("  %s%s\"%s\"%s\n", m.ids[i], open, strings.Join(lines, "<br/>"), end)
}

// parts writes the inside of a state: one after the other with arrows, groups as
// frames of their own.
func (m *mermaid) parts(prefix string, parts []Part, indent string) {
	before := ""
	for _, p := range parts {
		id := m.partID(prefix)
		text := p.line()
		if p.group() && len(p.Parts) > 0 {
			m.putf("%ssubgraph %s[\"%s\"]\n", indent, id, mermaidText(text))
			if p.Kind == PartFan {
				for _, q := range p.Parts {
					m.parts(prefix, []Part{q}, indent+"  ")
				}
			} else {
				m.parts(prefix, p.Parts, indent+"  ")
			}
			m.putf("%send\n", indent)
		} else {
			m.putf("%s%s(\"%s\")\n", indent, id, mermaidText(text))
		}
		if before != "" {
			m.putf("%s%s --> %s\n", indent, before, id)
		}
		before = id
		if p.Last {
			before = ""
		}
	}
}

func (m *mermaid) edge(i int, e Edge) {
	from, to := m.ends(e, fmt.Sprintf("start_%d", i), fmt.Sprintf("end_%d", i))
	if e.From < 0 {
		m.putf("  %s(( ))\n", from)
	}
	if e.To < 0 {
		m.putf("  %s(((\" \")))\n", to)
	}
	arrow := "-->"
	if e.stroke() != "solid" {
		arrow = "-.->"
	}
	label := ""
	if lines := e.lines(mermaidText); len(lines) > 0 {
		label = "|\"" + strings.Join(lines, "<br/>") + "\"|"
	}
	m.putf("  %s %s%s %s\n", from, arrow, label, to)
}

// mermaidText writes whatever could mean something to Mermaid, to Markdown or to
// HTML as a character code. A text cannot be empty.
func mermaidText(text string) string {
	if text == "" {
		return " "
	}
	return harmless(text, func(r rune) string { return fmt.Sprintf("#%d;", r) })
}
