package inst

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

func watch(a *cli.App, server *remote.Flags) *cobra.Command {
	var filter, def string
	cmd := &cobra.Command{
		Use: "watch [ID]", Short: "Follow instances as they run", Args: cli.AtMost(1),
		Long: "Watch follows one instance from its beginning to its end. Exit codes: 10 failed, 11 cancelled or terminated.\n" +
			"Without an id it follows all instances from now on, until Ctrl-C. After a broken connection it continues without a gap.",
		Example: `  lockstep inst watch ID
  lockstep inst watch -q 'def:order'
  lockstep inst watch ID -o jsonl | jq .type`,
	}
	output := cli.OutputFlag(cmd, "format", "table", "jsonl")
	filterFlag(cmd, &filter)
	cmd.Flags().StringVar(&def, "def", "", "only instances of this `definition`")
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		if len(args) == 0 {
			return watchAll(r, client.StreamQuery{Definition: def, Filter: filter}, output.Value)
		}
		if filter != "" || def != "" {
			return cli.Usagef("give either an id or a filter, not both")
		}
		return watchOne(r, args[0], output.Value)
	})
	return cmd
}

// watchAll writes a line for everything that happens.
func watchAll(r remote.Server, q client.StreamQuery, format string) error {
	for ch, err := range r.Stream(r.Ctx, q) {
		switch {
		case err != nil:
			return watchEnd(r, err)
		case ch.Kind == api.StreamReset && !r.Problems:
			fmt.Fprintln(r.Err, "some events are no longer kept")
		case ch.Kind != api.StreamChanged:
		case format == "jsonl":
			if err := cli.WriteJSONLine(r.Out, ch); err != nil {
				return err
			}
		default:
			for _, rec := range ch.Records {
				if _, err := fmt.Fprintln(r.Out, line(historyRecord(rec), ch.Instance, ch.Definition)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// followList lists instances, then writes those that change. The list is read once the stream has begun, so that
// nothing is missed between the two; after a reset it is read again.
func followList(r remote.Server, flags *cli.ListFlags, q client.InstanceQuery) error {
	if err := flags.Format.CheckEndless(); err != nil {
		return err
	}
	further := flags.Format.Headless()
	for ch, err := range r.Stream(r.Ctx, client.StreamQuery{Filter: q.Filter}) {
		switch {
		case err != nil:
			return watchEnd(r, err)
		case ch.Kind != api.StreamChanged:
			if err := listing.WriteSome(r.App, flags, instances(r, q, flags.Limit)); err != nil {
				return err
			}
			continue
		}
		in, err := r.GetInstance(r.Ctx, ch.Instance, 0)
		if notThere(err) {
			continue // deleted meanwhile
		}
		if q.Fold && q.Filter == "" && in.Parent != "" {
			continue
		}
		if err == nil {
			err = listing.Write(r.App, further, []api.Instance{in})
		}
		if err != nil {
			return watchEnd(r, err)
		}
	}
	return nil
}

// notThere reports whether an error says that something does not exist.
func notThere(err error) bool {
	var p *client.Problem
	return errors.As(err, &p) && p.Status == http.StatusNotFound
}

// watchEnd is the result of a stream that ended; an interruption is not an error.
func watchEnd(r remote.Server, err error) error {
	if errors.Is(err, context.Canceled) && r.Ctx.Err() != nil {
		return cli.Shown(cli.ExitInterrupted)
	}
	return err
}

// watchOne follows an instance to its end. The stream only signals that there is more; the records come from
// the history, which has each of them once and in order.
func watchOne(r remote.Server, id, format string) error {
	in, err := r.GetInstance(r.Ctx, id, 0) // an unknown id would have an empty stream
	if err != nil {
		return err
	}
	f := &follower{Server: r, id: id, view: newView(r, in, format)}
	for ch, err := range r.Stream(r.Ctx, client.StreamQuery{Instance: id}) {
		if err != nil {
			if r.Ctx.Err() != nil {
				reportContinues(r, id)
			}
			return watchEnd(r, err)
		}
		if ch.Kind != api.StreamChanged {
			if in, err = r.GetInstance(r.Ctx, id, 0); err != nil {
				return err
			}
			ch.Status = in.Status
		}
		if err := f.catchUp(); err != nil {
			return err
		}
		if !ch.Status.Final() {
			continue
		}
		if in, err = r.GetInstance(r.Ctx, id, 0); err != nil {
			return err
		}
		if in.Status.Final() { // otherwise it was retried meanwhile
			break
		}
	}
	if in.Status != api.Completed {
		return endFailure(in)
	}
	return nil
}

// follower shows the history of an instance as it grows.
type follower struct {
	remote.Server
	id    string
	view  recordView
	page  string    // the cursor of the last page; cursors point to pages, not to records
	last  int64     // the number of the last record that was shown
	asked time.Time // when the progress was read last
}

// catchUp shows the new records of the history.
func (f *follower) catchUp() error {
	for {
		page, err := f.GetHistory(f.Ctx, f.id, client.Paging{Limit: 200, After: f.page})
		if err != nil {
			return err
		}
		for _, rec := range page.Items {
			if rec.Seq <= f.last {
				continue
			}
			f.last = rec.Seq
			if err := f.view.add(rec); err != nil {
				return err
			}
		}
		if page.Next == "" || page.Next == f.page {
			if err := f.readProgress(); err != nil {
				return err
			}
			return f.view.show()
		}
		f.page = page.Next
	}
}

// readProgress asks now and then how far the instance is.
func (f *follower) readProgress() error {
	now := time.Now()
	if f.view.progress == nil || now.Sub(f.asked) < progressEvery/2 {
		return nil
	}
	in, err := f.GetInstance(f.Ctx, f.id, 0)
	if err != nil {
		return err
	}
	f.asked = now
	f.view.progress(in, now)
	return nil
}

// recordView shows records: one a line as they come, or redrawn as a whole.
type recordView struct {
	add  func(api.Record) error
	show func() error
	// progress, if not nil, shows how far the instance is.
	progress func(api.Instance, time.Time)
}

func newView(r remote.Server, in api.Instance, format string) recordView {
	if format == "table" && cli.IsTerminal(r.Out) {
		tree := &treeView{app: r.App, instance: in, color: cli.Color(r.Out)}
		tree.size = func() (int, int) { return terminalSize(r.Out) }
		return recordView{tree.add, tree.show, tree.progress}
	}
	add := func(rec api.Record) error {
		if format == "jsonl" {
			return cli.WriteJSONLine(r.Out, rec)
		}
		_, err := fmt.Fprintln(r.Out, line(rec))
		return err
	}
	return recordView{add, func() error { return nil }, nil}
}

func terminalSize(w any) (rows, columns int) {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && rows > 2 && columns > 0 {
			return rows, columns
		}
	}
	return 24, 80
}
