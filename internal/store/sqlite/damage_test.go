package sqlite

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// tables reaches below a store.
type tables struct {
	t  *testing.T
	db *DB
}

func (x tables) do(f func(*tx) error) {
	x.t.Helper()
	if err := x.db.writer.submit(ctx, 0, f); err != nil {
		x.t.Fatal(err)
	}
}

// columns lists those of a table that hold bytes, or all others.
func (x tables) columns(table string, blobs bool) (out []string) {
	x.do(func(t *tx) error {
		return t.conn.query("SELECT name FROM pragma_table_info(?) WHERE (type = 'BLOB') = ?", func(r row) error {
			out = append(out, r.ColumnText(0))
			return nil
		}, table, blobs)
	})
	return out
}

func (x tables) Columns() (out []string) {
	var names []string
	x.do(func(t *tx) error {
		return t.conn.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", func(r row) error {
			names = append(names, r.ColumnText(0))
			return nil
		})
	})
	for _, table := range names {
		for _, column := range x.columns(table, true) {
			out = append(out, table+"."+column)
		}
	}
	return out
}

func (x tables) Values(column string) (out []storetest.Stored) {
	table, name, _ := strings.Cut(column, ".")
	var where []string
	for _, key := range x.columns(table, false) {
		where = append(where, "'"+key+" IS ' || quote("+key+")")
	}
	x.do(func(t *tx) error {
		return t.conn.query("SELECT "+strings.Join(where, " || ' AND ' || ")+", "+name+" FROM "+table+" WHERE "+name+" IS NOT NULL", func(r row) error {
			out = append(out, storetest.Stored{Where: r.ColumnText(0), Data: blob(r, 1)})
			return nil
		})
	})
	return out
}

func (x tables) Write(column string, at storetest.Stored, data []byte) {
	x.t.Helper()
	table, name, _ := strings.Cut(column, ".")
	if data == nil {
		data = []byte{}
	}
	x.do(func(t *tx) error {
		n, err := t.conn.exec("UPDATE "+table+" SET "+name+" = ? WHERE "+at.Where, data)
		if err == nil && n != 1 {
			x.t.Fatalf("%s where %s: %d rows", column, at.Where, n)
		}
		return err
	})
}

// TestDamagedValues: no byte of a value can change without a word.
func TestDamagedValues(t *testing.T) {
	db := openTest(t)
	storetest.Damage(t, db.Namespace("default"), tables{t, db}, nil)
}

func TestDamagedNeighbours(t *testing.T) {
	storetest.DamagedNeighbours(t, func(t *testing.T) (store.Store, storetest.Tables) {
		db := openTest(t)
		return db.Namespace("default"), tables{t, db}
	})
}
