package def

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// FunctionsCommand is `lockstep functions`.
func FunctionsCommand(a *cli.App) *cobra.Command {
	var server remote.Flags
	cmd := a.Group("functions", "List what a definition calls, and whether the server can", `  lockstep functions ls order`)
	server.Add(cmd)
	cmd.AddCommand(listFunctions(a, &server))
	return cmd
}

func listFunctions(a *cli.App, server *remote.Flags) *cobra.Command {
	var digest string
	cmd := &cobra.Command{
		Use: "ls ID[@VERSION]", Short: "List what a definition calls, and whether the server can", Args: cli.Exactly("the id of a definition"),
		Long: "Ls lists the functions of a definition: their kind, where their calls go, how many tasks or actions call them, and\n" +
			"whether this server can. Exit code 1 means that it cannot call one of them.",
		Example: `  lockstep functions ls order
  lockstep functions ls order@1.3 -o json`,
	}
	output := cli.ListFlag(cmd)
	cmd.Flags().StringVar(&digest, "digest", "", "the content with this `digest`, instead of a version")
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		id, version := cli.SplitVersion(args[0])
		page, err := r.ListFunctions(r.Ctx, id, client.Version{Version: version, Digest: digest})
		if err != nil {
			return err
		}
		err = cli.Listing[api.Function]{
			What:    "functions: the definition calls nothing",
			Columns: []string{"FUNCTION", "KIND", "TARGET", "PLACES", "CALLABLE"},
			Row: func(f api.Function) []string {
				callable := "yes"
				if !f.Callable {
					callable = "no: " + f.Reason
				}
				return []string{f.Name, f.Kind, f.Target, strconv.Itoa(f.Places), callable}
			},
			Name: func(f api.Function) string { return f.Name },
		}.Write(a, output, page.Items)
		for _, f := range page.Items {
			if err == nil && !f.Callable {
				return cli.Shown(cli.ExitError)
			}
		}
		return err
	})
	return cmd
}
