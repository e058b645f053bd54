package local

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/schemas"
)

// SchemaCommand prints JSON Schemas.
func SchemaCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [DIALECT]",
		Short: "Print the JSON Schema of a dialect, for editors",
		Long: "Schema prints a JSON Schema, with which editors complete, explain and check documents.\n" +
			"Without an argument it lists the schemas.",
		Example: `  lockstep schema sw05 > sw05.schema.json
  lockstep schema scenario > scenario.schema.json
  lockstep schema`,
		Args: cli.AtMost(1),
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, s := range schemas.All() {
			words = append(words, s.Names[0]+"\t"+s.Title)
		}
		if len(args) > 0 {
			words = nil
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return listSchemas(a)
		}
		var names []string
		for _, s := range schemas.All() {
			for _, name := range s.Names {
				if strings.EqualFold(name, args[0]) {
					_, err := a.Out.Write(s.Text())
					return err
				}
			}
			names = append(names, s.Names...)
		}
		return cli.NotFoundf("there is no schema for %q", args[0]).
			WithHint(`"lockstep schema" lists what there is`).
			Near(strings.ToLower(args[0]), names)
	}
	return cmd
}

func listSchemas(a *cli.App) error {
	for _, s := range schemas.All() {
		if _, err := fmt.Fprintf(a.Out, "%-11s %s\n", s.Names[0], s.Title); err != nil {
			return err
		}
	}
	return nil
}
