package wfx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/store"
)

// listJobs lists jobs in the order of their creation.
func (v *View) listJobs(w http.ResponseWriter, r *request) error {
	p, err := r.page()
	if err != nil {
		return err
	}
	q, empty, err := r.jobQuery()
	if err != nil {
		return err
	}
	tail := expr.Null
	if p.total {
		var total int64
		if !empty {
			if total, err = v.engine.CountJobs(r.Context(), q); err != nil {
				return err
			}
		}
		tail = p.value(total)
	}
	q.Newest, q.Offset = p.desc, int(min(p.offset, 1<<31-1))
	if !p.all() {
		q.Limit = int(p.limit)
	}
	each := func(f func(expr.Value) error) error {
		if empty {
			return nil
		}
		return v.eachShown(r.Context(), q, f)
	}
	if r.filter != nil {
		return v.listFiltered(w, r, each, tail)
	}
	return v.listWritten(w, each, tail)
}

// eachShown calls f with the jobs that a query selects, in the form in which they go out.
// No more than one of them is in memory at a time, unless f keeps them.
func (v *View) eachShown(ctx context.Context, q store.Query, f func(expr.Value) error) error {
	var failed error
	err := v.engine.EachJob(ctx, q, func(j *engine.Job) bool {
		var shown expr.Value
		if shown, failed = v.shown(ctx, j, false); failed == nil {
			failed = f(shown)
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// partBytes is how much of a long answer is gathered before it is sent.
const partBytes = 64 << 10

// written is an answer that is written while it is read.
type written struct {
	v    *View
	w    http.ResponseWriter
	out  []byte
	sent bool
	gone bool // the client left
}

// send sends what was gathered, if it is enough, or all of it.
func (a *written) send(all bool) {
	if len(a.out) < partBytes && !all {
		return
	}
	if !a.sent {
		h := a.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		a.w.WriteHeader(http.StatusOK)
		a.sent = true
	}
	_ = http.NewResponseController(a.w).SetWriteDeadline(time.Now().Add(a.v.limits.WriteTimeout)) // for this part
	if _, err := a.w.Write(a.out); err != nil {
		a.gone = true
	}
	if a.out = a.out[:0]; cap(a.out) > 4*partBytes { // one that was large need not stay
		a.out = nil
	}
}

// errLeft ends an answer that nobody reads any more.
var errLeft = &failure{}

// add adds an item to a list, and sends what there is.
func (a *written) add(first bool, item expr.Value) error {
	if !first {
		a.out = append(a.out, ',')
	}
	a.out = item.AppendJSON(a.out)
	if a.send(false); a.gone {
		return errLeft
	}
	return nil
}

// failed is what an error is that came while the answer was made. Once it has begun the
// client cannot be told: it must be cut off, so that it is not taken for whole.
func (a *written) failed(err error) error {
	switch {
	case err == errLeft:
		return nil
	case a.sent:
		return fmt.Errorf("%w: the answer broke off: %w", errBroken, errors.New(err.Error()))
	}
	return err
}

// listWritten writes the list while it is read.
func (v *View) listWritten(w http.ResponseWriter, each func(func(expr.Value) error) error, tail expr.Value) error {
	a := &written{v: v, w: w, out: []byte(`{"content":[`)}
	first := true
	err := each(func(shown expr.Value) error {
		err := a.add(first, shown)
		first = false
		return err
	})
	if err != nil {
		return a.failed(err)
	}
	a.out = append(a.out, ']')
	if !tail.IsNull() {
		a.out = tail.AppendJSON(append(a.out, `,"pagination":`...))
	}
	a.out = append(a.out, '}', '\n')
	a.send(true)
	return nil
}

// listFiltered gathers the list for the filter, up to a limit.
func (v *View) listFiltered(w http.ResponseWriter, r *request, each func(func(expr.Value) error) error, tail expr.Value) error {
	in := v.filterInput()
	defer in.release()
	list := []expr.Value{}
	err := each(func(shown expr.Value) error {
		list = append(list, shown)
		return in.take(w, shown)
	})
	if err != nil {
		return err
	}
	out := object("content", expr.Array(list...))
	if !tail.IsNull() {
		out = out.With("pagination", tail)
	}
	return v.answerFiltered(w, r, out)
}
