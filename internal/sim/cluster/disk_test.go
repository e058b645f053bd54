package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/crashfs"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// disk is what a world has in the place of the model: the SQLite store of one node, in real files
// that fail and that a crash leaves in disorder.
type disk struct {
	w       *world
	n       *node // whose it is
	dir     string
	files   *crashfs.Disk
	db      *sqlite.DB // nil: nobody has it open
	failed  int        // how often in a row it did not open
	how     crashfs.How
	fate    *rand.Rand     // of what is lost
	acked   map[life]int64 // revisions that were stored
	emitted []string       // ids of events that commits produced

	// What goes wrong next.
	gone   bool          // nothing is written any more
	power  int           // it is after so many operations on files; 0: not soon
	writes int           // so many writes later one fails; 0: none
	syncs  int           // so many syncs fail
	full   time.Time     // until when there is no room
	down   time.Duration // how long, without power
}

// alone is a store that no other node shares.
type alone struct{ store.Store }

// settings have pages move all the time, but none before a commit: SQLite keeps the pages of all
// connections of the process together, so when a full cache writes one depends on the others.
var settings = sqlite.Options{VFS: crashfs.Name, Inline: true, Readers: 1, Checkpoint: 30}

// maxOpens is how often in a row the store may fail to open, a second apart: no fault lasts so long.
const maxOpens = 10

// scratch is where files are: in memory, if the machine has a place for that.
var scratch = sync.OnceValue(func() string {
	const memory = "/dev/shm"
	if dir, err := os.MkdirTemp(memory, "cluster"); err == nil {
		_ = os.Remove(dir)
		return memory
	}
	return os.TempDir()
})

// empty is a database with nothing in it but its schema.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp(scratch(), "cluster")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "db")
	db, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// newDisk makes the files of a world.
func newDisk(w *world) (*disk, error) {
	blank, err := empty()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(scratch(), "cluster")
	if err != nil {
		return nil, err
	}
	d := &disk{w: w, n: w.nodes[0], dir: dir, files: crashfs.Watch(dir), how: crashfs.All, acked: map[life]int64{}}
	d.files.Keep, d.files.NoSync = true, true
	d.files.Fail(d.decide)
	return d, d.files.Load(map[string][]byte{d.path(): blank})
}

func (d *disk) path() string { return filepath.Join(d.dir, "db") }

// open opens the store: what a crash left is recovered.
func (d *disk) open() (err error) {
	d.gone = false
	if d.db, err = sqlite.Open(d.path(), settings); err != nil {
		d.db = nil
		if d.failed++; d.failed == maxOpens {
			d.w.violate("the store does not open: %w", err)
		}
		return err
	}
	d.failed = 0
	d.w.db.Store = d.db.Namespace("default")
	return nil
}

// close ends the process that has the store, without a last word to the files, and leaves of them
// what the crash leaves.
func (d *disk) close() error {
	d.gone, d.power, d.writes, d.syncs = true, 0, 0, 0
	if d.db != nil {
		_ = d.db.Close()
		d.db = nil
	}
	d.w.tell(d.n.name, "disk", "%d operations, %s of them stay", len(d.files.Ops()), d.how)
	err := d.files.Crash(d.how, d.fate)
	d.how = crashfs.All
	return err
}

// remove removes the files.
func (d *disk) remove() {
	d.gone = true
	if d.db != nil {
		_ = d.db.Close()
	}
	d.files.Close()
	_ = os.RemoveAll(d.dir)
}

// decide says what happens to an operation on a file.
func (d *disk) decide(op crashfs.Op) int32 {
	if d.gone {
		return crashfs.WriteError
	}
	if d.power > 0 {
		if d.power--; d.power == 0 {
			d.gone = true
			d.w.tell(d.n.name, "disk", "the power goes")
			d.n.proc.die(d.down)
			return crashfs.WriteError
		}
	}
	switch {
	case op.Kind == crashfs.Sync && d.syncs > 0:
		d.syncs--
		d.w.tell(d.n.name, "disk", "sync fails")
		return crashfs.SyncError
	case op.Kind == crashfs.Write && d.writes > 0:
		if d.writes--; d.writes == 0 {
			d.w.tell(d.n.name, "disk", "write fails")
			return crashfs.WriteError
		}
	case op.Kind == crashfs.Write && d.full.After(d.w.now):
		return crashfs.DiskFull
	}
	return 0
}

// suffer lets something go wrong at the disk or with the clock.
func (d *disk) suffer(f Fault) {
	r := rand.New(rand.NewPCG(d.w.c.Seed, uint64(f.Op)))
	switch f.Kind {
	case FaultCrash, FaultDie, FaultPower:
		d.how, d.fate = crashfs.Hows[r.IntN(len(crashfs.Hows))], r
		if f.Kind == FaultPower {
			d.power = 1 + r.IntN(20)
			d.down = f.For
		}
	case FaultWrite:
		d.writes = 1 + r.IntN(20)
	case FaultSync:
		d.syncs = 1 + r.IntN(3)
	case FaultFull:
		d.full = d.w.now.Add(f.For)
	case FaultStep:
		d.w.shown = d.w.latest()
		d.n.step += f.For
	}
}

// Now is the node's own clock, which its owner sets.
func (n *node) Now() time.Time { return n.w.now.Add(n.step) }

