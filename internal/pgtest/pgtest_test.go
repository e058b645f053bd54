package pgtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { Main(m) }

// TestServer: databases are apart, and what was committed outlives a restart and a crash.
func TestServer(t *testing.T) {
	s := Start(t)
	ctx := context.Background()
	one, two := s.Database(t), s.Database(t)
	query := func(url, statement string) (n int, err error) {
		c, err := pgx.Connect(ctx, url)
		if err != nil {
			return 0, err
		}
		defer func() { _ = c.Close(ctx) }()
		err = c.QueryRow(ctx, statement).Scan(&n)
		return n, err
	}
	if _, err := query(one, "WITH made AS (SELECT 1) SELECT count(*) FROM made"); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "CREATE TABLE t AS SELECT 7 AS n"); err != nil {
		t.Fatal(err)
	}
	if _, err := query(two, "SELECT n FROM t"); err == nil {
		t.Error("two tests share a database")
	}
	for _, end := range []func(){s.Stop, s.Kill} {
		end()
		if _, err := query(one, "SELECT n FROM t"); err == nil {
			t.Error("it answers after its end")
		}
		s.Resume(t)
		if n, err := query(one, "SELECT n FROM t"); err != nil || n != 7 {
			t.Errorf("after it was started again: %d, %v", n, err)
		}
	}
	_ = c.Close(ctx)
}
