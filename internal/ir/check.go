package ir

import (
	"encoding/json"
	"fmt"
	"time"
)

// Check reports the first reference that does not hold. A program that passes
// cannot make the core look outside of its tables.
func (p *Program) Check() error {
	c := checker{p: p}
	if len(p.Nodes) == 0 || p.Nodes[0].Op != nil {
		c.fail("slot 0 of the nodes must be the placeholder")
	}
	if len(p.Exprs) == 0 || p.Exprs[0].Src != "" {
		c.fail("slot 0 of the expressions must be the placeholder")
	}
	if len(p.Regions) == 0 || p.Regions[0].Entry == 0 {
		c.fail("region 0 has no entry")
	}
	c.expr(p.InputSchema, p.OutputSchema)
	if n := len(p.Errors); n > 0 && p.Errors[n-1].Fault != "" {
		c.fail("no error type for other faults")
	}
	for _, l := range p.Labels {
		c.expr(l.Value)
	}
	for _, f := range p.Functions {
		if f.Resource < 0 || f.Resource > len(p.Resources) {
			c.fail("function %s: no resource %d", f.Name, f.Resource)
		}
	}
	for _, e := range p.Events {
		for _, corr := range e.Correlate {
			c.expr(corr.Value, corr.Select)
		}
		for _, w := range e.Where {
			c.expr(w.Expr)
		}
	}
	c.events(p.Start.Events...)
	c.span(p.Start.Window)
	c.expr(p.Start.Read)
	c.needs(p.Start)
	c.schedule(p.Start.Schedule)
	if p.Job {
		c.job()
	}
	for i, r := range p.Regions {
		c.at = fmt.Sprintf("region %d (%s)", i, r.Name)
		c.region(r)
	}
	for i, n := range p.Nodes[min(1, len(p.Nodes)):] {
		c.at = fmt.Sprintf("node %d (%s)", i+1, n.Name)
		c.node(n.Next, n.Out)
		c.op(n.Op)
	}
	return c.err
}

type checker struct {
	p   *Program
	at  string
	err error
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: "+format, append([]any{c.at}, args...)...)
	}
}

func (c *checker) node(ids ...NodeID) {
	for _, id := range ids {
		if id < 0 || int(id) >= len(c.p.Nodes) {
			c.fail("no node %d", id)
		}
	}
}

func (c *checker) expr(ids ...ExprID) {
	for _, id := range ids {
		if id < 0 || int(id) >= len(c.p.Exprs) {
			c.fail("no expression %d", id)
		}
	}
}

func (c *checker) events(ids ...EventID) {
	for _, id := range ids {
		if id < 0 || int(id) >= len(c.p.Events) {
			c.fail("no event %d", id)
		}
	}
}

// needs checks the sets of events that start an instance.
func (c *checker) needs(s Start) {
	for _, n := range s.Any {
		c.span(n.Window)
		if len(n.Slots) == 0 {
			c.fail("a start that needs no event")
		}
		for _, slot := range n.Slots {
			if slot < 0 || slot >= len(s.Events) {
				c.fail("no start event %d", slot)
			}
		}
	}
	if s.All && len(s.Any) > 0 {
		c.fail("a start needs all events or any set of them, not both")
	}
}

func (c *checker) schedule(s *Schedule) {
	if s == nil {
		return
	}
	c.span(s.Every, s.After)
	for _, bound := range []string{s.From, s.Until} {
		if bound == "" {
			continue
		}
		if _, err := time.Parse(time.RFC3339, bound); err != nil {
			c.fail("the bound %q of a schedule is not an instant", bound)
		}
		if !s.Every.Set && s.Cron == "" {
			c.fail("a schedule with a bound and nothing to repeat")
		}
	}
	if s.Back && (!s.Every.Set || s.Until == "") {
		c.fail("a schedule counts back from no instant")
	}
}

func (c *checker) inner(id RegionID) {
	if id <= 0 || int(id) >= len(c.p.Regions) {
		c.fail("no region %d", id)
	}
}

func (c *checker) span(spans ...Span) {
	for _, s := range spans {
		c.expr(s.Expr)
		c.expr(s.Since)
	}
}

func (c *checker) pick(p Pick) {
	c.expr(p.Expr)
	switch p.Wrap {
	case WrapNever, WrapSingle, WrapAlways, WrapMatches, WrapOther:
	default:
		c.fail("unknown wrap %q", p.Wrap)
	}
}

func (c *checker) put(p Put) {
	c.pick(p.Pick)
	switch p.To {
	case ToData:
	case ToContext, ToVar:
		if p.Mode != PutReplace || len(p.Path) > 0 || (p.To == ToVar) != (p.Var != "") {
			c.fail("only a whole value can be put to %q", p.To)
		}
		if !c.p.Variables {
			c.fail("a program without variables changes one")
		}
	default:
		c.fail("unknown target %q", p.To)
	}
	switch p.Mode {
	case PutNone, PutMerge, PutReplace:
	case PutSet:
		if len(p.Path) == 0 {
			c.fail("a value is set at no path")
		}
	default:
		c.fail("unknown mode %q", p.Mode)
	}
}

