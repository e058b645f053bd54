package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

func instanceListing() listing[client.Instance] {
	return listing[client.Instance]{
		columns: []string{"INSTANCE", "DEFINITION", "STATUS", "STATE", "AGE", "CHANGED", "ERROR"},
		row: func(in client.Instance) []string {
			return []string{in.ID, joinVersion(in.Definition.ID, in.Definition.Version), statusWord(in), in.State, ago(in.Created), ago(in.Updated) + " ago", trouble(in)}
		},
		name: func(in client.Instance) string { return in.ID },
	}
}

func statusWord(in client.Instance) string {
	if in.Quarantine != "" {
		return "quarantine"
	}
	return string(in.Status)
}

func trouble(in client.Instance) string {
	switch {
	case in.Quarantine != "":
		return firstLine(in.Quarantine)
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

// writeInstance writes all that is known of one.
func writeInstance(a *app, in client.Instance, format string) error {
	fields := []field{
		{"id", in.ID},
		{"definition", joinVersion(in.Definition.ID, in.Definition.Version)},
		{"status", statusWord(in)},
		{"state", strings.Join(in.States, ", ")},
		{"created", instant(in.Created)},
		{"updated", instant(in.Updated)},
		{"ended", instant(in.Ended)},
		{"next wake-up", instant(in.Wake)},
		{"parent", in.Parent},
		{"restart of", in.RestartOf},
		{"reason", in.Reason},
		{"quarantine", firstLine(in.Quarantine)},
	}
	if j := in.Job; j != nil {
		var moves []string
		for _, m := range j.Allowed {
			moves = append(moves, m.Actor+" to "+m.State)
		}
		fields = append(fields, field{"client", j.Client}, field{"group", j.Group}, field{"moves", strings.Join(moves, ", ")})
	}
	if in.Error != nil {
		fields = append(fields, field{"error", faultText(in.Error) + atNode(in.Error.Node)})
	}
	if len(in.Tags) > 0 {
		text, _ := json.Marshal(in.Tags)
		fields = append(fields, field{"tags", string(text)})
	}
	fields = append(fields, field{"output", string(in.Output)}, field{"possible", strings.Join(in.Allowed, ", ")})
	return writeItem(a, in, in.ID, format, fields)
}

// filterFlag adds -q.
func filterFlag(cmd *cobra.Command, filter *string) {
	cmd.Flags().VarP((*filterValue)(filter), "filter", "q", "only those that this `filter` selects, such as 'status:failed def:order age:>1h'; of several, all must hold")
}

// filterValue is a filter that may be given in parts: a part never replaces another, which
// would select more than was asked for.
type filterValue string

func (f *filterValue) String() string { return string(*f) }
func (f *filterValue) Type() string   { return "filter" }

func (f *filterValue) Set(text string) error {
	if text = strings.TrimSpace(text); text == "" {
		return errors.New("it is empty: is a variable not set?")
	}
	*f = filterValue(strings.TrimSpace(string(*f) + " " + text))
	return nil
}

func (a *app) instList(server *remoteFlags) *cobra.Command {
	var filter string
	var limit int
	var oldest bool
	cmd := &cobra.Command{
		Use: "ls", Short: "List instances, newest first", Args: atMost(0),
		Long: "Ls lists instances. A filter is a list of words that must all hold: status:failed,cancelled def:order@1.3 state:Charge error:Timeout\n" +
			"age:>1h idle:>1d created:>2026-01-01 updated:<2026-01-31 tag:eu id:PREFIX parent:ID is:job client:ID group:OPEN, or plain text; a minus before a\n" +
			"word says that it must not hold.",
		Example: `  lockstep inst ls -q 'status:failed age:<1d'
  lockstep inst ls -q '-status:completed def:order' -o jsonl
  lockstep inst ls -q 'state:Charge idle:>1h' -o name`,
	}
	output := listFlag(cmd)
	filterFlag(cmd, &filter)
	limitFlag(cmd, &limit)
	cmd.Flags().BoolVar(&oldest, "oldest", false, "oldest first")
	cmd.RunE = a.remotely(server, func(r remote, _ []string) error {
		rows := instanceListing()
		var err error
		var more bool
		rows.items, more, err = take(r.instances(filter, limit, oldest), limit)
		if err != nil {
			return err
		}
		if len(rows.items) == 0 {
			a.none("instances", output.value)
		}
		a.notAll(more)
		return rows.write(a, output.value)
	})
	return cmd
}

func (a *app) instCount(server *remoteFlags) *cobra.Command {
	var filter string
	cmd := &cobra.Command{
		Use: "count", Short: "Count instances", Args: atMost(0),
		Example: `  lockstep inst count -q 'status:failed'`,
	}
	output := outputFlag(cmd, "format", "table", "json", "yaml")
	filterFlag(cmd, &filter)
	cmd.RunE = a.remotely(server, func(r remote, _ []string) error {
		n, err := r.CountInstances(r.ctx, filter)
		if err != nil {
			return err
		}
		if output.value != "table" {
			return writeValue(a.out, n, output.value)
		}
		if !n.Exact {
			fmt.Fprintln(a.err, "at least; the filter looks at more instances than one request compares")
		}
		_, err = fmt.Fprintln(a.out, n.Count)
		return err
	})
	return cmd
}

func (a *app) instGet(server *remoteFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show an instance", Args: exactly("the id of an instance"),
		Example: `  lockstep inst get ID
  lockstep inst get ID -o json | jq .error`,
	}
	output := itemFlag(cmd)
	cmd.ValidArgsFunction = a.completeInstances(server, "")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		in, err := r.GetInstance(r.ctx, args[0], 0)
		if err != nil {
			return err
		}
		return writeInstance(a, in, output.value)
	})
	return cmd
}