// After never comes: nobody waits in a simulation.
func (*node) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// clock is the clock by which things are due.
func (w *world) clock() time.Time {
	return w.now.Add(w.stepOf(w.nodes[0]))
}

// stepOf is by how much the clock was put forward by which a node does things: its own, or the
// database's.
func (w *world) stepOf(n *node) time.Duration {
	if w.disk == nil {
		return w.step
	}
	return n.step
}

// diskFault adds a fault of a node that has the store in its files. Often a crash shows what is left
// of what went wrong before.
func (g *generator) diskFault() {
	f := Fault{Kind: pick(g, diskFaults...), Op: 1 + g.r.IntN(pick(g, 60, 200, 500)), For: time.Duration(g.r.IntN(4000)) * time.Millisecond}
	if g.chance(50) {
		f.On, f.Op = pick(g, "commit", "commit", "ingest", "route", "ready", "inbox"), 1+g.r.IntN(12)
	}
	switch f.Kind {
	case FaultHang, FaultBreak, FaultSink:
		f.On, f.Op, f.For = "", 1+g.r.IntN(8), f.For*10
	case FaultAgain:
		g.again(&f)
	case FaultStep:
		f.For = g.step(f.For)
	case FaultWrite, FaultSync, FaultFull:
		if g.chance(50) {
			g.c.Faults = append(g.c.Faults, Fault{Kind: pick(g, FaultCrash, FaultDie, FaultPower), On: f.On, Op: f.Op + 1 + g.r.IntN(4), For: f.For})
		}
	}
	g.c.Faults = append(g.c.Faults, f)
}

// latest is the latest time that a clock showed so far.
func (w *world) latest() time.Time {
	now := w.clock()
	if w.shown.After(now) {
		return w.shown
	}
	return now
}

// recovered checks what is there after a start: all that was stored, and at most one commit more,
// which nobody heard of.
func (d *disk) recovered(ctx context.Context) {
	w, l := d.w, &d.w.ledger
	for _, me := range l.lives {
		row, err := w.db.Store.Instance(ctx, me.id)
		records, _ := w.db.Store.Records(ctx, me.id, 0, 0)
		said := l.history[me]
		w.check(Recovered)
		switch {
		case err != nil || row.Created != me.created:
			if !l.deleting[me.id] && w.c.Retain == 0 {
				w.violate("instance %s was stored at revision %d, and now: %w", me.id, d.acked[me], err)
			}
			continue
		case row.Rev < d.acked[me] || len(records) < len(said):
			w.violate("instance %s was stored at revision %d, and is at %d", me.id, d.acked[me], row.Rev)
		case fmt.Sprint(records[:len(said)]) != fmt.Sprint(said):
			w.violate("the history of %s is\n%v\nand its commits said\n%v", me.id, records, said)
		}
		if row.Rev > d.acked[me] {
			l.folded("", me, row.Rev-1)
			d.acked[me] = row.Rev
		}
		l.history[me], l.ended[me] = records, row.Ended
	}
	rows, err := w.db.Store.Instances(ctx, store.Query{})
	for _, row := range rows {
		me := life{row.ID, row.Created}
		if _, known := l.history[me]; !known {
			l.lives = append(l.lives, me)
			l.definitions[me] = row.Definition
			l.ended[me] = row.Ended
			l.history[me], _ = w.db.Store.Records(ctx, me.id, 0, 0)
			l.folded("", me, row.Rev-1)
		}
	}
	if err == nil {
		err = w.acknowledged(ctx)
	}
	if err == nil {
		err = w.stayGone(ctx)
	}
	if err == nil {
		err = w.foldedAgain(ctx)
	}
	if err != nil {
		w.violate("%w", err)
	}
	problems, err := w.db.Store.Check(ctx)
	if err != nil || len(problems) > 0 {
		w.violate("the check of the store: %v %v", problems, err)
	}
}

// committed notes a step that was stored. One that comes a second time is refused.
func (d *disk) committed(me life, c *store.Commit) {
	d.acked[me] = c.Instance.Rev + 1
	for i := range c.Emits {
		d.emitted = append(d.emitted, c.Emits[i].Event.ID)
	}
	if d.w.r.IntN(8) != 0 {
		return
	}
	if d.w.check(RefusedTwice); d.w.db.Store.Commit(context.Background(), *c) == nil {
		d.w.violate("the commit of instance %s at revision %d is taken twice", c.Instance.ID, c.Instance.Rev)
	}
}

// atRest: every event that a commit produced was taken. Lists of work do not tell: the store
// answers them from memory. And if the power goes now, everything is there still.
func (d *disk) atRest(ctx context.Context) {
	page, err := d.w.db.Store.Events(ctx, store.EventQuery{Limit: store.MaxEventScan})
	for _, id := range d.emitted {
		if d.w.since() < window/2 && !slices.ContainsFunc(page.Events, func(e store.Event) bool { return e.Event.ID == id }) {
			d.w.violate("event %s was produced, and nobody took it: %v", id, err)
		}
	}
	d.how, d.full = crashfs.Synced, time.Time{}
	if err = d.close(); err == nil {
		err = d.open()
	}
	if err != nil {
		d.w.violate("the store does not open at the end: %w", err)
		return
	}
	d.recovered(ctx)
}
