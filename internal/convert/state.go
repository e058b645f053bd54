package convert

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// state converts one state. The start comes first.
func (sc *scope) state(st *sw01.State, start bool) {
	ch := newChain(sc, st, st.Name)
	switch st.Type {
	case eventType:
		if start && sc.finish == nil {
			sc.startEvent(ch)
		} else {
			sc.eventState(ch)
		}
	case "OPERATION":
		ch.filter(st.Filter.Input)
		ch.actions(st.Actions)
		ch.leave(st.Next)
	case "DELAY":
		sc.delay(ch)
	case "SWITCH":
		sc.switchState(ch)
	case "PARALLEL":
		ch.filter(st.Filter.Input)
		ch.parallel(st.Branches)
		ch.leave(st.Next)
	case "SUBFLOW":
		sc.subflow(ch)
	case "END":
		sc.endState(ch)
	}
}

// leave applies the state's own result and output path and goes on.
func (ch *chain) leave(next *sw01.State) {
	ch.flushBefore(ch.st.Filter)
	ch.build(ch.st.Filter.Result, ch.st.Filter.Output)
	ch.exit(next)
}

// flushBefore applies a filter that is due where the next step builds a document: an
// inject state filters first, so nothing is to be done but for an empty chain.
func (ch *chain) flushBefore(f sw01.Filter) {
	if len(f.Result) == 0 && f.Output != nil && !f.Output.Root {
		ch.flush()
	}
}

func (sc *scope) delay(ch *chain) {
	st := ch.st
	ch.filter(st.Filter.Input)
	time := st.Delay.Value.String()
	if st.Delay.Until != "" {
		time = "PT0S"
		sc.c.breaks(st.Delay.Pos, ch.base, "a DELAY until "+st.Delay.Until, "0.5 waits for an amount of time, not until an instant; it does not wait here",
			"write the amount of time, or an expression that gives it")
	}
	ch.add("waits", obj("type", str("delay"), "timeDelay", str(time)))
	ch.leave(st.Next)
}

// subflow starts another workflow with D, and merges what it gives into it, as in 0.5.
func (sc *scope) subflow(ch *chain) {
	st := ch.st
	ch.filter(st.Filter.Input)
	ch.flush()
	ch.in = "$[0]"
	l := ch.add("starts", obj("type", str("subflow"), "workflowId", str(st.Workflow), "waitForCompletion", expr.Bool(st.Wait)))
	l.out, l.array, l.bare = "$[?(true)]", "$[?(true)]", ""
	ch.leave(st.Next)
}

// endState is the end of the workflow, or of a branch.
func (sc *scope) endState(ch *chain) {
	ch.filter(ch.st.Filter.Input)
	ch.build(ch.st.Filter.Result, ch.st.Filter.Output)
	if !ch.st.Failure {
		ch.end()
		return
	}
	if sc.finish == nil {
		sc.c.lose(ch.st.Pos, ch.base, "END with status FAILURE", "a workflow of 0.5 that fails has no output; it fails with TransitionRestricted and without one",
			"keep what is needed of the output elsewhere")
	}
	if ch.in != "" || len(ch.links) == 0 {
		ch.pass("fails")
	}
	l := ch.last()
	l.fixed = true
	l.comments = append(l.comments, failComment)
	l.value = failing(l.value, l.name)
	ch.emit(expr.Value{})
}
