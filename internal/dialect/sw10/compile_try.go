package sw10

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// tried compiles a try task: its list is a region that the catch handles (Open Workflow §Try). to is
// where the directive of the task leads to, next what follows in the frame that runs the try.
func (k *chain) tried(b *tryTask, inner string, to, next ir.NodeID) ir.NodeID {
	r := ir.Region{Name: k.place.Name, Ref: k.t.ref}
	if b.catch != nil {
		r.Catch = []ir.Catch{k.caught(b.catch, inner, to, next)}
		if y := b.catch.retry.def; y != nil {
			r.Timeout = k.span(y.attempt)
		}
	}
	return k.node(&ir.Enter{Region: k.region(r, b.try, inner, k.l.plain)}, next)
}

func (k *chain) caught(c *catch, inner string, to, next ir.NodeID) ir.Catch {
	out := ir.Catch{Any: true, As: c.as, Only: k.filter(c)}
	if y := c.retry.def; y != nil {
		out.Retry = k.retry(y)
	}
	// A directive of the catch leads out of the region of the task's timeout, if there is one.
	handled := next
	if c.then.node != nil {
		handled = k.leave(k.then(c.then))
		if k.t.timeout.def != nil {
			handled = k.Out(k.place, &ir.Eval{}, handled)
		}
	}
	switch {
	case c.do != nil:
		out.Next = k.node(&ir.Enter{Region: k.region(ir.Region{Name: inner + "catch"}, c.do, inner+"catch/", k.l.plain), Takes: c.as}, handled)
	case c.retry.def == nil:
		if out.Next = handled; handled == 0 { // a handler is a node
			out.Next = k.node(&ir.Eval{}, 0)
		}
	}
	return out
}

// filter selects the errors that a catch handles; nil: all.
func (k *chain) filter(c *catch) *ir.ErrorFilter {
	out := &ir.ErrorFilter{When: k.expr(c.when), Except: k.expr(c.exceptWhen)}
	if f := c.filter; f != nil {
		for _, m := range []ir.Member{
			{Name: "type", Value: text(f.typ, errorType)},
			{Name: "title", Value: text(f.title, nil)},
			{Name: "detail", Value: text(f.detail, nil)},
			{Name: "instance", Value: text(f.instance, nil)},
		} {
			if m.Value != "" {
				out.With = append(out.With, m)
			}
		}
		if f.status != nil {
			out.With = append(out.With, ir.Member{Name: "status", Value: expr.Int(f.statusValue).String()})
		}
	}
	if out.When == 0 && out.Except == 0 && len(out.With) == 0 {
		return nil
	}
	return out
}

// retry compiles a policy (Open Workflow §Retry).
func (k *chain) retry(y *retry) *ir.Retry {
	out := &ir.Retry{Max: int(y.attempts), Always: !y.limited, Delay: k.span(y.delay), Within: k.span(y.within)}
	if y.name != nil {
		out.Name = y.name.Text
	}
	if y.when != nil || y.exceptWhen != nil {
		out.Only = &ir.ErrorFilter{When: k.expr(y.when), Except: k.expr(y.exceptWhen)}
	}
	switch y.backoff {
	case backoffLinear:
		out.Add = out.Delay
	case backoffExponential:
		out.Factor = 2
	}
	if y.jitterTo != nil || y.jitterFrom != nil {
		out.JitterFrom, out.JitterTo = k.span(y.jitterFrom), k.span(y.jitterTo)
		out.JitterFrom.Set, out.JitterTo.Set = true, true
	}
	return out
}
