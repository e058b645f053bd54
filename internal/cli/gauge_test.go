package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// writes is a terminal: what is written to it can be taken out while the command goes on.
type writes chan string

func (w writes) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

func (w writes) take() string {
	var all strings.Builder
	for len(w) > 0 {
		all.WriteString(<-w)
	}
	return all.String()
}

// TestGauge: a command that waits shows nothing at first, then a spinner, then a bar, and removes it.
func TestGauge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := make(writes, 1000)
		g := newGauge(&App{Err: out}, "waiting", true)
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		if got := out.take(); got != "" {
			t.Errorf("at once: %q", got)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if got := out.take(); !strings.Contains(got, " waiting, 0s") {
			t.Errorf("without progress: %q", got)
		}
		g.Set(1000, 4000, "")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		g.Set(2000, 4000, ", 50 in flight")
		out.take()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if got, want := out.take(), "\r\x1b[K[############............] 2,000 of 4,000, 100/s, 20s left, 50 in flight"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		g.Stop()
		g.Stop()
		if got := out.take(); got != "\r\x1b[K" {
			t.Errorf("at the end: %q", got)
		}
	})
}

// TestGaugeWithoutTerminal: nothing is written.
func TestGaugeWithoutTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		g := NewGauge(&App{Err: &out}, "waiting")
		g.Set(1, 2, "")
		time.Sleep(time.Minute)
		if g.Stop(); out.Len() > 0 || g.Shows() {
			t.Errorf("%q", out.String())
		}
	})
}
