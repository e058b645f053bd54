package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// compare runs a case on both sides and says what must come of it, and what differs. open: nothing can
// be said. A case that is not valid (shrinking makes such) counts as open too.
func compare(ctx context.Context, c *Case) (want Outcome, diff, open string) {
	want, open = interpretValid(c)
	if open != "" {
		return want, "", open
	}
	got, err := executeSafely(ctx, c)
	var refused *refusedError
	if errors.As(err, &refused) {
		return want, "", refused.Error()
	}
	return want, Difference(want, got, err), ""
}

// interpretValid interprets a case that may have lost something it needs.
func interpretValid(c *Case) (out Outcome, open string) {
	defer func() {
		if r := recover(); r != nil {
			open = fmt.Sprint("invalid: ", r)
		}
	}()
	return Interpret(c)
}

// executeSafely makes a panic of the kernel an error.
func executeSafely(ctx context.Context, c *Case) (out Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return Execute(ctx, c)
}

// maxShrinks is after how many cases shrinking ends.
const maxShrinks = 4000

// Shrink takes away from a case whatever the disagreement does not need.
func Shrink(ctx context.Context, c *Case) *Case {
	return trial.Shrink(c, maxShrinks, (*Case).smaller, func(c *Case) bool {
		_, diff, _ := compare(ctx, c)
		return diff != ""
	})
}

// smaller lists cases with one thing less each, the largest things first.
func (c *Case) smaller() []*Case {
	var out []*Case
	with := func(change func(*Case)) {
		n := *c
		change(&n)
		out = append(out, &n)
	}
	for i := range c.Subs {
		with(func(n *Case) { n.Subs = slices.Delete(slices.Clone(c.Subs), i, i+1) })
	}
	for i := range c.Events {
		with(func(n *Case) { n.Events = slices.Delete(slices.Clone(c.Events), i, i+1) })
	}
	for i := range c.Updates {
		with(func(n *Case) { n.Updates = slices.Delete(slices.Clone(c.Updates), i, i+1) })
	}
	for _, def := range reduce(c.Def) {
		with(func(n *Case) { n.Def = def })
	}
	for i, sub := range c.Subs {
		for _, def := range reduce(sub) {
			with(func(n *Case) { n.Subs = slices.Clone(c.Subs); n.Subs[i] = def })
		}
	}
	for i := range c.Mocks {
		with(func(n *Case) { n.Mocks = slices.Delete(slices.Clone(c.Mocks), i, i+1) })
		for _, answers := range reduceAnswers(c.Mocks[i].Answers) {
			with(func(n *Case) { n.Mocks = slices.Clone(c.Mocks); n.Mocks[i].Answers = answers })
		}
	}
	for i := range c.Events {
		for _, e := range reduce(c.Events[i].Event) {
			if _, err := event.FromValue(e); err != nil {
				continue
			}
			with(func(n *Case) { n.Events = slices.Clone(c.Events); n.Events[i].Event = e })
		}
	}
	if c.ByHand {
		for _, input := range reduce(c.Input) {
			with(func(n *Case) { n.Input = input })
		}
	}
	return out
}

func reduceAnswers(list []Answer) (out [][]Answer) {
	for i := range list {
		if len(list) > 1 {
			out = append(out, slices.Delete(slices.Clone(list), i, i+1))
		}
		set := func(a Answer) { n := slices.Clone(list); n[i] = a; out = append(out, n) }
		if list[i].Delay != 0 {
			a := list[i]
			a.Delay = 0
			set(a)
		}
		for _, v := range reduce(list[i].Result) {
			a := list[i]
			a.Result = v
			set(a)
		}
	}
	return out
}

// reduce lists values with one member or item less, at any depth, and with a
// transition that is an end instead.
func reduce(v expr.Value) (out []expr.Value) {
	for _, m := range v.Members() {
		if m.Key == "specVersion" || m.Key == "type" || m.Key == "source" || m.Key == "kind" || m.Key == "data" && str(v, "type") == "inject" {
			continue // without them it would be another case
		}
		if _, ok := v.Get("states"); ok && (m.Key == "id" || m.Key == "key" || m.Key == "start" || m.Key == "version") {
			continue // by which it is recognised
		}
		if _, ok := v.Get("emit"); ok && m.Key == "output" {
			continue // which hides what nobody knows
		}
		out = append(out, v.Without(m.Key))
		if m.Key == "transition" {
			out = append(out, v.Without(m.Key).With("end", obj("kind", expr.String("default"))), v.Without(m.Key).With("end", expr.Bool(true)))
		}
	}
	items := v.Items()
	for i := range items {
		out = append(out, expr.Array(slices.Delete(slices.Clone(items), i, i+1)...))
	}
	for _, m := range v.Members() {
		for _, less := range reduce(m.Value) {
			out = append(out, v.With(m.Key, less))
		}
	}
	for i := range items {
		for _, less := range reduce(items[i]) {
			n := slices.Clone(items)
			n[i] = less
			out = append(out, expr.Array(n...))
		}
	}
	return out
}
