package sw05

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Dump writes a program as text, in the order of its flow: nodes are numbered as
// they are reached, so that the order in which they were built does not matter.
//
//	region Buy undo=Cancel
//	  4 Buy call charge({"id":"{{ $.id }}"}) merge $.receipt as always:receipt → return
func Dump(p *ir.Program) string {
	d := &dumper{p: p, nodes: map[ir.NodeID]int{}, regions: map[ir.RegionID]bool{}}
	d.head()
	d.region(0)
	for len(d.queue) > 0 {
		next := d.queue[0]
		d.queue = d.queue[1:]
		d.region(next)
	}
	for _, e := range p.Edges {
		to := e.To
		if to == "" {
			to = "(end)"
		}
		fmt.Fprintf(&d.out, "%s: %s → %s", e.Kind, e.From, to)
		if e.Label != "" {
			fmt.Fprintf(&d.out, " [%s]", e.Label)
		}
		d.out.WriteByte('\n')
	}
	return d.out.String()
}

type dumper struct {
	p       *ir.Program
	out     strings.Builder
	nodes   map[ir.NodeID]int
	todo    []ir.NodeID
	regions map[ir.RegionID]bool
	queue   []ir.RegionID
}

func (d *dumper) head() {
	s := d.p.Start
	if len(s.Events) > 0 {
		names := make([]string, len(s.Events))
		for i, e := range s.Events {
			names[i] = d.p.Events[e].Name
		}
		fmt.Fprintf(&d.out, "start on %s", strings.Join(names, ", "))
		if s.All {
			d.out.WriteString(" (all)")
		}
		if s.Window.Set {
			d.out.WriteString(" within " + d.span(s.Window))
		}
		d.out.WriteByte('\n')
	}
	if s.Schedule != nil {
		text, err := json.Marshal(s.Schedule)
		fmt.Fprintf(&d.out, "schedule %s %v\n", text, err)
	}
	for _, l := range d.p.Labels {
		fmt.Fprintf(&d.out, "label %s = %s\n", l.Key, d.expr(l.Value))
	}
}

func (d *dumper) region(id ir.RegionID) {
	r := d.p.Regions[id]
	fmt.Fprintf(&d.out, "region %s", r.Name)
	if r.Timeout.Set {
		d.out.WriteString(" timeout=" + d.span(r.Timeout))
	}
	if r.Collect {
		d.out.WriteString(" collect")
	}
	for _, e := range r.Listen {
		d.out.WriteString(" listen=" + d.p.Events[e].Name)
	}
	if r.Undo != 0 {
		d.out.WriteString(" undo=" + d.enter(r.Undo))
	}
	d.out.WriteByte('\n')
	for _, k := range r.Catch {
		name := k.Error
		if k.Any {
			name = "*"
		}
		fmt.Fprintf(&d.out, "  catch %s", name)
		if k.Code != "" {
			d.out.WriteString(" code=" + k.Code)
		}
		if t := k.Retry; t != nil {
			fmt.Fprintf(&d.out, " retry=%s max=%d delay=%s add=%s jitter=%d/%s", t.Name, t.Max, d.span(t.Delay), d.span(t.Add), t.JitterMillis, d.span(t.JitterAtMost))
		}
		fmt.Fprintf(&d.out, " → %s\n", d.outer(k.Next))
	}
	d.ref(r.Entry)
	for len(d.todo) > 0 {
		n := d.todo[0]
		d.todo = d.todo[1:]
		d.node(n)
	}
}

// ref numbers a node and sees to it that it is written.
func (d *dumper) ref(id ir.NodeID) string {
	if id == 0 {
		return "return"
	}
	if _, ok := d.nodes[id]; !ok {
		d.nodes[id] = len(d.nodes) + 1
		d.todo = append(d.todo, id)
	}
	return fmt.Sprint(d.nodes[id])
}

// outer is a node of the frame around; handlers are written with the region.
func (d *dumper) outer(id ir.NodeID) string { return "outer " + d.ref(id) }

func (d *dumper) enter(id ir.RegionID) string {
	if !d.regions[id] {
		d.regions[id] = true
		d.queue = append(d.queue, id)
	}
	return d.p.Regions[id].Name
}

