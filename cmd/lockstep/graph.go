package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/graph"
)

func (a *app) graphCommand() *cobra.Command {
	var dialectName string
	var outbound outboundFlags
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw a definition",
		Long: "Graph draws a definition: as text for a terminal, as a picture (svg), or in the language of another program.\n" +
			"Exit code 3 says that the definition has errors.",
		Example: `  lockstep graph order.yaml
  lockstep graph order.yaml -o svg > order.svg
  lockstep graph order.yaml -o dot | dot -Tpdf > order.pdf`,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := atLeastOne("a definition")(cmd, args); err != nil {
			return err
		}
		return atMost(1)(cmd, args)
	}
	output := outputFlag(cmd, "format", "text", "svg", "mermaid", "dot", "plantuml", "smcat")
	a.dialectFlag(cmd, &dialectName)
	outbound.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := outbound.client()
		if err != nil {
			return err
		}
		defer client.Close()
		d, err := a.compile(cmd.Context(), args[0], dialectName, client)
		if err != nil {
			return err
		}
		if errors, _ := d.diagnostics.Counts(); errors > 0 {
			return a.undrawable(d)
		}
		return writeGraph(a.out, graph.FromProgram(d.Program), output.value)
	}
	return cmd
}

// undrawable tells what is wrong in a definition as validate does, but on stderr:
// stdout is for the drawing.
func (a *app) undrawable(d definition) error {
	v := validation{app: &app{out: a.err, err: a.err}, all: dialect.Diagnostics{}, documents: map[string]*dialect.Document{}}
	v.add(d)
	return v.finish("text", false)
}

func writeGraph(w io.Writer, g *graph.Graph, format string) error {
	switch format {
	case "svg":
		return graph.SVG(w, graph.Layout(g), graph.SVGOptions{Heading: true})
	case "mermaid":
		return graph.Mermaid(w, g)
	case "dot":
		return graph.DOT(w, g)
	case "plantuml":
		return graph.PlantUML(w, g)
	case "smcat":
		return graph.Smcat(w, g)
	}
	return graph.WriteText(w, g)
}
