package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// fillStore writes one of everything.
func fillStore(t testing.TB, s store.Store) {
	t.Helper()
	fillFirst(t, s)
	fillJobs(t, s)
}

// fillJobs writes what the second version of the schema brought.
func fillJobs(t testing.TB, s store.Store) {
	t.Helper()
	tags := expr.Object(expr.Member{Key: "tags", Value: expr.Array(expr.String("x"), expr.String("y"))})
	for i, job := range []store.Job{{Client: "c1", State: "NEW", Group: "OPEN"}, {Client: "c1", State: "DONE"}, {Client: "c2", State: "NEW", Group: "OPEN"}} {
		in := store.Instance{ID: fmt.Sprint("job", i), Definition: "d", Version: "1", Digest: "x", Status: core.Waiting, Labels: tags, Job: job}
		if err := s.Commit(ctx, store.Commit{Instance: in, Records: []core.Record{{Type: core.RecStarted}}}); err != nil {
			t.Fatal(err)
		}
	}
	in, err := s.Instance(ctx, "job0")
	if err != nil {
		t.Fatal(err)
	}
	in.Job.State, in.Job.Group = "WORK", "OPEN"
	if err := s.Commit(ctx, store.Commit{Instance: in, Records: []core.Record{{Type: core.RecTaken, Name: "CLIENT"}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteInstance(ctx, "job2", store.Deletion{At: 9, Live: true, Actor: "WFX"}); err != nil {
		t.Fatal(err)
	}
}

// fillFirst writes what the first version of the schema had.
func fillFirst(t testing.TB, s store.Store) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	filter := event.Filter{Type: "t", Keys: []event.Key{{Name: "k", Value: "v", Fixed: true}}}
	_, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x", Program: storetest.Program("d"), Source: []byte("id: d"), Deployed: 5},
		&store.Schedule{Definition: "d", Digest: "x", Next: 77}, false)
	check(err)
	check(s.Commit(ctx, store.Commit{
		Instance: store.Instance{
			ID: "a", Definition: "d", Version: "1", Digest: "x", Status: core.Waiting, HasWake: true, Wake: 50, Created: 1, Updated: 2,
			Labels: expr.Object(expr.Member{Key: "l", Value: expr.Int(1)}), Keys: []core.Key{{Name: "k", Value: "v", Fixed: true}}, Active: []string{"S"},
		},
		Pages: []core.Page{{Data: []byte{1}}, {Frame: 1, Data: append([]byte{1}, make([]byte, 4999)...)}}, Records: []core.Record{{Text: "r", Type: core.RecStarted}},
		Calls:     []store.Call{{Invoke: core.Invoke{Ticket: 1, Args: expr.Int(1)}}},
		Emits:     []store.Emit{{Event: event.Event{ID: "9", Source: "s", Type: "t"}}, {Event: event.Event{ID: "9", Source: "s", Type: "t"}, Sink: true}},
		Subscribe: []store.Subscription{{Ticket: 2, Name: "n", Filter: filter}, {Ticket: 3, Filter: filter}},
		Children:  []store.NewInstance{{Instance: store.Instance{ID: "b", Status: core.Running, Parent: "a"}, Start: core.Start{Seed: 3}}},
	}))
	row, err := s.Instance(ctx, "a")
	check(err)
	check(s.Commit(ctx, store.Commit{Instance: row, Records: []core.Record{{Text: "second"}}}))
	for i, id := range []string{"1", "2"} {
		e := event.Event{ID: id, Source: "s", Type: "t", Data: expr.Int(7), HasData: true}
		e.Put("k", expr.String("v"))
		_, err := s.Ingest(ctx, store.Event{Event: e, Until: 1000}, 0, func(e store.Event, v store.View) (store.Routing, error) {
			if i == 0 {
				return store.Routing{Deliver: []store.Delivery{{Event: e.Seq, Instance: "a", Reply: core.Reply{Ticket: 2}}}}, nil
			}
			e.For, e.Why = []string{"a"}, []string{"why"}
			return store.Routing{Events: []store.Event{e}, Gather: []store.Gathering{{Definition: "d", Digest: "x", Events: []int64{e.Seq, 0}, Until: 500}}}, nil
		})
		check(err)
	}
	check(s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "f", Definition: "d", Version: "1", Digest: "x", Status: core.Failed, Ended: 3, Fault: &core.Fault{Name: "F", Data: expr.Int(1)}}}))
	check(s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "g", Definition: "d", Version: "1", Digest: "x", Status: core.Completed, Ended: 3}, Records: []core.Record{{Text: "gone"}}}))
	check(s.DeleteInstance(ctx, "g", store.Deletion{At: 6}))
}

