package sw01

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// state fills a state's entry and everything behind it:
//
//	entry (input path) → body → result path → output path → left → way out
//
// The data is one value that each step replaces (semantics.md §Data filters 1). A state
// that waits for events, or whose calls may lead to another state when they fail, has
// its body in a region of its own: where a retry gives up, the next state gets what the
// region was given, the filtered input (semantics.md §Data filters 12).
func (c *compiler) state(s *state) {
	first := c.body(s)
	c.Fill(c.entries[s.index], &ir.Eval{Put: c.replace(s.filter.input)}, first)
}

// body compiles what a type of states does, up to its way out.
func (c *compiler) body(s *state) ir.NodeID {
	at := placeOf(s)
	switch b := s.body.(type) {
	case *eventState:
		return c.eventState(s, b)
	case *switchState:
		return c.switchState(s, b)
	case *endState:
		return c.endState(s, b)
	case *operationState:
		return c.operationState(s, b)
	case *delayState:
		next := c.finish(s, s.next)
		return c.Node(at, &ir.Await{Timeout: span(b.delay), OnTimeout: next}, next)
	case *parallelState:
		return c.parallelState(s, b)
	case *subflowState:
		op := &ir.Spawn{Workflow: b.workflow.Text, Wait: b.wait}
		if b.wait { // 0.1 C §SubFlow State: it may edit the parent's data
			op.Result = ir.Put{Mode: ir.PutMerge, Warn: true}
		}
		return c.Node(at, op, c.finish(s, s.next))
	}
	return 0
}

// finish is the end of a state in its own frame: the result and output paths, and the
// way out.
func (c *compiler) finish(s *state, to *reference) ir.NodeID {
	return c.output(s, c.leave(s, to))
}

// output applies the state's result and output paths.
func (c *compiler) output(s *state, next ir.NodeID) ir.NodeID {
	return c.shape(placeOf(s), s.filter, next)
}

// shape applies a result path and an output path to the data.
func (c *compiler) shape(at ir.Place, f filter, next ir.NodeID) ir.NodeID {
	if put := c.replace(f.output); put.Mode != ir.PutNone {
		next = c.Node(at, &ir.Eval{Put: put}, next)
	}
	if len(f.result) > 0 {
		next = c.Node(at, &ir.Eval{Put: ir.Put{Mode: ir.PutReplace, Path: f.result}}, next)
	}
	return next
}

// replace makes what a path selects the data. One that selects nothing leaves the data
// as it is, with a warning (semantics.md §Data filters 3).
func (c *compiler) replace(p *path) ir.Put {
	if p == nil || p.Root {
		return ir.Put{}
	}
	return ir.Put{Pick: ir.Pick{Expr: c.path(p)}, Mode: ir.PutReplace, Warn: true}
}

// leave records that the state is complete and goes on.
func (c *compiler) leave(s *state, to *reference) ir.NodeID {
	return c.left(s, c.target(s, to))
}

func (c *compiler) left(s *state, next ir.NodeID) ir.NodeID {
	return c.Leave(placeOf(s), &ir.Eval{}, next)
}

// target is where a state goes on. Without a next state it ends the workflow, or its
// branch (semantics.md §Control flow); end: true does so in any case.
func (c *compiler) target(s *state, to *reference) ir.NodeID {
	switch {
	case to != nil && s.end == nil:
		return c.entries[to.to.index]
	case s.scope.branch != nil:
		return 0
	}
	return c.Node(placeOf(s), &ir.End{}, 0)
}

// endState ends the workflow or its branch (0.1 E §结束状态, 0.1 K §End State). A branch
// that fails fails its PARALLEL state (semantics.md §Functions, events, errors).
func (c *compiler) endState(s *state, b *endState) ir.NodeID {
	at, end := placeOf(s), ir.NodeID(0)
	switch inBranch := s.scope.branch != nil; {
	case b.failure && inBranch:
		end = c.Node(at, &ir.Raise{Error: SysFail, Detail: fmt.Sprintf("%s ended with status FAILURE", s.scope.title())}, 0)
	case b.failure:
		end = c.Node(at, &ir.End{Fail: SysFail}, 0)
	case !inBranch:
		end = c.Node(at, &ir.End{}, 0)
	}
	return c.output(s, c.left(s, end))
}

// operationState runs its actions.
func (c *compiler) operationState(s *state, b *operationState) ir.NodeID {
	at := placeOf(s)
	if !gives(b.actions) {
		return c.actions(at, b.actions, c.finish(s, s.next))
	}
	r := ir.Region{Name: at.Name, Entry: c.actions(at, b.actions, 0), Catch: c.given(s)}
	return c.Enter(at, r, c.finish(s, s.next))
}

// switchState takes the first choice that holds (semantics.md §Control flow: Switch).
func (c *compiler) switchState(s *state, b *switchState) ir.NodeID {
	at := placeOf(s)
	var otherwise ir.NodeID
	switch {
	case b.otherwise != nil:
		otherwise = c.output(s, c.left(s, c.entries[b.otherwise.to.index]))
	case s.end != nil:
		otherwise = c.finish(s, nil)
	default:
		otherwise = c.Node(at, &ir.Raise{
			Error: SysFail, Detail: fmt.Sprintf("no choice of state %q matches its data, and it has no default", s.name.Literal()),
		}, 0)
	}
	branch := &ir.Branch{}
	for _, k := range b.choices {
		branch.Cases = append(branch.Cases, ir.Case{
			When: c.condition(k.when.tree(), k.node.IRPos()),
			Next: c.output(s, c.left(s, c.entries[k.next.to.index])),
		})
	}
	return c.Node(at, branch, otherwise)
}

// parallelState runs branches side by side, each with a copy of the data; their
// outputs are an array (0.1 E §并行状态, 0.1 K and 0.1 C §Parallel State).
func (c *compiler) parallelState(s *state, b *parallelState) ir.NodeID {
	fan := &ir.Fan{Join: ir.JoinArray}
	for _, br := range b.branches {
		r := ir.Region{Name: br.label(), Entry: c.entries[br.scope.start.index]}
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: c.Region(r), Detached: !br.wait})
	}
	return c.Node(placeOf(s), fan, c.finish(s, s.next))
}

// label is what people know a branch by.
func (b *branch) label() string {
	if b.name != nil {
		return b.name.Text
	}
	return b.scope.path()
}

// is compares what a path selects with text, as a switch does.
func is(path, value string) choice.Condition {
	return choice.Condition{Op: choice.Equal, Path: path, Value: expr.String(value)}
}
