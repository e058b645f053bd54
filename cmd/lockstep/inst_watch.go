package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lockstep-workflows/lockstep/client"
)

func (a *app) instWatch(server *remoteFlags) *cobra.Command {
	var filter, def string
	cmd := &cobra.Command{
		Use: "watch [ID]", Short: "Follow instances as they go on", Args: atMost(1),
		Long: "Watch follows one instance to its end, from its beginning, and tells by its exit code how it ended (10 failed, 11 cancelled or\n" +
			"terminated); or, without an id, whatever happens from now on, until Ctrl-C. Where the connection breaks, it goes on without a gap.",
		Example: `  lockstep inst watch ID
  lockstep inst watch -q 'def:order'
  lockstep inst watch ID -o jsonl | jq .type`,
	}
	output := outputFlag(cmd, "format", "table", "jsonl")
	filterFlag(cmd, &filter)
	cmd.Flags().StringVar(&def, "def", "", "only instances of this `definition`")
	cmd.ValidArgsFunction = a.completeInstances(server, "")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		if len(args) == 0 {
			return r.watchAll(client.StreamQuery{Definition: def, Filter: filter}, output.value)
		}
		if filter != "" || def != "" {
			return usagef("an id and a filter both say what to follow; give one of them")
		}
		return r.watchOne(args[0], output.value)
	})
	return cmd
}

// watchAll writes a line for everything that happens.
func (r remote) watchAll(q client.StreamQuery, format string) error {
	for ch, err := range r.Stream(r.ctx, q) {
		switch {
		case err != nil:
			return r.watchEnd(err)
		case ch.Kind == client.StreamReset && !r.problems:
			fmt.Fprintln(r.err, "some of what happened is not kept any more")
		case ch.Kind != client.StreamChange:
		case format == "jsonl":
			if err := writeJSONLine(r.out, ch); err != nil {
				return err
			}
		default:
			for _, rec := range ch.Records {
				line := fmt.Sprintf("%s  %s  %s  %-12s %s", rec.Time.Local().Format("15:04:05.000"), ch.Instance, ch.Definition, rec.Type, streamText(rec))
				if _, err := fmt.Fprintln(r.out, plain(strings.TrimRight(line, " "))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// watchEnd: to be interrupted is how following ends.
func (r remote) watchEnd(err error) error {
	if errors.Is(err, context.Canceled) && r.ctx.Err() != nil {
		return shown(exitInterrupted)
	}
	return err
}

func streamText(rec client.StreamRecord) string {
	full := client.Record{Name: rec.Name, Attempt: rec.Attempt, At: rec.At, Text: rec.Text, Status: rec.Status}
	if rec.Error != "" {
		full.Error = &client.Fault{Name: rec.Error}
	}
	return strings.TrimSpace(rec.Node + "  " + recordText(full))
}

// watchOne follows an instance to its end. The stream only tells that there is more: what is
// shown comes from the history, which has everything once and in order.
func (r remote) watchOne(id, format string) error {
	in, err := r.GetInstance(r.ctx, id, 0) // one that does not exist has no stream either
	if err != nil {
		return err
	}
	f := &follower{remote: r, id: id, view: r.newView(in, format)}
	for ch, err := range r.Stream(r.ctx, client.StreamQuery{Instance: id}) {
		if err != nil {
			if r.ctx.Err() != nil {
				r.goesOn(id)
			}
			return r.watchEnd(err)
		}
		if ch.Kind != client.StreamChange {
			if in, err = r.GetInstance(r.ctx, id, 0); err != nil {
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
		if in, err = r.GetInstance(r.ctx, id, 0); err != nil {
			return err
		}
		if in.Status.Final() { // else it was retried meanwhile
			break
		}
	}
	if in.Status != client.Completed {
		return endFailure(in)
	}
	return nil
}

// follower shows the history of an instance as it grows.
type follower struct {
	remote
	id   string
	view recordView
	page string // where the last page begins; cursors lead to pages, not to records
	last int64  // the number of the last record that was shown
}

// catchUp shows what the history has more than was shown.
func (f *follower) catchUp() error {
	for {
		page, err := f.GetHistory(f.ctx, f.id, client.Paging{Limit: 200, After: f.page})
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
			return f.view.show()
		}
		f.page = page.Next
	}
}

// recordView shows records.
type recordView interface {
	add(client.Record) error
	show() error
}

func (r remote) newView(in client.Instance, format string) recordView {
	if format == "table" && isTerminal(r.out) {
		return &treeView{app: r.app, instance: in, color: color(r.out), size: func() (int, int) { return terminalSize(r.out) }}
	}
	return &lineView{app: r.app, json: format == "jsonl"}
}

func terminalSize(w any) (rows, columns int) {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && rows > 2 && columns > 0 {
			return rows, columns
		}
	}
	return 24, 80
}

// lineView appends a line a record.
type lineView struct {
	app  *app
	json bool
}

func (v *lineView) add(rec client.Record) error {
	if v.json {
		return writeJSONLine(v.app.out, rec)
	}
	line := fmt.Sprintf("%s  %-12s %s%s  %s", rec.Time.Local().Format("15:04:05.000"), rec.Type, strings.Repeat("  ", rec.Depth), rec.Node, recordText(rec))
	_, err := fmt.Fprintln(v.app.out, plain(strings.TrimRight(line, " ")))
	return err
}

func (v *lineView) show() error { return nil }
