package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// touched is how many pages each statement of a test touched.
type touched struct {
	admin *pgx.Conn
	texts map[int64]string // of statements
}

// watchPages has the server count the pages of all statements, also of those in functions.
func watchPages(t *testing.T, url string) (*touched, func(*pgxpool.Config)) {
	t.Helper()
	admin, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(ctx) })
	if _, err := admin.Exec(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		t.Fatalf("the contributed module pg_stat_statements is needed: %v", err)
	}
	return &touched{admin, map[int64]string{}}, func(c *pgxpool.Config) {
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SET pg_stat_statements.track = 'all'")
			return err
		}
	}
}

// since lists pages by statement since it was called last.
func (p *touched) since(t *testing.T) map[int64]float64 {
	t.Helper()
	rows, err := p.admin.Query(ctx, "SELECT queryid, min(regexp_replace(query, '\\s+', ' ', 'g')), sum(shared_blks_hit + shared_blks_read)::float8 FROM pg_stat_statements "+
		"WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY queryid")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int64]float64{}
	var id int64
	var query string
	var pages float64
	if _, err := pgx.ForEachRow(rows, []any{&id, &query, &pages}, func() error {
		out[id] = pages
		p.texts[id] = query
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.admin.Exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	snapshotRound  = 500 // instances of a round, with four commits each
	snapshotRounds = 25
)

// TestOldSnapshot: while somebody's transaction keeps all dead rows, a statement does not
// touch more and more pages.
func TestOldSnapshot(t *testing.T) {
	url := pgtestURL(t)
	pages, configure := watchPages(t, url)
	db := openURL(t, url, Options{configure: configure})
	s := db.Namespace("n").(*Store)

	other, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(ctx) }()
	if _, err := other.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(ctx, "SELECT 1 FROM lockstep.instances"); err != nil {
		t.Fatal(err)
	}
	var early map[int64]float64
	for round := range snapshotRounds {
		liveRound(t, s, round)
		if round == snapshotRounds/2 { // now the statistics say that queues are empty
			if _, err := pages.admin.Exec(ctx, "ANALYZE"); err != nil {
				t.Fatal(err)
			}
		}
		s.queue.mu.Lock()
		s.queue.again = s.queue.again.Add(readAgain) // a look at everything is not of every round
		s.queue.mu.Unlock()
		if err := s.fold(ctx); err != nil { // else it is done after so many transactions
			t.Fatal(err)
		}
		got := pages.since(t)
		switch round {
		case 2:
			early = got
		case snapshotRounds - 1:
			all, before := 0.0, 0.0
			for query, n := range got {
				all, before = all+n, before+early[query]
				// Trees get deeper: that is one page more for each look.
				if n > 2*early[query]+500 {
					t.Errorf("%.0f pages, and %.0f at first: %s", n, early[query], pages.texts[query])
				}
			}
			t.Logf("pages of %d commits: %.0f at first, %.0f after %d", 4*snapshotRound, before, all, 4*snapshotRound*snapshotRounds)
		}
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// liveRound does what an engine does with instances that call, sleep, send and end.
func liveRound(t *testing.T, s *Store, round int) {
	t.Helper()
	now := core.Time(1_000_000 * (round + 1))
	each := func(f func(i int, id string) store.Commit) {
		var wg sync.WaitGroup
		for i := range snapshotRound {
			wg.Go(func() {
				if err := s.Commit(ctx, f(i, fmt.Sprint("r", round, "i", i))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	in := func(id string, rev int64, status core.Status) store.Instance {
		return store.Instance{ID: id, Rev: rev, Definition: "d", Status: status, Created: now, Updated: now}
	}
	each(func(i int, id string) store.Commit {
		c := store.Commit{Instance: in(id, 0, core.Waiting), Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}}, Pages: []core.Page{{Data: []byte("x")}}, Records: []core.Record{{Text: "r"}}}
		c.Instance.HasWake, c.Instance.Wake = true, now+core.Time(i)
		c.Messages = []store.Message{{To: id, Input: core.Reply{Ticket: 1}}}
		return c
	})
	askForWork(t, s, now, snapshotRound)
	each(func(i int, id string) store.Commit {
		messages, err := s.Messages(ctx, id)
		if err != nil || len(messages) != 1 {
			t.Errorf("%d messages: %v", len(messages), err)
		}
		c := store.Commit{Instance: in(id, 1, core.Waiting), Answered: []core.Ticket{1}, Pages: []core.Page{{Data: []byte("y")}}}
		for _, m := range messages {
			c.Taken = append(c.Taken, m.Seq)
		}
		c.Instance.HasWake, c.Instance.Wake = true, now+core.Time(1_000_000+i) // far away: it is put off
		c.Emits = []store.Emit{{Sink: true, Event: event.Event{ID: id, Source: "s", Type: "t"}}}
		return c
	})
	askForWork(t, s, now+1, 0)
	each(func(i int, id string) store.Commit {
		c := store.Commit{Instance: in(id, 2, core.Waiting)}
		c.Instance.HasWake, c.Instance.Wake = true, now+core.Time(i)
		return c
	})
	askForWork(t, s, now+snapshotRound, snapshotRound)
	each(func(_ int, id string) store.Commit {
		return store.Commit{Instance: in(id, 3, core.Completed)}
	})
	out, err := s.Outbound(ctx, snapshotRound)
	if err != nil || len(out) != snapshotRound {
		t.Fatalf("%d go out: %v", len(out), err)
	}
	for _, e := range out {
		if err := s.Sent(ctx, e.Seq); err != nil {
			t.Fatal(err)
		}
	}
	askForWork(t, s, now+snapshotRound, 0)
}

// askForWork asks for work as an engine does, several times over.
func askForWork(t *testing.T, s *Store, now core.Time, ready int) {
	t.Helper()
	for range 5 {
		list, err := s.Ready(ctx, now, 2*snapshotRound)
		if err != nil || len(list) != ready {
			t.Fatalf("%d are ready, want %d: %v", len(list), ready, err)
		}
		if _, _, err := s.Next(ctx, now); err != nil {
			t.Fatal(err)
		}
		for _, list := range []func(context.Context, int) ([]store.Emit, error){s.Emits, s.Outbound} {
			if _, err := list(ctx, 10); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Stats(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
