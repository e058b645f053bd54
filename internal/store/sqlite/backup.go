package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
)

// Backup writes a copy of the database as it is now to a file that must not exist, while
// everything goes on. The copy is whole, and has no log.
func (db *DB) Backup(ctx context.Context, path string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path)
			err = fmt.Errorf("back up to %s: %w", path, err)
		}
	}()
	defer f.Close()
	c, err := db.connect(sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetInterrupt(ctx.Done())
	if _, err := c.exec("VACUUM INTO ?", path); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
