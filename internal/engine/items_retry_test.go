package engine

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
)

// TestRetriesOfFailedItemsAtOnce: of several retries at once one counts, and one of an instance that runs, or that comes
// with other data, changes nothing.
func TestRetriesOfFailedItemsAtOnce(t *testing.T) {
	w := &worker{bad: []int64{1}}
	h := newHarness(t, nil, func(c *Config) { c.Invoker, c.Languages = w, languages.All() })
	h.deploy(compiled(t, items05)...)
	id := h.start("map", `{"list":[{"n":0},{"n":1},{"n":2}]}`)
	retry := core.Control{Verb: core.VerbRetry, Items: true}
	refused := func(what string, c core.Control) {
		t.Helper()
		rev := h.get(id).Rev
		var no *core.Rejected
		if err := h.Control(t.Context(), id, c); !errors.As(err, &no) {
			t.Errorf("%s: %v", what, err)
		}
		if now := h.get(id).Rev; now != rev {
			t.Errorf("%s is stored", what)
		}
	}
	h.poll()
	refused("a retry while it runs", retry)
	h.run(time.Minute)
	h.expect("called", w.take(), "0 1 2")
	refused("a retry with data", core.Control{Verb: core.VerbRetry, Items: true, HasData: true, Data: expr.EmptyObject})
	w.mended = true
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = h.Control(t.Context(), id, retry) })
	}
	wg.Wait()
	taken := 0
	for _, err := range errs {
		var no *core.Rejected
		switch {
		case err == nil:
			taken++
		case !errors.As(err, &no):
			t.Error(err)
		}
	}
	h.run(time.Minute)
	h.expect("called by the retry", w.take(), "1")
	if taken != 1 || h.get(id).Status != core.Completed {
		t.Errorf("%d retries are taken, and it is %s", taken, h.get(id).Status)
	}
	refused("a retry of what completed", retry)
}
