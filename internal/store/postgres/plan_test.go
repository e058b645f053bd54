package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// explained has the server tell the plan of every statement, also of those in functions.
type explained struct {
	mu    sync.Mutex
	plans map[string]string // by statement
}

func (e *explained) configure(c *pgxpool.Config) {
	c.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		_, text, ok := strings.Cut(n.Message, "Query Text: ")
		if !ok {
			return
		}
		at := strings.Index(text, "  (cost=")
		if at < 0 {
			return
		}
		at = strings.LastIndexByte(text[:at], '\n') + 1
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.plans == nil {
			e.plans = map[string]string{}
		}
		e.plans[strings.Join(strings.Fields(text[:at]), " ")] = text[at:]
	}
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		for _, s := range []string{"LOAD 'auto_explain'", "SET auto_explain.log_min_duration = 0", "SET auto_explain.log_nested_statements = on", "SET auto_explain.log_level = notice"} {
			if _, err := conn.Exec(ctx, s, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		return nil
	}
}

// looksAtAll are parts of the statements of functions that may look at more than they
// write: they list something, and end early.
var looksAtAll = []string{
	"SELECT id FROM ready WHERE ns = p_ns",                              // who is ready
	"SELECT pos FROM history WHERE ns = p_ns ORDER BY pos DESC LIMIT 1", // the last one
	"SELECT min(next) FROM schedules",                                   // a few
	"SELECT pos FROM folds WHERE ns",                                    // the last one
	"SELECT over FROM purges WHERE ns",                                  // the last one
	"SELECT count(*) FROM shapes",                                       // all shapes
	"FROM generations WHERE ring", "FROM rings WHERE ring",              // as many as there are tables
	"CREATE TABLE cursors",                                                                                                  // a migration: a row for each namespace
	"UPDATE namespaces SET oldest", "SELECT oldest FROM namespaces WHERE ns", "SELECT deployments FROM namespaces WHERE ns", // one row
}

var (
	wholeNamespace = regexp.MustCompile(`Index Cond: \(\(?ns = [^()&]*\)?\)\n`)
	wholeTable     = regexp.MustCompile(`Seq Scan on (\w+)`)
)

// TestPlans: the statements of functions find rows by keys, also when their plans were made
// while tables were empty, or small, or had grown and nobody had counted, or were counted.
func TestPlans(t *testing.T) {
	e := &explained{}
	db := openTest(t, Options{configure: e.configure})
	last := 0
	open := func(*testing.T) store.Store {
		last++
		return db.Namespace(fmt.Sprint(last))
	}
	judge := func(when string) {
		seen := 0
		for query, plan := range e.plans {
			if strings.Contains(query, `"lockstep".`) || strings.Contains(query, "pg_") {
				continue // not of a function
			}
			seen++
			allowed := false
			for _, part := range looksAtAll {
				allowed = allowed || strings.Contains(query, part)
			}
			if !allowed && (wholeNamespace.MatchString(plan+"\n") || wholeTable.MatchString(plan)) {
				t.Errorf("%s:\n%s\n%s", when, query, plan)
			}
		}
		if seen < 40 {
			t.Errorf("%s: only %d statements were seen", when, seen)
		}
		e.plans = nil
	}
	storetest.Cases(t, open)
	judge("empty tables")
	sparse := "UPDATE pg_class SET relpages = 1, reltuples = 1 WHERE relnamespace = 'lockstep'::regnamespace AND relkind IN ('r', 'i')"
	if _, err := db.pool.Exec(ctx, sparse); err != nil {
		t.Fatal(err)
	}
	db.pool.Reset() // plans are made anew
	storetest.Cases(t, open)
	judge("tables that were counted with one row a page")
	if _, err := db.pool.Exec(ctx, "SET statement_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	grow(t, db.Namespace("large"), 3000)
	db.pool.Reset()
	storetest.Cases(t, open)
	judge("grown tables")
	if _, err := db.pool.Exec(ctx, "ANALYZE"); err != nil { // as the server does by itself, sooner or later
		t.Fatal(err)
	}
	db.pool.Reset()
	storetest.Cases(t, open)
	judge("counted tables")
}

// grow makes many instances at a time.
func grow(t *testing.T, s store.Store, n int) {
	t.Helper()
	parent := store.Commit{Instance: store.Instance{ID: fmt.Sprint("parent", n), Definition: "d", Status: core.Waiting}}
	for i := range n {
		in := store.Instance{ID: fmt.Sprint("grown", i), Definition: "d", Status: core.Waiting, HasWake: true, Wake: core.Time(i)}
		parent.Children = append(parent.Children, store.NewInstance{Instance: in})
	}
	if err := s.Commit(ctx, parent); err != nil {
		t.Fatal(err)
	}
}
