package main

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

// jobSelection are the flags that select jobs.
type jobSelection struct {
	query        client.JobQuery
	older, newer age
	from, to     instantFlag
}

func (s *jobSelection) add(a *app, server *jobFlags, cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var((*givenText)(&s.query.ClientID), "client-id", "only jobs of this `client`")
	f.Var((*givenText)(&s.query.Workflow), "workflow", "only jobs of this `workflow`")
	f.Var((*givenText)(&s.query.State), "state", "only jobs in this `state`")
	f.Var((*wordList)(&s.query.Groups), "group", "only jobs in a state of this `group`; repeatable: of one of them")
	f.Var((*wordList)(&s.query.Tags), "tag", "only jobs with this `tag`; repeatable: with one of them")
	f.Var(&s.older, "older-than", "only jobs that have not changed for this `time`, such as 30d")
	f.Var(&s.newer, "newer-than", "only jobs that have changed within this `time`, such as 1h")
	f.Var(&s.from, "created-from", "only jobs created at this `instant` or later, such as 2026-01-31 or 2026-01-31T12:00:00Z")
	f.Var(&s.to, "created-to", "only jobs created before this `instant`")
	a.completeFlag(server, cmd, "client-id", clientWords)
	a.completeFlag(server, cmd, "workflow", workflowWords)
	a.completeFlag(server, cmd, "state", stateWords)
	a.completeFlag(server, cmd, "group", groupWords)
}

// at is the query as it is now.
func (s *jobSelection) at(now time.Time) client.JobQuery {
	q := s.query
	q.ChangedTo, q.ChangedFrom = s.older.before(now), s.newer.before(now)
	q.CreatedFrom, q.CreatedTo = s.from.at, s.to.at
	return q
}

// given reports whether anything is selected.
func (s *jobSelection) given() bool {
	q := s.query
	return q.ClientID+q.Workflow+q.State+s.older.text+s.newer.text != "" || len(q.Groups)+len(q.Tags) > 0 || !s.from.at.IsZero() || !s.to.at.IsZero()
}

// givenText is a text that must not be empty: an empty one would select everything.
type givenText string

func (t *givenText) String() string { return string(*t) }
func (t *givenText) Type() string   { return "text" }

func (t *givenText) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it is empty: is a variable not set?")
	}
	*t = givenText(text)
	return nil
}

// wordList is a list of words, by commas or by repeating the flag.
type wordList []string

func (l *wordList) String() string { return strings.Join(*l, ",") }
func (l *wordList) Type() string   { return "words" }

func (l *wordList) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			return errors.New("it is empty: is a variable not set?")
		}
		if !slices.Contains(*l, word) {
			*l = append(*l, word)
		}
	}
	return nil
}

// instantFlag is an instant or the beginning of a day.
type instantFlag struct{ at time.Time }

func (i *instantFlag) String() string {
	if i.at.IsZero() {
		return ""
	}
	return i.at.Format(time.RFC3339)
}
func (i *instantFlag) Type() string { return "instant" }

func (i *instantFlag) Set(text string) error {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			i.at = at
			return nil
		}
	}
	return errors.New("must be a day such as 2026-01-31 or an instant such as 2026-01-31T12:00:00Z")
}

func (a *app) jobList(server *jobFlags) *cobra.Command {
	var s jobSelection
	var filter string
	var limit int
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"query"}, Short: "List jobs, newest first", Args: atMost(0),
		Example: `  lockstep job ls --group OPEN --client-id dana
  lockstep job ls --workflow firmware --state INSTALLING --older-than 1d
  lockstep job ls --tag eu --tag pilot --limit 0 -o jsonl
  lockstep job ls --state DONE --filter '.content[].id'`,
	}
	output := listFlag(cmd)
	s.add(a, server, cmd)
	limitFlag(cmd, &limit)
	jqFlag(cmd, &filter)
	order := &choice{value: "desc", allowed: []string{"desc", "asc"}}
	cmd.Flags().IntVar(&s.query.Offset, "offset", 0, "leave out so many at the beginning")
	cmd.Flags().Var(order, "sort", "by the time of creation: desc, newest first, or asc")
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(order.allowed, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = a.jobly(server, func(r jobRemote, _ []string) error {
		if limit < 0 || s.query.Offset < 0 {
			return usagef("--limit and --offset must not be negative")
		}
		s.query.Descending = order.value == "desc"
		q := s.at(time.Now())
		if filter != "" {
			if q.Limit = limit; limit == 0 {
				q.Limit = -1
			}
			return r.filtered(client.JobsCall{Method: "GET", Path: []string{"jobs"}, Query: q.Values(), Filter: filter})
		}
		rows := jobListing()
		var more bool
		var err error
		if rows.items, more, err = take(r.jobs(q, limit), limit); err != nil {
			return err
		}
		if len(rows.items) == 0 {
			a.none("jobs", output.value)
		}
		a.notAll(more)
		return rows.write(a, output.value)
	})
	return cmd
}

// jobPage is how many jobs are asked for at a time.
const jobPage = 1000

// jobs are those that a query selects, page by page; limit is how many will be looked at, 0 all.
func (r jobRemote) jobs(q client.JobQuery, limit int) iter.Seq2[client.Job, error] {
	q.Limit = jobPage
	if limit > 0 {
		q.Limit = min(limit+1, jobPage)
	}
	return func(yield func(client.Job, error) bool) {
		for {
			page, err := r.ListJobs(r.ctx, q)
			if err != nil {
				yield(client.Job{}, err)
				return
			}
			for _, j := range page.Content {
				if !yield(j, nil) {
					return
				}
			}
			if len(page.Content) < q.Limit {
				return
			}
			q.Offset += len(page.Content)
		}
	}
}

func (a *app) jobCount(server *jobFlags) *cobra.Command {
	var s jobSelection
	cmd := &cobra.Command{
		Use: "count", Short: "Count jobs", Args: atMost(0),
		Example: `  lockstep job count --workflow firmware --group FAILED`,
	}
	output := outputFlag(cmd, "format", "table", "json", "yaml")
	s.add(a, server, cmd)
	cmd.RunE = a.jobly(server, func(r jobRemote, _ []string) error {
		n, err := r.CountJobs(r.ctx, s.at(time.Now()))
		if err != nil {
			return err
		}
		if output.value == "table" {
			_, err := fmt.Fprintln(a.out, n)
			return err
		}
		return writeValue(a.out, map[string]int64{"count": n}, output.value)
	})
	return cmd
}
