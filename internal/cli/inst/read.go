package inst

import (
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

var listing = cli.Listing[api.Instance]{
	What:    "instances",
	Columns: []string{"INSTANCE", "NAME", "DEFINITION", "STATUS", "STATE", "AGE", "CHANGED", "ERROR"},
	Row: func(in api.Instance) []string {
		return []string{
			in.ID, nameOf(in), cli.JoinVersion(in.Definition.ID, in.Definition.Version), statusWord(in), in.State,
			cli.Ago(in.Created), cli.Ago(in.Updated) + " ago", trouble(in),
		}
	},
	Wide: []string{"KEY", "PARENT", "LABELS", "WAKE-UP", "ENDED"},
	WideRow: func(in api.Instance) []string {
		return []string{in.Key, in.Parent, cli.Pairs(in.Labels), cli.Instant(in.Wake), cli.Instant(in.Ended)}
	},
	Name: func(in api.Instance) string { return in.ID },
}

// nameOf is the name of an instance, and how many children are folded behind it.
func nameOf(in api.Instance) string {
	switch in.Children {
	case 0:
		return in.Name
	case 1:
		return strings.TrimSpace(in.Name + " +1 child")
	}
	return strings.TrimSpace(fmt.Sprintf("%s +%s children", in.Name, cli.Grouped(int(in.Children))))
}

// instances are the instances that a query selects; limit is how many will be read, 0 all.
func instances(r remote.Server, q client.InstanceQuery, limit int) iter.Seq2[api.Instance, error] {
	return remote.Pages(limit, func(p client.Paging) (api.Page[api.Instance], error) {
		p.Limit = min(p.Limit, mostInstances)
		q.Paging = p
		return r.ListInstances(r.Ctx, q)
	})
}

// mostInstances is how many instances are read with one request, so that it costs the server little.
const mostInstances = 100

func statusWord(in api.Instance) string {
	if in.Quarantine != "" {
		return "quarantine"
	}
	return string(in.Status)
}

// trouble is why an instance failed, paused by itself or was set aside; "": it did not.
func trouble(in api.Instance) string {
	switch {
	case in.Quarantine != "":
		return cli.FirstLine(in.Quarantine)
	case in.Reason != "":
		return in.Reason
	case in.Error != nil:
		return in.Error.Name + atNode(in.Error.Node)
	}
	return ""
}

func atNode(node string) string {
	if node == "" {
		return ""
	}
	return " at " + node
}

// write writes an instance.
func write(a *cli.App, in api.Instance, format *cli.Format) error {
	fields := []cli.Field{
		{"id", in.ID},
		{"name", in.Name},
		{"key", in.Key},
		{"definition", cli.JoinVersion(in.Definition.ID, in.Definition.Version)},
		{"status", statusWord(in)},
		{"state", strings.Join(in.States, ", ")},
		{"created", cli.Instant(in.Created)},
		{"updated", cli.Instant(in.Updated)},
		{"ended", cli.Instant(in.Ended)},
		{"next wake-up", cli.Instant(in.Wake)},
		{"parent", in.Parent},
		{"children", childrenOf(in)},
		{"restart of", in.RestartOf},
		{"reason", in.Reason},
		{"quarantine", cli.FirstLine(in.Quarantine)},
	}
	if j := in.Job; j != nil {
		var moves []string
		for _, m := range j.Allowed {
			moves = append(moves, m.Actor+" to "+m.State)
		}
		fields = append(fields, cli.Field{"client", j.Client}, cli.Field{"group", j.Group},
			cli.Field{"moves", strings.Join(moves, ", ")})
	}
	if in.Error != nil {
		fields = append(fields, cli.Field{"error", faultText(in.Error) + atNode(in.Error.Node)})
	}
	for _, p := range in.Progress {
		fields = append(fields, cli.Field{"progress", p.State + ": " + progressText(p)})
		for _, f := range p.Failures {
			fields = append(fields, cli.Field{"failed item", failedItemText(f)})
		}
		if more := p.Failed - len(p.Failures); more > 0 && len(p.Failures) > 0 {
			fields = append(fields, cli.Field{"", "and " + cli.Grouped(more) + " more failed items"})
		}
	}
	if labels := string(in.Labels); labels != "{}" {
		fields = append(fields, cli.Field{"labels", labels})
	}
	fields = append(fields, cli.Field{"output", string(in.Output)}, cli.Field{"possible", strings.Join(in.Allowed, ", ")})
	return cli.WriteItem(a, in, in.ID, format, fields)
}

func childrenOf(in api.Instance) string {
	if in.Children == 0 {
		return ""
	}
	return cli.Grouped(int(in.Children))
}

// filterFlag adds -q. If it is repeated, all filters must match: if the last one replaced the others, more
// would be selected than was asked for.
func filterFlag(cmd *cobra.Command, filter *string) {
	const usage = "only instances that match this `filter`, such as 'status:failed def:order age:>1h'; several must all match"
	cli.ParseFlagP(cmd.Flags(), "filter", "q", usage, func(text string) error {
		*filter = strings.TrimSpace(*filter + " " + strings.TrimSpace(text))
		return cli.NotEmpty(text)
	})
}

func list(a *cli.App, server *remote.Flags) *cobra.Command {
	var filter string
	var oldest, all bool
	cmd := &cobra.Command{
		Use: "ls", Short: "List instances, newest first", Args: cli.AtMost(0),
		Long: "Ls lists instances. A filter is a list of words that must all match: status:failed,cancelled def:order@1.3 state:Charge error:Timeout\n" +
			"age:>1h idle:>1d created:>2026-01-01 updated:<2026-01-31 name:\"Order 7\" key:KEY id:PREFIX parent:ID is:root is:job client:ID group:OPEN.\n" +
			"Any other key is a label, order:A-1038; label:status=x is one whose key is a word of the grammar. Plain text is a whole id, name, key or\n" +
			"label's value, and text:bank a part of one, or of an error. A minus before a word negates it.\n\n" +
			"Instances that others spawned are folded: NAME says how many. --all lists them, as parent:ID and every search by id, name, key or label do.",
		Example: `  lockstep inst ls -q order:A-1038
  lockstep inst ls -q 'status:failed age:<1d'
  lockstep inst ls -q '-status:completed def:order' -o jsonl
  lockstep inst ls -q 'state:Charge idle:>1h' -o name`,
	}
	flags := cli.AddListFlags(cmd, 50)
	filterFlag(cmd, &filter)
	cmd.Flags().BoolVar(&oldest, "oldest", false, "oldest first")
	cmd.Flags().BoolVar(&all, "all", false, "also instances that others spawned")
	flags.AddWatch(cmd)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, _ []string) error {
		q := client.InstanceQuery{Filter: filter, Oldest: oldest, Fold: !all}
		if flags.Watch {
			return followList(r, flags, q)
		}
		some, more, err := cli.Take(instances(r, q, flags.Limit), flags.Limit)
		if err != nil {
			return err
		}
		if err := listing.WriteTaken(a, flags, some, more); err != nil {
			return err
		}
		if word := wholeWord(filter); word != "" && len(some) == 0 && !a.Problems {
			fmt.Fprintf(a.Err, "hint: %s alone is a whole id, name, key or label; -q text:%s finds a part of one\n", cli.Plain(word), cli.Plain(word))
		}
		return nil
	})
	return cmd
}

