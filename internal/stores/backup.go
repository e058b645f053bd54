package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/backup"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// The one part of a backup of SQLite.
const databasePart = "database"

// Backup writes a backup of a store to a file that must not exist, with all its namespaces, as they are at one moment.
// Servers may be using the store. While it is being written the file has another name, FILE.partial; then it is read
// back, and only then gets its own. problems are what is damaged in the store itself: the backup has it, too.
func (a Address) Backup(ctx context.Context, file string) (head backup.Head, m backup.Manifest, problems []store.Problem, err error) {
	if _, err := os.Lstat(file); err == nil {
		return head, m, nil, fmt.Errorf("%s exists already; write to another file, or remove this one first", file)
	}
	partial := file + ".partial"
	defer func() {
		if err != nil {
			_ = os.Remove(partial)
		}
	}()
	head = backup.Head{Store: a.Kind, Version: version.Read().Version, Created: time.Now().UTC()}
	if a.Kind == Postgres {
		problems, err = a.exportPostgres(ctx, partial, head)
	} else {
		err = a.exportSQLite(ctx, partial, head)
	}
	if err != nil {
		return head, m, nil, a.Redact(err)
	}
	head, m, found, err := verify(ctx, partial)
	if err == nil {
		err = os.Rename(partial, file)
	}
	if err == nil {
		err = syncFolder(file)
	}
	return head, m, append(problems, found...), err
}

func syncFolder(file string) error {
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// write makes a file that only its owner can read. It is sealed only after fill has written everything: a file without
// its manifest is never taken for a backup.
func write(file string, head backup.Head, fill func(*backup.Writer) error) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out, err := backup.NewWriter(f, head)
	if err == nil {
		err = fill(out)
	}
	if err == nil {
		err = errors.Join(out.Close(), f.Sync())
	}
	return errors.Join(err, f.Close())
}

func (a Address) exportSQLite(ctx context.Context, file string, head backup.Head) error {
	var err error
	if head.Schema, _, err = sqlite.Look(a.Path); err != nil {
		return err
	}
	copied := file + ".copy"
	_ = os.Remove(copied) // of a backup that was killed
	if err := sqlite.Copy(ctx, a.Path, copied); err != nil {
		return err
	}
	defer os.Remove(copied)
	return write(file, head, func(out *backup.Writer) error {
		return out.Part(databasePart, func(w io.Writer) (int64, error) {
			f, err := os.Open(copied)
			if err != nil {
				return 0, err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return 0, errors.Join(err, ctx.Err())
		})
	})
}

func (a Address) exportPostgres(ctx context.Context, file string, head backup.Head) ([]store.Problem, error) {
	db, err := postgres.Open(ctx, a.Path, postgres.Options{KeepSchema: true})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if head.Schema, err = db.Schema(ctx); err != nil {
		return nil, err
	}
	problems, err := check(ctx, db)
	if err != nil {
		return nil, err
	}
	return problems, write(file, head, func(out *backup.Writer) error { return db.Export(ctx, out) })
}

// database is what both kinds of databases have.
type database interface {
	Namespaces(ctx context.Context) ([]string, error)
	Namespace(name string) store.Store
}

// check reads all rows of all namespaces.
func check(ctx context.Context, db database) (out []store.Problem, err error) {
	names, err := db.Namespaces(ctx)
	for _, name := range names {
		if err == nil {
			var found []store.Problem
			found, err = db.Namespace(name).Check(ctx)
			out = append(out, found...)
		}
	}
	return out, err
}

// Verify reads a backup: its checksums and counts, and of SQLite every row. problems are what is damaged in the store
// that it is a backup of.
func Verify(ctx context.Context, file string) (backup.Head, backup.Manifest, []store.Problem, error) {
	return verify(ctx, file)
}

func verify(ctx context.Context, file string) (head backup.Head, m backup.Manifest, problems []store.Problem, err error) {
	f, err := os.Open(file)
	if err != nil {
		return head, m, nil, err
	}
	defer f.Close()
	dir, err := os.MkdirTemp(filepath.Dir(file), ".lockstep-verify-")
	if err != nil {
		return head, m, nil, err
	}
	defer os.RemoveAll(dir)
	unpacked := filepath.Join(dir, "copy.db")
	head, m, err = backup.Read(f, func(head backup.Head, name string) (io.WriteCloser, error) {
		if head.Store == Postgres {
			return discard{}, nil
		}
		return unpack(unpacked, name)
	})
	if err != nil || head.Store == Postgres {
		return head, m, nil, err
	}
	db, err := sqlite.Open(unpacked, sqlite.Options{})
	if err != nil {
		return head, m, nil, err
	}
	problems, err = check(ctx, db)
	return head, m, problems, errors.Join(err, db.Close())
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

// unpack is where the part of a backup of SQLite goes.
func unpack(file, part string) (io.WriteCloser, error) {
	if part != databasePart {
		return nil, fmt.Errorf("a backup of SQLite has no part %.100q", part)
	}
	return os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
