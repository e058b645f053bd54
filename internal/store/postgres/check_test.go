package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// TestDamage: whatever is altered in the tables is found, and only there.
func TestDamage(t *testing.T) {
	db := openTest(t, Options{})
	for i, c := range []struct{ damage, want string }{
		{"UPDATE instances SET rest = '\\x00' WHERE ns = $1 AND id = 'a'", "cannot be read|damaged"},
		{"UPDATE instances SET wake = 77 WHERE ns = $1 AND id = 'a'", "columns"},
		{"UPDATE instances SET more = true WHERE ns = $1 AND id = 'a'", "something to do"},
		{"UPDATE instances SET kind = 0 WHERE ns = $1 AND id = 'a'", "kind"},
		{"DELETE FROM wakes WHERE ns = $1", "woken"},
		{"DELETE FROM ready WHERE ns = $1", "something to do"},
		{"UPDATE ready SET queued = true, inst = (SELECT seq FROM instances i WHERE i.ns = $1 AND i.id = 'c') WHERE ns = $1", "nothing to do"},
		{"DELETE FROM labels WHERE ns = $1", "labels"},
		{"INSERT INTO labels SELECT $1, 5, 0, '', seq FROM instances i WHERE i.ns = $1 AND i.id = 'c'", "labels"},
		{"DELETE FROM owners WHERE ns = $1", "correlation"},
		{"DELETE FROM job_states WHERE ns = $1", "state"},
		{"DELETE FROM instances WHERE ns = $1 AND id = 'b'", "no instance"},
		{"DELETE FROM contents WHERE ns = $1", "no program"},
		{"UPDATE contents SET program = '\\x00' WHERE ns = $1", "digest x is damaged"},
		{"UPDATE history SET records = '\\x00' WHERE ns = $1 AND instance = 'a'", "history"},
		{"UPDATE history SET told = told + 1 WHERE ns = $1 AND instance = 'a'", "gaps"},
		{"UPDATE inbox SET input = '\\x00' WHERE ns = $1", "its message"},
		{"UPDATE calls SET call = '\\x00' WHERE ns = $1", "its call"},
		{"UPDATE emits SET event = '\\x00' WHERE ns = $1", "its produced event"},
		{"UPDATE subs SET filter = '\\x00' WHERE ns = $1", "subscriptions cannot"},
		{"UPDATE subs SET match = match + 1 WHERE ns = $1", "no event finds"},
		{"UPDATE events SET event = '\\x00' WHERE ns = $1", "events"},
		{"DELETE FROM event_keys WHERE ns = $1", "do not find event"},
		{"DELETE FROM kept_for WHERE ns = $1", "kept for a"},
		{"DELETE FROM events WHERE ns = $1", "no event"},
		{"DELETE FROM differences WHERE ns = $1", "counted"},
		{"INSERT INTO counts SELECT $1, kind, 0, '', '', 1 FROM kinds k WHERE k.ns = $1 LIMIT 1", "counted"},
	} {
		s := db.Namespace(fmt.Sprint(i)).(*Store)
		fill(t, s)
		if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
			t.Fatalf("before: %v %v", problems, err)
		}
		ns, err := s.ns(ctx)
		if err != nil {
			t.Fatal(err)
		}
		err = db.begin(ctx, ns, func(tx *tx) error {
			n, err := tx.do(ctx, c.damage, ns)
			if err == nil && n == 0 {
				t.Errorf("%s does nothing", c.damage)
			}
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", c.damage, err)
		}
		problems, err := s.Check(ctx)
		found := false
		for _, part := range strings.Split(c.want, "|") {
			found = found || strings.Contains(fmt.Sprint(problems), part)
		}
		if err != nil || !found {
			t.Errorf("%s: %v %v", c.damage, problems, err)
		}
	}
}

// fill writes something into every table.
func fill(t *testing.T, s store.Store) {
	t.Helper()
	if _, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x", Program: storetest.Program("x")}, nil, false); err != nil {
		t.Fatal(err)
	}
	key := event.Filter{Type: "t", Keys: []event.Key{{Name: "subject", Value: "v", Fixed: true}}}
	for _, c := range []store.Commit{
		{
			Instance: store.Instance{
				ID: "a", Definition: "d", Version: "1", Digest: "x", Status: core.Waiting, HasWake: true, Wake: 9, Job: store.Job{Client: "c", State: "NEW", Group: "OPEN"},
				Labels: expr.Object(expr.Member{Key: "l", Value: expr.String("v")}), Keys: []core.Key{{Name: "k", Value: "v", Fixed: true}},
			},
			Pages: []core.Page{{Data: []byte("x")}}, Records: []core.Record{{Text: "r"}}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}},
			Emits: []store.Emit{{Event: event.Event{ID: "9", Source: "s", Type: "t"}}}, Subscribe: []store.Subscription{{Ticket: 2, Filter: key}},
			Children: []store.NewInstance{{Instance: store.Instance{ID: "b", Status: core.Running, Parent: "a"}}},
		},
		{Instance: store.Instance{ID: "c", Status: core.Waiting}},
	} {
		if err := s.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	e := event.Event{ID: "1", Source: "s", Type: "t", Subject: "v"}
	if _, err := s.Ingest(ctx, store.Event{Event: e, Until: 100}, 0, func(e store.Event, _ store.View) (store.Routing, error) {
		e.For = []string{"a"}
		return store.Routing{Events: []store.Event{e}}, nil
	}); err != nil {
		t.Fatal(err)
	}
}