func (a *app) instRemove(server *remoteFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm ID…", Short: "Delete instances that are over, with their history", Args: atLeastOne("the id of an instance"),
		Example: `  lockstep inst rm ID`,
	}
	cmd.ValidArgsFunction = a.completeInstances(server, "delete")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		for _, id := range args {
			if err := r.DeleteInstance(r.ctx, id, 0); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func (a *app) instHistory(server *remoteFlags) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "history ID", Short: "Tell what happened to an instance", Args: exactly("the id of an instance"),
		Long: "History lists what happened, in order. The table has what people need; -o json, jsonl and yaml have the data of each step too.",
		Example: `  lockstep inst history ID
  lockstep inst history ID -o jsonl | jq 'select(.type=="called")'`,
	}
	output := listFlag(cmd)
	limitFlag(cmd, &limit)
	cmd.Flags().Lookup("limit").DefValue = "1000"
	limit = 1000
	cmd.ValidArgsFunction = a.completeInstances(server, "")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		rows := listing[client.Record]{
			columns: []string{"#", "TIME", "WHAT", "WHERE", "MORE"},
			row: func(rec client.Record) []string {
				return []string{fmt.Sprint(rec.Seq), rec.Time.Local().Format("15:04:05.000"), rec.Type, strings.Repeat("· ", rec.Depth) + rec.Node, recordText(rec)}
			},
			name: func(rec client.Record) string { return fmt.Sprint(rec.Seq) },
		}
		var err error
		var more bool
		rows.items, more, err = take(r.history(args[0], limit), limit)
		if err != nil {
			return err
		}
		a.notAll(more)
		return rows.write(a, output.value)
	})
	return cmd
}

// recordText is what a record tells beside its type and place.
func recordText(rec client.Record) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if rec.Name != "" {
		add("%s", rec.Name)
	}
	if rec.Attempt > 1 {
		add("attempt %d", rec.Attempt)
	}
	if rec.Text != "" {
		add("%s", rec.Text)
	}
	if rec.Error != nil {
		add("%s", faultText(rec.Error))
	}
	if !rec.At.IsZero() {
		add("until %s", rec.At.Local().Format(time.DateTime))
	}
	if rec.Status != "" {
		add("%s", rec.Status)
	}
	return strings.Join(parts, ", ")
}
