package lockstep_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

// TestEveryListenerHearsAll: instances that listen for every event get all of them, also those that come while
// they are busy with another.
func TestEveryListenerHearsAll(t *testing.T) {
	const listeners, events = 3, 20
	for _, address := range []string{"memory:", "sqlite:" + filepath.Join(t.TempDir(), "test.db")} {
		e := opened(t, address)
		deploy(e, lockstep.Text(fmt.Sprintf(`
document: {dsl: 1.0.3, namespace: default, name: hear, version: 1.0.0}
do: [{all: {listen: {to: {any: [], until: "length == %d"}}}}]
`, events)))
		var ids []string
		for range listeners {
			id, err := e.Start(t.Context(), "hear", nil)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for i := range events {
			ev := event.Event{ID: fmt.Sprint(i), Source: "test", Type: "any", Data: expr.Int(int64(i)), HasData: true}
			if _, err := e.Send(t.Context(), ev); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range ids {
			in, err := e.Wait(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			heard, err := lockstep.Output[[]int](in)
			if err != nil || len(heard) != events {
				t.Errorf("%s: %v, %v", address, heard, err)
			}
			for i, n := range heard {
				if i != n {
					t.Errorf("%s: %v is not in order", address, heard)
					break
				}
			}
		}
	}
}
