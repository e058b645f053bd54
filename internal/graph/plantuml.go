package graph

import (
	"fmt"
	"io"
	"strings"
)

// PlantUML writes a state diagram; states with groups are composite states.
func PlantUML(w io.Writer, g *Graph) error {
	p := &plantUML{newScript(g)}
	p.putf("@startuml\n")
	if title := clean(g.Title()); title != "" {
		p.putf("title %s\n", plantText(title))
	}
	p.putf("hide empty description\n")
	for i, n := range g.Nodes {
		p.node(i, n)
	}
	for _, e := range g.Edges {
		p.edge(e)
	}
	p.putf("@enduml\n")
	_, err := w.Write(p.Bytes())
	return err
}

type plantUML struct{ script }

func (p *plantUML) node(i int, n Node) {
	line := ""
	if n.Compensation {
		line = " ##[dashed]"
	}
	stereotype := ""
	if n.Type != "" {
		stereotype = " <<" + class(n.Type) + ">>"
	}
	if n.groups() {
		p.putf("state \"%s\" as %s%s%s {\n", plantText(n.caption()), p.ids[i], stereotype, line)
		p.parts(p.ids[i], n.all(), "  ")
		p.putf("}\n")
		return
	}
	p.putf("state \"%s\" as %s%s%s\n", plantText(clean(n.label())), p.ids[i], stereotype, line)
	for _, text := range n.lines() {
		p.putf("%s : %s\n", p.ids[i], plantText(text))
	}
}

func (p *plantUML) parts(prefix string, parts []Part, indent string) {
	before := ""
	for _, q := range parts {
		id := p.partID(prefix)
		text := q.line()
		if q.group() && len(q.Parts) > 0 {
			p.putf("%sstate \"%s\" as %s {\n", indent, plantText(text), id)
			if q.Kind == PartFan {
				for k, r := range q.Parts {
					if k > 0 {
						p.putf("%s  --\n", indent)
					}
					p.parts(prefix, []Part{r}, indent+"  ")
				}
			} else {
				p.parts(prefix, q.Parts, indent+"  ")
			}
			p.putf("%s}\n", indent)
		} else {
			p.putf("%sstate \"%s\" as %s\n", indent, plantText(text), id)
		}
		if before != "" {
			p.putf("%s%s --> %s\n", indent, before, id)
		}
		before = id
		if q.Last {
			before = ""
		}
	}
}

func (p *plantUML) edge(e Edge) {
	from, to := p.ends(e, "[*]", "[*]")
	arrow := map[string]string{"solid": "-->", "dashed": "-[#B3261E,dashed]->", "dotted": "-[#7A4FC4,dotted]->"}[e.stroke()]
	label := ""
	if lines := e.lines(plantText); len(lines) > 0 {
		label = " : " + strings.Join(lines, `\n`)
	}
	p.putf("%s %s %s%s\n", from, arrow, to, label)
}

// plantText writes whatever could mean something to PlantUML as a character code.
// A state's name cannot be empty.
func plantText(text string) string {
	if text == "" {
		return " "
	}
	return harmless(text, func(r rune) string { return fmt.Sprintf("<U+%04X>", r) })
}
