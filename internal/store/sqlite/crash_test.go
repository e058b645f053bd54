package sqlite

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/crashfs"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var everyImage = flag.Bool("crash.all", false, "look at every image of a crash, not at some")

// ack is a commit that was acknowledged when so much was written.
type ack struct {
	id  string
	rev int64
	at  int
}

// TestCrashImages: whenever the process or the power goes, what is found afterwards is
// sound and has everything that was acknowledged. An image is what a prefix of all
// writes leaves: all of it, only what was synced, or that and some of the rest, also torn.
func TestCrashImages(t *testing.T) {
	dir := t.TempDir()
	w := watch(t, dir)
	w.Keep = true
	path := filepath.Join(dir, "crash.db")
	db, err := Open(path, Options{VFS: crashfs.Name, Checkpoint: 40, Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	start := len(w.Ops())
	acks := crashLoad(t, db.Namespace("default"), w)
	end := len(w.Ops())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	ops, syncs := w.Ops(), 0
	for _, op := range ops[start:end] {
		if op.Kind == crashfs.Sync {
			syncs++
		}
	}
	if len(acks) < 100 || syncs < 30 {
		t.Fatalf("%d commits with %d syncs prove little", len(acks), syncs)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	images, sample := 0, 60
	if raceDetector {
		sample = 5
	}
	for k := start; k <= len(ops); k++ {
		near := k == len(ops) || ops[k].Kind == crashfs.Sync || k > 0 && ops[k-1].Kind == crashfs.Sync
		if !*everyImage && rnd.IntN(max(1, (len(ops)-start)/sample)) != 0 && (!near || rnd.IntN(240/sample) != 0) {
			continue
		}
		for _, how := range crashfs.Hows {
			images++
			checkImage(t, ops[:k], path, how, rnd, acks)
			if t.Failed() {
				t.Fatalf("the image after %d of %d writes, %s of them", k, len(ops), how)
			}
		}
	}
	t.Logf("%d images of %d writes with %d syncs and %d commits", images, len(ops)-start, syncs, len(acks))
}

// crashLoad commits from several goroutines and notes what was acknowledged.
func crashLoad(t *testing.T, s store.Store, w *crashfs.Disk) []ack {
	var mu sync.Mutex
	var acks []ack
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 6 {
				row := store.Instance{ID: fmt.Sprint(g, "-", i), Definition: "d"}
				for step := range 6 {
					row.Status = core.Waiting
					if step == 5 {
						row.Status = core.Completed
					}
					c := store.Commit{Instance: row, Records: []core.Record{{Attempt: step + 1}}, Pages: []core.Page{{Frame: core.FrameID(step), Data: make([]byte, 500*step)}}}
					if step == 1 {
						c.Subscribe = []store.Subscription{{Ticket: 1}}
						c.Children = []store.NewInstance{{Instance: store.Instance{ID: row.ID + ":child", Status: core.Running}}}
					}
					if err := s.Commit(ctx, c); err != nil {
						t.Error(err)
						return
					}
					row.Rev++
					mu.Lock()
					acks = append(acks, ack{row.ID, row.Rev, len(w.Ops())})
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return acks
}

func checkImage(t *testing.T, ops []crashfs.Op, path string, how crashfs.How, rnd *rand.Rand, acks []ack) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "image")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	files := crashfs.Image(ops, how, rnd)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(name, path) {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), files[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := Open(filepath.Join(dir, filepath.Base(path)), Options{Readers: 1})
	if err != nil {
		t.Error(err)
		return
	}
	defer db.Close()
	s := db.Namespace("default")
	problems, err := s.Check(ctx) // also tells whether the log was taken for a damaged one
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	want := map[string]int64{}
	for _, a := range acks {
		if a.at <= len(ops) {
			want[a.id] = max(want[a.id], a.rev)
		}
	}
	for id, rev := range want {
		in, err := s.Instance(ctx, id)
		if err != nil || in.Rev < rev {
			t.Errorf("%s is at revision %d, %d was acknowledged: %v", id, in.Rev, rev, err)
			continue
		}
		whole(t, s, in)
	}
}

// whole says whether everything of a commit is there that its revision is of.
func whole(t *testing.T, s store.Store, in store.Instance) {
	t.Helper()
	records, err := s.Records(ctx, in.ID, 0, 0)
	if err != nil || int64(len(records)) != in.Rev {
		t.Errorf("%s at revision %d has %d records: %v", in.ID, in.Rev, len(records), err)
	}
	pages, err := s.Pages(ctx, in.ID)
	if err != nil || int64(len(pages)) != in.Rev {
		t.Errorf("%s at revision %d has %d pages: %v", in.ID, in.Rev, len(pages), err)
	}
	subs, err := s.Subscriptions(ctx, in.ID)
	if (len(subs) == 1) != (in.Rev >= 2 && in.Rev < 6) {
		t.Errorf("%s at revision %d has %d subscriptions: %v", in.ID, in.Rev, len(subs), err)
	}
	if in.Rev < 2 {
		return
	}
	inbox, err := s.Messages(ctx, in.ID+":child")
	if err != nil || len(inbox) != 1 {
		t.Errorf("the child of %s has %d messages: %v", in.ID, len(inbox), err)
	}
}
