package sw10

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// extending are the extensions of a task, in the order written (Open Workflow §Extension).
func (c *compiler) extending(t *task) []*extension {
	var out []*extension
	for _, x := range c.d.use.extensions {
		composite := t.kind == kindDo || t.kind == kindFork
		if x.extend == extendAll || x.extend == t.kind || x.extend == extendComposite && composite {
			out = append(out, x)
		}
	}
	return out
}

// before runs what extensions add before the task. What they give is dropped; exit in one skips
// the task.
func (k *chain) before(next ir.NodeID) ir.NodeID {
	skipped := ir.NodeID(0)
	for i, x := range slices.Backward(k.exts) {
		if x.before != nil {
			if skipped == 0 {
				skipped = k.at(k.Leave(k.place, &ir.Eval{}, k.then(k.t.then)), k.t.ref)
			}
			next = k.extended(i, x.before, skipped, next)
		}
		if x.when != nil { // once, for what comes after the task as well
			next = k.node(&ir.Eval{From: k.expr(x.when), Put: bound(extendsVar(i))}, next)
		}
	}
	return next
}

// extendsVar is the variable that says whether the condition of the i-th extension of a task held.
func extendsVar(i int) string { return fmt.Sprintf("lockstepExtends%d", i) }

// behind runs what extensions add after the task, the last first.
func (k *chain) behind(to ir.NodeID) ir.NodeID {
	next := to
	for i, x := range k.exts {
		if x.after != nil {
			next = k.extended(i, x.after, 0, next)
		}
	}
	return next
}

// extended runs the tasks of an extension if its condition holds.
func (k *chain) extended(i int, tasks *taskList, exit, next ir.NodeID) ir.NodeID {
	x := k.exts[i]
	name := k.place.Name + "/" + x.name.Text
	around := k.inside
	k.inside = "" // they are no part of the function whose task they extend
	l := k.fill(&flowList{taskList: tasks, prefix: name + "/", plain: true, exit: exit})
	k.inside = around
	region := k.Region(ir.Region{Name: name, Entry: l.begin, Nested: true})
	run := k.node(&ir.Enter{Region: region, Drop: true}, next)
	if x.when == nil {
		return run
	}
	held := k.Expr(langIf, "$"+extendsVar(i), x.when.pos)
	return k.node(&ir.Branch{Cases: []ir.Case{{When: held, Next: run}}}, next)
}

// expressions are those of an extension, with those of its tasks: they see the $task of the
// task that is extended.
func (x *extension) expressions() []*expression {
	out := []*expression{x.when}
	for _, l := range given(x.before, x.after) {
		out = append(out, l.expressions()...)
	}
	return out
}

func (l *taskList) expressions() []*expression {
	var out []*expression
	for _, t := range l.tasks {
		out = append(out, t.expressions()...)
		for _, inner := range t.body.lists() {
			out = append(out, inner.expressions()...)
		}
	}
	return out
}

// expressions are those of the task itself, without the tasks inside. Some may be nil.
func (t *task) expressions() []*expression {
	out := []*expression{t.when, t.input.value, t.output.value, t.export.value}
	if t.timeout.def != nil {
		out = append(out, t.timeout.def.after.expr)
	}
	switch b := t.body.(type) {
	case *callTask:
		out = append(out, b.with)
		if policy := namedPolicy(b); policy != nil {
			out = append(out, policy.properties)
		}
		if s := b.subscription(); s != nil {
			out = append(out, s.filter, s.while, s.until)
			if s.period != nil {
				out = append(out, s.period.expr)
			}
			if f := s.foreach; f != nil {
				out = append(out, f.output.value, f.export.value)
			}
		}
	case *emitTask:
		out = append(out, b.event)
	case *forTask:
		out = append(out, b.in, b.while)
	case *listenTask:
		out = append(out, b.to.expressions()...)
		if f := b.foreach; f != nil {
			out = append(out, f.output.value, f.export.value)
		}
	case *raiseTask:
		out = append(out, b.err.def.value)
	case *runTask:
		if w, ok := b.process.(*workflowRun); ok {
			out = append(out, w.input)
		}
	case *setTask:
		out = append(out, b.value)
	case *switchTask:
		for _, one := range b.cases {
			out = append(out, one.when)
		}
	case *tryTask:
		if c := b.catch; c != nil {
			out = append(out, c.when, c.exceptWhen)
			if y := c.retry.def; y != nil {
				out = append(out, y.when, y.exceptWhen)
				for _, d := range []*duration{y.delay, y.attempt, y.within, y.jitterFrom, y.jitterTo} {
					if d != nil {
						out = append(out, d.expr)
					}
				}
			}
		}
	case *waitTask:
		out = append(out, b.duration.expr)
	}
	return out
}

func (c *consumption) expressions() []*expression {
	if c == nil {
		return nil
	}
	out := append([]*expression{c.until}, c.untilEvents.expressions()...)
	for _, f := range c.filters {
		for _, a := range f.attributes {
			out = append(out, a.value)
		}
		for _, k := range f.correlate {
			out = append(out, k.from, k.expect)
		}
	}
	return out
}

// text is a constant as JSON, "" where it is not there.
func text(n *dialect.Node, change func(string) string) string {
	if n == nil {
		return ""
	}
	s := n.Text
	if change != nil {
		s = change(s)
	}
	return literal(exprString(s))
}
