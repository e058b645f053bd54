package wfxdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// MaxRowBytes is how large the JSON of one row may be ("import-row-bytes"). Of a larger one only the size is read.
const MaxRowBytes = 16 << 20

// DB is a database of wfx, at one moment.
type DB struct {
	rows  func(ctx context.Context, name, query string) (cursor, error)
	size  string // of a column, in bytes, as a format
	close func() error
}

// bounded are columns of a query as they are selected, NULL if they are too large together, and then their size.
func (db *DB) bounded(columns ...string) string {
	var sizes, list []string
	for _, c := range columns {
		sizes = append(sizes, "coalesce("+fmt.Sprintf(db.size, c)+", 0)")
	}
	size := strings.Join(sizes, " + ")
	for _, c := range columns {
		list = append(list, fmt.Sprintf("CASE WHEN %s <= %d THEN %s END", size, MaxRowBytes, c))
	}
	return strings.Join(append(list, size), ", ")
}

// tooLarge is the error of a row of so many bytes, if it is too large.
func (t text) tooLarge() error {
	if n, err := strconv.ParseInt(t.s, 10, 64); err != nil || n > MaxRowBytes {
		return fmt.Errorf("it has %s bytes, more than %d (limit import-row-bytes)", t.s, MaxRowBytes)
	}
	return nil
}

// cursor gives the rows of a query one after the other.
type cursor interface {
	// next returns the columns of the next row; nil: there is none.
	next(ctx context.Context) ([]text, error)
	close()
}

// text is a column; NULL is not valid.
type text struct {
	s     string
	valid bool
}

// Close ends reading.
func (db *DB) Close() error { return db.close() }

// Workflow is a row of the table workflow.
type Workflow struct {
	Name     string
	Document expr.Value // as the API of wfx shows it
	Err      error      // why it cannot be read; else nil
}

// Workflows calls each for every workflow, by name.
func (db *DB) Workflows(ctx context.Context, each func(Workflow) error) error {
	// The description came later than the table.
	const query = `SELECT w.name, %s FROM workflow w ORDER BY w.name`
	columns := []string{"w.states", "w.transitions", `w."groups"`, "w.description"}
	rows, err := db.rows(ctx, "workflows", fmt.Sprintf(query, db.bounded(columns...)))
	if err != nil {
		columns[3] = "NULL"
		rows, err = db.rows(ctx, "workflows", fmt.Sprintf(query, db.bounded(columns...)))
	}
	if err != nil {
		return notWFX(err)
	}
	defer rows.close()
	for {
		r, err := rows.next(ctx)
		if err != nil || r == nil {
			return err
		}
		w := Workflow{Name: r[0].s}
		w.Document, w.Err = document(r)
		if err := each(w); err != nil {
			return err
		}
	}
}

func document(r []text) (expr.Value, error) {
	if err := r[5].tooLarge(); err != nil {
		return expr.Null, err
	}
	out := expr.Object(expr.Member{Key: "name", Value: expr.String(r[0].s)})
	for i, name := range []string{"states", "transitions", "groups"} {
		v, err := r[i+1].json()
		if err != nil {
			return expr.Null, fmt.Errorf("its %s cannot be read: %w", name, err)
		}
		if !v.IsNull() {
			out = out.With(name, v)
		}
	}
	if r[4].s != "" {
		out = out.With("description", expr.String(r[4].s))
	}
	return out, nil
}

// json parses a column; NULL is null.
func (t text) json() (expr.Value, error) {
	if !t.valid || t.s == "" {
		return expr.Null, nil
	}
	return expr.ParseJSON([]byte(t.s))
}

// layouts are how times are written: by the SQLite driver of wfx, by PostgreSQL, and by other versions of the driver.
var layouts = []string{
	"2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999-07", "2006-01-02T15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999",
}

func (t text) time() (time.Time, error) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, t.s); err == nil {
			// Nanoseconds in 64 bits hold no others.
			if year := at.UTC().Year(); year < 1678 || year > 2261 {
				return time.Time{}, fmt.Errorf("%.40q is not a time from 1678 to 2261", t.s)
			}
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is not a time", t.s)
}

func notWFX(err error) error {
	return fmt.Errorf("it cannot be read as a database of wfx: %w", err)
}
