package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/graph"
)

func definitionListing() listing[client.Definition] {
	return listing[client.Definition]{
		columns: []string{"DEFINITION", "VERSION", "CURRENT", "DIALECT", "DEPLOYED", "NAME"},
		row: func(d client.Definition) []string {
			current := yes(d.Current)
			if d.SetAside() {
				current = "set aside"
			}
			return []string{d.ID, d.Version, current, d.Dialect, ago(d.Deployed) + " ago", d.Name}
		},
		name: func(d client.Definition) string { return joinVersion(d.ID, d.Version) },
	}
}

func (a *app) defList(server *remoteFlags) *cobra.Command {
	var all bool
	var limit int
	cmd := &cobra.Command{
		Use: "ls", Short: "List definitions", Args: atMost(0),
		Example: `  lockstep def ls
  lockstep def ls --versions -o jsonl`,
	}
	output := listFlag(cmd)
	cmd.Flags().BoolVar(&all, "versions", false, "every version, not only the current one")
	limitFlag(cmd, &limit)
	cmd.RunE = a.remotely(server, func(r remote, _ []string) error {
		rows := definitionListing()
		var err error
		var more bool
		rows.items, more, err = take(client.All(func(after string) (client.Page[client.Definition], error) {
			return r.ListDefinitions(r.ctx, client.DefinitionQuery{Paging: pageFor(limit, after), AllVersions: all})
		}), limit)
		if err != nil {
			return err
		}
		if len(rows.items) == 0 {
			a.none("definitions; \"lockstep def apply FILE\" deploys one", output.value)
		}
		a.notAll(more)
		return rows.write(a, output.value)
	})
	return cmd
}

func (a *app) defVersions(server *remoteFlags) *cobra.Command {
	cmd := &cobra.Command{Use: "versions ID", Short: "List the versions of a definition", Args: exactly("the id of a definition"), Example: "  lockstep def versions order"}
	output := listFlag(cmd)
	cmd.ValidArgsFunction = a.completeDefinitions(server)
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		page, err := r.ListVersions(r.ctx, args[0])
		if err != nil {
			return err
		}
		rows := definitionListing()
		rows.items = page.Items
		return rows.write(a, output.value)
	})
	return cmd
}

func (a *app) defGet(server *remoteFlags) *cobra.Command {
	var source bool
	var digest string
	cmd := &cobra.Command{
		Use: "get ID[@VERSION]", Short: "Show a definition, its text or its drawing", Args: exactly("the id of a definition"),
		Example: `  lockstep def get order
  lockstep def get order@1.3 --source > order.yaml
  lockstep def get order --graph svg > order.svg`,
	}
	output := itemFlag(cmd)
	graphic := &choice{allowed: graph.Formats}
	cmd.Flags().BoolVar(&source, "source", false, "print the document as it was deployed")
	cmd.Flags().Var(graphic, "graph", "print a drawing in this format")
	cmd.Flags().StringVar(&digest, "digest", "", "the content with this `digest`, instead of a version")
	cmd.ValidArgsFunction = a.completeDefinitions(server)
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		id, version := splitVersion(args[0])
		which := client.Version{Version: version, Digest: digest}
		var text []byte
		var err error
		switch {
		case source && graphic.value != "":
			return usagef("--source and --graph print different things; give one of them")
		case source:
			text, err = r.GetSource(r.ctx, id, which)
		case graphic.value != "":
			text, err = r.GetGraph(r.ctx, id, which, graphic.value)
		default:
			d, err := r.GetDefinition(r.ctx, id, which)
			if err != nil {
				return err
			}
			fields := []field{
				{"id", d.ID},
				{"version", d.Version},
				{"name", d.Name},
				{"dialect", d.Dialect},
				{"digest", d.Digest},
				{"deployed", instant(d.Deployed)},
				{"current", yes(d.Current)},
			}
			for _, w := range warningsOf(d, d.ID) {
				fields = append(fields, field{"warning", fmt.Sprintf("%s %s %s", w.Pos(), w.Code, w.Message)})
			}
			return writeItem(a, d, joinVersion(d.ID, d.Version), output.value, fields)
		}
		if err != nil {
			return err
		}
		_, err = a.out.Write(text)
		return err
	})
	return cmd
}

func (a *app) defDiff(server *remoteFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff ID FROM [TO]", Short: "Compare two versions of a definition",
		Long: "Diff compares the documents of two versions; without TO the second is the current one. Exit code 1 says that they differ.",
		Example: `  lockstep def diff order 1.2
  lockstep def diff order 1.2 1.3`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 {
				return nil
			}
			return exactly("the id of a definition", "a version to compare with")(cmd, args)
		},
	}
	cmd.ValidArgsFunction = a.completeDefinitions(server)
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		to := ""
		if len(args) == 3 {
			to = args[2]
		}
		text, err := r.DiffDefinition(r.ctx, args[0], args[1], to)
		if err != nil || text == "" {
			return err
		}
		if _, err := fmt.Fprint(a.out, text); err != nil {
			return err
		}
		return shown(exitError)
	})
	return cmd
}

func (a *app) defRemove(server *remoteFlags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "rm ID@VERSION", Short: "Delete a version of a definition, or all of them", Args: exactly("a definition and its version, ID@VERSION"),
		Long: "Rm deletes what no instance refers to: while one does, it is refused (exit code 6).",
		Example: `  lockstep def rm order@1.2
  lockstep def rm order --all`,
	}
	cmd.Flags().BoolVar(&all, "all", false, "every version")
	cmd.ValidArgsFunction = a.completeDefinitions(server)
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		id, version := splitVersion(args[0])
		switch {
		case all && version != "":
			return usagef("%q names one version, and --all means every one", args[0])
		case !all && version == "":
			f := usagef("lockstep def rm needs a version: %s@VERSION", id)
			f.hint = "--all deletes every version"
			return f
		}
		return r.DeleteDefinition(r.ctx, id, version)
	})
	return cmd
}
