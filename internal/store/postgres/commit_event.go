package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// An event that exactly one instance waits for is stored by one transaction with the step that it causes. It is routed
// like any other, and what its router looked at is compared under the lock. Its step is written by commit_one.

// takeFunction stores an event before the step that takes it. What one call of it did is seen by those behind it.
var takeFunction = describe[takeArgs]("SELECT ", "take_event")

// takeArgs are its arguments.
type takeArgs struct {
	NS       int32
	ID       string // of the instance, which is at Rev
	Rev      int64
	Created  int64
	Unread   bool
	Deployed int64
	Ticket   int64 // under which the instance gets the event
	Emit     int64

	Looks []note     `sql:"x_"`
	Taken takenEvent `sql:"n_"`
}

// errByInbox says that an event must go by the inbox of its instance.
var errByInbox = errors.New("this store takes no such event with a commit")

// commitEvent writes a step with the event that it took.
func (s *Store) commitEvent(ctx context.Context, ns int32, c *store.Commit) error {
	if !s.db.has.commitEvent {
		return errByInbox
	}
	if c.Instance.Rev == 0 {
		return fmt.Errorf("it would be new: %w", store.ErrConflict)
	}
	r, err := s.encode(ctx, ns, c)
	if err != nil {
		return err
	}
	if !r.small() {
		return errByInbox
	}
	_, err = s.take(ctx, c.Event.Event, c.Event.Emit, c.Event.Route, r)
	return err
}

// fits reports whether a decision can be written together with a step: it does nothing but give the event to it.
func (d *decision) fits(step *commitRequest) error {
	r, e := &d.routing, d.taken
	if len(r.Deliver) != 1 || len(r.Events)+len(r.Start)+len(r.Gather)+len(r.Drop)+len(r.Again)+len(r.Checked) > 0 {
		return errByInbox
	}
	if x := r.Deliver[0]; x.Event != e.Seq || x.Instance != step.Instance.ID {
		return errByInbox
	}
	e.For = slices.DeleteFunc(slices.Clone(e.For), func(id string) bool { return id == step.Instance.ID })
	return nil
}

// takeArgs are the arguments for the event of a step, made of those for its routing.
func (r *routeRequest) takeArgs() *takeArgs {
	c := r.step
	return &takeArgs{
		NS: r.args.NS, ID: c.Instance.ID, Rev: c.Instance.Rev, Created: int64(c.Instance.Created), Unread: c.Unread, Deployed: c.Deployed,
		Ticket: r.args.Deliver[0].Ticket, Emit: r.args.Emit, Looks: r.args.Looks, Taken: r.args.Taken,
	}
}

// request is what writes a decision; with the step that takes its event, if that is not nil.
func (d *decision) request(ctx context.Context, ns int32, looks []note, step *commitRequest) *routeRequest {
	r := &routeRequest{waiter: newWaiter(ctx), args: d.args(ns, looks), bytes: len(d.data)}
	if step != nil {
		r.step = step
		r.bytes += step.size()
	}
	return r
}

// call is an expression that does what was decided, and its parameters, the first of which has a number. COALESCE leaves
// a step out whose event is not taken.
func (r *routeRequest) call(from int, epoch func(shard int16) int64) (text string, args []any) {
	if r.step == nil {
		return routeFunction.text(from, true), routeFunction.values(r.args, true)
	}
	args = takeFunction.values(r.takeArgs(), true)
	step := commitOneFunction.values(r.step.oneArgs(r.args.NS, epoch), true)
	text = "coalesce(nullif(" + takeFunction.text(from, true) + ", 0::smallint), -(" + commitOneFunction.text(from+len(args), true) + ").o_verdict)"
	return text, append(args, step...)
}

// parts are those that have something to do by it.
func (r *routeRequest) parts() []int16 {
	if r.step == nil {
		return r.args.parts()
	}
	return r.step.parts()
}

// steps is 1 for an event with its step, and else 0.
func (r *routeRequest) steps() int {
	if r.step == nil {
		return 0
	}
	return 1
}

// lockedBefore are the instances whose rows a batch locks, in order.
func lockedBefore(batch []*routeRequest) (ids []string) {
	for _, r := range batch {
		if r.step != nil {
			ids = append(ids, r.step.Instance.ID)
		}
	}
	slices.Sort(ids)
	return ids
}
