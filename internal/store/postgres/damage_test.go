package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// tables reaches below a store.
type tables struct {
	t    *testing.T
	conn *pgx.Conn
}

func (x tables) texts(query string, args ...any) []string {
	x.t.Helper()
	rows, err := x.conn.Query(ctx, query, args...)
	if err != nil {
		x.t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		x.t.Fatal(err)
	}
	return out
}

const columnsQuery = " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped AND "

// Columns lists those of whole tables; bytea and arrays of it.
func (x tables) Columns() []string {
	return x.texts("SELECT c.relname || '.' || a.attname" + columnsQuery + "a.atttypid IN ('bytea'::regtype, 'bytea[]'::regtype) ORDER BY 1")
}

func (x tables) Values(column string) (out []storetest.Stored) {
	x.t.Helper()
	table, name, _ := strings.Cut(column, ".")
	var where []string
	for _, key := range x.texts("SELECT quote_ident(a.attname)"+columnsQuery+"c.relname = $1 AND a.atttypid <> 'bytea'::regtype", table) {
		where = append(where, "'"+key+"::text IS NOT DISTINCT FROM ' || quote_nullable("+key+"::text)")
	}
	rows, err := x.conn.Query(ctx, "SELECT "+strings.Join(where, " || ' AND ' || ")+", "+name+" FROM lockstep."+table+" WHERE "+name+" IS NOT NULL")
	if err != nil {
		x.t.Fatal(err)
	}
	out, err = pgx.CollectRows(rows, pgx.RowToStructByPos[storetest.Stored])
	if err != nil {
		x.t.Fatal(err)
	}
	return out
}

func (x tables) Write(column string, at storetest.Stored, data []byte) {
	x.t.Helper()
	table, name, _ := strings.Cut(column, ".")
	if data == nil {
		data = []byte{}
	}
	done, err := x.conn.Exec(ctx, "UPDATE lockstep."+table+" SET "+name+" = $1 WHERE "+at.Where, data)
	if err != nil || done.RowsAffected() != 1 {
		x.t.Fatalf("%s where %s: %v %v", column, at.Where, done, err)
	}
}

// TestDamagedValues: no byte of a value can change without a word.
func TestDamagedValues(t *testing.T) {
	url := pgtestURL(t)
	db := openURL(t, url, Options{})
	storetest.Damage(t, db.Namespace("default"), tables{t, admin(t, url)}, map[string]string{
		"events.key": "it is a hash by which an event is found, not a part of it",
	})
}

// TestDamagedNeighbours: routers look without a lock, and with one.
func TestDamagedNeighbours(t *testing.T) {
	for name, looks := range map[string]int{"without a lock": 0, "with the lock": -1} {
		t.Run(name, func(t *testing.T) {
			storetest.DamagedNeighbours(t, func(t *testing.T) (store.Store, storetest.Tables) {
				url := pgtestURL(t)
				return openURL(t, url, Options{looks: looks}).Namespace("default"), tables{t, admin(t, url)}
			})
		})
	}
}
