package main

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
)

// TestPlainStatementsWriteTheSameRows: the plain statements of an instance begin one and end it.
func TestPlainStatementsWriteTheSameRows(t *testing.T) {
	address := pgtest.Start(t).Database(t)
	p, release, err := recordPlain(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	t.Log(p)
	if got := len(p.batches); got != 2 {
		t.Errorf("an instance is %d transactions, want that of the start and that of the answer", got)
	}
	ended := func() (n int64) {
		var schema string
		if err := p.conn.QueryRow(t.Context(), "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'bench%'").Scan(&schema); err != nil {
			t.Fatal(err)
		}
		if err := p.conn.QueryRow(t.Context(), "SELECT count(*) FROM "+pgx.Identifier{schema, notedInstance}.Sanitize()+" WHERE ended > 0").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := ended()
	if before != 1+recorded {
		t.Errorf("%d instances were made to record, and not %d", before, 1+recorded)
	}
	for range 3 {
		if err := p.one(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := ended() - before; got != 3 {
		t.Errorf("three times the rows of an instance are %d instances that ended", got)
	}
}
