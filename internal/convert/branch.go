package convert

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// parallel runs branches side by side. A branch of 0.5 has no states, so each becomes a
// workflow of its own: it is given {data: [D]} and gives {bN: [its output]}.
func (ch *chain) parallel(branches []*sw01.Scope) {
	ch.widen()
	c := ch.sc.c
	var waited, results []expr.Value
	var detached []*sw01.Scope
	ids := map[*sw01.Scope]string{}
	for i, b := range branches {
		key := fmt.Sprintf("b%d", i+1)
		id := c.id(ch.sc.id, ch.base, b.Name)
		ids[b] = id
		ch.sc.child(id, b, key, fmt.Sprintf("Branch %q of state %q.", b.Name, ch.base))
		if b.Wait {
			waited = append(waited, obj("name", str(b.Name), "workflowId", str(id)))
			results = append(results, text("$."+key+"[0]"))
			continue
		}
		detached = append(detached, b)
		results = append(results, expr.Null)
		c.lose(b.Pos, ch.base, fmt.Sprintf("branch %q, which is not waited for", b.Name),
			"the workflow is not over before it is, and fails if it fails; a sub-workflow of 0.5 that is not waited for is independent of it",
			"wait for it, if that matters")
	}
	for _, b := range detached {
		ch.add("starts "+b.Name, obj("type", str("subflow"), "workflowId", str(ids[b]), "waitForCompletion", expr.Bool(false)))
	}
	ch.joined(waited, results)
}

// joined runs branches and makes an array of what they give.
func (ch *chain) joined(branches, results []expr.Value) {
	if len(branches) > 0 {
		ch.add("branches", obj("type", str("parallel"), "branches", expr.Array(branches...), "completionType", str("and")))
	}
	ch.wide, ch.keys = false, nil
	ch.set("results", expr.Array(results...))
}

// sideBySide runs the actions of one state at the same time: each is a workflow too,
// since only a foreach keeps an answer that is not an object.
func (ch *chain) sideBySide(list []*sw01.Action) {
	ch.widen()
	c := ch.sc.c
	var branches, results []expr.Value
	for i, a := range list {
		if leadsOn(a) {
			c.lose(a.Pos, ch.base, "the retry of "+quote(a.Function), "it leads out of actions that run side by side, which are workflows of their own in 0.5",
				"run the actions one after the other")
		}
		key := fmt.Sprintf("b%d", i+1)
		id := c.id(ch.sc.id, ch.base, a.Function)
		alone := *a
		alone.Retries = nil
		for _, r := range a.Retries {
			kept := *r
			kept.Next = nil
			alone.Retries = append(alone.Retries, &kept)
		}
		call := &sw01.State{Pos: a.Pos, Name: a.Function, Type: "OPERATION", Actions: sw01.Actions{List: []*sw01.Action{&alone}}}
		ch.sc.child(id, &sw01.Scope{Pos: a.Pos, Name: a.Function, Start: call, States: []*sw01.State{call}}, key,
			fmt.Sprintf("The action %q of state %q.", a.Function, ch.base))
		branches = append(branches, obj("name", str(id), "workflowId", str(id)))
		results = append(results, text("$."+key+"[0]"))
	}
	ch.joined(branches, results)
}

// child converts states as a workflow of their own.
func (sc *scope) child(id string, s *sw01.Scope, key, comment string) {
	doc := obj("id", str(id), "name", str(id), "version", str(first(sc.c.o.Version, "1.0")))
	sc.c.document(doc, s, &finish{key}, []string{comment})
}
