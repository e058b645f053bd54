package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// shape is what statements need to know of a table.
type shape struct {
	columns []column
	key     []string // of the primary key
}

type column struct{ Name, Type string }

// shapes are those of the tables of a schema, read when they are needed.
type shapes struct {
	conn   *pgx.Conn
	schema string
	tables map[string]shape
}

func (s shapes) of(ctx context.Context, table string) (shape, error) {
	if known, ok := s.tables[table]; ok {
		return known, nil
	}
	var out shape
	name := s.schema + "." + table
	rows, err := s.conn.Query(ctx, `SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute
		WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`, name)
	if err != nil {
		return out, err
	}
	if out.columns, err = pgx.CollectRows(rows, pgx.RowToStructByPos[column]); err != nil {
		return out, err
	}
	if rows, err = s.conn.Query(ctx, `SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
		WHERE i.indrelid = $1::regclass AND i.indisprimary`, name); err != nil {
		return out, err
	}
	out.key, err = pgx.CollectRows(rows, pgx.RowTo[string])
	s.tables[table] = out
	return out, err
}

// statement is a statement that makes the same change to a row as two instances did.
func (s shapes) statement(ctx context.Context, a, b notedRow) (out plainStatement, err error) {
	table, err := s.of(ctx, a.table)
	if err != nil {
		return out, err
	}
	if len(table.key) == 0 && a.old != nil {
		return out, errors.New("a row without a primary key changes")
	}
	name := s.schema + "." + a.table
	bind := func(c column, a, b map[string]*string) string {
		out.values = append(out.values, plainValue{kind: c.Type, a: a[c.Name], b: b[c.Name]})
		return fmt.Sprintf("$%d::%s", len(out.values), c.Type)
	}
	var names, values, changes, where []string
	for _, c := range table.columns {
		if b.old == nil {
			names, values = append(names, c.Name), append(values, bind(c, a.new, b.new))
			continue
		}
		if b.new != nil && !same(b.old[c.Name], b.new[c.Name]) {
			changes = append(changes, c.Name+" = "+bind(c, a.new, b.new))
		}
		if slices.Contains(table.key, c.Name) {
			where = append(where, c.Name+" = "+bind(c, a.old, b.old))
		}
	}
	switch {
	case b.old == nil:
		out.text = fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE VALUES (%s)", name, strings.Join(names, ", "), strings.Join(values, ", "))
	case b.new == nil:
		out.text = fmt.Sprintf("DELETE FROM %s WHERE %s", name, strings.Join(where, " AND "))
	default:
		if len(changes) == 0 { // an update may leave everything as it is
			changes = where[:1]
		}
		out.text = fmt.Sprintf("UPDATE %s SET %s WHERE %s", name, strings.Join(changes, ", "), strings.Join(where, " AND "))
	}
	return out, nil
}

func same(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// plainValue is a value of a row of two instances, as text; nil: NULL.
type plainValue struct {
	kind string // a type of PostgreSQL
	a, b *string
}

// differing is how many characters at the end of a text say which instance it is of.
const differing = 12

// at is the value for the k-th instance after those two: a string, or nil for NULL.
func (v plainValue) at(k int64) any {
	if v.b == nil {
		return nil
	}
	text := *v.b
	if strings.HasSuffix(v.kind, "[]") { // noted as JSON
		text = "{" + strings.TrimSuffix(strings.TrimPrefix(text, "["), "]") + "}"
	}
	if same(v.a, v.b) || v.a == nil {
		return text
	}
	switch v.kind {
	case "bigint":
		from, _ := strconv.ParseInt(*v.a, 10, 64)
		to, _ := strconv.ParseInt(text, 10, 64)
		return strconv.FormatInt(to+k*(to-from), 10)
	case "text", "uuid":
		if n := len(text) - differing; n >= 0 {
			return text[:n] + fmt.Sprintf("%0*x", differing, k)
		}
	}
	return text
}
