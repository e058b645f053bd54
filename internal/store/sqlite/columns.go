package sqlite

import (
	"strings"

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
	name  string
	value func(r *instanceRow) any
}

var rowColumns = []column{
	{"seq", func(r *instanceRow) any { return r.seq }},
	{"ns", func(r *instanceRow) any { return r.ns }},
	{"id", func(r *instanceRow) any { return r.id }},
	{"rev", func(r *instanceRow) any { return r.rev }},
	{"kind", func(r *instanceRow) any { return r.kind }},
	{"status", func(r *instanceRow) any { return r.status }},
	{"created", func(r *instanceRow) any { return r.created }},
	{"updated", func(r *instanceRow) any { return int64(r.updated) }},
	{"ended", func(r *instanceRow) any { return r.ended }},
	{"wake", func(r *instanceRow) any { return r.wake }},
	{"more", func(r *instanceRow) any { return oneOrNull(r.more) }},
	{"aside", func(r *instanceRow) any { return oneOrNull(r.aside) }},
	{"parent", func(r *instanceRow) any { return orNull(r.parent) }},
	{"error", func(r *instanceRow) any { return orNull(r.err) }},
	{"last", func(r *instanceRow) any { return r.last }},
	{"told", func(r *instanceRow) any { return r.told }},
	{"rest", func(r *instanceRow) any { return r.rest }},
	{"lane", func(r *instanceRow) any { return laneOrNull(r.lane) }},
	{"client", func(r *instanceRow) any { return orNull(r.found.client) }},
}

// rowStatement writes a row.
type rowStatement struct {
	text    string
	columns []column
}

// args are the arguments of the statement for a row, and those of its condition.
func (s *rowStatement) args(r *instanceRow, condition ...any) []any {
	out := make([]any, 0, len(s.columns)+len(condition))
	for _, c := range s.columns {
		out = append(out, c.value(r))
	}
	return append(out, condition...)
}

var (
	insertInstance = func() rowStatement {
		names := make([]string, len(rowColumns))
		for i, c := range rowColumns {
			names[i] = c.name
		}
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
		return rowStatement{"INSERT INTO instances (" + strings.Join(names, ", ") + ") VALUES (" + marks + ")", rowColumns}
	}()

	// Columns that have an index are left out of an update where none of them changes, or only the
	// lane, as when a job moves: SQLite would write each index anew.
	updatePlain = updateOf("rev", "updated", "last", "told", "rest")
	updateLane  = updateOf("rev", "updated", "last", "told", "rest", "lane")
	updateAll   = updateOf("rev", "kind", "status", "created", "updated", "ended", "wake", "more", "aside", "parent", "error",
		"last", "told", "rest", "lane", "client")
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
