package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
// Servers may be using the store. While it is being written it is in a folder of its own, FILE.partial; then it is read
// back, and only then gets its own name. problems are what is damaged in the store itself: the backup has it, too.
func (a Address) Backup(ctx context.Context, file string) (head backup.Head, m backup.Manifest, problems []store.Problem, err error) {
	if err := unused(file); err != nil {
		return head, m, nil, err
	}
	work, err := claim(file, writingSuffix)
	if err != nil {
		return head, m, nil, err
	}
	defer work.remove()
	head = backup.Head{Store: a.Kind, Version: version.Read().Version, Created: time.Now().UTC()}
	if a.Kind == Postgres {
		problems, err = a.exportPostgres(ctx, work, head)
	} else {
		err = a.exportSQLite(ctx, work, head)
	}
	if err != nil {
		return head, m, nil, a.Redact(err)
	}
	head, m, found, err := verify(ctx, work.path(backupName), work)
	if err == nil {
		err = unused(file) // another one may have become whole before this one was claimed
	}
	if err == nil {
		err = os.Rename(work.path(backupName), file)
	}
	if err == nil {
		err = syncFolder(file)
	}
	return head, m, append(problems, found...), err
}

// The files of a scratch folder.
const (
	backupName = "backup"
	copyName   = "copy.db"
)

func unused(file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists already; write to another file, or remove this one first", file)
	}
	return nil
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

func (a Address) exportSQLite(ctx context.Context, work *scratch, head backup.Head) error {
	var err error
	if head.Schema, _, err = sqlite.Look(a.Path); err != nil {
		return err
	}
	copied := work.path(copyName)
	if err := sqlite.Copy(ctx, a.Path, copied); err != nil {
		return err
	}
	defer os.Remove(copied) // before the backup is unpacked to be verified
	return write(work.path(backupName), head, func(out *backup.Writer) error {
		return out.Part(databasePart, func(w io.Writer) (int64, error) {
			f, err := os.Open(copied)
			if err != nil {
				return 0, err
			}
			defer f.Close()
			_, err = io.Copy(w, reader{ctx, f})
			return 0, err
		})
	})
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func (a Address) exportPostgres(ctx context.Context, work *scratch, head backup.Head) ([]store.Problem, error) {
	db, err := postgres.Open(ctx, a.Path, postgres.Options{KeepSchema: true})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if _, err := db.Restored(ctx); err != nil { // what is left of a restore that was stopped
		return nil, err
	}
	if head.Schema, err = db.Schema(ctx); err != nil {
		return nil, err
	}
	problems, err := check(ctx, db)
	if err != nil {
		return nil, err
	}
	return problems, write(work.path(backupName), head, func(out *backup.Writer) error { return db.Export(ctx, out) })
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
	if _, err := os.Stat(file); err != nil {
		return backup.Head{}, backup.Manifest{}, nil, err
	}
	work, err := claim(file, verifyingSuffix)
	if err != nil {
		return backup.Head{}, backup.Manifest{}, nil, err
	}
	defer work.remove()
	return verify(ctx, file, work)
}

func verify(ctx context.Context, file string, work *scratch) (head backup.Head, m backup.Manifest, problems []store.Problem, err error) {
	f, err := os.Open(file)
	if err != nil {
		return head, m, nil, err
	}
	defer f.Close()
	unpacked := work.path(copyName)
	head, m, err = readParts(reader{ctx, f}, func(head backup.Head, name string) (io.WriteCloser, error) {
		if head.Store == Postgres {
			return discard{}, nil
		}
		return unpack(unpacked, name)
	})
	if err != nil || head.Store == Postgres {
		return head, m, nil, errors.Join(ctx.Err(), err)
	}
	db, err := sqlite.Open(unpacked, sqlite.Options{})
	if err != nil {
		return head, m, nil, err
	}
	problems, err = check(ctx, db)
	return head, m, problems, errors.Join(err, db.Close())
}

// readParts reads a backup that has every part that its store needs.
func readParts(r io.Reader, part func(backup.Head, string) (io.WriteCloser, error)) (backup.Head, backup.Manifest, error) {
	head, m, err := backup.Read(r, part)
	if err != nil {
		return head, m, err
	}
	needed := []string{databasePart}
	if head.Store == Postgres {
		needed = postgres.Tables(head.Schema)
	}
	for _, name := range needed {
		there := slices.ContainsFunc(m.Parts, func(p backup.Part) bool { return p.Name == name && (p.Bytes > 0 || head.Store == Postgres) })
		if !there {
			return head, m, &backup.DamagedError{Msg: fmt.Sprintf("its part %s is missing", name)}
		}
	}
	return head, m, nil
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
