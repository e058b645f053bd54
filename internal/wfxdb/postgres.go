package wfxdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// fetched is how many rows of a query are in memory, each of up to MaxRowBytes.
const fetched = 16

// OpenPostgres connects to a database. It is read in one transaction.
func OpenPostgres(ctx context.Context, address string) (*DB, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the address is not one of PostgreSQL") // the error may have its password
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // every column as text
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL at %s: %w", config.Host, err)
	}
	_, err = c.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'")
	if err != nil {
		_ = c.Close(ctx)
		return nil, fmt.Errorf("read PostgreSQL at %s: %w", config.Host, err)
	}
	rows := func(ctx context.Context, name, query string) (cursor, error) {
		// A query that fails must not end the transaction.
		if _, err := c.Exec(ctx, "SAVEPOINT before"); err != nil {
			return nil, err
		}
		if _, err := c.Exec(ctx, "DECLARE "+name+" NO SCROLL CURSOR FOR "+query); err != nil {
			_, undone := c.Exec(ctx, "ROLLBACK TO before")
			return nil, errors.Join(err, undone)
		}
		return &declared{conn: c, name: name}, nil
	}
	return &DB{rows: rows, size: "octet_length(CAST(%s AS text))", close: func() error { return c.Close(context.WithoutCancel(ctx)) }}, nil
}

// declared is a cursor of PostgreSQL.
type declared struct {
	conn *pgx.Conn
	name string
	rows [][]text
	over bool
}

func (d *declared) next(ctx context.Context) ([]text, error) {
	if len(d.rows) == 0 && !d.over {
		if err := d.fetch(ctx); err != nil {
			return nil, err
		}
	}
	if len(d.rows) == 0 {
		return nil, nil
	}
	out := d.rows[0]
	d.rows = d.rows[1:]
	return out, nil
}

func (d *declared) fetch(ctx context.Context) error {
	rows, err := d.conn.Query(ctx, fmt.Sprintf("FETCH %d FROM %s", fetched, d.name))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		raw := rows.RawValues()
		out := make([]text, len(raw))
		for i, v := range raw {
			if f := rows.FieldDescriptions()[i].Format; f != pgtype.TextFormatCode {
				return fmt.Errorf("column %d of %s is not text", i, d.name)
			}
			out[i] = text{string(v), v != nil}
		}
		d.rows = append(d.rows, out)
	}
	d.over = len(d.rows) < fetched
	return rows.Err()
}

func (d *declared) close() {}
