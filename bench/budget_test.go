package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

var updateBudgets = flag.Bool("bench.update", false, "write testdata/budgets.txt anew")

// usage is what one workflow or job costs, one at a time.
type usage struct {
	allocations float64 // in the whole process: engine, store, and for jobs server and client
	commits     float64 // transactions; on PostgreSQL statements that wrote something
	statements  float64
	bytes       float64 // to the log of the database
}

// meter reads what a store has done since it was opened.
type meter func() (commits, statements, bytes int64)

const (
	budgetRounds = 3  // the cheapest round counts: whatever runs beside it only adds
	budgetOnes   = 60 // workflows in a round

	// Counts of the store are exact. Allocations also contain what the engine does at its own pace.
	storeSlack = 1.05
	allocSlack = 1.2
)

// TestBudgets: no load costs more than testdata/budgets.txt allows. These are counts, so they
// hold on any machine. Whoever adds a row, a statement or an allocation to a hot path sees it
// here, and either removes it or raises the budget (-bench.update) and says why in the commit.
func TestBudgets(t *testing.T) {
	const file = "testdata/budgets.txt"
	budgets := readBudgets(t, file)
	text := fmt.Sprintf(budgetFormat, "load", "store", "allocations", "commits", "statements", "bytes")
	for _, on := range []string{"memory", "sqlite", "postgres"} {
		for _, l := range loads() {
			if !slices.Contains([]string{"W1", "W1/HTTP", "W10", "events", "J"}, l.name) {
				continue
			}
			budget, listed := budgets[l.name+" "+on]
			t.Run(on+"/"+l.name, func(t *testing.T) {
				got := costOfLoad(t, on, l)
				switch {
				case *updateBudgets:
					budget = got
				case !listed:
					t.Errorf("%s has no line for %s on %s", file, l.name, on)
				default:
					got.compare(t, budget)
				}
			})
			text += budget.line(l.name, on)
		}
	}
	if *updateBudgets {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const budgetFormat = "%-8s%-10s%12s%10s%12s%10s\n"

func (u usage) line(load, on string) string {
	count := func(v float64, digits int) string { return fmt.Sprintf("%.*f", digits, v) }
	return fmt.Sprintf(budgetFormat, load, on, count(u.allocations, 0), count(u.commits, 1), count(u.statements, 1), count(u.bytes, 0))
}

func (u usage) compare(t *testing.T, most usage) {
	t.Helper()
	for _, x := range []struct {
		name             string
		got, most, slack float64
	}{
		{"allocations", u.allocations, most.allocations, allocSlack},
		{"commits", u.commits, most.commits, storeSlack},
		{"statements", u.statements, most.statements, storeSlack},
		{"bytes", u.bytes, most.bytes, storeSlack},
	} {
		switch {
		case x.got > x.most*x.slack+0.2:
			t.Errorf("%s: %.1f for each, the budget is %.1f", x.name, x.got, x.most)
		case x.got < 0.8*x.most:
			t.Logf("%s: %.1f for each; the budget of %.1f can be lowered with -bench.update", x.name, x.got, x.most)
		}
	}
}

func readBudgets(t *testing.T, file string) map[string]usage {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	out := map[string]usage{}
	lines := bufio.NewScanner(f)
	lines.Scan() // the names of the columns
	for lines.Scan() {
		var load, on string
		var u usage
		if _, err := fmt.Sscan(lines.Text(), &load, &on, &u.allocations, &u.commits, &u.statements, &u.bytes); err != nil {
			t.Fatalf("%s: %q: %v", file, lines.Text(), err)
		}
		out[load+" "+on] = u
	}
	return out
}

// costOfLoad does some of a load, one after the other.
func costOfLoad(t *testing.T, on string, l load) usage {
	t.Helper()
	s, read := openMetered(t, on)
	defer s.close()
	b, err := newRunner(t.Context(), s.Store, l)
	if err != nil {
		t.Fatal(err)
	}
	defer b.stop()
	next := int64(0)
	do := func(n int) {
		for range n {
			if err := b.one(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			next++
		}
	}
	do(budgetOnes / 2) // caches and prepared statements
	least := usage{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	for range budgetRounds {
		commits, statements, bytes := read()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do(budgetOnes)
		runtime.ReadMemStats(&after)
		commits2, statements2, bytes2 := read()
		least.allocations = min(least.allocations, float64(after.Mallocs-before.Mallocs)/budgetOnes)
		least.commits = min(least.commits, float64(commits2-commits)/budgetOnes)
		least.statements = min(least.statements, float64(statements2-statements)/budgetOnes)
		least.bytes = min(least.bytes, float64(bytes2-bytes)/budgetOnes)
	}
	return least
}

func openMetered(t *testing.T, on string) (opened, meter) {
	t.Helper()
	switch on {
	case "memory":
		return opened{Store: memory.New(), close: func() {}}, func() (int64, int64, int64) { return 0, 0, 0 }
	case "sqlite":
		db, err := openDatabase(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		read := func() (commits, statements, bytes int64) {
			traffic, err := db.Traffic(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c := db.Counters()
			return c.Transactions, c.Statements + c.Queries, traffic.Bytes
		}
		return opened{Store: db.store, close: func() { _ = db.Close() }}, read
	}
	server := pgtest.Start(t)
	address := server.Database(t)
	s, err := openPostgres(address)
	if err != nil {
		t.Fatal(err)
	}
	return s, statementStatistics(t, address)
}

// background matches statements that a node makes at its own pace, so that their number depends on
// how long a load takes: heartbeats, looking for work that nobody is at, and retention. A new one of
// this kind is added here.
var background = regexp.MustCompile(`heartbeat\(|\.work\(|next_due\(|hand_over\(|turns\(|changed\(|fold\(|keep_house\(|` +
	`purge_events\(|forget_outcomes\(|\.schedules WHERE|\.emits WHERE|\.gatherings WHERE|\.suspects WHERE|` +
	`fresh AND|again AND|history WHERE ns = \$1 ORDER BY pos DESC`)

// statementStatistics reads pg_stat_statements, over a connection to another database.
func statementStatistics(t *testing.T, address string) meter {
	t.Helper()
	ctx := context.Background()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	measured := config.Database
	config.Database = "postgres"
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(ctx) })
	if _, err := c.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
		t.Fatal(err)
	}
	const query = `SELECT query, calls, wal_records >= calls, wal_bytes::bigint
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1`
	return func() (commits, statements, bytes int64) {
		rows, err := c.Query(ctx, query, measured)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		var calls, logged int64
		var wrote bool
		_, err = pgx.ForEachRow(rows, []any{&text, &calls, &wrote, &logged}, func() error {
			if background.MatchString(text) {
				return nil
			}
			statements += calls
			if wrote {
				commits += calls
				bytes += logged
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return commits, statements, bytes
	}
}
