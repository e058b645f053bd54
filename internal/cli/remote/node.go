package remote

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// NodeCommand is `lockstep node`.
func NodeCommand(a *cli.App) *cobra.Command {
	var server Flags
	cmd := a.Group("node", "List the servers that share a store", `  lockstep node ls`)
	server.Add(cmd)
	cmd.AddCommand(nodeList(a, &server))
	return cmd
}

func nodeList(a *cli.App, server *Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List the servers that share a store, and their share of the work", Args: cli.AtMost(0),
		Long: "Ls lists the servers that share a store. The instances are divided into shards: SHARDS is how many of them a server works on. A server\n" +
			"that has stopped is listed for another minute.",
		Example: `  lockstep node ls
  lockstep node ls -o json`,
	}
	output := cli.ListFlag(cmd)
	cmd.RunE = Run(a, server, func(r Server, _ []string) error {
		nodes, err := r.ListNodes(r.Ctx)
		if err != nil {
			return err
		}
		return cli.Listing[api.Node]{
			Columns: []string{"NAME", "ADDRESS", "VERSION", "UP", "SEEN", "SHARDS", "CALLS"},
			Row: func(n api.Node) []string {
				return []string{n.Name, n.Address, n.Version, cli.Ago(n.Since), cli.Ago(n.Seen), fmt.Sprintf("%d/%d", n.Shards, n.Of), fmt.Sprint(n.Calls)}
			},
			Name: func(n api.Node) string { return n.Name },
		}.Write(a, output, nodes)
	})
	return cmd
}
