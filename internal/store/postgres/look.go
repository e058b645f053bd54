package postgres

import (
	"context"
	"fmt"
)

// Look returns the schema that a database has, 0 if it has none yet, and the one that this program would migrate
// it to. It changes nothing.
func Look(ctx context.Context, address string) (have, want int, err error) {
	db, err := connect(ctx, address, Options{Connections: 1})
	if err != nil {
		return 0, 0, err
	}
	defer db.pool.Close()
	if have, err = db.version(ctx, db.pool, db.opts.steps); err != nil {
		return 0, 0, fmt.Errorf("open PostgreSQL at %s: %w", db.pool.Config().ConnConfig.Host, err)
	}
	return have, len(db.opts.steps), nil
}
