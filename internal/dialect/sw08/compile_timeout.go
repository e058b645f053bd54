package sw08

import (
	"time"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// How workflowExecTimeout is compiled (0.8 §WorkflowExecTimeout Definition; docs/semantics.md: it completes the
// instance).
//
// With interrupt all states are in a region with the timeout, inside of one that handles it; the handler runs in
// the frame of the workflow, so what follows has no timeout. Without it a branch beside the flow notes in
// the context that time is up, and every way out of a state looks there. In both the context keeps
// the data that the state was entered with.

// timeoutRef is where the timeout of the workflow arises. No other fault has it.
const timeoutRef = "/timeouts/workflowExecTimeout"

// Members of the context.
const (
	contextData = "data" // what the state was entered with
	contextOver = "over" // time is up
	contextPast = "past" // what follows the timeout runs
)

// expiry compiles what follows the timeout of the workflow: runBefore, or the end.
func (c *compiler) expiry() {
	t := c.w.timeouts.workflow
	if t == nil {
		return
	}
	at := ir.Place{Name: "timeout", Pos: t.node.IRPos()}
	next := ir.NodeID(0)
	if t.before != nil {
		next = c.entries[t.before.index]
	} else {
		next = c.Node(at, &ir.End{Terminate: true, Own: true}, 0)
	}
	next = c.Node(at, c.note("{"+contextOver+": false, "+contextPast+": true}", at), next)
	if t.interrupt {
		next = c.Node(at, &ir.Eval{From: c.jq("$context."+contextData, at.Pos), Put: ir.Put{Mode: ir.PutReplace}}, next)
	}
	c.expired = next
}

// note changes members of the context.
func (c *compiler) note(members string, at ir.Place) *ir.Eval {
	return &ir.Eval{From: c.jq("$context + "+members, at.Pos), Put: ir.Put{Mode: ir.PutReplace, To: ir.ToContext}}
}

// timed begins the workflow under its timeout.
func (c *compiler) timed(first ir.NodeID) ir.NodeID {
	t := c.w.timeouts.workflow
	if t == nil {
		return first
	}
	at := ir.Place{Pos: t.node.IRPos()} // it is no state
	if t.interrupt {
		inside := c.Enter(at, ir.Region{Name: c.w.id.Text, Ref: timeoutRef, Entry: first, Total: c.span(t.duration)}, 0)
		return c.Enter(at, ir.Region{Name: c.w.id.Text, Entry: inside, Catch: []ir.Catch{{
			When: []ir.Match{{Error: faultTimeout, Instance: timeoutRef}}, Next: c.expired,
		}}}, 0)
	}
	over := c.Node(at, c.note("{"+contextOver+": ($context."+contextPast+" != true)}", at), 0)
	wait := c.Node(at, &ir.Await{Timeout: c.span(t.duration), OnTimeout: over}, over)
	fan := &ir.Fan{Join: ir.JoinDrop, Branches: []ir.FanBranch{
		{Region: c.Region(ir.Region{Name: c.w.id.Text, Entry: wait, Daemon: true}), Detached: true},
	}}
	return c.Node(at, fan, first)
}

// faultTimeout is the name of the fault of what takes too long.
const faultTimeout = "Timeout"

// onward goes on after a state, unless the time of the workflow is up and the state was allowed to finish.
func (c *compiler) onward(at ir.Place, next ir.NodeID) ir.NodeID {
	if c.w.timeouts.workflow == nil || c.w.timeouts.workflow.interrupt {
		return next
	}
	over := ir.Case{When: c.jq("$context."+contextOver+" == true", at.Pos), Next: c.expired}
	return c.Node(at, &ir.Branch{Cases: []ir.Case{over}}, next)
}

// remaining is the timeout of the workflow as that of a wait which it ends, though it does not interrupt states.
func (c *compiler) remaining() ir.Span {
	if t := c.w.timeouts.workflow; t != nil && t.interrupt {
		return ir.Span{}
	}
	return c.untilExpiry()
}

// untilExpiry is what is left of the timeout of the workflow; none where it has none.
func (c *compiler) untilExpiry() ir.Span {
	t := c.w.timeouts.workflow
	if t == nil {
		return ir.Span{}
	}
	out := c.span(t.duration)
	out.Since = c.jq("$workflow.startedAt.iso8601", t.node.IRPos())
	return out
}

// instant writes a time as programs have it; "" for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// shorter is the shorter of two timeouts, where that can be told without data: else the first that is there.
func shorter(a, b *duration) *duration {
	switch {
	case a == nil:
		return b
	case b == nil || a.expr != nil || b.expr != nil:
		return a
	}
	from := time.Unix(0, 0).UTC()
	if b.value.AddTo(from).Before(a.value.AddTo(from)) {
		return b
	}
	return a
}
