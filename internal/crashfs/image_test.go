package crashfs

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestImage: what was synced is always there, of the rest what the kind of crash says.
func TestImage(t *testing.T) {
	const f = "file"
	ops := []Op{
		{Kind: Write, Path: f, At: 0, Data: []byte("aaaa")},
		{Kind: Sync, Path: f},
		{Kind: Write, Path: f, At: 4, Data: []byte("bbbb")},
		{Kind: Sync, Path: f, Failed: true},
		{Kind: Write, Path: f, At: 8, Data: []byte("cccc")},
		{Kind: Sync, Path: f}, // not of what was written before the one that failed
		{Kind: Write, Path: f, At: 12, Data: []byte("dddd")},
	}
	r := rand.New(rand.NewPCG(1, 1))
	if got := string(Image(ops, All, r)[f]); got != "aaaabbbbccccdddd" {
		t.Errorf("all: %q", got)
	}
	if got := string(Image(ops, Synced, r)[f]); got != "aaaa\x00\x00\x00\x00cccc" {
		t.Errorf("synced: %q", got)
	}
	seen := map[string]bool{}
	for range 1000 {
		got := string(Image(ops, Some, r)[f])
		if len(got) < 12 || got[:4] != "aaaa" || got[8:12] != "cccc" {
			t.Fatalf("some: %q", got)
		}
		seen[got] = true
	}
	for _, want := range []string{"aaaabbbbccccdddd", "aaaa\x00\x00\x00\x00cccc", "aaaabbbbcccc", "aaaab\x00\x00\x00ccccdd"} {
		if !seen[want] {
			t.Errorf("never %q", want)
		}
	}
}

// TestCrash: the files are those of the image afterwards, and a second crash begins there.
func TestCrash(t *testing.T) {
	d := Watch(t.TempDir())
	t.Cleanup(d.Close)
	d.Keep, d.NoSync = true, true
	path := filepath.Join(d.dir, "db")
	run := func(statements ...string) {
		t.Helper()
		c, err := sqlite.OpenConn("file:"+path+"?vfs="+Name, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenURI)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, s := range statements {
			if err := sqlitex.ExecuteTransient(c, s, nil); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	crash := func() int {
		t.Helper()
		if err := d.Crash(Synced, nil); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	run("CREATE TABLE a (x)")
	one := crash()
	run("PRAGMA synchronous = OFF", "CREATE TABLE b (x)")
	if got := crash(); one == 0 || got != one {
		t.Errorf("%d bytes, and after what was not synced is lost %d", one, got)
	}
	run("CREATE TABLE b (x)") // it is not there
	if got := crash(); got <= one {
		t.Errorf("%d bytes, and then %d", one, got)
	}
}
