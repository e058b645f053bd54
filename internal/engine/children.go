package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// maxSpawnDepth is how many instances may wait for one another ("spawn-depth").
const maxSpawnDepth = 64

// maxContinued is how many instances in a row may start the next one, without waiting for it, within briefly of their
// own start ("continue-chain"): a chain without a pause would never end, and nobody could stop it.
const (
	maxContinued = 1000
	briefly      = core.Time(time.Second)
)

// maxIDLength is how long ids of children grow before they are hashed.
const maxIDLength = 160

// idSeparator is in the ids that the engine makes of others, and in none that is chosen.
const idSeparator = ":"

// keyed is the kind of ids that are derived from a caller's key. Versions before began those ids with it.
const keyed = "key"

// childID is derived, so that a parent's step that is applied again starts no second child.
func childID(parent string, t core.Ticket) string {
	id := parent + idSeparator + t.String()
	if len(id) > maxIDLength {
		return deriveID("child", parent, t.String())
	}
	return id
}

// spawn starts a child, or answers at once where none can be.
func (f *fold) spawn(ctx context.Context, c core.Spawn) error {
	find := f.e.find
	if c.Latest {
		find = f.e.findLatest
	}
	d, err := find(ctx, c.Workflow, c.Version)
	var missing *NotFoundError
	switch {
	case errors.As(err, &missing):
		f.noChild(c, &core.Fault{Name: core.FaultNoWorkflow, Detail: missing.Error()})
		return nil
	case err != nil:
		return err
	}
	if f.e.retired(c.Workflow) != nil {
		f.noChild(c, &core.Fault{Name: core.FaultNoWorkflow, Detail: fmt.Sprintf("definition %q is retired", c.Workflow)})
		return nil
	}
	if !d.schedule.allows(f.now) {
		// 0.5 §Start Definition: a sub-flow whose schedule is not active completes at once.
		if c.Wait || c.Continue {
			f.message(f.l.id, core.Reply{Ticket: c.Ticket, None: true})
		}
		f.warn("workflow %q is not started: its schedule is not active", c.Workflow)
		return nil
	}
	if bad := checkInput(d, c.Input); bad != nil {
		f.noChild(c, &core.Fault{
			Name: core.FaultSchema, Detail: bad.Error(), Data: c.Input,
			Trail: []core.Hop{{Workflow: d.row.ID, Pos: schemaPos(d)}},
		})
		return nil
	}
	id := f.childID(c.Ticket)
	row := newRow(d, id, f.now)
	row.Trace = f.childTrace(c.Ticket)
	if !c.Continue { // which is no child
		row.Parent, row.Ticket, row.Awaited = f.l.id, c.Ticket, c.Wait
	}
	if f.now-f.l.row.Created < briefly {
		row.Continued = f.l.row.Continued
		if !c.Wait {
			row.Continued++
		}
	}
	row.Tree = treeOf(&f.l.row)
	row.Job = jobOf(d.prog, c.Input, store.Job{})
	if c.Wait {
		row.Depth = f.l.row.Depth + 1
	}
	if row.Depth > maxSpawnDepth {
		f.noChild(c, &core.Fault{Name: core.FaultStateLimit, Detail: fmt.Sprintf("%d workflows wait for one another (limit spawn-depth)", maxSpawnDepth)})
		return nil
	}
	if row.Continued > maxContinued {
		f.noChild(c, &core.Fault{Name: core.FaultStateLimit, Detail: fmt.Sprintf(
			"%d instances in a row started the next one, each within a second of its own start (limit continue-chain): let the workflow wait for something", maxContinued)})
		return nil
	}
	if over, err := f.earlier(ctx, id, c); over || err != nil {
		return err
	}
	over, err := f.create(ctx, row, c.Input, c.Continue)
	switch {
	case err != nil:
		return err
	case over != nil:
		f.noChild(c, &core.Fault{Name: core.FaultStateLimit, Detail: over.Error()})
		return nil
	}
	if c.Continue {
		f.message(f.l.id, core.Reply{Ticket: c.Ticket, None: true})
	}
	return nil
}

// treeOf names the tree of an instance's children: its own, or the one that it begins.
func treeOf(row *store.Instance) string { return cmp.Or(row.Tree, identity(row)) }

// create adds a new instance to the commit unless that would exceed a quota. One that replaces this one is created
// in any case.
func (f *fold) create(ctx context.Context, row store.Instance, data expr.Value, replaces bool) (*QuotaError, error) {
	if replaces {
		f.e.quotas.reserved(&row, 1)
	} else {
		first := f.l.row.Rev == 0 && f.l.row.Tree == ""
		if over, err := f.e.quotas.reserve(ctx, f.e.store, &row, first); over != nil || err != nil {
			return over, err
		}
	}
	f.c.Children = append(f.c.Children, store.NewInstance{Instance: row, Start: core.Start{Data: data, Seed: f.e.cfg.Seed(row.ID)}})
	return nil, nil
}

