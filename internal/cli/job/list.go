package job

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// selection are the flags that select jobs.
type selection struct {
	query        client.JobQuery
	older, newer cli.Duration
}

func (s *selection) add(server *Flags, cmd *cobra.Command) {
	f := cmd.Flags()
	textFlag(f, &s.query.ClientID, "client-id", "only jobs of this `client`")
	textFlag(f, &s.query.Workflow, "workflow", "only jobs of this `workflow`")
	textFlag(f, &s.query.State, "state", "only jobs in this `state`")
	wordsFlag(f, &s.query.Groups, "group", "only jobs in a state of this `group`; repeatable: any of them")
	wordsFlag(f, &s.query.Tags, "tag", "only jobs with this `tag`; repeatable: any of them")
	f.Var(&s.older, "older-than", "only jobs that have not changed for this `time`, such as 30d")
	f.Var(&s.newer, "newer-than", "only jobs that have changed within this `time`, such as 1h")
	instantFlag(f, &s.query.CreatedFrom, "created-from", "only jobs created at this `instant` or later, such as 2026-01-31 or 2026-01-31T12:00:00Z")
	instantFlag(f, &s.query.CreatedTo, "created-to", "only jobs created before this `instant`")
	CompleteFlag(server, cmd, "client-id", clientWords)
	CompleteFlag(server, cmd, "workflow", WorkflowWords)
	CompleteFlag(server, cmd, "state", StateWords)
	CompleteFlag(server, cmd, "group", groupWords)
}

// at is the query, with times relative to now.
func (s *selection) at(now time.Time) client.JobQuery {
	q := s.query
	q.ChangedTo, q.ChangedFrom = s.older.Before(now), s.newer.Before(now)
	return q
}

// given reports whether a flag selects jobs.
func (s *selection) given() bool {
	q := s.query
	return q.ClientID+q.Workflow+q.State+s.older.Text+s.newer.Text != "" || len(q.Groups)+len(q.Tags) > 0 ||
		!q.CreatedFrom.IsZero() || !q.CreatedTo.IsZero()
}

// textFlag adds a flag that must not be empty: an empty filter would select everything.
func textFlag(f *pflag.FlagSet, to *string, name, usage string) {
	cli.ParseFlag(f, name, usage, func(text string) error {
		*to = text
		return cli.NotEmpty(text)
	})
}

// wordsFlag adds a list of words: comma-separated, or the flag repeated.
func wordsFlag(f *pflag.FlagSet, to *[]string, name, usage string) {
	cli.ParseFlag(f, name, usage, func(text string) error {
		for word := range strings.SplitSeq(text, ",") {
			word = strings.TrimSpace(word)
			if err := cli.NotEmpty(word); err != nil {
				return err
			}
			if !slices.Contains(*to, word) {
				*to = append(*to, word)
			}
		}
		return nil
	})
}

// instantFlag adds an instant, or the beginning of a day.
func instantFlag(f *pflag.FlagSet, to *time.Time, name, usage string) {
	cli.ParseFlag(f, name, usage, func(text string) (err error) {
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if *to, err = time.ParseInLocation(layout, text, time.Local); err == nil {
				return nil
			}
		}
		return errors.New("must be a day such as 2026-01-31 or an instant such as 2026-01-31T12:00:00Z")
	})
}

func list(a *cli.App, server *Flags) *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"query"}, Short: "List jobs, newest first", Args: cli.AtMost(0),
		Example: `  lockstep job ls --group OPEN --client-id dana
  lockstep job ls --workflow firmware --state INSTALLING --older-than 1d
  lockstep job ls --tag eu --tag pilot --limit 0 -o jsonl
  lockstep job ls --state DONE --filter '.content[].id'
  lockstep job ls --workflow firmware --group OPEN -w`,
	}
	flags := cli.AddListFlags(cmd, 50)
	flags.AddWatch(cmd)
	s.add(server, cmd)
	filter := jqFlag(cmd)
	order := &cli.Choice{Value: "desc", Allowed: []string{"desc", "asc"}}
	cmd.Flags().IntVar(&s.query.Offset, "offset", 0, "skip this `number` of jobs")
	cmd.Flags().Var(order, "sort", "by the time of creation: desc, newest first, or asc")
	cli.CompleteFlag(cmd, "sort", order.Allowed)
	cmd.RunE = Run(a, server, func(r Server, _ []string) error {
		if flags.Limit < 0 || s.query.Offset < 0 {
			return cli.Usagef("--limit and --offset must not be negative")
		}
		s.query.Descending = order.Value == "desc"
		if *filter != "" {
			if flags.Watch {
				return cli.Usagef("give either --filter or --watch, not both")
			}
			q := s.at(time.Now())
			q.Limit = flags.Limit
			if q.Limit == 0 {
				q.Limit = -1
			}
			call := client.JobsCall{Method: http.MethodGet, Path: []string{"jobs"}, Query: q.Values()}
			return show[any](r, call, *filter, nil)
		}
		jobs := func() iter.Seq2[api.Job, error] { return All(r.Ctx, r.Jobs, s.at(time.Now()), flags.Limit) }
		return remote.List(r.Ctx, a, listing, flags, jobs)
	})
	return cmd
}

// pageSize is how many jobs are asked for at a time.
const pageSize = 1000

// Pages yields the items of a list page by page; limit is how many will be read, 0 all.
func Pages[T any](limit int, get func(limit, offset int) (api.JobPage[T], error)) iter.Seq2[T, error] {
	size := pageSize
	if limit > 0 {
		size = min(limit+1, pageSize)
	}
	return func(yield func(T, error) bool) {
		for offset := 0; ; offset += size {
			page, err := get(size, offset)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Content {
				if !yield(item, nil) {
					return
				}
			}
			if len(page.Content) < size {
				return
			}
		}
	}
}

// All yields the jobs that a query selects; limit is how many will be read, 0 all.
func All(ctx context.Context, j *client.Jobs, q client.JobQuery, limit int) iter.Seq2[api.Job, error] {
	first := q.Offset
	return Pages(limit, func(size, offset int) (api.JobPage[api.Job], error) {
		q.Limit, q.Offset = size, first+offset
		return j.ListJobs(ctx, q)
	})
}

func count(a *cli.App, server *Flags) *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use: "count", Short: "Count jobs", Args: cli.AtMost(0),
		Example: `  lockstep job count --workflow firmware --group FAILED`,
	}
	output := cli.FormatFlag(cmd, "table", "json", "yaml")
	s.add(server, cmd)
	cmd.RunE = Run(a, server, func(r Server, _ []string) error {
		n, err := r.CountJobs(r.Ctx, s.at(time.Now()))
		if err != nil {
			return err
		}
		if output.Value == "table" {
			_, err := fmt.Fprintln(a.Out, n)
			return err
		}
		return output.WriteData(a.Out, map[string]int64{"count": n})
	})
	return cmd
}
