package wfx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
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
	return v.listWritten(w, r, each, tail)
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

// written is a long answer. That of a list is written while it is read; that of a history
// is gathered, and written when all of it is there, so that nothing else is held meanwhile.
type written struct {
	w      http.ResponseWriter
	out    []byte
	gather bool
	parts  [][]byte     // gathered
	next   func() error // before more is made, after a part was sent; nil: nothing
	sent   bool
}

// errLeft ends an answer that nobody reads any more.
var errLeft = &failure{}

// flush sends what there is, or puts it aside.
func (a *written) flush() error {
	if a.gather {
		a.parts = append(a.parts, a.out)
		a.out = make([]byte, 0, partBytes)
		return nil
	}
	if err := reserve(a.w, len(a.out)); err != nil {
		return err
	}
	if err := a.send(a.out); err != nil {
		return err
	}
	if a.out = a.out[:0]; cap(a.out) > 4*partBytes { // one that was large need not stay
		a.out = nil
	}
	return nil
}

func (a *written) send(part []byte) error {
	if !a.sent {
		h := a.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		a.w.WriteHeader(http.StatusOK)
		a.sent = true
	}
	if _, err := a.w.Write(part); err != nil {
		return errLeft
	}
	return nil
}

// finish sends what is left.
func (a *written) finish() error {
	err := a.flush()
	if err != nil || !a.gather {
		return a.failed(err)
	}
	n := 0
	for _, part := range a.parts {
		n += len(part)
	}
	if err := reserve(a.w, n); err != nil {
		return err
	}
	a.w.Header().Set("Content-Length", strconv.Itoa(n))
	for i, part := range a.parts {
		if err := a.send(part); err != nil {
			return a.failed(err)
		}
		a.parts[i] = nil
	}
	return nil
}

// add adds an item to a list, and sends what there is.
func (a *written) add(first bool, item expr.Value) error {
	if !first {
		a.out = append(a.out, ',')
	}
	a.out = item.AppendJSON(a.out)
	if len(a.out) < partBytes {
		return nil
	}
	if err := a.flush(); err != nil || a.next == nil {
		return err
	}
	return a.next()
}

// failed is what an error is that came while the answer was made. Once it has begun the
// client cannot be told: it must be cut off, so that it is not taken for whole.
func (a *written) failed(err error) error {
	switch {
	case err == nil || err == errLeft:
		return nil
	case a.sent:
		return fmt.Errorf("%w: the answer broke off: %w", errBroken, errors.New(err.Error()))
	}
	return err
}

// listWritten writes the list while it is read. Whoever asks for a long one holds no place
// while a part is sent, and takes one of heavy answers to make the next.
func (v *View) listWritten(w http.ResponseWriter, r *request, each func(func(expr.Value) error) error, tail expr.Value) error {
	a := &written{w: w, out: []byte(`{"content":[`), next: func() error {
		r.release()
		r.heavy = nil
		return v.enterHeavy(r)
	}}
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
	return a.finish()
}

// listFiltered gathers the list for the filter, up to a limit.
func (v *View) listFiltered(w http.ResponseWriter, r *request, each func(func(expr.Value) error) error, tail expr.Value) error {
	in := filterInput{v: v}
	list := []expr.Value{}
	err := each(func(shown expr.Value) error {
		list = append(list, shown)
		return in.measure(shown)
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
