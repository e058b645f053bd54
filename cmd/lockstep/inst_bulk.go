package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/lockstep-workflows/lockstep/client"
)

// bulk is one intervention in several instances.
type bulk struct {
	remote
	verb    *verb
	flags   *verbFlags
	targets []client.Instance // as they were read; only the id where it was given
}

// outcome is what became of one of them.
type outcome struct {
	Instance string `json:"instance"`
	Result   string `json:"result"` // the past tense of the verb, or refused, or error
	Status   string `json:"status,omitempty"`
	Detail   string `json:"detail,omitempty"`

	err error
}

const (
	refused = "refused" // the instance does not allow it, or changed meanwhile
	failed  = "error"   // the server could not be asked
)

// bulkWorkers is how many instances are changed at a time.
const bulkWorkers = 8

// find reads everything that the filter selects, so that what is told and confirmed is
// what is changed: what comes later is not touched.
func (b *bulk) find() error {
	var err error
	b.targets, _, err = take(b.instances(b.flags.filter, 0, true), 0)
	return err
}

// confirm tells how many there are, shows some, and asks.
func (b *bulk) confirm() error {
	if b.flags.yes && b.problems {
		return nil
	}
	n := len(b.targets)
	if !b.problems {
		const samples = 5
		fmt.Fprintf(b.err, "%s will be %s:\n", plural(n, "instance"), b.verb.past)
		for _, in := range b.targets[:min(n, samples)] {
			fmt.Fprintf(b.err, "  %s  %s  %s%s\n", in.ID, plain(joinVersion(in.Definition.ID, in.Definition.Version)), statusWord(in), plain(atNode(in.State)))
		}
		if n > samples {
			fmt.Fprintf(b.err, "  … and %d more\n", n-samples)
		}
	}
	if b.flags.yes {
		return nil
	}
	f := usagef("%s %s; nothing was done", plural(n, "instance"), "would be "+b.verb.past)
	f.hint = "--yes goes on without asking"
	if !asksPeople(b.in) || b.problems {
		return f
	}
	fmt.Fprintf(b.err, "type %d to go on: ", n)
	answer, err := readLine(b.ctx, b.in)
	if err != nil {
		return err
	}
	if strings.TrimSpace(answer) != strconv.Itoa(n) {
		return f
	}
	return nil
}

// asksPeople reports whether someone may sit at the other end.
func asksPeople(in io.Reader) bool {
	f, ok := in.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// readLine reads what someone types, until ctx ends.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type read struct {
		text string
		err  error
	}
	line := make(chan read, 1)
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		line <- read{text, err}
	}()
	select {
	case r := <-line:
		return r.text, r.err
	case <-ctx.Done(): // the read that blocks is left behind
		return "", ctx.Err()
	}
}

// one changes one instance.
func (b *bulk) one(ctx context.Context, in client.Instance) outcome {
	c := client.Control{Reason: b.flags.reason}
	if b.verb.atRev {
		c.Rev = in.Rev
	}
	after, err := b.verb.do(ctx, b.remote, in.ID, b.flags, c)
	if err == nil {
		return outcome{Instance: in.ID, Result: b.verb.past, Status: statusWord(after)}
	}
	out := outcome{Instance: in.ID, Result: failed, Detail: err.Error(), err: err}
	var problem *client.Problem
	if errors.As(err, &problem) {
		switch problemExit(problem.Status) {
		case exitConflict, exitNotFound:
			out.Result = refused
		}
	}
	return out
}

// each changes the instances that were named, one after the other; the first that cannot
// be changed ends it.
func (b *bulk) each(format string) error {
	var done []outcome
	for _, in := range b.targets {
		out := b.one(b.ctx, in)
		if out.err != nil {
			if len(done) > 0 && !b.problems {
				fmt.Fprintf(b.err, "%s %s before\n", plural(len(done), "instance"), b.verb.past)
			}
			return out.err
		}
		done = append(done, out)
	}
	return b.write(done, format)
}

// all changes the instances that a filter selected, some at a time, and tells of those that
// could not be.
func (b *bulk) all(format string) error {
	bar := newBar(b.app, b.verb.past, len(b.targets))
	results := make([]outcome, len(b.targets))
	ctx, stop := context.WithCancelCause(b.ctx)
	defer stop(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(bulkWorkers, len(b.targets)) {
		workers.Go(func() {
			for i := range next {
				results[i] = b.one(ctx, b.targets[i])
				if results[i].Result == failed {
					stop(results[i].err) // the others would fail in the same way
				}
				bar.add(1)
			}
		})
	}
	for i := range b.targets {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	bar.finish()
	return b.sum(results, context.Cause(ctx), format)
}

// sum tells what became of all of them.
func (b *bulk) sum(results []outcome, cause error, format string) error {
	var done []outcome
	counts := map[string]int{}
	for _, out := range results {
		if out.Instance == "" { // not begun, because another failed
			continue
		}
		counts[out.Result]++
		done = append(done, out)
	}
	if !b.problems {
		fmt.Fprintf(b.err, "%d %s, %d refused", counts[b.verb.past], b.verb.past, counts[refused])
		if left := len(results) - counts[b.verb.past] - counts[refused]; left > 0 {
			fmt.Fprintf(b.err, ", %d not tried", left)
		}
		fmt.Fprintln(b.err)
	}
	if err := b.write(done, format); err != nil {
		return err
	}
	if cause != nil {
		return cause
	}
	if counts[refused] > 0 {
		return shown(exitConflict)
	}
	return nil
}

func (b *bulk) write(done []outcome, format string) error {
	rows := listing[outcome]{
		columns: []string{"INSTANCE", "RESULT", "STATUS", "DETAIL"},
		row:     func(o outcome) []string { return []string{o.Instance, o.Result, o.Status, o.Detail} },
		name:    func(o outcome) string { return o.Instance },
		items:   done,
	}
	return rows.write(b.app, format)
}
