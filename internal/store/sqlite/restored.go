package sqlite

import (
	"context"
	"os"
)

// restoredKey is the row of meta that says that the database was restored from a backup and not resumed since.
const restoredKey = "restored"

// Copy writes a copy of a database file as it is now to a file that must not exist. Another process may be using it: no
// lock is taken, and nothing is changed. See DB.Backup.
func Copy(ctx context.Context, from, to string) error {
	there, err := checkFiles(from)
	if err == nil && !there {
		err = os.ErrNotExist
	}
	if err != nil {
		return err
	}
	return (&DB{path: from}).Backup(ctx, to)
}

// Restored reports whether the database was restored from a backup and not resumed since.
func (db *DB) Restored(ctx context.Context) (yes bool, err error) {
	err = db.read(ctx, func(c *conn) error {
		_, yes, err = c.number("SELECT value FROM meta WHERE name = ?", restoredKey)
		return err
	})
	return yes, err
}

// SetRestored says that the database was restored, or that it may run again.
func (db *DB) SetRestored(ctx context.Context, yes bool) error {
	return db.writer.submit(ctx, 0, func(t *tx) error {
		if !yes {
			_, err := t.exec("DELETE FROM meta WHERE name = ?", restoredKey)
			return err
		}
		_, err := t.exec("INSERT INTO meta (name, value) VALUES (?, 1) ON CONFLICT (name) DO NOTHING", restoredKey)
		return err
	})
}

// Resume says that a restored database may run again.
func (db *DB) Resume(ctx context.Context) error { return db.SetRestored(ctx, false) }

// Namespaces lists the namespaces that the database has.
func (db *DB) Namespaces(ctx context.Context) (out []string, err error) {
	err = db.read(ctx, func(c *conn) error {
		return c.query("SELECT name FROM namespaces ORDER BY name", func(r row) error {
			out = append(out, r.ColumnText(0))
			return nil
		})
	})
	return out, err
}
