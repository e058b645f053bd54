package inst

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// bulk is one intervention in several instances.
type bulk struct {
	remote.Server
	verb    *verb
	flags   *verbFlags
	targets []api.Instance // as they were read; only the id where it was given
}

// outcome is the result for one instance.
type outcome struct {
	Instance string `json:"instance"`
	Result   string `json:"result"` // the past tense of the verb, or refused, or error
	Status   string `json:"status,omitempty"`
	Detail   string `json:"detail,omitempty"`

	err error
}

const (
	refused = "refused" // the instance does not allow it, or changed meanwhile
	failed  = "error"   // the request failed
)

// find reads everything that the filter selects before anything is changed, so that exactly what was
// confirmed is changed.
func (b *bulk) find() error {
	var err error
	b.targets, _, err = cli.Take(instances(b.Server, client.InstanceQuery{Filter: b.flags.filter, Oldest: true}, 0), 0)
	return err
}

// confirm shows what will be changed, and asks.
func (b *bulk) confirm() error {
	return b.Confirm(b.Ctx, len(b.targets), "instance", b.verb.past, func(i int) string {
		in := b.targets[i]
		definition := cli.JoinVersion(in.Definition.ID, in.Definition.Version)
		return fmt.Sprintf("%s  %s  %s%s", in.ID, definition, statusWord(in), atNode(in.State))
	}, b.flags.yes)
}

// one changes one instance.
func (b *bulk) one(ctx context.Context, in api.Instance) outcome {
	c := client.Control{Reason: b.flags.reason}
	if b.verb.atRev {
		c.Rev = in.Rev
	}
	after, err := b.verb.do(ctx, b.Server, in.ID, b.flags, c)
	if err == nil {
		return outcome{Instance: in.ID, Result: b.verb.past, Status: statusWord(after)}
	}
	out := outcome{Instance: in.ID, Result: failed, Detail: err.Error(), err: err}
	if problem, ok := errors.AsType[*client.Problem](err); ok {
		switch remote.ProblemExit(problem.Status) {
		case cli.ExitConflict, cli.ExitNotFound:
			out.Result = refused
		}
	}
	return out
}

// each changes the named instances one after the other, until one cannot be changed.
func (b *bulk) each(format *cli.Format) error {
	var done []outcome
	for _, in := range b.targets {
		out := b.one(b.Ctx, in)
		if out.err != nil {
			if len(done) > 0 && !b.Problems {
				fmt.Fprintf(b.Err, "%s %s before\n", cli.Plural(len(done), "instance"), b.verb.past)
			}
			return out.err
		}
		done = append(done, out)
	}
	return b.write(done, format)
}

// all changes the instances that a filter selected, some at a time, and reports those that could not be
// changed.
func (b *bulk) all(format *cli.Format) error {
	bar := cli.NewBar(b.App, b.verb.past, len(b.targets))
	results := make([]outcome, len(b.targets))
	cause := cli.InParallel(b.Ctx, len(b.targets), func(ctx context.Context, i int) error {
		results[i] = b.one(ctx, b.targets[i])
		bar.Add(1)
		if results[i].Result == failed { // the others would fail, too
			return results[i].err
		}
		return nil
	})
	bar.Finish()
	return b.sum(results, cause, format)
}

// sum reports the results of all instances.
func (b *bulk) sum(results []outcome, cause error, format *cli.Format) error {
	var done []outcome
	counts := map[string]int{}
	for _, out := range results {
		if out.Instance == "" { // not begun, because another failed
			continue
		}
		counts[out.Result]++
		done = append(done, out)
	}
	if !b.Problems {
		fmt.Fprintf(b.Err, "%d %s, %d refused", counts[b.verb.past], b.verb.past, counts[refused])
		if left := len(results) - counts[b.verb.past] - counts[refused]; left > 0 {
			fmt.Fprintf(b.Err, ", %d not tried", left)
		}
		fmt.Fprintln(b.Err)
	}
	if err := b.write(done, format); err != nil {
		return err
	}
	if cause != nil {
		return cause
	}
	if counts[refused] > 0 {
		return cli.Shown(cli.ExitConflict)
	}
	return nil
}

func (b *bulk) write(done []outcome, format *cli.Format) error {
	return cli.Listing[outcome]{
		Columns: []string{"INSTANCE", "RESULT", "STATUS", "DETAIL"},
		Row:     func(o outcome) []string { return []string{o.Instance, o.Result, o.Status, o.Detail} },
		Name:    func(o outcome) string { return o.Instance },
	}.Write(b.App, format, done)
}
