package sqlite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/crashfs"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// unclean copies a database as a killed process leaves it.
func unclean(t *testing.T, db *DB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	copyFile(t, db.path, path)
	copyFile(t, db.path+"-wal", path+"-wal")
	return path
}

// TestDamagedLog: wherever bytes of a log change, what is told of it is what SQLite loses, as
// far as that is certain.
func TestDamagedLog(t *testing.T) {
	from := openTest(t)
	s := from.Namespace("default")
	const n = 40
	for i := range n {
		if err := add(s, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.ReadFile(from.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	trials := 60
	if raceDetector {
		trials = 10
	}
	told := 0
	for trial := range trials {
		at := rnd.IntN(len(log))
		switch trial {
		case 0:
			at = 25 // the checksum of the header
		case 1:
			at = 17 // its salt
		case 2:
			at = 10 // its page size
		case 3:
			at = logHeaderSize + 20*(frameHeaderSize+4096) + 9 // the salt of a frame
		}
		path := unclean(t, from)
		damaged := bytes.Clone(log)
		damaged[at] ^= byte(1 << rnd.IntN(8))
		if err := os.WriteFile(path+"-wal", damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		found, is, err := scanLog(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		db, logged := openLogged(t, path)
		list, err := db.Namespace("default").Instances(ctx, store.Query{})
		if err != nil { // the file has pages of several moments
			t.Fatalf("byte %d: %v", at, err)
		}
		lost := n - len(list)
		if is != (lost > 1) || is && (found.commits < lost || found.commits > lost+10) { // a few more: the schema, namespaces
			t.Errorf("byte %d: %d of %d are lost, told are %v %+v", at, lost, n, is, found)
		}
		if is != strings.Contains(logged.String(), "the log is damaged at frame ") {
			t.Errorf("byte %d: %s", at, logged)
		}
		problems, err := db.Namespace("default").Check(ctx)
		if err != nil || is != (len(problems) > 0 && problems[0].Where == "log") {
			t.Errorf("byte %d: %v %v", at, problems, err)
		}
		if kept, err := os.ReadFile(path + "-wal-damaged"); is && !bytes.Equal(kept, damaged) {
			t.Errorf("byte %d: the log is not kept: %v", at, err)
		}
		if is {
			told++
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if told < trials/2 {
		t.Errorf("only %d of %d were told", told, trials)
	}
}

// TestDamageIsToldOnce: a server that is killed after it told of damage does not tell of it again when it starts.
func TestDamageIsToldOnce(t *testing.T) {
	from := openTest(t)
	for i := range 40 {
		if err := add(from.Namespace("default"), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	path := unclean(t, from)
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	log[len(log)/2] ^= 1
	if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	db, told := openLogged(t, path)
	if !strings.Contains(told.String(), "the log is damaged") {
		t.Fatalf("%s", told)
	}
	if err := add(db.Namespace("default"), "after"); err != nil {
		t.Fatal(err)
	}
	again, told := openLogged(t, unclean(t, db))
	if told.Len() > 0 {
		t.Errorf("%s", told)
	}
	if _, err := again.Namespace("default").Instance(ctx, "after"); err != nil {
		t.Error(err)
	}
}

// TestTornHeader: a log that is begun anew when the power goes, in the midst of its header, is not
// taken for a damaged one: all of it is in the database.
func TestTornHeader(t *testing.T) {
	dir := t.TempDir()
	w := watch(t, dir)
	w.Keep = true
	path := filepath.Join(dir, "test.db")
	db, err := Open(path, Options{VFS: crashfs.Name, Checkpoint: 20})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := add(db.Namespace("default"), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	ops, begun, told := w.Ops(), 0, 0
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for i, op := range ops {
		if op.Kind != crashfs.Write || op.Path != path+"-wal" || op.At != 0 {
			continue
		}
		if begun++; begun == 1 {
			continue
		}
		log := crashfs.Image(ops[:i], crashfs.All, nil)[path+"-wal"]
		damaged := func(log []byte) bool {
			t.Helper()
			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, log, 0o600); err != nil {
				t.Fatal(err)
			}
			_, damaged, err := scanLog(file)
			if err != nil {
				t.Fatal(err)
			}
			return damaged
		}
		for n := range len(op.Data) {
			torn := slices.Concat(op.Data[:n], log[n:])
			if damaged(torn) {
				t.Errorf("the %d. header, %d bytes of it", begun, n)
			}
		}
		if log[20]++; damaged(log) {
			told++
		}
	}
	if told < 2 {
		t.Errorf("the log began %d times, and another salt was told %d times", begun, told)
	}
}

// TestSoundLog: what failed writes leave in a log is not taken for damage.
func TestSoundLog(t *testing.T) {
	db, w := openWatched(t)
	s := db.Namespace("default")
	if err := add(s, "a"); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{200_000, 100_000, 50_000, 20_000} { // each leaves an end behind that of the next
		w.Fail(func(op crashfs.Op) int32 {
			if op.Kind == crashfs.Sync {
				return crashfs.SyncError
			}
			return 0
		})
		err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(size)}, Pages: []core.Page{{Data: make([]byte, size)}}})
		if err == nil {
			t.Fatal("nothing failed")
		}
		w.Fail(nil)
	}
	if err := add(s, "b"); err != nil {
		t.Fatal(err)
	}
	found, damaged, err := scanLog(unclean(t, db) + "-wal")
	if err != nil || damaged {
		t.Errorf("%+v %v", found, err)
	}
	if found.commits < 2 {
		t.Errorf("nothing is left of the failed writes: %+v", found)
	}
}
