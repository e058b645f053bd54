package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestCallQueue: calls begin in order, but an endpoint with as many in flight as it may
// have is passed over until one of them lands.
func TestCallQueue(t *testing.T) {
	var table callTable
	table.init(2)
	to := func(i int, operation string) store.Call {
		return store.Call{Instance: fmt.Sprint(i), Invoke: core.Invoke{Function: ir.Function{Name: "f", Operation: operation}}}
	}
	table.enqueue([]store.Call{
		to(0, "https://SLOW/a"), to(1, "https://slow/b#PUT"), to(2, "https://slow/a"),
		to(3, "api.json#list"), to(4, "api.json#get"), to(5, "api.json#get"), to(6, ""),
	})
	var flying []*call
	take := func() string {
		var got []string
		for {
			c := table.pop(100)
			if c == nil {
				return strings.Join(got, " ")
			}
			flying = append(flying, c)
			got = append(got, c.row.Instance)
		}
	}
	if got := take(); got != "0 1 3 4 6" {
		t.Errorf("begin %s", got)
	}
	if _, ok := table.next(100, 0); ok {
		t.Error("something can begin")
	}
	table.landed(flying[0], false)
	if at, ok := table.next(100, 0); !ok || at != 0 {
		t.Errorf("next %v %t", at, ok)
	}
	if got := take(); got != "2" {
		t.Errorf("then %s", got)
	}
	table.landed(flying[2], true) // to be made anew: behind the others
	table.drop(flying[3].key)
	table.landed(flying[3], false)
	if got := take(); got != "5 3" {
		t.Errorf("at last %s", got)
	}
	for _, c := range flying[:6] {
		if c != flying[0] && c != flying[2] && c != flying[3] {
			table.landed(c, false)
		}
	}
	table.landed(flying[6], false)
	table.landed(flying[7], false)
	if len(table.queue.lanes) != 0 || table.flying != 0 || table.queue.size != 0 {
		t.Errorf("left: %d lanes, %d flying, %d waiting", len(table.queue.lanes), table.flying, table.queue.size)
	}
}
