package convert

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// difference says in which respect two outcomes differ, "" if in none: status, calls in
// order with their arguments, kind of error, output, time.
func (k *comparison) difference(a, b Outcome) string {
	if a.endless() || b.endless() {
		// Neither need come as far as the other, nor do all that is due at one instant.
		cut := min(a.until(), b.until())
		a, b = a.before(cut), b.before(cut)
	}
	if k.parallel && a.Status == "failed" && b.Status == "failed" {
		// At the instant of the failure other branches may still act, or not.
		a.Calls, b.Calls = a.before(a.ended).Calls, b.before(b.ended).Calls
	}
	x, y := k.calls(a.Calls, true), k.calls(b.Calls, false)
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || !k.alike(x[i], y[i]) {
			return fmt.Sprintf("call %d", i+1)
		}
	}
	switch {
	case a.Status != b.Status:
		return "the status"
	case a.Instances != b.Instances:
		return "how many instances there are"
	case a.Category != b.Category:
		return "the kind of error"
	case a.Category != "" && ownName(a.Error) && ownName(b.Error) && a.Error != b.Error:
		return "the error"
	case a.HasOutput != b.HasOutput || !expr.Equal(a.Output, b.Output):
		return "the output"
	case a.Elapsed != b.Elapsed:
		return "the time it took"
	}
	return ""
}

// endless reports whether a run was ended by a limit: a circle, or data that grows.
func (o Outcome) endless() bool {
	return o.Status == statusRunning || o.Error == core.FaultStateLimit || o.Error == core.FaultStepLimit
}

// until is when the last call was made that an endless run came to.
func (o Outcome) until() time.Duration {
	switch {
	case !o.endless():
		return math.MaxInt64
	case len(o.Calls) == 0:
		return 0
	}
	return o.Calls[len(o.Calls)-1].At
}

// before is what is known of an outcome up to an instant.
func (o Outcome) before(cut time.Duration) Outcome {
	n := slices.IndexFunc(o.Calls, func(c Call) bool { return c.At >= cut })
	if n < 0 {
		n = len(o.Calls)
	}
	return Outcome{Status: statusRunning, Calls: o.Calls[:n]}
}

// ownName reports whether a fault has a name that a function gave it; those by which a
// workflow fails itself differ between the versions.
func ownName(name string) bool {
	if _, engine := standardNames[name]; engine {
		return false
	}
	return name != "TransitionRestricted" && !strings.HasPrefix(name, "SYS.") && !strings.HasPrefix(name, "Result ") && !strings.HasPrefix(name, "next state ")
}

// calls are the calls to compare. Where branches run side by side, their order at one instant
// is not defined.
func (k *comparison) calls(list []Call, source bool) []Call {
	if !k.parallel {
		return list
	}
	out := slices.Clone(list)
	key := func(c Call) string {
		args := c.Args
		if source {
			args = k.expected(c)
		}
		return c.Function + " " + args.String()
	}
	slices.SortStableFunc(out, func(a, b Call) int {
		if a.At != b.At {
			return 0 // they come in order of time
		}
		return strings.Compare(key(a), key(b))
	})
	return out
}

// alike compares a call in both versions.
func (k *comparison) alike(a, b Call) bool {
	return a.At == b.At && a.Function == b.Function && (k.result.Calls.Unchecked[a.Function] || expr.Equal(a.Args, b.Args) || expr.Equal(k.expected(a), b.Args))
}

// expected is what a function of 0.5 is to receive where one of 0.1 receives the data:
// that as one parameter, or the parameters that were named.
func (k *comparison) expected(c Call) expr.Value {
	if names := k.result.Named[c.Function]; names != nil {
		out := expr.EmptyObject
		for _, name := range names {
			v, _ := c.Args.Get(name)
			out = out.With(name, v)
		}
		return out
	}
	if k.result.Whole[c.Function] {
		return obj("data", c.Args)
	}
	return c.Args
}

// lines writes an outcome for people, one observation a line.
func (o Outcome) lines() []string {
	var out []string
	for _, c := range o.Calls {
		out = append(out, fmt.Sprintf("%s call %s %s", iso(c.At), c.Function, c.Args))
	}
	end := o.Status
	if o.Category != "" {
		end += ", " + o.Error + " (" + o.Category + ")"
	}
	if o.HasOutput {
		end += ", output " + o.Output.String()
	}
	if o.Status == "completed" || o.Status == "failed" {
		end += ", after " + iso(o.Elapsed)
	}
	if o.Instances > 1 {
		end += fmt.Sprintf(", %d instances", o.Instances)
	}
	return append(out, end)
}
