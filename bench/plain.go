package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// plainWrites writes the same rows as instances of W1, with plain prepared statements: what an application would do
// that has no engine. The rows are recorded, so that they are those of the schema as it is: while instances run one
// after the other, triggers note every row that changes. A value in which the last two instances differ is
// different in each of ours, too.
type plainWrites struct {
	conn    *pgx.Conn
	next    atomic.Int64
	batches [][]plainStatement // a transaction each
}

// plainStatement inserts, updates or deletes one row.
type plainStatement struct {
	text   string
	values []plainValue
}

// notedRow is a change of a row, with its columns as text; nil: there was none before, or is none afterwards.
type notedRow struct {
	tx, table string
	old, new  map[string]*string
}

const (
	noteRows = `
		CREATE TABLE %[1]s.noted (n bigserial, tx xid8 DEFAULT pg_current_xact_id(), tbl text, old jsonb, new jsonb);
		CREATE FUNCTION %[1]s.columns_of(r anyelement) RETURNS jsonb LANGUAGE sql AS
			$$ SELECT jsonb_object_agg(key, value #>> '{}') FROM jsonb_each(to_jsonb(r)) $$;
		CREATE FUNCTION %[1]s.note_row() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			INSERT INTO %[1]s.noted (tbl, old, new) VALUES (TG_TABLE_NAME, %[1]s.columns_of(OLD), %[1]s.columns_of(NEW));
			RETURN NULL;
		END $$;`
	notedTables   = "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'r' AND relname <> 'noted'"
	notedInstance = "instances" // a transaction is of an instance if it changes a row of this table
	recorded      = 3           // instances
)

// recordPlain records the rows of W1 in a schema of its own.
func recordPlain(ctx context.Context, address string) (p *plainWrites, release func(), err error) {
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	schema := fmt.Sprint("bench_", time.Now().UnixNano())
	release = func() {
		ctx := context.WithoutCancel(ctx)
		_, err := c.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		complain(errors.Join(err, c.Close(ctx)))
	}
	p = &plainWrites{conn: c}
	if err := p.record(ctx, address, schema); err != nil {
		release()
		return nil, nil, err
	}
	return p, release, nil
}

func (p *plainWrites) record(ctx context.Context, address, schema string) error {
	rows, err := p.note(ctx, address, schema)
	if err != nil {
		return err
	}
	transactions := slices.DeleteFunc(slices.Collect(chunks(rows)), func(t []notedRow) bool {
		return !slices.ContainsFunc(t, func(r notedRow) bool { return r.table == notedInstance })
	})
	each := len(transactions) / recorded
	if each == 0 || len(transactions)%recorded != 0 {
		return fmt.Errorf("%d instances wrote %d transactions", recorded, len(transactions))
	}
	known := shapes{conn: p.conn, schema: schema, tables: map[string]shape{}}
	for i, b := range transactions[each*(recorded-1):] {
		a := transactions[each*(recorded-2)+i]
		if !slices.EqualFunc(a, b, func(a, b notedRow) bool {
			return a.table == b.table && (a.old == nil) == (b.old == nil) && (a.new == nil) == (b.new == nil)
		}) {
			return errors.New("two instances wrote different rows")
		}
		var batch []plainStatement
		for k := range a {
			s, err := known.statement(ctx, a[k], b[k])
			if err != nil {
				return fmt.Errorf("table %s: %w", a[k].table, err)
			}
			batch = append(batch, s)
		}
		p.batches = append(p.batches, batch)
	}
	return nil
}

// note runs the instances, and returns the rows that changed meanwhile. The triggers are gone then.
func (p *plainWrites) note(ctx context.Context, address, schema string) ([]notedRow, error) {
	db, err := postgres.Open(ctx, address, postgres.Options{Node: "bench", Schema: schema})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	b, err := newRunner(ctx, db.Namespace("default"), load{definition: calling("w1", 1)})
	if err != nil {
		return nil, err
	}
	defer b.stop()
	if err := b.one(ctx, 0); err != nil { // the first one also writes what all share
		return nil, err
	}
	list, err := p.conn.Query(ctx, notedTables, schema)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(list, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	script := fmt.Sprintf(noteRows, schema)
	for _, name := range tables {
		script += fmt.Sprintf("CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON %[1]s.%[2]s FOR EACH ROW EXECUTE FUNCTION %[1]s.note_row();", schema, name)
	}
	if _, err := p.conn.Exec(ctx, script, pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, err
	}
	for i := range recorded {
		if err := b.one(ctx, int64(1+i)); err != nil {
			return nil, err
		}
	}
	list, err = p.conn.Query(ctx, fmt.Sprintf("SELECT tx::text, tbl, old, new FROM %s.noted ORDER BY n", schema))
	if err != nil {
		return nil, err
	}
	rows, err := pgx.CollectRows(list, func(r pgx.CollectableRow) (n notedRow, err error) {
		return n, r.Scan(&n.tx, &n.table, &n.old, &n.new)
	})
	if err != nil {
		return nil, err
	}
	_, err = p.conn.Exec(ctx, fmt.Sprintf("DROP FUNCTION %s.note_row CASCADE", schema))
	return rows, err
}

// chunks yields the rows of each transaction. Others may run meanwhile.
func chunks(rows []notedRow) func(yield func([]notedRow) bool) {
	var order []string
	of := map[string][]notedRow{}
	for _, r := range rows {
		if of[r.tx] == nil {
			order = append(order, r.tx)
		}
		of[r.tx] = append(of[r.tx], r)
	}
	return func(yield func([]notedRow) bool) {
		for _, tx := range order {
			if !yield(of[tx]) {
				return
			}
		}
	}
}

// one writes the rows of one instance: a round trip for each transaction.
func (p *plainWrites) one(ctx context.Context) error {
	k := p.next.Add(1)
	for _, statements := range p.batches {
		var b pgx.Batch
		b.Queue("BEGIN")
		for _, s := range statements {
			args := make([]any, len(s.values))
			for i, v := range s.values {
				args[i] = v.at(k)
			}
			b.Queue(s.text, args...)
		}
		b.Queue("COMMIT")
		if err := p.conn.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
	}
	return nil
}

// measure writes the rows of one instance after the other.
func (p *plainWrites) measure(ctx context.Context, d time.Duration) (figure, error) {
	one := func(ctx context.Context, _ int64) error { return p.one(ctx) }
	if _, err := closedLoop(ctx, 1, d/5, one); err != nil { // prepared statements
		return figure{}, err
	}
	return closedLoop(ctx, 1, d, one)
}

// String shows the statements.
func (p *plainWrites) String() string {
	var b strings.Builder
	for _, batch := range p.batches {
		b.WriteString("BEGIN\n")
		for _, s := range batch {
			b.WriteString("  " + s.text + "\n")
		}
		b.WriteString("COMMIT\n")
	}
	return b.String()
}
