package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// fanBytes runs a fan over n items, one reply at a time, and returns how many bytes
// of pages that writes.
func fanBytes(t *testing.T, n int) int {
	p := mustAssemble(t, `
expr jsonpath $.items
expr template {"i":"{{ $.item }}"}
func f
region main 1
region body 3 {"collect":true}
node Each fan {"each":{"over":1,"body":1,"var":"item"},"join":"append","path":["out"]} -> 2
node Each end
node Each call {"args":2,"result":{"mode":"merge"}}`)
	p.Limits.FanInFlight = 10
	items := strings.TrimSuffix(strings.Repeat(`{"name":"an item of some length"},`, n), ",")
	r, err := Step(p, nil, 1, Start{Data: value(fmt.Sprintf(`{"items":[%s]}`, items))})
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	var open []Ticket
	for {
		for _, page := range r.State.TakeDirty(nil) {
			written += len(page.Data)
		}
		for _, c := range r.Commands {
			if call, ok := c.(Invoke); ok {
				open = append(open, call.Ticket)
			}
		}
		if r.State.Status().Final() {
			return written
		}
		if r, err = Step(p, r.State, 2, Reply{Ticket: open[0], Value: expr.Object(expr.Member{Key: "ok", Value: expr.Bool(true)})}); err != nil || r.Stale {
			t.Fatal(err, r.Stale)
		}
		open = open[1:]
	}
}

// A fan writes bytes in proportion to its items, never to their square.
func TestFanWritesLinearBytes(t *testing.T) {
	few, many := fanBytes(t, 100), fanBytes(t, 2000)
	if many > 25*few {
		t.Errorf("20 times the items write %d times the bytes (%d, %d)", many/few, few, many)
	}
}
