package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func (a *app) nodeCommand() *cobra.Command {
	var server remoteFlags
	cmd := a.group("node", "Look at the servers that share a store", `  lockstep node ls`)
	server.add(cmd)
	cmd.AddCommand(a.nodeList(&server))
	return cmd
}

func (a *app) nodeList(server *remoteFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List the servers that share a store, and who has how much of the work", Args: atMost(0),
		Long: "Ls asks a server which others share its store. The instances are in parts, and each server does the work of some: SHARDS tells of how\n" +
			"many. A server that ended is listed until it has not been heard of for a minute.",
		Example: `  lockstep node ls
  lockstep node ls -o json`,
	}
	output := listFlag(cmd)
	cmd.RunE = a.remotely(server, func(r remote, _ []string) error {
		nodes, err := r.ListNodes(r.ctx)
		if err != nil {
			return err
		}
		return listing[client.Node]{
			columns: []string{"NAME", "ADDRESS", "VERSION", "UP", "SEEN", "SHARDS", "CALLS"},
			row: func(n client.Node) []string {
				return []string{n.Name, n.Address, n.Version, ago(n.Since), ago(n.Seen), fmt.Sprintf("%d/%d", n.Shards, n.Of), fmt.Sprint(n.Calls)}
			},
			name:  func(n client.Node) string { return n.Name },
			items: nodes,
		}.write(a, output.value)
	})
	return cmd
}

// member is how this process is called among others that share the store.
func (n *host) member() store.Member {
	m := store.Member{Name: n.flags.node, Version: readVersion().Version}
	if m.Name == "" {
		m.Name, _ = os.Hostname() // "" is a name, too
	}
	if n.flags.northOpened != nil {
		m.Address = n.flags.northOpened.Addr().String()
	}
	return m
}