func (d *dumper) node(id ir.NodeID) {
	n := d.p.Nodes[id]
	number := d.ref(id)
	text := d.op(n.Op)
	switch n.Mark {
	case ir.MarkEntered:
		text = "[entered] " + text
	case ir.MarkLeft:
		text = "[left] " + text
	}
	switch n.Op.(type) {
	case *ir.End, *ir.Raise:
		fmt.Fprintf(&d.out, "  %s %s %s\n", number, n.Name, text)
		return
	}
	next := d.ref
	to := n.Next
	if n.Out != 0 {
		next, to = d.outer, n.Out
	}
	fmt.Fprintf(&d.out, "  %s %s %s → %s\n", number, n.Name, strings.TrimSpace(text), next(to))
}

func (d *dumper) expr(id ir.ExprID) string { return d.p.Exprs[id].Src }

func (d *dumper) span(s ir.Span) string {
	switch {
	case !s.Set:
		return "none"
	case s.Expr != 0:
		return d.expr(s.Expr)
	}
	return calendar.Duration{Months: s.Months, Days: s.Days, Nanos: s.Nanos}.String()
}

func (d *dumper) pick(p ir.Pick) string {
	if p.Expr == 0 {
		return "all"
	}
	s := d.expr(p.Expr)
	if p.Wrap != ir.WrapNever {
		s += " as " + string(p.Wrap) + ":" + p.Key
	}
	if p.First != "" {
		s += " of " + p.First
	}
	return s
}

func (d *dumper) put(p ir.Put) string {
	if p.Mode == ir.PutNone {
		return ""
	}
	return " " + string(p.Mode) + " " + d.pick(p.Pick)
}

func (d *dumper) op(op ir.Op) string {
	switch op := op.(type) {
	case *ir.Eval:
		s := ""
		if op.Check != 0 {
			s += " check"
		}
		if op.From != 0 {
			s += " from " + d.expr(op.From)
		}
		if s += d.put(op.Put); op.Checkpoint {
			s += " checkpoint"
		}
		return "eval" + s
	case *ir.Branch:
		s := "branch"
		for _, k := range op.Cases {
			s += fmt.Sprintf(" when %s → %s;", d.expr(k.When), d.ref(k.Next))
		}
		return s + " else"
	case *ir.Call:
		s := "call " + d.p.Functions[op.Function].Name
		if op.Args != 0 {
			s += "(" + d.expr(op.Args) + ")"
		}
		if op.Scope.Expr != 0 {
			s += " scope " + d.pick(op.Scope)
		}
		return s + d.put(op.Result)
	case *ir.Await:
		s := fmt.Sprintf("await %d of", op.Need)
		for _, a := range op.Arms {
			s += fmt.Sprintf(" %s%s → %s;", d.p.Events[a.Event].Name, d.put(a.Put), d.ref(a.Next))
		}
		if op.Timeout.Set {
			s += fmt.Sprintf(" timeout %s → %s;", d.span(op.Timeout), d.ref(op.OnTimeout))
		}
		return s
	case *ir.Emit:
		s := "emit " + d.p.Events[op.Event].Name
		if op.Scope.Expr != 0 {
			s += " scope " + d.pick(op.Scope)
		}
		if op.From != 0 {
			s += " from " + d.expr(op.From)
		}
		if op.Pick.Expr != 0 {
			s += " pick " + d.pick(op.Pick)
		}
		if op.Attrs != 0 {
			s += " attrs " + d.expr(op.Attrs)
		}
		return s
	case *ir.Fan:
		return d.fan(op)
	case *ir.Enter:
		return "enter " + d.enter(op.Region)
	case *ir.Spawn:
		s := "spawn " + op.Workflow
		if op.Wait {
			s += " wait"
		}
		return s + d.put(op.Result)
	case *ir.Raise:
		return fmt.Sprintf("raise %s final=%t: %s", op.Error, op.Final, op.Detail)
	case *ir.Undo:
		return "undo"
	case *ir.End:
		if op.Terminate {
			return "end terminate"
		}
		return "end"
	}
	return "?"
}

func (d *dumper) fan(op *ir.Fan) string {
	s := "fan"
	for _, b := range op.Branches {
		s += " {" + d.enter(b.Region) + "}"
	}
	if e := op.Each; e != nil {
		s += fmt.Sprintf(" each %s of %s {%s}", e.Var, d.expr(e.Over), d.enter(e.Body))
		if e.Max != 0 {
			s += " max " + d.expr(e.Max)
		}
	}
	if op.Need != 0 {
		s += " need " + d.expr(op.Need)
	}
	s += " join " + string(op.Join)
	if len(op.Path) > 0 {
		s += " into " + strings.Join(op.Path, ".")
	}
	return s
}
