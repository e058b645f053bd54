package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-workflows/lockstep/internal/backup"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// RestoredError says that a store was restored from a backup, and that nothing runs in it until it is resumed.
type RestoredError struct{}

func (*RestoredError) Error() string {
	return "the store was restored from a backup, and nothing runs in it until it is resumed"
}

// restorable is what both kinds of databases have.
type restorable interface {
	Restored(ctx context.Context) (bool, error)
	Resume(ctx context.Context) error
	Close() error
}

// admit lets a database be used that was not restored, or if the options allow it. Otherwise it is closed.
func admit(ctx context.Context, db restorable, o Options) error {
	restored, err := db.Restored(ctx)
	switch {
	case err != nil || !restored || o.Restored:
	case o.Resume:
		err = db.Resume(ctx)
	default:
		err = &RestoredError{}
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return nil
}

// Restore makes a store of a backup. The store must not exist yet, and is paused: only with Options.Restored or
// Options.Resume it can be opened.
func (a Address) Restore(ctx context.Context, file string) (head backup.Head, err error) {
	f, err := os.Open(file)
	if err != nil {
		return head, err
	}
	defer f.Close()
	if head, err = backup.ReadHead(f); err != nil {
		return head, fmt.Errorf("%s: %w", file, err)
	}
	if head.Store != a.Kind {
		return head, fmt.Errorf("%s is a backup of a store of the kind %s:, and can be restored only to one", file, head.Store)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return head, err
	}
	if a.Kind == Postgres {
		// The whole file is read first: what a restore that fails leaves in the database blocks the next one.
		if _, _, err = readParts(reader{ctx, f}, func(backup.Head, string) (io.WriteCloser, error) { return discard{}, nil }); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err == nil {
			return head, a.Redact(postgres.Restore(ctx, a.Path, head, f))
		}
	} else {
		err = a.restoreSQLite(ctx, f)
	}
	if bad, ok := errors.AsType[*backup.DamagedError](err); ok {
		err = fmt.Errorf("%s: %w; nothing was restored", file, bad)
	}
	return head, err
}

// restoreSQLite makes the file under another name, until it is whole and paused.
func (a Address) restoreSQLite(ctx context.Context, r io.Reader) (err error) {
	if a.Exists() {
		return fmt.Errorf("%s exists already: restore to another file, or move it away with its -wal", a.Path)
	}
	if err := makeFolder(filepath.Dir(a.Path)); err != nil {
		return err
	}
	work, err := claim(a.Path, restoringSuffix)
	if err != nil {
		return err
	}
	defer work.remove()
	made := work.path(copyName)
	_, _, err = readParts(reader{ctx, r}, func(_ backup.Head, name string) (io.WriteCloser, error) { return unpack(made, name) })
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	db, err := sqlite.Open(made, sqlite.Options{})
	if err != nil {
		return err
	}
	if err := errors.Join(db.SetRestored(ctx, true), db.Close()); err != nil {
		return err
	}
	// A server that started meanwhile may have made a store of its own.
	lock, err := sqlite.Lock(a.Path + "-lock")
	if err != nil {
		return fmt.Errorf("%s: %w", a.Path, err)
	}
	defer lock.Close()
	if a.Exists() {
		return fmt.Errorf("%s was made by another program during the restore: restore to another file", a.Path)
	}
	if err := os.Rename(made, a.Path); err != nil {
		return err
	}
	return syncFolder(a.Path)
}

// Namespaces opens a store that may be restored, and calls each with its namespaces.
func (a Address) Namespaces(ctx context.Context, each func(name string, s store.Store) error) (err error) {
	var db interface {
		database
		Close() error
	}
	if a.Kind == Postgres {
		db, err = postgres.Open(ctx, a.Path, postgres.Options{})
	} else {
		db, err = sqlite.Open(a.Path, sqlite.Options{})
	}
	if err != nil {
		return a.Redact(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	names, err := db.Namespaces(ctx)
	for _, name := range names {
		if err == nil {
			err = each(name, db.Namespace(name))
		}
	}
	return err
}
