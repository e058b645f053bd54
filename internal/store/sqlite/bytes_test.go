package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestSameBytes: the same commits make the same file. What one transaction gathers in maps is written in a fixed order.
func TestSameBytes(t *testing.T) {
	write := func() []byte {
		path := filepath.Join(t.TempDir(), "x.db")
		db, err := Open(path, Options{Inline: true})
		if err != nil {
			t.Fatal(err)
		}
		s := db.Namespace("default")
		c := store.Commit{Instance: store.Instance{ID: "a", Definition: "a", Status: core.Waiting}}
		for i := range 20 {
			name := fmt.Sprint(i)
			c.Children = append(c.Children, store.NewInstance{Instance: store.Instance{
				ID: name, Definition: name, Status: core.Running, Parent: "a", Labels: expr.Object(expr.Member{Key: name, Value: expr.String(name)}),
			}, Start: core.Start{}})
			filter := event.Filter{Type: "t", Keys: []event.Key{{Name: "key" + name, Value: name, Fixed: true}}}
			c.Subscribe = append(c.Subscribe, store.Subscription{Ticket: core.Ticket(i + 1), Filter: filter})
		}
		if err := s.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := write()
	for range 3 {
		if !bytes.Equal(write(), first) {
			t.Fatal("the same commit makes another file")
		}
	}
}
