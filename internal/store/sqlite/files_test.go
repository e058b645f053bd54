package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/crashfs"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// openLogged opens a database and shows what it logs.
func openLogged(t *testing.T, path string) (*DB, *bytes.Buffer) {
	t.Helper()
	var told bytes.Buffer
	db, err := Open(path, Options{Log: slog.New(slog.NewTextHandler(&told, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, &told
}

func add(s store.Store, id string) error {
	return s.Commit(ctx, store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}, Records: []core.Record{{Text: id}}})
}

// copyFile makes a copy under another name.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMovedFiles: once a file is not under its name, nothing is acknowledged any more, whatever
// becomes of it; what is there can be read.
func TestMovedFiles(t *testing.T) {
	for how, move := range map[string]func(t *testing.T, path string) (back func()){
		"deleted": func(t *testing.T, path string) func() {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			return func() {}
		},
		"moved": func(t *testing.T, path string) func() {
			if err := os.Rename(path, path+"-away"); err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Rename(path+"-away", path) }
		},
		"replaced": func(t *testing.T, path string) func() {
			copyFile(t, path, path+"-copy")
			if err := os.Rename(path+"-copy", path); err != nil {
				t.Fatal(err)
			}
			return func() {}
		},
	} {
		for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
			t.Run(how+suffix, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.db")
				db, told := openLogged(t, path)
				s := db.Namespace("default")
				if err := add(s, "before"); err != nil {
					t.Fatal(err)
				}
				back := move(t, path+suffix)
				var wg sync.WaitGroup
				for i := range 10 {
					wg.Go(func() {
						if err := add(s, fmt.Sprint(i)); !errors.Is(err, store.ErrMoved) || !strings.Contains(err.Error(), path+suffix) {
							t.Errorf("a commit: %v", err)
						}
					})
				}
				wg.Wait()
				back()
				if err := add(s, "later"); !errors.Is(err, store.ErrMoved) {
					t.Errorf("a commit afterwards: %v", err)
				}
				if err := s.Writable(ctx); !errors.Is(err, store.ErrMoved) {
					t.Errorf("it says that it can be written: %v", err)
				}
				if in, err := s.Instance(ctx, "before"); err != nil || in.Rev != 1 {
					t.Errorf("reading: %v", err)
				}
				if n := strings.Count(told.String(), path+suffix); n == 0 || strings.Count(told.String(), "\n") != 1 {
					t.Errorf("the log: %s", told)
				}
				_ = db.Close()
				if _, err := os.Stat(path + "-wal"); how == "deleted" && suffix == "" && err != nil {
					t.Errorf("the log of the deleted database was deleted, too: %v", err)
				}
			})
		}
	}
}

// TestMovedAndBroken: a database that is opened anew after an error is none that was made
// in the place of one that was deleted.
func TestMovedAndBroken(t *testing.T) {
	db, w := openWatched(t)
	s := db.Namespace("default")
	w.Fail(onWrite(crashfs.WriteError))
	if err := add(s, "a"); err == nil {
		t.Fatal("nothing failed")
	}
	w.Fail(nil)
	if err := os.Remove(db.path); err != nil {
		t.Fatal(err)
	}
	if err := add(s, "a"); !errors.Is(err, store.ErrMoved) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(db.path); err == nil {
		t.Error("there is a database again")
	}
}

// TestWritable: what it says follows the last write; where that was a while ago, it tries.
func TestWritable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, w := openWatched(t)
		s := db.Namespace("default")
		if err := s.Writable(ctx); err != nil {
			t.Errorf("at first: %v", err)
		}
		time.Sleep(time.Minute)
		w.Fail(onWrite(crashfs.DiskFull))
		if err := s.Writable(ctx); !errors.Is(err, store.ErrFull) {
			t.Errorf("idle, with a full disk: %v", err)
		}
		if _, err := s.PurgeFeed(ctx, 0, 1); err != nil {
			t.Errorf("what has nothing to write: %v", err)
		}
		if err := s.Writable(ctx); !errors.Is(err, store.ErrFull) {
			t.Errorf("after what had nothing to write: %v", err)
		}
		w.Fail(nil)
		time.Sleep(time.Minute)
		if err := s.Writable(ctx); err != nil {
			t.Errorf("idle, with room: %v", err)
		}
		w.Fail(onWrite(crashfs.WriteError))
		if err := add(s, "a"); err == nil {
			t.Fatal("a commit without a disk")
		}
		w.Fail(nil)
		if err := s.Writable(ctx); err == nil {
			t.Error("a write has just failed")
		}
		if err := add(s, "a"); err != nil {
			t.Fatal(err)
		}
		if err := s.Writable(ctx); err != nil {
			t.Errorf("a write has just succeeded: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestLoneLog: a log without its database is left alone.
func TestLoneLog(t *testing.T) {
	for _, empty := range []bool{false, true} {
		from := openTest(t)
		if err := add(from.Namespace("default"), "a"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "a.db")
		copyFile(t, from.path+"-wal", path+"-wal")
		if empty {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.ReadFile(path + "-wal")
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), path+"-wal") || !strings.Contains(err.Error(), "put the database back") {
			t.Errorf("empty %v: %v", empty, err)
		}
		if after, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(before, after) {
			t.Errorf("empty %v: the log is not as it was: %v", empty, err)
		}
		copyFile(t, from.path, path)
		db, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("with its database: %v", err)
		}
		if _, err := db.Namespace("default").Instance(ctx, "a"); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestHardLink: a database with two names is refused by both of them.
func TestHardLink(t *testing.T) {
	db := openTest(t)
	link := filepath.Join(filepath.Dir(db.path), "link.db")
	if err := os.Link(db.path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, Options{}); err == nil || !strings.Contains(err.Error(), "2 names") {
		t.Errorf("a second process by another name: %v", err)
	}
	if err := add(db.Namespace("default"), "a"); err != nil {
		t.Errorf("the first one: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(db.path, Options{}); err == nil {
		t.Error("a database with two names")
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	again, err := Open(db.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestDamagedIndex: an index that lost a row of its table.
func TestDamagedIndex(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	const id = "an-id-that-is-found-in-pages"
	if err := add(s, id); err != nil {
		t.Fatal(err)
	}
	root := int64(0)
	err := db.read(ctx, func(c *conn) (err error) {
		root, _, err = c.number("SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'instances' AND name LIKE '%id%' OR name = 'sqlite_autoindex_instances_1'")
		return err
	})
	if err != nil || root == 0 {
		t.Fatal(root, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(db.path)
	if err != nil {
		t.Fatal(err)
	}
	page := data[(root-1)*4096 : root*4096]
	at := bytes.Index(page, []byte(id))
	if at < 0 {
		t.Fatal("the index does not have the id")
	}
	page[at] ^= 1
	if err := os.WriteFile(db.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(db.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	s = again.Namespace("default")
	if _, err := s.Instance(ctx, id); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("the index is not damaged: %v", err)
	}
	problems, err := s.Check(ctx)
	if err != nil || len(problems) == 0 || problems[0].Where != "file" || !strings.Contains(problems[0].Text, "index") {
		t.Errorf("%v %v", problems, err)
	}
}
