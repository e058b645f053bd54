package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestWriteHealth: the last write tells; where there was none lately, one is made, for all
// who ask together.
func TestWriteHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h WriteHealth
		var outcome error
		writes := 0
		ask := func() error {
			return h.Ask(t.Context(), func(context.Context) error {
				writes++
				time.Sleep(10 * time.Millisecond)
				return outcome
			})
		}
		want := func(what string, err error, n int) {
			t.Helper()
			if got := ask(); !errors.Is(got, err) || writes != n {
				t.Errorf("%s: %v after %d writes, want %v after %d", what, got, writes, err, n)
			}
		}
		full := errors.New("full")
		want("nothing is known", nil, 1)
		want("at once again", nil, 1)
		h.Note(full)
		want("a write failed", full, 1)
		h.Note(nil)
		want("the next did not", nil, 1)
		outcome = full
		time.Sleep(probePause)
		want("a while later", full, 2)
		want("at once again", full, 2)
		outcome = nil
		time.Sleep(probePause)
		want("it heals", nil, 3)
		time.Sleep(probePause)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { _ = ask() })
		}
		wg.Wait()
		if writes != 4 {
			t.Errorf("100 who ask at a time had %d writes made", writes-3)
		}
	})
}

// TestHangingWrite: who asks is not kept by a disk that does not answer.
func TestHangingWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h WriteHealth
		hang := make(chan struct{})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := h.Ask(ctx, func(ctx context.Context) error { <-hang; return nil })
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
		}
		close(hang)
		synctest.Wait()
		if err := h.Ask(t.Context(), nil); err != nil {
			t.Errorf("when it answers at last: %v", err)
		}
	})
}
