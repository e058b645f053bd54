package inst

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// How much of an instance describe shows.
const (
	describedRecords  = 10
	describedChildren = 10
)

func describe(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "describe ID", Short: "Show everything about an instance on one page", Args: cli.Exactly("the id of an instance"),
		Long: "Describe shows an instance with its input, what it waits for and why, the instances that it started, and the last things that\n" +
			"happened. \"inst get -o json\", \"inst why -o json\" and \"inst history -o json\" have the same for programs.",
		Example: `  lockstep inst describe ID`,
	}
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		in, err := r.GetInstance(r.Ctx, args[0], 0)
		if err != nil {
			return err
		}
		if err := write(a, in, cli.AsFormat("table")); err != nil {
			return err
		}
		for _, part := range []func(remote.Server, api.Instance) error{describeInput, describeWaits, describeChildren, describeHistory} {
			if err := part(r, in); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

// heading begins a part of the page.
func heading(r remote.Server, text string) error {
	_, err := fmt.Fprintf(r.Out, "\n%s\n", text)
	return err
}

func describeInput(r remote.Server, in api.Instance) error {
	first, err := r.GetHistory(r.Ctx, in.ID, client.Paging{Limit: 1})
	if err != nil || len(first.Items) == 0 || first.Items[0].Data == nil {
		return err
	}
	if err := heading(r, "Input"); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Out, "  %s\n", cli.Plain(string(first.Items[0].Data)))
	return err
}

func describeWaits(r remote.Server, in api.Instance) error {
	why, err := r.GetWhy(r.Ctx, in.ID)
	if err != nil {
		return err
	}
	if err := heading(r, "Why"); err != nil {
		return err
	}
	for _, line := range whyLines(why, false, time.Now()) {
		if _, err := fmt.Fprintf(r.Out, "  %s\n", cli.Plain(line)); err != nil {
			return err
		}
	}
	return nil
}

func describeChildren(r remote.Server, in api.Instance) error {
	query := client.InstanceQuery{Paging: client.Paging{Limit: describedChildren}, Filter: fmt.Sprintf("parent:%q", in.ID)}
	children, err := r.ListInstances(r.Ctx, query)
	if err != nil || len(children.Items) == 0 {
		return err
	}
	title := "Children"
	if children.Next != "" {
		title = fmt.Sprintf("Children, the newest %d; \"lockstep inst ls -q parent:%s\" lists all", describedChildren, in.ID)
	}
	if err := heading(r, title); err != nil {
		return err
	}
	return listing.Write(r.App, cli.AsFormat("table"), children.Items)
}

func describeHistory(r remote.Server, in api.Instance) error {
	last, err := r.GetLatestHistory(r.Ctx, in.ID, client.Paging{Limit: describedRecords})
	if err != nil || len(last.Items) == 0 {
		return err
	}
	title := "History"
	if last.Next != "" {
		title = fmt.Sprintf("History, the last %d; \"lockstep inst history %s\" lists all", describedRecords, in.ID)
	}
	if err := heading(r, title); err != nil {
		return err
	}
	for i := len(last.Items) - 1; i >= 0; i-- {
		if _, err := fmt.Fprintln(r.Out, line(last.Items[i])); err != nil {
			return err
		}
	}
	return nil
}
