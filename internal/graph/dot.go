package graph

import (
	"fmt"
	"io"
	"strings"
)

// DOT writes the language of Graphviz; states with groups are clusters.
func DOT(w io.Writer, g *Graph) error {
	d := &dot{script: newScript(g), anchor: make([]string, len(g.Nodes))}
	d.putf("digraph %s {\n", dotText(g.ID))
	d.putf("  label=%s; labelloc=t; compound=true; fontname=Helvetica;\n", dotText(clean(g.Title())))
	d.putf("  node [shape=box, style=rounded, fontname=Helvetica]; edge [fontname=Helvetica, fontsize=11];\n")
	for _, i := range g.members("") {
		d.node(i, g.Nodes[i])
	}
	for k, group := range g.Groups {
		d.putf("  subgraph cluster_group_%d {\n    label=%s; style=\"rounded,dashed\";\n", k, dotText(clean(group)))
		for _, i := range g.members(group) {
			d.node(i, g.Nodes[i])
		}
		d.putf("  }\n")
	}
	for i, e := range g.Edges {
		d.edge(i, e)
	}
	d.putf("}\n")
	_, err := w.Write(d.Bytes())
	return err
}

type dot struct {
	script
	anchor []string // the node inside a cluster that its edges are attached to
}

func (d *dot) node(i int, n Node) {
	title := clean(n.label())
	if n.groups() {
		title = n.caption()
	}
	if n.Type != "" {
		title += "\n" + clean(n.Type)
	}
	if n.groups() {
		d.putf("  subgraph cluster_%s {\n    label=%s; style=%s;\n", d.ids[i], dotText(title), dotStyle(n))
		d.anchor[i] = d.parts(d.ids[i], n.all(), "    ")
		d.putf("  }\n")
		return
	}
	shape := ""
	if n.Type == "switch" {
		shape = ", shape=diamond, style=solid"
	}
	if n.Compensation {
		shape = ", style=\"rounded,dashed\""
	}
	d.putf("  %s [label=%s%s];\n", d.ids[i], dotText(strings.Join(append([]string{title}, insideLines(n)...), "\n")), shape)
}

func dotStyle(n Node) string {
	if n.Compensation {
		return `"rounded,dashed"`
	}
	return "rounded"
}

// parts writes the inside of a cluster and returns its first node.
func (d *dot) parts(prefix string, parts []Part, indent string) string {
	first, before := "", ""
	for _, p := range parts {
		text := clean(p.Text)
		if p.Note != "" {
			text = strings.TrimSpace(text + "\n" + clean(p.Note))
		}
		id := d.partID(prefix)
		begin := id
		if p.group() && len(p.Parts) > 0 {
			d.putf("%ssubgraph cluster_%s {\n%s  label=%s;\n", indent, id, indent, dotText(text))
			begin = ""
			if p.Kind == PartFan {
				for _, q := range p.Parts {
					if at := d.parts(prefix, []Part{q}, indent+"  "); begin == "" {
						begin = at
					}
				}
			} else {
				begin = d.parts(prefix, p.Parts, indent+"  ")
			}
			d.putf("%s}\n", indent)
		} else {
			d.putf("%s%s [label=%s, shape=plaintext];\n", indent, id, dotText(text))
		}
		if before != "" {
			d.putf("%s%s -> %s [style=bold, arrowsize=0.6];\n", indent, before, begin)
		}
		if first == "" {
			first = begin
		}
		before = begin
		if p.Last {
			before = ""
		}
	}
	return first
}

func (d *dot) edge(i int, e Edge) {
	from, to := fmt.Sprintf("start_%d", i), fmt.Sprintf("end_%d", i)
	more := ""
	if e.From < 0 {
		d.putf("  %s [shape=point, width=0.18, label=\"\"];\n", from)
	} else if from = d.ids[e.From]; d.anchor[e.From] != "" {
		from, more = d.anchor[e.From], more+", ltail=cluster_"+from
	}
	if e.To < 0 {
		d.putf("  %s [shape=doublecircle, width=0.12, style=filled, fillcolor=black, label=\"\"];\n", to)
	} else if to = d.ids[e.To]; d.anchor[e.To] != "" {
		to, more = d.anchor[e.To], more+", lhead=cluster_"+to
	}
	if e.From >= 0 && e.From == e.To && d.anchor[e.From] != "" {
		more = "" // a cluster cannot point at itself
	}
	look := map[Kind]string{
		Error:      ", style=dashed, color=\"#b3261e\", fontcolor=\"#b3261e\"",
		Compensate: ", style=dotted, color=\"#7a4fc4\", fontcolor=\"#7a4fc4\"",
		Default:    ", dir=both, arrowtail=tee",
	}[e.Kind]
	d.putf("  %s -> %s [label=%s%s%s];\n", from, to, dotText(strings.Join(e.lines(clean), "\n")), look, more)
}

// dotText quotes a text. Graphviz gives a meaning to backslashes and, even in
// plain labels, to character entities.
func dotText(text string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "", "&", "&amp;", "\x00", "")
	return `"` + r.Replace(strings.ToValidUTF8(text, "\uFFFD")) + `"`
}
