package sqlite

import (
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// instanceRow is a row of the table instances.
type instanceRow struct {
	*head
	ns      int64
	updated core.Time
	rest    []byte
}

// column is a column of that table, and its value in a row. Statements and their arguments are made
// of the same columns, so that no value can reach another one.
type column struct {
	name string
	bind func(st *sqlite.Stmt, param int, r *instanceRow)
}

func number(name string, of func(r *instanceRow) int64) column {
	return column{name, func(st *sqlite.Stmt, param int, r *instanceRow) { st.BindInt64(param, of(r)) }}
}

// numberOrNull is NULL for 0.
func numberOrNull(name string, of func(r *instanceRow) int64) column {
	return column{name, func(st *sqlite.Stmt, param int, r *instanceRow) {
		if n := of(r); n != 0 {
			st.BindInt64(param, n)
		} else {
			st.BindNull(param)
		}
	}}
}

// textOrNull is NULL for the empty text.
func textOrNull(name string, of func(r *instanceRow) string) column {
	return column{name, func(st *sqlite.Stmt, param int, r *instanceRow) {
		if text := of(r); text != "" {
			st.BindText(param, text)
		} else {
			st.BindNull(param)
		}
	}}
}

func bytesOf(name string, of func(r *instanceRow) []byte) column {
	return column{name, func(st *sqlite.Stmt, param int, r *instanceRow) {
		if data := of(r); data != nil {
			st.BindBytes(param, data)
		} else {
			st.BindNull(param)
		}
	}}
}

var rowColumns = []column{
	number("seq", func(r *instanceRow) int64 { return r.seq }),
	number("ns", func(r *instanceRow) int64 { return r.ns }),
	{"id", func(st *sqlite.Stmt, param int, r *instanceRow) { st.BindText(param, r.id) }},
	number("rev", func(r *instanceRow) int64 { return r.rev }),
	number("kind", func(r *instanceRow) int64 { return r.kind }),
	number("status", func(r *instanceRow) int64 { return r.status }),
	number("created", func(r *instanceRow) int64 { return r.created }),
	number("updated", func(r *instanceRow) int64 { return int64(r.updated) }),
	number("ended", func(r *instanceRow) int64 { return r.ended }),
	{"wake", func(st *sqlite.Stmt, param int, r *instanceRow) { bind(st, param, r.wake) }},
	numberOrNull("more", func(r *instanceRow) int64 { return one(r.more) }),
	numberOrNull("aside", func(r *instanceRow) int64 { return one(r.aside) }),
	textOrNull("parent", func(r *instanceRow) string { return r.parent }),
	textOrNull("error", func(r *instanceRow) string { return r.err }),
	number("last", func(r *instanceRow) int64 { return r.last }),
	number("told", func(r *instanceRow) int64 { return r.told }),
	bytesOf("rest", func(r *instanceRow) []byte { return r.rest }),
	numberOrNull("lane", func(r *instanceRow) int64 { return r.lane }), // noLane is 0
	textOrNull("client", func(r *instanceRow) string { return r.found.client }),
	bytesOf("pages", func(r *instanceRow) []byte { return r.pages }),
	{"place", func(st *sqlite.Stmt, param int, r *instanceRow) { bind(st, param, r.place) }},
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// rowStatement writes a row.
type rowStatement struct {
	text    string
	columns []column
}

// store writes a row; where is what the condition of the statement compares. It tells how many rows changed.
func (t *tx) store(s *rowStatement, row instanceRow, where ...int64) (int, error) {
	t.row = row
	r := &t.row
	st, err := t.conn.statement(s.text)
	if err != nil {
		return 0, err
	}
	for i := range s.columns {
		s.columns[i].bind(st, i+1, r)
	}
	for i, n := range where {
		st.BindInt64(len(s.columns)+i+1, n)
	}
	n, err := t.conn.run(st)
	t.changes += int64(n)
	return n, err
}

var (
	insertInstance = func() rowStatement {
		names := make([]string, len(rowColumns))
		for i, c := range rowColumns {
			names[i] = c.name
		}
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
		return rowStatement{"INSERT INTO instances (" + strings.Join(names, ", ") + ") VALUES (" + marks + ") ON CONFLICT (ns, id) DO NOTHING", rowColumns}
	}()

	// Columns that have an index are left out of an update where none of them changes, or only the
	// lane, as when a job moves: SQLite would write each index anew. Most updates of the others leave what an instance is
	// created with as it is.
	updatePlain = updateOf("rev", "updated", "last", "told", "rest", "pages")
	updateLane  = updateOf("rev", "updated", "last", "told", "rest", "lane", "pages")
	updateMost  = updateOf("rev", "kind", "status", "updated", "ended", "wake", "more", "aside", "error", "last", "told", "rest", "lane", "pages", "place")
	updateAll   = updateOf("rev", "kind", "status", "created", "updated", "ended", "wake", "more", "aside", "parent", "error",
		"last", "told", "rest", "lane", "client", "pages", "place")
)

// updateOf writes some columns of the row that has a seq and a rev.
func updateOf(names ...string) rowStatement {
	s := rowStatement{text: "UPDATE instances SET "}
	for i, name := range names {
		for _, c := range rowColumns {
			if c.name == name {
				s.columns = append(s.columns, c)
			}
		}
		if i > 0 {
			s.text += ", "
		}
		s.text += name + " = ?"
	}
	s.text += " WHERE seq = ? AND rev = ?"
	return s
}