func (c *checker) region(r Region) {
	c.node(r.Entry)
	c.events(r.Listen...)
	c.span(r.Timeout, r.Total)
	if r.Undo != 0 {
		c.inner(r.Undo)
	}
	for _, k := range r.Catch {
		c.node(k.Next)
		if len(k.When) > 0 && (k.Any || k.Error != "" || k.Code != "") {
			c.fail("a catch of a list and of something else")
		}
		c.filter(k.Only)
		if k.Put != nil {
			c.put(*k.Put)
		}
		if y := k.Retry; y != nil {
			if y.Max < 0 || y.Factor < 0 || y.JitterTo.Set != y.JitterFrom.Set {
				c.fail("a retry that cannot be: %+v", *y)
			}
			c.filter(y.Only)
			c.span(y.Delay, y.Add, y.JitterAtMost, y.Within, y.AtMost, y.JitterFrom, y.JitterTo)
		}
	}
}

func (c *checker) filter(f *ErrorFilter) {
	if f == nil {
		return
	}
	c.expr(f.When, f.Except)
	for _, member := range f.With {
		if !json.Valid([]byte(member.Value)) {
			c.fail("the member %s of an error is no JSON", member.Name)
		}
	}
}

func (c *checker) op(op Op) {
	switch op := op.(type) {
	case *Eval:
		c.expr(op.Check, op.From)
		c.put(op.Put)
	case *Branch:
		for _, k := range op.Cases {
			c.expr(k.When)
			c.node(k.Next)
		}
	case *Call:
		if op.Function < 0 || int(op.Function) >= len(c.p.Functions) {
			c.fail("no function %d", op.Function)
		}
		c.pick(op.Scope)
		c.expr(op.Args)
		c.put(op.Result)
	case *Await:
		c.await(op)
	case *Emit:
		c.events(op.Event)
		c.pick(op.Scope)
		c.pick(op.Pick)
		c.expr(op.From, op.Attrs)
		c.put(op.Result)
	case *Fan:
		c.expr(op.Need)
		for _, b := range op.Branches {
			c.inner(b.Region)
		}
		if op.Each != nil {
			c.expr(op.Each.Over, op.Each.Max, op.Each.While)
			c.inner(op.Each.Body)
			if op.Each.Batch && op.Each.Max == 0 {
				c.fail("batches without a size")
			}
		}
		switch op.Join {
		case JoinMerge, JoinAppend, JoinArray, JoinFirst, JoinLast, JoinDrop:
		default:
			c.fail("unknown join %q", op.Join)
		}
		if carry := op.Each != nil && op.Each.Carry; carry != (op.Join == JoinLast) || carry && !c.p.Variables {
			c.fail("items that carry their data are joined by the last one")
		}
		kinds := 0
		for _, is := range []bool{op.Each != nil, op.Feed != nil, len(op.Branches) > 0} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			c.fail("a fan has either branches, items or events")
		}
		if op.Feed != nil {
			c.feed(op.Feed, op.Join)
		}
	case *Enter:
		c.inner(op.Region)
	case *Spawn:
		c.expr(op.From)
		c.put(op.Result)
		if op.Wait && op.Continue {
			c.fail("an instance cannot both wait for another and be continued by it")
		}
	case *End:
		c.end(op)
	case *Raise:
		c.expr(op.From)
	case *Undo:
	default:
		c.fail("no operation")
	}
}

func (c *checker) feed(f *Feed, join Join) {
	c.events(f.Events...)
	c.events(f.Stop...)
	c.expr(f.Until, f.Read)
	if f.Body != 0 {
		c.inner(f.Body)
	}
	if join != JoinArray || len(f.Events) == 0 || f.All && !f.Ends() || !c.p.Variables {
		c.fail("a fan over events that cannot be: %+v", *f)
	}
}

func (c *checker) await(op *Await) {
	c.span(op.Timeout)
	c.node(op.OnTimeout)
	if op.Need < 0 || op.Need > len(op.Arms) || len(op.Arms) > 0 && op.Need == 0 {
		c.fail("need %d of %d arms", op.Need, len(op.Arms))
	}
	for _, a := range op.Arms {
		c.arm(a)
		if a.Stay && op.Need != 1 {
			c.fail("an arm stays while others are counted")
		}
	}
}

func (c *checker) arm(a Arm) {
	if a.Offer == nil {
		c.events(a.Event)
	}
	c.node(a.Next)
	c.put(a.Put)
	if a.Listen < 0 {
		c.fail("listen %d", a.Listen)
	}
	if a.Stay && a.Offer == nil {
		c.fail("an arm for an event stays")
	}
}

// job checks what holds of all state machines that actors advance: someone starts
// them for a client, and they are in one state.
func (c *checker) job() {
	if len(c.p.Regions) > 1 {
		c.fail("a job has %d regions", len(c.p.Regions))
	}
	if len(c.p.Start.Events) > 0 || c.p.Start.Schedule != nil {
		c.fail("a job starts by itself")
	}
}

func (c *checker) end(op *End) {
	for _, a := range op.Offers {
		c.arm(a)
		if !a.Stay {
			c.fail("an offer after the end leads on")
		}
	}
	if len(op.Offers) > 0 && !c.p.Job {
		c.fail("a program that is not a job has offers after its end")
	}
}
