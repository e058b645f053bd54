package catalogue

import (
	"context"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// builtin is a function that this program carries out itself.
type builtin string

var builtins = []string{"echo", "fail", "sleep", "log"}

func (r *reader) builtin(n *dialect.Node) entry {
	word := r.OneOf(n, "builtin", false, builtins...)
	if word == "" {
		return nil
	}
	return builtin(word)
}

func (b builtin) invoke(_ context.Context, c *Catalogue, call effect.Call, _ *secrets) (effect.Outcome, error) {
	switch b {
	case "fail":
		f := effect.Failure{Name: effect.Unnamed, Detail: "function \"" + call.Function + "\" always fails"}
		detail := f.Detail
		f.Describe(call.Args)
		f.Status = effect.Text(call.Args, "status")
		if f.Detail == "" {
			f.Detail = detail
		}
		f.Data, _ = call.Args.Get("data")
		return effect.Fail(f), nil
	case "sleep":
		text := effect.Text(call.Args, "duration")
		d, err := calendar.ParseDuration(text)
		span := duration(d)
		if err != nil || span <= 0 && !d.IsZero() {
			return effect.Outcome{}, invalidf("sleep needs the argument \"duration\", such as PT2S, not %q", text)
		}
		return effect.Outcome{Value: expr.EmptyObject, None: true, Delay: span}, nil
	case "log":
		if c.options.Log != nil {
			c.options.Log(call.Function, call.Args)
		}
		return effect.Outcome{Value: expr.EmptyObject, None: true}, nil
	}
	return effect.Outcome{Value: call.Args}, nil
}
