package cluster

import (
	"strings"
	"testing"
	"time"
)

// TestBusy: a run that does not end tells who did what at last, and who waits.
func TestBusy(t *testing.T) {
	w := newWorld(&Case{Seed: 1, Nodes: 1, Acts: []Act{{Kind: ActStart, At: time.Hour, What: "timer"}}}, false)
	defer w.nodes[0].end()
	if err := w.prepare(); err != nil {
		t.Fatal(err)
	}
	w.steps = maxSteps - 50
	w.nodes[0].boot()
	var err error
	for err == nil { // it is asked for work again and again
		w.nodes[0].proc.again = true
		if w.steps++; w.steps == maxSteps {
			err = w.stillBusy()
		}
		for _, next := range w.nodes[0].possible(nil)[:1] {
			next()
		}
	}
	for _, want := range []string{" times n0 → store: ready", "client 0 has no answer to: at 1h0m0s, node 0: start timer"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}
