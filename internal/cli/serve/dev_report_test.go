package serve

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestBurstIsCounted: what dev does not print of a burst it counts, also when nothing follows, and once.
func TestBurstIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told bytes.Buffer
		p := &reporter{app: &cli.App{Err: &told}}
		text := func() string { // a timer writes, too
			p.mu.Lock()
			defer p.mu.Unlock()
			return told.String()
		}
		reset := func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			told.Reset()
		}
		start := func(n int) {
			for i := range n {
				p.record(fmt.Sprint(i), api.Record{Type: api.RecordStarted, Time: time.Now()})
			}
		}
		lines := func() int { return strings.Count(text(), "\n") }
		start(reportsPerSecond + 30)
		if lines() != reportsPerSecond {
			t.Errorf("%d lines of a burst", lines())
		}
		time.Sleep(time.Second) // of the bubble
		synctest.Wait()
		if !strings.HasSuffix(text(), "\n… and 30 more starts and ends\n") {
			t.Errorf("after the burst:\n%s", text())
		}
		reset()
		time.Sleep(time.Second)
		start(reportsPerSecond + 2)
		p.record("x", api.Record{Type: api.RecordStarted, Time: time.Now().Add(time.Second)}) // before the timer
		if !strings.HasSuffix(text(), "\n… and 2 more starts and ends\n→ instance x started\n") {
			t.Errorf("with another start:\n%s", text())
		}
		reset()
		p.know(func(id string) string { return "order" })
		p.record("y", api.Record{Type: api.RecordFinished, Status: api.Failed, Error: &api.Fault{Name: "Broken", Node: "Pay"}})
		if got := text(); got != "✗ instance y of order failed in \"Pay\": Broken\n" {
			t.Errorf("a failure is %q", got)
		}
		reset()
		time.Sleep(time.Minute)
		synctest.Wait()
		if lines() != 0 {
			t.Errorf("counted again:\n%s", text())
		}
	})
}
