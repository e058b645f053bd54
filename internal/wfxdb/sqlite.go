package wfxdb

import (
	"context"
	"fmt"
	"os"

	"zombiezen.com/go/sqlite"
)

// OpenSQLite opens a database file. One that wfx uses is read as it was at the last commit.
func OpenSQLite(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	c, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	// A transaction sees one moment; it begins with the first query.
	st, _, err := c.PrepareTransient("BEGIN")
	if err == nil {
		_, err = st.Step()
		_ = st.Finalize()
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	rows := func(ctx context.Context, _, query string) (cursor, error) {
		c.SetInterrupt(ctx.Done())
		st, _, err := c.PrepareTransient(query)
		if err != nil {
			return nil, err
		}
		return &statement{st}, nil
	}
	return &DB{rows: rows, size: "octet_length(%s)", close: c.Close}, nil
}

// statement is a cursor of SQLite.
type statement struct{ *sqlite.Stmt }

func (s *statement) next(context.Context) ([]text, error) {
	there, err := s.Step()
	if err != nil || !there {
		return nil, err
	}
	out := make([]text, s.ColumnCount())
	for i := range out {
		out[i] = text{s.ColumnText(i), !s.ColumnIsNull(i)}
	}
	return out, nil
}

func (s *statement) close() { _ = s.Finalize() }
