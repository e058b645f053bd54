package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/version"
)

// VersionCommand prints the version of the program.
func (a *App) VersionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  lockstep version\n  lockstep version -o json",
		Args:    AtMost(0),
	}
	output := OutputFlag(cmd, "format", "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		v := version.Read()
		if output.Value == "json" {
			return json.NewEncoder(a.Out).Encode(v)
		}
		line := "lockstep " + v.Version
		if v.Revision != "" {
			line += " " + v.Revision[:min(len(v.Revision), 12)]
			if v.Modified {
				line += " with changes"
			}
		}
		_, err := fmt.Fprintf(a.Out, "%s (%s, %s)\n", line, v.Go, v.Platform)
		return err
	}
	return cmd
}