// wholeWord is a word of a filter that has no key; "": there is none.
func wholeWord(filter string) string {
	for _, word := range strings.Fields(filter) {
		if !strings.ContainsAny(word, `:"`) && !strings.HasPrefix(word, "-") {
			return word
		}
	}
	return ""
}

func count(a *cli.App, server *remote.Flags) *cobra.Command {
	var filter string
	cmd := &cobra.Command{
		Use: "count", Short: "Count instances", Args: cli.AtMost(0),
		Example: `  lockstep inst count -q 'status:failed'`,
	}
	output := cli.FormatFlag(cmd, "table", "json", "yaml")
	filterFlag(cmd, &filter)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, _ []string) error {
		n, err := r.CountInstances(r.Ctx, filter)
		if err != nil {
			return err
		}
		if output.Value != "table" {
			return output.WriteData(a.Out, n)
		}
		if !n.Exact {
			_, err = fmt.Fprintf(a.Out, "%d+\n", n.Count) // there are more than one request may count
			return err
		}
		_, err = fmt.Fprintln(a.Out, n.Count)
		return err
	})
	return cmd
}

func get(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show an instance", Args: cli.Exactly("the id of an instance"),
		Example: `  lockstep inst get ID
  lockstep inst get ID -o json | jq .error`,
	}
	output := cli.ItemFlag(cmd)
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		in, err := r.GetInstance(r.Ctx, args[0], 0)
		if err != nil {
			return err
		}
		return write(a, in, output)
	})
	return cmd
}

func history(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history ID", Short: "Show what happened to an instance", Args: cli.Exactly("the id of an instance"),
		Long: "History lists what happened, in order. -o json, jsonl and yaml include the data of each step.",
		Example: `  lockstep inst history ID
  lockstep inst history ID -o jsonl | jq 'select(.type=="called")'`,
	}
	flags := cli.AddListFlags(cmd, 1000)
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		return cli.Listing[api.Record]{
			Columns: []string{"#", "TIME", "WHAT", "WHERE", "MORE"},
			Row: func(rec api.Record) []string {
				return []string{fmt.Sprint(rec.Seq), clock(rec.Time), rec.Type, strings.Repeat("· ", rec.Depth) + rec.Node, recordText(rec)}
			},
			Name: func(rec api.Record) string { return fmt.Sprint(rec.Seq) },
		}.WriteSome(a, flags, remote.Pages(flags.Limit, func(p client.Paging) (api.Page[api.Record], error) {
			return r.GetHistory(r.Ctx, args[0], p)
		}))
	})
	return cmd
}
