package engine

import (
	"context"
	"fmt"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// OpenCall is a call without an answer.
type OpenCall struct {
	store.Call
	Parked bool // nobody here can carry it out: it waits for Answer
}

// OpenCalls lists the calls of an instance that have no answer yet, in order; of all
// instances where it is "".
func (e *Engine) OpenCalls(ctx context.Context, instance string) ([]OpenCall, error) {
	rows, err := e.store.Calls(ctx, instance)
	if err != nil {
		return nil, fmt.Errorf("read calls: %w", err)
	}
	out := make([]OpenCall, len(rows))
	for i, row := range rows {
		out[i] = OpenCall{row, row.Parked || e.calls.parked(callKey(row.Instance, row.Ticket)) != nil}
	}
	return out, nil
}

// Answer gives a parked call its outcome. One that is not open any more is a
// *NotFoundError, one that is under way is a *core.Rejected.
func (e *Engine) Answer(ctx context.Context, instance string, t core.Ticket, out effect.Outcome) error {
	if c := e.calls.parked(callKey(instance, t)); c != nil {
		if err := e.answerByHand(ctx, c, replyOf(c.row.Invoke, out)); !isMissing(err) {
			return err
		} // else another instance may have the id by now, and a call of its own
	}
	rows, err := e.store.Calls(ctx, instance)
	if err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	if c := parkedElsewhere(rows, t); c != nil {
		return e.answerByHand(ctx, c, replyOf(c.row.Invoke, out))
	}
	for _, row := range rows {
		if row.Ticket == t {
			return &core.Rejected{Msg: fmt.Sprintf("the call of %q is under way; only one that waits for a person can be answered", row.Function.Name)}
		}
	}
	return &NotFoundError{Kind: "call", ID: callKey(instance, t)}
}

// answerByHand applies a person's reply. Where that fails it is forgotten: the person is
// told, and may decide otherwise. Where another was faster, the call is not open any more.
func (e *Engine) answerByHand(ctx context.Context, c *call, reply core.Reply) error {
	taken := false
	if err := e.post(ctx, c.row.Instance, input{in: reply, at: e.now(), call: reply.Ticket, created: c.row.Created, taken: &taken}); err != nil {
		return err
	}
	e.calls.done(c.key, c.row.Created)
	if !taken {
		return &NotFoundError{Kind: "call", ID: c.key}
	}
	return nil
}

// park lets a call wait for Answer.
func (t *callTable) park(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.parked = true
}

// parked finds a call that waits for Answer.
func (t *callTable) parked(key string) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.all[key]; c != nil && c.parked {
		return c
	}
	return nil
}