// giveUp is called where a fold is not committed. It frees the places of what it would have created.
func (f *fold) giveUp() {
	f.e.quotas.release(f.c.Children)
	f.c.Children = nil
}

// childID is the id of the child that is spawned under a ticket.
func (f *fold) childID(t core.Ticket) string {
	return childID(identity(&f.l.row), t)
}

// earlier answers at once where a child with the id exists and is over: an instance with
// the id of this one had it, whose end was told to that one.
func (f *fold) earlier(ctx context.Context, id string, c core.Spawn) (over bool, err error) {
	row, err := f.e.store.Instance(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read instance %s: %w", id, err)
	case !row.Status.Final():
		return false, nil // it will tell
	}
	if c.Continue {
		f.message(f.l.id, core.Reply{Ticket: c.Ticket, None: true})
	}
	if c.Wait {
		row.Ticket = c.Ticket
		f.message(f.l.id, endReply(&row, core.Finish{Status: row.Status, Output: row.Output, Fault: row.Fault}))
	}
	f.warn("workflow %q is not started: instance %q is there already, and is %s", c.Workflow, id, row.Status)
	return true, nil
}

// noChild tells the parent that its child could not be started.
func (f *fold) noChild(c core.Spawn, fault *core.Fault) {
	if c.Wait || c.Continue {
		f.message(f.l.id, core.Reply{Ticket: c.Ticket, Fault: fault})
		return
	}
	f.warn("workflow %q is not started: %s", c.Workflow, fault.Detail)
}

// cancelChild stops a child that was waited for.
func (f *fold) cancelChild(t core.Ticket) {
	if id := f.childID(t); !f.undecide(id) {
		f.message(id, core.Control{Verb: core.VerbCancel, Actor: f.l.id})
	}
}

// undecide takes back a child that this commit would create. It reports false where it
// would not.
func (f *fold) undecide(id string) bool {
	i := slices.IndexFunc(f.c.Children, func(n store.NewInstance) bool { return n.Instance.ID == id })
	if i < 0 {
		return false
	}
	f.e.quotas.release(f.c.Children[i : i+1])
	f.c.Children = slices.Delete(f.c.Children, i, i+1)
	return true
}

// tellParent answers the parent that waits for this instance's end, unless that was
// deleted and another has its id.
func (f *fold) tellParent(ctx context.Context, c core.Finish) error {
	row := &f.l.row
	if !row.Awaited {
		return nil
	}
	own := isDelegated(row)
	if own || row.ID != childID(row.Parent, row.Ticket) {
		parent, err := f.e.store.Instance(ctx, row.Parent)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read instance %s: %w", row.Parent, err)
		}
		want := childID(identity(&parent), row.Ticket)
		if own {
			want = ownJobID(&parent, row.Ticket)
		}
		if want != row.ID {
			return nil
		}
	}
	f.message(row.Parent, endReply(row, c))
	return nil
}

// endReply is how a child's end looks to its parent: its output, or a fault under the
// child's own name (semantics.md §Functions, events, errors).
func endReply(row *store.Instance, c core.Finish) core.Reply {
	reply := core.Reply{Ticket: row.Ticket, Value: c.Output, Terminate: c.Terminate}
	switch c.Status {
	case core.Completed:
	case core.Failed:
		fault := core.Fault{Name: core.FaultUnnamed}
		if c.Fault != nil {
			fault = *c.Fault
		}
		where := fmt.Sprintf("workflow %q failed", row.Definition)
		if fault.Node != "" {
			where += fmt.Sprintf(" in %q", fault.Node)
		}
		// An error with an instance is an object of the definition's, and one with such a detail tells
		// already where it began.
		if fault.Instance == "" && !strings.HasPrefix(fault.Detail, "workflow \"") {
			fault.Detail = strings.TrimSuffix(where+": "+fault.Detail, ": ")
		}
		fault.Trail = append(slices.Clone(fault.Trail), core.Hop{Workflow: row.Definition, Node: fault.Node, Pos: fault.Pos})
		fault.Node, fault.Pos, fault.Final = "", ir.Pos{}, false
		reply.Value, reply.Fault = expr.Null, &fault
	default:
		reply.Value = expr.Null
		reply.Fault = &core.Fault{Name: core.FaultCancelled, Detail: fmt.Sprintf("workflow %q was %s", row.Definition, c.Status)}
	}
	if isDelegated(row) {
		tellJob(&reply, row, c.Status)
	}
	return reply
}
