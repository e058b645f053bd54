package remote

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// ContextCommand is `lockstep ctx`.
func ContextCommand(a *cli.App) *cobra.Command {
	cmd := a.Group("ctx", "Give servers names, and choose one", `  lockstep ctx set prod --url https://lockstep.example.com --token env:PROD_TOKEN
  lockstep ctx use prod
  lockstep ctx current
  lockstep ctx ls`)
	list := contextList(a)
	cmd.Long = "Give servers names, and choose one. Without a subcommand, ctx lists them."
	cmd.RunE = list.RunE
	cmd.AddCommand(list, contextCurrent(a), contextUse(), contextSet(), contextRename(), contextRemove())
	return cmd
}

func contextList(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "ls", Short: "List the servers that have names", Args: cli.AtMost(0)}
	output := cli.ListFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		known, err := readContexts()
		if err != nil {
			return err
		}
		type item struct {
			Name string `json:"name"`
			Entry
			Current bool `json:"current"`
		}
		var items []item
		for _, name := range known.names() {
			items = append(items, item{name, known.Servers[name], name == known.Current})
		}
		return cli.Listing[item]{
			What:    "contexts; \"lockstep ctx set NAME --url URL\" creates one",
			Columns: []string{"NAME", "URL", "SOUTH", "TOKEN", "CURRENT"},
			Row:     func(i item) []string { return []string{i.Name, i.URL, i.South, i.Token, cli.Yes(i.Current)} },
			Name:    func(i item) string { return i.Name },
		}.Write(a, output, items)
	}
	return cmd
}

func contextCurrent(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "current", Short: "Print the name of the server that commands talk to", Args: cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			known, err := readContexts()
			if err != nil {
				return err
			}
			url := os.Getenv(cli.EnvURL) // goes before the context
			if known.Current == "" {
				return cli.NotFoundf("no context is chosen; commands talk to %s", cmp.Or(url, DefaultURL)).
					WithHint("\"lockstep ctx use NAME\" chooses one")
			}
			if _, err = fmt.Fprintln(a.Out, known.Current); err == nil && url != "" {
				fmt.Fprintf(a.Err, "warning: %s is set: commands talk to %s instead, unless --ctx names a context\n", cli.EnvURL, cli.Plain(url))
			}
			return err
		},
	}
}

// change is a command about one context that exists; do changes the list.
func change(use, short string, names []string, do func(known *contexts, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cli.Exactly(names...),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			known, _ := readContexts()
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return known.names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			known, err := readContexts()
			if err != nil {
				return err
			}
			if _, err := known.find(args[0]); err != nil {
				return err
			}
			if err := do(&known, args); err != nil {
				return err
			}
			return known.write()
		},
	}
}

func contextUse() *cobra.Command {
	return change("use NAME", "Choose the server that commands talk to", []string{"the name of a context"}, func(known *contexts, args []string) error {
		known.Current = args[0]
		return nil
	})
}

func contextRename() *cobra.Command {
	return change("rename NAME NEW", "Give a context another name", []string{"the name of a context", "its new name"}, func(known *contexts, args []string) error {
		from, to := args[0], args[1]
		if err := checkContextName(to); err != nil {
			return err
		}
		if _, taken := known.Servers[to]; taken && to != from {
			return cli.Usagef("there is a context %q already", to)
		}
		entry := known.Servers[from]
		delete(known.Servers, from)
		known.Servers[to] = entry
		if known.Current == from {
			known.Current = to
		}
		return nil
	})
}

func contextRemove() *cobra.Command {
	return change("rm NAME", "Delete a context", []string{"the name of a context"}, func(known *contexts, args []string) error {
		delete(known.Servers, args[0])
		if known.Current == args[0] {
			known.Current = ""
		}
		return nil
	})
}

func contextSet() *cobra.Command {
	var entry Entry
	cmd := &cobra.Command{
		Use: "set NAME --url URL", Short: "Give a server a name, or change one", Args: cli.Exactly("a name"),
		Long: "Set stores the address of a server under a name, in your settings folder. The token is a reference, env:VARIABLE or\n" +
			"file:PATH, so the file has no secrets. The first context becomes the current one.",
		Example: `  lockstep ctx set prod --url https://lockstep.example.com --token env:PROD_TOKEN`,
	}
	cmd.Flags().StringVar(&entry.URL, "url", "", "the `address` of the server")
	cmd.Flags().StringVar(&entry.South, "south", "", "the `address` for its devices, for \"lockstep job update-status --actor client\"")
	cmd.Flags().StringVar(&entry.Token, "token", "", "where its token is: env:`VARIABLE` or file:PATH")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known, err := readContexts()
		if err != nil {
			return err
		}
		if err := known.set(args[0], entry, cmd.Flags().Changed("token")); err != nil {
			return err
		}
		return known.write()
	}
	return cmd
}
