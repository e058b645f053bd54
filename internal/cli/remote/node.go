package remote

import (
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
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
  lockstep node ls -o json
  lockstep node ls -w`,
	}
	flags := &cli.ListFlags{Format: cli.ListFlag(cmd)}
	flags.AddWatch(cmd)
	cmd.RunE = Run(a, server, func(r Server, _ []string) error {
		nodes := func() iter.Seq2[api.Node, error] {
			return client.All(func(string) (api.Page[api.Node], error) {
				all, err := r.ListNodes(r.Ctx)
				return api.Page[api.Node]{Items: all.Items}, err
			})
		}
		return List(r.Ctx, a, cli.Listing[api.Node]{
			Columns: []string{"NAME", "ADDRESS", "VERSION", "UP", "SEEN", "SHARDS", "CALLS"},
			Row: func(n api.Node) []string {
				return []string{n.Name, n.Address, n.Version, cli.Ago(n.Since), cli.Ago(n.Seen), fmt.Sprintf("%d/%d", n.Shards, n.Of), fmt.Sprint(n.Calls)}
			},
			Name: func(n api.Node) string { return n.Name },
			Steady: func(n api.Node) api.Node {
				n.Seen, n.Calls = time.Time{}, 0
				return n
			},
		}, flags, nodes)
	})
	return cmd
}
