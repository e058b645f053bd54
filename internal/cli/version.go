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
		_, err := fmt.Fprintf(a.Out, "lockstep %v\n", v)
		return err
	}
	return cmd
}
