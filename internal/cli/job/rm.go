package job

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

func remove(a *cli.App, server *Flags) *cobra.Command {
	var s selection
	var yes bool
	cmd := &cobra.Command{
		Use: "rm ID… | --state STATE …", Aliases: []string{"delete"}, Short: "Delete jobs",
		Long: "Rm deletes jobs in any state, with their history, by id or by flags. With flags it shows how many there are and asks\n" +
			"first, unless --yes is given.",
		Example: `  lockstep job rm ID
  lockstep job rm --state DONE --older-than 30d
  lockstep job rm --workflow old.workflow --yes`,
	}
	s.add(server, cmd)
	id := cmd.Flags().String("id", "", "the job's `id`, instead of the argument")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask before deleting selected jobs")
	cmd.ValidArgsFunction = completeWords(server, idWords)
	cmd.RunE = Run(a, server, func(r Server, args []string) error {
		if *id != "" {
			args = append(args, *id)
		}
		switch {
		case s.given() && len(args) > 0:
			return cli.Usagef("give either ids or a selection, not both")
		case s.given():
			return r.removeSelected(s.at(time.Now()), yes)
		case len(args) == 0:
			return cli.Usagef("%s needs the id of a job, or a selection such as --state DONE", cmd.CommandPath()).WithExamples(cmd)
		}
		return r.removeNamed(args)
	})
	return cmd
}

// removeNamed deletes jobs by their ids. A missing one does not stop the others.
func (r Server) removeNamed(ids []string) error {
	var missing []string
	var cause error
	deleted := 0
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		err := r.DeleteJob(r.Ctx, id)
		switch {
		case IsNoJob(err):
			missing = append(missing, strconv.Quote(id))
			cause = namedJob(id, err)
		case err != nil && i > 0:
			fmt.Fprintf(r.Err, "%s deleted, of %d\n", cli.Plural(deleted, "job"), len(ids))
			return err
		case err != nil:
			return err
		default:
			deleted++
		}
	}
	if len(ids) > 1 && !r.Problems {
		fmt.Fprintf(r.Err, "%s deleted\n", cli.Plural(deleted, "job"))
	}
	if len(missing) > 1 {
		f := cli.AsFailure(cause)
		f.Detail = "there are no jobs " + strings.Join(missing, ", ")
		return f
	}
	return cause
}

// removeSelected deletes the jobs that a query selects now, not later ones.
func (r Server) removeSelected(q client.JobQuery, yes bool) error {
	jobs, _, err := cli.Take(All(r.Ctx, r.Jobs, q, 0), 0)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		if !r.Problems {
			fmt.Fprintln(r.Err, "no jobs")
		}
		return nil
	}
	line := func(i int) string {
		j := jobs[i]
		return strings.Join([]string{j.ID, j.ClientID, j.WorkflowName(), j.State()}, "  ")
	}
	if err := r.Confirm(r.Ctx, len(jobs), "job", "deleted", line, yes); err != nil {
		return err
	}
	bar := cli.NewBar(r.App, "deleted", len(jobs))
	var deleted atomic.Int64
	cause := cli.InParallel(r.Ctx, len(jobs), func(ctx context.Context, i int) error {
		err := r.DeleteJob(ctx, jobs[i].ID)
		switch {
		case err == nil:
			deleted.Add(1)
		case IsNoJob(err): // already deleted
			err = nil
		}
		bar.Add(1)
		return err
	})
	bar.Finish()
	if !r.Problems {
		fmt.Fprintf(r.Err, "%s deleted\n", cli.Plural(int(deleted.Load()), "job"))
	}
	return cause
}