// TestCheckFindsDamage: whatever is damaged by hand, a check tells of it.
func TestCheckFindsDamage(t *testing.T) {
	for _, damage := range []string{
		"UPDATE instances SET rest = x'01ff' WHERE id = 'a'",
		"UPDATE instances SET rest = x'' WHERE id = 'a'",
		"UPDATE contents SET program = x'7b7d'",
		"UPDATE contents SET info = 'x'",
		"DELETE FROM contents; DELETE FROM aliases",
		"DELETE FROM contents",
		"UPDATE instances SET wake = NULL WHERE id = 'a'",
		"UPDATE instances SET wake = 51 WHERE id = 'a'",
		"UPDATE instances SET more = 1 WHERE id = 'a'",
		"UPDATE instances SET aside = 1 WHERE id = 'a'",
		"UPDATE instances SET error = NULL WHERE id = 'f'",
		"UPDATE instances SET kind = 99 WHERE id = 'a'",
		"UPDATE instances SET status = 2 WHERE id = 'f'",
		"UPDATE instances SET last = 123456 WHERE id = 'a'",
		"DELETE FROM instances WHERE id = 'a'",
		"DELETE FROM instances WHERE id = 'f'",
		"DELETE FROM labels",
		"DELETE FROM owners",
		"DELETE FROM history WHERE prev = 0",
		"UPDATE history SET told = told + 1 WHERE prev = 0",
		"UPDATE instances SET told = told + 1 WHERE id = 'a'",
		"UPDATE history SET records = x'0101'",
		"DELETE FROM gone; DELETE FROM history WHERE pos = (SELECT max(pos) FROM history); UPDATE instances SET last = last + 1000 WHERE id = 'f'",
		"UPDATE counts SET n = n + 1",
		"UPDATE lanes SET n = n + 1 WHERE state = 'DONE'",
		"UPDATE lanes SET state = 'x' WHERE state = 'DONE'",
		"UPDATE lanes SET kind = kind + 1 WHERE state = 'DONE'",
		"DELETE FROM lanes WHERE state = 'DONE'",
		"UPDATE instances SET lane = NULL WHERE id = 'job0'; UPDATE lanes SET n = 0 WHERE state = 'WORK'",
		"UPDATE instances SET lane = 2 WHERE id = 'job0'; UPDATE lanes SET n = n + 1 WHERE lane = 2; UPDATE lanes SET n = 0 WHERE state = 'WORK'",
		"UPDATE instances SET lane = 77 WHERE id = 'f'",
		"UPDATE instances SET client = 'c3' WHERE id = 'job0'",
		"UPDATE instances SET client = NULL WHERE id = 'job0'",
		"UPDATE labels SET lane = 77 WHERE text = '=x'",
		"DELETE FROM labels WHERE text = '@c1'",
		"INSERT INTO labels SELECT ns, name, text, 77, inst FROM labels WHERE text = '=x'",
		"INSERT INTO labels SELECT ns, name, '=z', lane, inst FROM labels WHERE text = '=x'",
		"UPDATE inbox SET input = x'0163'",
		"UPDATE calls SET call = x''",
		"UPDATE emits SET event = x'01'",
		"UPDATE gatherings SET rest = x'01'",
		"UPDATE subs SET match = match + 1",
		"UPDATE subs SET type = 'u'",
		"UPDATE subs SET filter = x'0100'",
		"UPDATE events SET event = x'01'",
		"DELETE FROM event_keys",
		"DELETE FROM kept_for",
		"INSERT INTO kept_for SELECT ns, 'z', seq FROM events LIMIT 1",
		"DELETE FROM events",
	} {
		db := openTest(t)
		s := db.Namespace("default")
		fillStore(t, s)
		sound(t, s)
		if err := db.writer.submit(ctx, 0, func(tr *tx) error { return tr.conn.script(damage) }); err != nil {
			t.Fatalf("%s: %v", damage, err)
		}
		if problems, err := s.Check(ctx); err == nil && len(problems) == 0 {
			t.Errorf("not found: %s", damage)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedRowInList: the others are listed, and so is what can be read of it. Whoever sends it a
// message is not held up, nothing is written over it, and it can be deleted with all that it had.
func TestDamagedRowInList(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	for _, id := range []string{"a", "b", "c"} {
		if err := s.Commit(ctx, store.Commit{Instance: store.Instance{
			ID: id, Status: core.Waiting, Labels: expr.Object(expr.Member{Key: "l", Value: expr.Int(1)}), Keys: []core.Key{{Name: "k", Value: "v", Fixed: true}},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	db.writer.heads.clear() // as after a restart
	if err := db.writer.submit(ctx, 0, func(tr *tx) error { return tr.conn.script("UPDATE instances SET rest = x'' WHERE id = 'b'") }); err != nil {
		t.Fatal(err)
	}
	list, err := s.Instances(ctx, store.Query{})
	if err != nil || len(list) != 3 || list[0].Quarantine != "" || list[1].ID != "b" || !strings.Contains(list[1].Quarantine, "damaged") || list[2].Quarantine != "" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := s.Instance(ctx, "b"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("by itself: %v", err)
	}
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "b", Rev: 1, Status: core.Waiting}}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a commit: %v", err)
	}
	row, err := s.Instance(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(ctx, store.Commit{Instance: row, Messages: []store.Message{{To: "b", Input: core.Continue{}}}}); err != nil {
		t.Errorf("a message to it: %v", err)
	}
	if err := s.DeleteInstance(ctx, "b", store.Deletion{At: 9, Live: true}); err != nil {
		t.Error(err)
	}
	sound(t, s)
}
