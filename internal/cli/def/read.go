package def

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/graph"
)

var listing = cli.Listing[api.Definition]{
	What:    "definitions; \"lockstep def apply FILE\" deploys one",
	Columns: []string{"DEFINITION", "VERSION", "CURRENT", "DIALECT", "DEPLOYED", "NAME"},
	Row: func(d api.Definition) []string {
		current := cli.Yes(d.Current)
		switch {
		case d.SetAside():
			current = "set aside"
		case d.Paused != nil:
			current = "paused"
		case d.Retired != nil:
			current = "retired"
		}
		return []string{d.ID, d.Version, current, d.Dialect, cli.Ago(d.Deployed) + " ago", d.Name}
	},
	Wide: []string{"WARNINGS", "REASON", "FILE", "DIGEST"},
	WideRow: func(d api.Definition) []string {
		reason := ""
		if by := cmp.Or(d.Paused, d.Retired); by != nil {
			reason = by.Reason
		}
		return []string{fmt.Sprint(len(d.Diagnostics)), reason, d.Path, d.Digest}
	},
	Name: func(d api.Definition) string { return cli.JoinVersion(d.ID, d.Version) },
}

func list(a *cli.App, server *remote.Flags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "ls", Short: "List definitions", Args: cli.AtMost(0),
		Example: `  lockstep def ls
  lockstep def ls --versions -o jsonl`,
	}
	flags := cli.AddListFlags(cmd, 50)
	cmd.Flags().BoolVar(&all, "versions", false, "every version, not only the current one")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, _ []string) error {
		return listing.WriteSome(a, flags, remote.Pages(flags.Limit, func(p client.Paging) (api.Page[api.Definition], error) {
			return r.ListDefinitions(r.Ctx, client.DefinitionQuery{Paging: p, AllVersions: all})
		}))
	})
	return cmd
}

func versions(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{Use: "versions ID", Short: "List the versions of a definition", Args: cli.Exactly("the id of a definition"), Example: "  lockstep def versions order"}
	output := cli.ListFlag(cmd)
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		page, err := r.ListVersions(r.Ctx, args[0])
		if err != nil {
			return err
		}
		return listing.Write(a, output, page.Items)
	})
	return cmd
}

func get(a *cli.App, server *remote.Flags) *cobra.Command {
	var source bool
	var digest, folder string
	cmd := &cobra.Command{
		Use: "get ID[@VERSION]…", Short: "Show a definition, its text or its drawing", Args: cli.AtLeastOne("the id of a definition"),
		Example: `  lockstep def get order
  lockstep def get order@1.3 --source > order.yaml
  lockstep def get order@1.3 payment@1.1 --files old/ && lockstep def apply old/
  lockstep def get order --graph svg > order.svg`,
	}
	output := cli.ItemFlag(cmd)
	graphic := &cli.Choice{Allowed: graph.Formats}
	cmd.Flags().BoolVar(&source, "source", false, "print the document as it was deployed")
	cmd.Flags().StringVar(&folder, "files", "", "write the documents and the files that they use, as they were deployed, into this new `folder`; of several definitions into one")
	cmd.Flags().Var(graphic, "graph", "print a drawing in this format")
	cmd.Flags().StringVar(&digest, "digest", "", "the content with this `digest`, instead of a version")
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		id, version := cli.SplitVersion(args[0])
		which := client.Version{Version: version, Digest: digest}
		var text []byte
		var err error
		switch {
		case source && graphic.Value != "" || folder != "" && (source || graphic.Value != ""):
			return cli.Usagef("give only one of --source, --files and --graph")
		case folder != "":
			if len(args) > 1 && digest != "" {
				return cli.Usagef("--digest is for one definition")
			}
			return writeFiles(r, args, digest, folder)
		case len(args) > 1:
			return cli.Usagef("only --files takes several definitions")
		case source:
			text, err = r.GetSource(r.Ctx, id, which)
		case graphic.Value != "":
			text, err = r.GetGraph(r.Ctx, id, which, graphic.Value)
		default:
			d, err := r.GetDefinition(r.Ctx, id, which)
			if err != nil {
				return err
			}
			fields := []cli.Field{
				{"id", d.ID},
				{"version", d.Version},
				{"name", d.Name},
				{"dialect", d.Dialect},
				{"digest", d.Digest},
				{"deployed", cli.Instant(d.Deployed)},
				{"current", cli.Yes(d.Current)},
			}
			if d.Paused != nil || d.Retired != nil {
				fields = append(fields, decisions(d)...)
			}
			if d.Bundle != "" {
				fields = append(fields, cli.Field{"file", d.Path}, cli.Field{"bundle", d.Bundle})
			}
			for _, w := range warningsOf(d, d.ID) {
				fields = append(fields, cli.Field{"warning", fmt.Sprintf("%s %s %s", w.Pos(), w.Code, w.Message)})
			}
			return cli.WriteItem(a, d, cli.JoinVersion(d.ID, d.Version), output, fields)
		}
		if err != nil {
			return err
		}
		_, err = a.Out.Write(text)
		return err
	})
	return cmd
}

func diff(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff ID FROM [TO]", Short: "Compare two versions of a definition",
		Long: "Diff compares the documents of two versions, with the files that they use; the default of TO is the current one. Exit code 1 means that they differ.",
		Example: `  lockstep def diff order 1.2
  lockstep def diff order 1.2 1.3`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 {
				return nil
			}
			return cli.Exactly("the id of a definition", "a version to compare with")(cmd, args)
		},
	}
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		to := ""
		if len(args) == 3 {
			to = args[2]
		}
		text, err := r.DiffDefinition(r.Ctx, args[0], args[1], to)
		if err != nil {
			return err
		}
		return writeDiff(a, text)
	})
	return cmd
}

func remove(a *cli.App, server *remote.Flags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "rm ID@VERSION", Short: "Delete a version of a definition, or all of them", Args: cli.Exactly("a definition and its version, ID@VERSION"),
		Long: "Rm deletes a definition that no instance uses; otherwise it is refused (exit code 6).",
		Example: `  lockstep def rm order@1.2
  lockstep def rm order --all`,
	}
	cmd.Flags().BoolVar(&all, "all", false, "every version")
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		id, version := cli.SplitVersion(args[0])
		switch {
		case all && version != "":
			return cli.Usagef("give either the version in %q or --all, not both", args[0])
		case !all && version == "":
			return cli.Usagef("lockstep def rm needs a version: %s@VERSION", id).
				WithHint("--all deletes every version")
		}
		return r.DeleteDefinition(r.Ctx, id, version)
	})
	return cmd
}
