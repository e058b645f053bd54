package convert

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// retried adds error definitions to the state of a call. It returns the last link of the chain,
// to which it may have added.
//
// In 0.5 an error definition must have a next state for when its retries are used up; in 0.1 the
// workflow may fail with the error. A single retry can be kept nevertheless: a second state
// without error definitions makes the last attempt.
func (ch *chain) retried(l *link, a *sw01.Action, suffix string, body expr.Value) *link {
	c := ch.sc.c
	var handlers []expr.Value
	seen := map[string]bool{}
	closed := false // an earlier retry matches all errors
	for i, r := range a.Retries {
		names := ch.matches(a, r)
		if closed {
			continue // the first that matches wins
		}
		closed = r.Match.Str() == sw01.SysMatchAny || r.Match.Str() == "*"
		if r.Next == nil && r.Max == 0 {
			if i < len(a.Retries)-1 {
				c.lose(r.Pos, ch.base, "the retry for "+r.Match.String(),
					"it fails at once, before what follows it can match; 0.5 cannot leave an error unhandled",
					"check what follows it")
			}
			continue
		}
		way := expr.Value{}
		if r.Next != nil {
			way = obj("transition", obj("nextState", str(ch.restored(r))))
		} else if len(a.Retries) == 1 && len(names) == 1 {
			return ch.lastAttempt(l, r, names[0], suffix, body)
		} else {
			c.lose(r.Pos, ch.base, "the end of the retry for "+r.Match.String(),
				"when its attempts are used up it fails with the error of the call; one of several error definitions of 0.5 fails with TransitionRestricted instead",
				"give it a next state")
			way = obj("transition", obj("nextState", str(ch.sc.fail())))
		}
		for _, match := range names {
			if seen[match.String()] {
				continue // an earlier one handles it
			}
			seen[match.String()] = true
			h := expr.Merge(match, way)
			if r.Max > 0 {
				h = h.With("retryRef", str(ch.sc.retry(r.Interval.String(), r.Max)))
			}
			handlers = append(handlers, h)
		}
	}
	if len(handlers) > 0 {
		l.value = l.value.With("onErrors", expr.Array(handlers...))
	}
	return l
}

// lastAttempt keeps a retry that fails with the error of the call in the end.
func (ch *chain) lastAttempt(l *link, r *sw01.Retry, match expr.Value, suffix string, body expr.Value) *link {
	before := len(ch.links)
	if !r.Interval.IsZero() {
		wait := ch.add("waits", obj("type", str("delay"), "timeDelay", str(r.Interval.String())))
		wait.array, wait.bare = l.array, l.bare
	}
	again := ch.add(suffix, body)
	again.array, again.bare = l.array, l.bare
	h := expr.Merge(match, obj("transition", obj("nextState", str(ch.links[before].name))))
	if r.Max > 1 {
		h = h.With("retryRef", str(ch.sc.retry(r.Interval.String(), r.Max-1)))
	}
	l.value = l.value.With("onErrors", expr.Array(h))
	l.jump = len(ch.links) - before + 1
	ch.pass("goes on")
	// Whatever follows the call is reached from both attempts.
	again.jump = 0
	return again
}

// restored returns a state that restores the input of the failed state, and goes on at the
// retry's next state (semantics.md §Data filters 12).
func (ch *chain) restored(r *sw01.Retry) string {
	if name, ok := ch.restore[r.Next]; ok {
		return name
	}
	name := ch.sc.name(ch.base, "failed")
	if ch.restore == nil {
		ch.restore = map[*sw01.State]string{}
	}
	ch.restore[r.Next] = name
	state := obj("type", str("inject"), "data", expr.EmptyObject, "transition", obj("nextState", str(ch.sc.target(r.Next))))
	switch {
	case ch.st.Type != eventType:
		state = state.With("stateDataFilter", obj("dataInputPath", text("$.data[0:1]")))
	case ch.st == ch.sc.s.Start && ch.sc.finish == nil:
		// The workflow began with the event, so there was no data before it.
		state = state.With("data", obj("value", expr.Array(expr.EmptyObject))).
			With("stateDataFilter", obj("dataOutputPath", text("$.value")))
	default:
		state = state.With("stateDataFilter", obj("dataInputPath", text("$.data[0:1]")))
		ch.sc.c.lose(r.Pos, ch.base, "the next state of the retry for "+r.Match.String(),
			"it begins with what the EVENT state was given, without the event; in 0.5 the event's data is in it",
			"wait for the event in a state of its own, and keep what is needed")
	}
	ch.sc.emitBeside(name, state)
	return name
}

// matches returns the error definitions for what a retry matches, without their next state.
func (ch *chain) matches(a *sw01.Action, r *sw01.Retry) []expr.Value {
	named := func(name string) []expr.Value { return []expr.Value{obj("error", str(name))} }
	coded := func(codes ...string) []expr.Value {
		var out []expr.Value
		for _, code := range codes {
			out = append(out, obj("error", str("Error"), "code", str(code)))
		}
		return out
	}
	word := r.Match.Str()
	lose := func(why, do string) { ch.sc.c.lose(r.Pos, ch.base, "the retry for "+r.Match.String(), why, do) }
	switch word {
	case sw01.SysMatchAny, "*":
		return named("*")
	case sw01.SysTimeout:
		return named("Timeout")
	case sw01.SysFilterError:
		return named("ExpressionError")
	case sw01.SysPermission:
		lose("an error with a name of its own is matched in 0.5 by that name, and not by the codes 401 and 403", "add an error definition for each such name")
		return coded("401", "403")
	case sw01.SysInvalidParameter:
		lose("an error with a name of its own is matched in 0.5 by that name, and not by the codes 400 and 422", "add an error definition for each such name")
		return coded("400", "422")
	case sw01.SysFail:
		lose("it is for all errors but those of the other SYS kinds; 0.5 has no such group, so it is for all that no other definition names",
			"add an error definition for each kind that must not be retried")
		return named("*")
	}
	if r.Match.Kind() != expr.KindString {
		word = r.Match.String()
	}
	if slices.Contains(ch.sc.c.opts.Errors, word) {
		return named(word)
	}
	lose(fmt.Sprintf("it is also for an answer that equals %s; in 0.5 only errors are retried", r.Match),
		fmt.Sprintf("say --errors %s where it is the name of an error; else let the function fail, or test its answer with a switch", word))
	if _, err := expr.Number(word); err == nil {
		return coded(word)
	}
	return named(word)
}
