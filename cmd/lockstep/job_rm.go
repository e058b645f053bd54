package main

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
)

func (a *app) jobRemove(server *jobFlags) *cobra.Command {
	var s jobSelection
	var id string
	var yes bool
	cmd := &cobra.Command{
		Use: "rm ID… | --state STATE …", Aliases: []string{"delete"}, Short: "Delete jobs",
		Long: "Rm deletes jobs in whatever state they are, with their history: those that are named, or those that flags select. Over a selection it\n" +
			"says how many there are and asks first, unless --yes is given.",
		Example: `  lockstep job rm ID
  lockstep job rm --state DONE --older-than 30d
  lockstep job rm --workflow old.workflow --yes`,
	}
	s.add(a, server, cmd)
	jobArg(cmd, &id)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask before deleting a selection")
	cmd.ValidArgsFunction = a.completeJobWords(server, idWords)
	cmd.RunE = a.jobly(server, func(r jobRemote, args []string) error {
		if id != "" {
			args = append(args, id)
		}
		switch {
		case s.given() && len(args) > 0:
			return usagef("ids and a selection both say which jobs; give one of them")
		case s.given():
			return r.removeSelected(s.at(time.Now()), yes)
		case len(args) == 0:
			f := usagef("%s needs the id of a job, or a selection such as --state DONE", cmd.CommandPath())
			f.hint = fmt.Sprintf("%q shows examples", cmd.CommandPath()+" --help")
			return f
		}
		return r.removeNamed(args)
	})
	return cmd
}

// removeNamed deletes jobs by their ids. One that is not there keeps none of the others.
func (r jobRemote) removeNamed(ids []string) error {
	var missing []string
	var cause error
	deleted := 0
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		err := r.DeleteJob(r.ctx, id)
		switch {
		case isNoJob(err):
			missing = append(missing, strconv.Quote(id))
			cause = namedJob(id, err)
		case err != nil && i > 0:
			fmt.Fprintf(r.err, "%s deleted, of %d\n", plural(deleted, "job"), len(ids))
			return err
		case err != nil:
			return err
		default:
			deleted++
		}
	}
	if len(ids) > 1 && !r.problems {
		fmt.Fprintf(r.err, "%s deleted\n", plural(deleted, "job"))
	}
	if len(missing) > 1 {
		f := asFailure(cause)
		f.detail = "there are no jobs " + strings.Join(missing, ", ")
		return f
	}
	return cause
}

// removeSelected deletes what a query selects now: what comes later is not touched.
func (r jobRemote) removeSelected(q client.JobQuery, yes bool) error {
	jobs, _, err := take(r.jobs(q, 0), 0)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		if !r.problems {
			fmt.Fprintln(r.err, "no jobs")
		}
		return nil
	}
	if err := r.confirmRemoval(jobs, yes); err != nil {
		return err
	}
	bar := newBar(r.app, "deleted", len(jobs))
	var deleted atomic.Int64
	cause := inParallel(r.ctx, len(jobs), func(ctx context.Context, i int) error {
		err := r.DeleteJob(ctx, jobs[i].ID)
		switch {
		case err == nil:
			deleted.Add(1)
		case isNoJob(err): // somebody else did
			err = nil
		}
		bar.add(1)
		return err
	})
	bar.finish()
	if !r.problems {
		fmt.Fprintf(r.err, "%s deleted\n", plural(int(deleted.Load()), "job"))
	}
	return cause
}

// confirmRemoval tells how many there are, shows some, and asks.
func (r jobRemote) confirmRemoval(jobs []client.Job, yes bool) error {
	n := len(jobs)
	if !r.problems {
		const samples = 5
		fmt.Fprintf(r.err, "%s will be deleted:\n", plural(n, "job"))
		for _, j := range jobs[:min(n, samples)] {
			fmt.Fprintf(r.err, "  %s  %s  %s  %s\n", j.ID, plain(j.ClientID), plain(j.WorkflowName()), plain(j.State()))
		}
		if n > samples {
			fmt.Fprintf(r.err, "  … and %d more\n", n-samples)
		}
	}
	if yes {
		return nil
	}
	f := usagef("%s would be deleted; nothing was done", plural(n, "job"))
	f.hint = "--yes goes on without asking"
	if !asksPeople(r.in) || r.problems {
		return f
	}
	fmt.Fprintf(r.err, "type %d to go on: ", n)
	answer, err := readLine(r.ctx, r.in)
	if err != nil {
		return err
	}
	if strings.TrimSpace(answer) != strconv.Itoa(n) {
		return f
	}
	return nil
}
