package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
)

const waitingDefinition = `
id: waiting
version: "1"
name: Waits for an answer
functions: [{name: work}]
states:
- {name: Work, type: operation, start: {kind: default}, actions: [{functionRef: {refName: work}}], end: {kind: default}}
`

// TestKilledBackup: a backup and a restore that are killed somewhere leave nothing behind that is taken for a backup or a
// store, and what they leave is not in the way of the next one, or is named. The server of the store goes on under load.
func TestKilledBackup(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		b := newBackups(t, "sqlite:"+filepath.Join(t.TempDir(), "lockstep.db"))
		b.restores(func() target {
			file := filepath.Join(t.TempDir(), "again.db")
			return target{
				address: "sqlite:" + file, size: func() int64 { return sizeOf(file + ".restoring") },
				clear: func() {}, left: func() bool { _, err := os.Stat(file); return err == nil },
			}
		})
	})
	t.Run("postgres", func(t *testing.T) {
		pg := pgtest.Start(t)
		b := newBackups(t, pg.Database(t))
		b.restores(func() target {
			address := pg.Database(t)
			db, err := pgx.Connect(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close(context.Background()) })
			number := func(query string) (n int64) {
				if err := db.QueryRow(t.Context(), query).Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			empty := number("SELECT pg_database_size(current_database())")
			return target{
				address: address,
				size:    func() int64 { return number("SELECT pg_database_size(current_database())") - empty },
				left:    func() bool { return number("SELECT count(*) FROM pg_namespace WHERE nspname = 'lockstep'") > 0 },
				clear: func() {
					if _, err := db.Exec(t.Context(), "DROP SCHEMA lockstep CASCADE"); err != nil {
						t.Fatal(err)
					}
				},
			}
		})
	})
}

// backedUp backs up a store that a server uses under load.
type backedUp struct {
	t      *testing.T
	store  string
	dir    string
	server *process
	client *client.Client
	file   string // a whole backup
	early  []string
}

// target is where a backup is restored.
type target struct {
	address string
	size    func() int64 // what is there of it
	left    func() bool  // whether a restore that was killed left a store, or part of one
	clear   func()       // removes that
}

func newBackups(t *testing.T, store string) *backedUp {
	b := &backedUp{t: t, store: store, dir: t.TempDir()}
	var err error
	if b.server, err = launch(b.dir, os.Environ(), "serve", "--north", "127.0.0.1:0", "--store", store, "--unknown-functions", "wait", "--log-level", "warn"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.server.kill)
	if b.client, err = client.New(client.Options{URL: b.server.url}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.client.DeployDefinition(t.Context(), []byte(waitingDefinition), client.Deploy{}); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		b.early = append(b.early, b.begin(100_000))
	}
	b.load()
	b.backUp()
	return b
}

// begin starts an instance with so much input that cannot be compressed.
func (b *backedUp) begin(size int) string {
	data := make([]byte, size/4*3)
	_, _ = rand.Read(data)
	in, err := b.client.StartInstance(b.t.Context(), "waiting", client.Start{Input: fmt.Appendf(nil, `{"data":%q}`, base64.StdEncoding.EncodeToString(data))})
	if err != nil {
		b.t.Fatal(err)
	}
	return in.ID
}

// load starts instances beside all that, but no more than a slow machine can back up.
func (b *backedUp) load() {
	ctx, cancel := context.WithCancel(b.t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for n := 0; n < 500 && ctx.Err() == nil; n++ {
			if _, err := b.client.StartInstance(ctx, "waiting", client.Start{}); err != nil && ctx.Err() == nil {
				b.t.Errorf("the server does not go on: %v", err)
				return
			}
		}
	})
	b.t.Cleanup(func() { cancel(); all.Wait() })
}

