package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Diagram draws a trace as a sequence diagram in Mermaid: who asked whom for what, without what
// was only read.
func Diagram(trace []Line) string {
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	var names []string
	for _, l := range trace {
		for _, name := range []string{l.From, l.To} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "  participant %s\n", name)
	}
	clean := strings.NewReplacer(";", ",", "#", "", "\n", " ")
	for _, l := range trace {
		text := clean.Replace(l.Text)
		if len(text) > 120 {
			text = text[:120] + "…"
		}
		switch {
		case l.Read:
		case l.From == l.To:
			fmt.Fprintf(&b, "  Note over %s: %.3fs %s\n", l.From, l.At.Seconds(), text)
		default:
			fmt.Fprintf(&b, "  %s->>%s: %.3fs %s\n", l.From, l.To, l.At.Seconds(), text)
		}
	}
	return b.String()
}
