package engine

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestCallsThatStayWithTheirNode: when a part goes to another node, calls of it that are under
// way or have their answer stay, and so do those of other parts. The same are left out of what is
// compared with the store.
func TestCallsThatStayWithTheirNode(t *testing.T) {
	for name, c := range map[string]struct {
		phase        func(table *callTable, c *call)
		stays, audit bool
	}{
		"queued":    {func(*callTable, *call) {}, false, true},
		"in flight": {func(_ *callTable, c *call) { c.cancel = func() {} }, true, false},
		"answered":  {func(table *callTable, c *call) { table.hold(c, core.Reply{Ticket: c.row.Ticket}, 0) }, true, false},
		"parked":    {func(table *callTable, c *call) { table.park(c) }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			var table callTable
			table.init(1)
			row := func(part int) store.Call {
				out := store.Call{Instance: "i", Shard: part}
				out.Ticket = core.Ticket(part)
				return out
			}
			table.enqueue([]store.Call{row(1), row(2)})
			for _, x := range table.all {
				c.phase(&table, x)
			}
			if n := len(table.waiting(auditSize)["i"]); (n == 2) != c.audit || n == 1 {
				t.Errorf("%d are compared with the store", n)
			}
			table.dropWaiting(func(part int) bool { return part == 1 })
			if gone := table.all[callKey("i", 1)] == nil; gone == c.stays {
				t.Errorf("of the part that is gone it stays: %t", !gone)
			}
			if table.all[callKey("i", 2)] == nil {
				t.Error("that of another part is gone")
			}
		})
	}
}
