package wfx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/web"
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

// eachShown calls f with the jobs that a query selects, as the API shows them. Only one of them is in memory
// at a time, unless f keeps them.
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

// partBytes is how many bytes of a long response are gathered before they are sent.
const partBytes = 64 << 10

// written is a long response. A list is written while it is read; a history is gathered first and then
// written, so that nothing else is held meanwhile.
type written struct {
	w      http.ResponseWriter
	out    []byte
	gather bool
	parts  [][]byte     // the gathered parts
	next   func() error // called after a part was sent, before more is made; may be nil
	sent   bool
}

// errLeft ends a response whose client disconnected.
var errLeft = &failure{}

// flush sends the gathered bytes, or keeps them if the response is gathered.
func (a *written) flush() error {
	if a.gather {
		a.parts = append(a.parts, a.out)
		a.out = make([]byte, 0, partBytes)
		return nil
	}
	if err := web.Reserve(a.w, len(a.out)); err != nil {
		return err
	}
	if err := a.send(a.out); err != nil {
		return err
	}
	if a.out = a.out[:0]; cap(a.out) > 4*partBytes { // do not keep a large buffer
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

// finish sends the rest.
func (a *written) finish() error {
	err := a.flush()
	if err != nil || !a.gather {
		return a.failed(err)
	}
	n := 0
	for _, part := range a.parts {
		n += len(part)
	}
	if err := web.Reserve(a.w, n); err != nil {
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

// add adds an item to a list, and sends a part if it is large enough.
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

// failed is the error of a response that could not be completed. Once the response has begun, the
// connection must be cut, so that the client does not take it for complete.
func (a *written) failed(err error) error {
	switch {
	case err == nil || err == errLeft:
		return nil
	case a.sent:
		return fmt.Errorf("%w: the response broke off: %w", errBroken, errors.New(err.Error()))
	}
	return err
}

// listWritten writes the list while it is read. The request of a long list holds no place while a part is
// sent, and takes one among heavy responses to make the next.
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
