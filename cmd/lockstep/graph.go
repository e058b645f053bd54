package main

import (
	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/graph"
)

func (a *app) graphCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph FILE|-",
		Short: "Draw a definition",
		Long: "Graph draws a definition: as text for a terminal, as a picture (svg), or in the language of another program.\n" +
			"With - it reads the definition from stdin. Exit code 3 says that the definition has errors.",
		Example: `  lockstep graph order.yaml
  lockstep graph order.yaml -o svg > order.svg
  lockstep graph order.yaml -o dot | dot -Tpdf > order.pdf
  lockstep graph - -o svg < order.yaml > order.svg`,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := atLeastOne("a definition or -")(cmd, args); err != nil {
			return err
		}
		return atMost(1)(cmd, args)
	}
	output := outputFlag(cmd, "format", "text", "svg", "mermaid", "dot", "plantuml", "smcat")
	a.readsDefinitions(cmd, func(r definitionReader, args []string) error {
		d, err := r.read(args[0])
		if err != nil {
			return err
		}
		if err := notDefinition(d); err != nil {
			return err
		}
		if errors, _ := d.diagnostics.Counts(); errors > 0 {
			return a.undrawable(d)
		}
		return graph.Write(a.out, graph.FromProgram(d.Program), output.value)
	})
	return cmd
}

// undrawable tells what is wrong in a definition as validate does, but on stderr:
// stdout is for the drawing.
func (a *app) undrawable(d definition) error {
	v := newValidation(&app{out: a.err, err: a.err})
	v.add(d)
	return v.finish("text", false)
}
