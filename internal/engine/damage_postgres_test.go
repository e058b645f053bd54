package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// TestDamageIsSetAsideOverPostgres is TestDamageIsSetAside over PostgreSQL: it flips a bit of every value that has the mark, one at a
// time, each in a namespace of its own.
func TestDamageIsSetAsideOverPostgres(t *testing.T) {
	ctx := context.Background()
	url := pgtest.Start(t).Database(t)
	over := func(t *testing.T, db *postgres.DB, name string, sink *receiver) *harness {
		return newHarness(t, mock.Mocks{"f": {gives(`{"f":1}`)}}, func(c *Config) { c.Store, c.Sink = db.Namespace(name), sink.take }, noChunks)
	}
	db := openPostgres(t, url, postgres.Options{})
	below, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = below.Close(ctx) }()
	columns, err := pgx.CollectRows(rows(below.Query(ctx, "SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "+
		"WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.atttypid = 'bytea'::regtype AND a.attnum > 0 "+
		"AND EXISTS (SELECT 1 FROM pg_attribute o WHERE o.attrelid = c.oid AND o.attname = 'ns') ORDER BY 1")), pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range damageCases {
		t.Run(c.name, func(t *testing.T) {
			aside, n := 0, 0
			for ; ; n++ {
				name := fmt.Sprint(c.name, " ", n)
				c.begin(over(t, db, name, sinkDown()))
				what := flip(t, below, name, columns, n)
				if what == "" {
					break
				}
				seen[what] = true
				if over(t, db, name, &receiver{}).goesOn(t, what) {
					aside++
				}
			}
			if aside == 0 {
				t.Error("nothing that is damaged matters")
			}
			t.Logf("a bit flipped in each of %d values: the instance was set aside %d times, its neighbour always ended", n, aside)
		})
	}
	for _, want := range []string{"pages.data", "inbox.input", "calls.call", "emits.event", "history.records"} {
		if !seen[want] {
			t.Errorf("no %s was damaged, only %v", want, seen)
		}
	}
}

// flip flips a bit of the n-th value of a namespace that has the mark, and tells its column; "": there are not so many.
func flip(t *testing.T, below *pgx.Conn, name string, columns []string, n int) string {
	t.Helper()
	ctx := context.Background()
	for _, column := range columns {
		table, field, _ := strings.Cut(column, ".")
		where := fmt.Sprintf("FROM lockstep.%s WHERE ns = (SELECT ns FROM lockstep.namespaces WHERE name = $1) AND position($2::bytea IN %s) > 0", table, field)
		type place struct {
			Table uint32
			Row   string
		}
		list, err := pgx.CollectRows(rows(below.Query(ctx, "SELECT tableoid, ctid::text "+where+" ORDER BY 1, 2", name, []byte(mark))), pgx.RowToStructByPos[place])
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(list) {
			n -= len(list)
			continue
		}
		set := fmt.Sprintf("UPDATE lockstep.%s SET %[2]s = set_bit(%[2]s, 8 * (position($1::bytea IN %[2]s) + 2)::bigint, 1 - get_bit(%[2]s, 8 * (position($1::bytea IN %[2]s) + 2)::bigint)) WHERE tableoid = $2 AND ctid = $3::text::tid", table, field)
		if done, err := below.Exec(ctx, set, []byte(mark), list[n].Table, list[n].Row); err != nil || done.RowsAffected() != 1 {
			t.Fatalf("%s: %v %v", column, done, err)
		}
		return column
	}
	return ""
}

// rows gives them; they have the error, too.
func rows(list pgx.Rows, _ error) pgx.Rows { return list }