// backUp kills backups to one file at several places, and then makes one.
func (b *backedUp) backUp() {
	b.file = filepath.Join(b.dir, "whole.backup")
	command := []string{"backup", b.file, "--store", b.store}
	partial := b.file + ".partial"
	killed := 0
	for _, part := range []int{160, 130, 100, 70, 40, 20, 10, 0} { // percent of the data; a backup of SQLite writes it three times. The last leaves something
		if !b.killed(command, func() int64 { return sizeOf(partial) }, int64(part)*100_000) {
			if out, code := b.run("backup", b.file, "--verify"); code != cli.ExitOK {
				b.t.Fatalf("it ended before it was killed, and left a file that is no backup: %s", out)
			}
			if err := os.Remove(b.file); err != nil {
				b.t.Fatal(err)
			}
			continue
		}
		killed++
		if _, err := os.Stat(b.file); err == nil {
			b.t.Fatalf("%d%%: the backup was killed, and has its name", part)
		}
	}
	if killed < 4 {
		b.t.Fatalf("%d backups were killed: the test does not test it", killed)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(partial, "lock"), old, old); err != nil {
		b.t.Fatal(err)
	}
	if out, code := b.run("backup", filepath.Join(b.dir, "other.backup"), "--store", b.store); code != cli.ExitOK || !strings.Contains(out, partial+" was left behind") {
		b.t.Errorf("the backup to another file: %d %s", code, out)
	}
	if out, code := b.run(command...); code != cli.ExitOK || strings.Contains(out, "left behind") {
		b.t.Fatalf("the backup after those that were killed: %d %s", code, out)
	}
	if _, err := os.Stat(partial); err == nil {
		b.t.Error("what the killed backups left is still there")
	}
}

// restores kills restores, and then makes one.
func (b *backedUp) restores(next func() target) {
	killed := 0
	for _, part := range []int{0, 30, 80} {
		to := next()
		restore := []string{"restore", b.file, "--store", to.address}
		if b.killed(restore, to.size, int64(part)*100_000) {
			killed++
		}
		if to.left() {
			b.refused(part, to, restore)
			to.clear()
		}
		if out, code := b.run(restore...); code != cli.ExitOK {
			b.t.Fatalf("%d%%: the next restore: %d %s", part, code, out)
		}
		b.check(to.address)
	}
	if killed < 2 {
		b.t.Fatalf("%d restores were killed: the test does not test it", killed)
	}
}

// refused: what a restore that was killed left is taken for a store by nothing, unless it is one.
func (b *backedUp) refused(part int, to target, restore []string) {
	copied := filepath.Join(b.t.TempDir(), "copied.backup")
	for _, args := range [][]string{
		{"serve", "--north", "127.0.0.1:0", "--south", "none", "--store", to.address},
		{"backup", copied, "--store", to.address},
		{"resume", "--store", to.address},
		restore,
	} {
		out, code := b.run(args...)
		if strings.Contains(out, "was restored from a backup") { // it was whole
			return
		}
		if code != cli.ExitError || !strings.Contains(out, "the restore did not finish: drop the schema lockstep") {
			b.t.Errorf("%d%%: %v on what is left: %d %s", part, args, code, out)
		}
	}
}

// check checks a restored store: sound, paused, complete, and with the calls that will be made again.
func (b *backedUp) check(address string) {
	if out, code := b.run("doctor", "--store", address); code != cli.ExitOK {
		b.t.Errorf("doctor of the restored store: %d %s", code, out)
	}
	out, code := b.run("resume", "--store", address, "--dry-run", "-o", "json")
	var pending struct{ Calls []struct{ Instance string } }
	if err := json.Unmarshal([]byte(out), &pending); err != nil || code != cli.ExitOK {
		b.t.Fatalf("%d %s: %v", code, out, err)
	}
	for _, id := range b.early {
		if !slices.ContainsFunc(pending.Calls, func(c struct{ Instance string }) bool { return c.Instance == id }) {
			b.t.Errorf("the call of %s is not among the %d that are made again", id, len(pending.Calls))
		}
	}
}

// killed starts a command and kills it once there is so much of what it makes. It returns false if it ended before.
func (b *backedUp) killed(args []string, size func() int64, enough int64) bool {
	b.t.Helper()
	path, err := exec.LookPath("lockstep")
	if err != nil {
		b.t.Fatal(err)
	}
	var out strings.Builder
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &out, b.dir
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-over:
			if err != nil {
				b.t.Fatalf("%v: %v %s", args, err, out.String())
			}
			return false
		case <-tick.C:
			if size() > enough {
				_ = cmd.Process.Kill()
				return (<-over) != nil
			}
		}
	}
}

// run runs a command to its end.
func (b *backedUp) run(args ...string) (string, int) {
	var out strings.Builder
	code := lockstep(args, strings.NewReader(""), &out, &out)
	return out.String(), code
}

// sizeOf is the size of a file, or of those in a folder, that may be gone in the next moment.
func sizeOf(path string) (sum int64) {
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
