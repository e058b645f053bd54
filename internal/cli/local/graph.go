package local

import (
	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/graph"
)

// GraphCommand is `lockstep graph`.
func GraphCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph FILE|-",
		Short: "Draw a definition",
		Long: "Graph draws a definition: as text for a terminal, as a picture (svg), or in the language of another tool.\n" +
			"With - it reads the definition from stdin. Exit code 3: the definition has errors.",
		Example: `  lockstep graph order.yaml
  lockstep graph order.yaml -o svg > order.svg
  lockstep graph order.yaml -o dot | dot -Tpdf > order.pdf
  lockstep graph - -o svg < order.yaml > order.svg`,
	}
	cmd.Args = cli.Exactly("a definition or -")
	output := cli.OutputFlag(cmd, "format", "text", "svg", "mermaid", "dot", "plantuml", "smcat")
	load.WithReader(a, cmd, func(r load.Reader, args []string) error {
		d, err := r.Read(args[0])
		if err != nil {
			return err
		}
		if err := load.RefuseScenario(d); err != nil {
			return err
		}
		if errors, _ := d.Diagnostics.Counts(); errors > 0 {
			return undrawable(a, d)
		}
		return graph.Write(a.Out, graph.FromProgram(d.Program), output.Value)
	})
	return cmd
}

// undrawable reports the errors of a definition as validate does, but on stderr: stdout is for the drawing.
func undrawable(a *cli.App, d load.Definition) error {
	v := NewValidation(&cli.App{Out: a.Err, Err: a.Err})
	v.add(d)
	return v.finish("text", false)
}
