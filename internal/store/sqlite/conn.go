package sqlite

import (
	"errors"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// conn is a connection with shorthands. Statements are prepared once each.
type conn struct {
	*sqlite.Conn
	statements int64 // executed
	rows       int64 // that they gave
}

// row is the row that a query is at.
type row = *sqlite.Stmt

// statement is a statement whose parameters are yet to be bound.
func (c *conn) statement(query string) (*sqlite.Stmt, error) {
	st, err := c.Prepare(query)
	if err != nil {
		return nil, wrap(err)
	}
	c.statements++
	return st, nil
}

// prepare binds arguments.
func (c *conn) prepare(query string, args []any) (*sqlite.Stmt, error) {
	st, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	for i, a := range args {
		bind(st, i+1, a)
	}
	return st, nil
}

// bind binds an argument: int64, int, string, []byte, bool or nil.
func bind(st *sqlite.Stmt, param int, a any) {
	switch a := a.(type) {
	case int64:
		st.BindInt64(param, a)
	case int:
		st.BindInt64(param, int64(a))
	case string:
		st.BindText(param, a)
	case []byte:
		if a == nil {
			st.BindNull(param)
		} else {
			st.BindBytes(param, a)
		}
	case bool:
		st.BindBool(param, a)
	case nil:
		st.BindNull(param)
	default:
		panic("sqlite: an argument of another type")
	}
}

// exec runs a statement and tells how many rows it changed.
func (c *conn) exec(query string, args ...any) (int, error) {
	st, err := c.prepare(query, args)
	if err != nil {
		return 0, err
	}
	return c.run(st)
}

// run runs a statement that gives no rows, and tells how many it changed.
func (c *conn) run(st *sqlite.Stmt) (int, error) {
	if _, err := st.Step(); err != nil {
		return 0, wrap(err)
	}
	n := c.Changes()
	return n, wrap(st.Reset())
}

// query calls each for every row. each must not use the same query again.
func (c *conn) query(query string, each func(row) error, args ...any) error {
	st, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	for {
		there, err := st.Step()
		if err != nil {
			return wrap(err)
		}
		if !there {
			return wrap(st.Reset())
		}
		c.rows++
		if err := each(st); err != nil {
			_ = st.Reset()
			return err
		}
	}
}

// one reads at most one row.
func (c *conn) one(query string, read func(row) error, args ...any) (found bool, err error) {
	st, err := c.prepare(query, args)
	if err != nil {
		return false, err
	}
	there, err := st.Step()
	if err != nil {
		return false, wrap(err)
	}
	if there {
		c.rows++
		err = read(st)
	}
	return there, errors.Join(err, wrap(st.Reset()))
}

// number reads one number; ok is false where there is none, or NULL.
func (c *conn) number(query string, args ...any) (n int64, ok bool, err error) {
	_, err = c.one(query, func(r row) error {
		n, ok = r.ColumnInt64(0), !r.ColumnIsNull(0)
		return nil
	}, args...)
	return n, ok, err
}

// script runs several statements, given once.
func (c *conn) script(text string) error {
	for text = strings.TrimSpace(text); text != ""; {
		st, rest, err := c.PrepareTransient(text)
		if err != nil {
			return wrap(err)
		}
		for {
			there, err := st.Step()
			if err != nil {
				_ = st.Finalize()
				return wrap(err)
			}
			if !there {
				break
			}
		}
		if err := st.Finalize(); err != nil {
			return wrap(err)
		}
		text = strings.TrimSpace(text[len(text)-rest:])
	}
	return nil
}

// blob copies a column.
func blob(r row, col int) []byte {
	b := make([]byte, r.ColumnLen(col))
	r.ColumnBytes(col, b)
	return b
}

// wrap names errors that callers tell apart.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	switch code := sqlite.ErrCode(err); {
	case code.ToPrimary() == sqlite.ResultFull:
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case fatal(code):
		return &fatalError{err}
	}
	return err
}

// fatal are errors after which nothing of a transaction can be relied on.
func fatal(code sqlite.ResultCode) bool {
	switch code.ToPrimary() {
	case sqlite.ResultIOErr, sqlite.ResultCorrupt, sqlite.ResultNoMem, sqlite.ResultNotADB, sqlite.ResultCantOpen, sqlite.ResultReadOnly, sqlite.ResultProtocol:
		return true
	}
	return false
}

// fatalError is an error that fails all requests of a transaction.
type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// isShared reports whether an error is not of one request alone.
func isShared(err error) bool {
	var f *fatalError
	return errors.As(err, &f) || errors.Is(err, store.ErrFull)
}
