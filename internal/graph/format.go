package graph

import "io"

// Formats are the names of what Write can write.
var Formats = []string{"svg", "mermaid", "dot", "plantuml", "smcat", "text"}

// Write draws a graph in one of the Formats; text is what any other name gives.
func Write(w io.Writer, g *Graph, format string) error {
	switch format {
	case "svg":
		return SVG(w, Layout(g), SVGOptions{Heading: true})
	case "mermaid":
		return Mermaid(w, g)
	case "dot":
		return DOT(w, g)
	case "plantuml":
		return PlantUML(w, g)
	case "smcat":
		return Smcat(w, g)
	}
	return WriteText(w, g)
}
