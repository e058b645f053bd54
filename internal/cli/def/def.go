package def

import (
	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// Command is `lockstep def`.
func Command(a *cli.App) *cobra.Command {
	var server remote.Flags
	cmd := a.Group("def", "Deploy and read the definitions of a server", `  lockstep def apply order.yaml
  lockstep def ls
  lockstep def get order@1.3 --source
  lockstep def diff order 1.2 1.3`)
	server.Add(cmd)
	cmd.AddCommand(deploy(a, &server), list(a, &server), get(a, &server), diff(a, &server), versions(a, &server),
		pause(a, &server), resume(a, &server), retire(a, &server), remove(a, &server))
	return cmd
}
