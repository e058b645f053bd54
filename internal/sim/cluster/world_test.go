package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/sim"
)

const (
	// lease is how long a node has its parts without being heard of, beat how often it is.
	lease = 900 * time.Millisecond
	beat  = 300 * time.Millisecond
	// warmUp is how long before the first client the nodes come up.
	warmUp = 10 * time.Second
	// maxSteps bounds a run: what takes longer does not end. The error tells of its last lastSteps.
	maxSteps  = 300_000
	lastSteps = 3000
)

// Result is what came of a case.
type Result struct {
	Err    error             // what did not hold; nil: everything did
	Hash   string            // of the trace
	Trace  []Line            // where it was asked for
	Steps  int               // how often somebody went on
	Faults map[FaultKind]int // that happened
	Checks map[Invariant]int // how often there was something to check
	Calls  int               // that endpoints got
}

// Line is one line of the trace.
type Line struct {
	At   time.Duration
	From string // a node or a client
	To   string // likewise, or the store
	Text string
	Read bool // nothing changes by it
}

func (l Line) String() string {
	return fmt.Sprintf("%9.3fs %s → %s: %s", l.At.Seconds(), l.From, l.To, l.Text)
}

// Run plays a case; keep: with its trace.
func Run(c *Case, keep bool) (out Result) {
	w := newWorld(c, keep)
	defer func() {
		for _, n := range w.nodes {
			n.end()
		}
		if w.disk != nil {
			w.disk.remove()
		}
	}()
	err := w.prepare()
	if err == nil {
		err = w.run()
	}
	if err == nil {
		err = w.atRest()
	}
	return Result{
		Err: err, Hash: hex.EncodeToString(w.hash.Sum(nil)), Trace: w.trace, Steps: w.steps,
		Faults: w.faults, Checks: w.checks, Calls: w.endpoints.calls,
	}
}

// world is one run of a case. Exactly one of its coroutines runs at a time.
type world struct {
	c         *Case
	r         *rand.Rand
	now       time.Time
	step      time.Duration // by which the database's clock was put forward
	shown     time.Time     // the latest time that a clock showed before it was put back
	db        *Database
	disk      *disk // the SQLite store, in the place of the database's own; nil: that
	nodes     []*node
	clients   []*client
	endpoints endpoints
	ledger    ledger
	violation error

	changes int64     // Database.writes, and
	changed time.Time // when that was seen to change last

	steps  int
	faults map[FaultKind]int
	checks map[Invariant]int
	last   map[string]int // how often the last lines were told
	hash   hash.Hash
	keep   bool
	trace  []Line
}

func newWorld(c *Case, keep bool) *world {
	w := &world{
		c: c, r: rand.New(rand.NewPCG(c.Seed, 1)), now: sim.Epoch.Add(-warmUp), keep: keep,
		faults: map[FaultKind]int{}, checks: map[Invariant]int{}, last: map[string]int{}, hash: sha256.New(),
	}
	w.db = NewDatabase(w.clock, lease)
	w.ledger.init(w)
	w.db.committed, w.db.purged = w.ledger.committed, w.ledger.purged
	if !c.SQLite { // there memory is what is stored
		w.db.overtaken = w.ledger.overtaken
	}
	w.db.deletes, w.db.forgets = w.ledger.goes, w.ledger.forgets
	w.db.deleted = func(me life) { w.ledger.gone[me] = true }
	w.endpoints.init(w)
	for i := range c.Nodes {
		w.nodes = append(w.nodes, &node{w: w, number: i, name: fmt.Sprint("n", i), ops: map[string]int{}, upAt: w.now, beatAt: w.now})
	}
	if last := w.nodes[len(w.nodes)-1]; c.Join > 0 {
		last.upAt = sim.Epoch.Add(c.Join)
	}
	for i := range c.Acts {
		w.clients = append(w.clients, &client{w: w, number: i, act: &c.Acts[i], due: sim.Epoch.Add(c.Acts[i].At)})
	}
	return w
}

// prepare makes the store and deploys everything.
func (w *world) prepare() (err error) {
	if !w.c.SQLite {
		return w.deploy(context.Background())
	}
	w.db.looks = 0
	if w.disk, err = newDisk(w); err == nil {
		err = w.disk.open()
	}
	if err == nil {
		err = w.deploy(context.Background())
	}
	if err == nil {
		err = w.disk.close()
	}
	return err
}

// calm says that nothing goes wrong, so that what comes of the case is known.
func (w *world) calm() bool { return len(w.c.Faults) == 0 }

func (w *world) since() time.Duration { return w.now.Sub(sim.Epoch) }

// tell adds a line to the trace.
func (w *world) tell(from, to, format string, args ...any) {
	w.add(Line{At: w.since(), From: from, To: to, Text: fmt.Sprintf(format, args...)})
}

func (w *world) add(l Line) {
	_, _ = fmt.Fprintln(w.hash, l)
	if w.steps > maxSteps-lastSteps {
		w.last[fmt.Sprintf("%s → %s: %s", l.From, l.To, l.Text)]++
	}
	if w.keep {
		w.trace = append(w.trace, l)
	}
}

// violate says that something does not hold; the first counts.
func (w *world) violate(format string, args ...any) {
	if w.violation == nil {
		w.violation = fmt.Errorf(format, args...)
		w.tell("check", "check", "%v", w.violation)
	}
}

// run lets things happen until nothing is left to do.
func (w *world) run() error {
	for w.violation == nil {
		list := w.possible()
		if len(list) > 0 && (w.calm() || w.r.IntN(64) != 0) {
			if w.steps++; w.steps == maxSteps {
				return w.stillBusy()
			}
			list[w.r.IntN(len(list))]()
			continue
		}
		at, ok := w.next()
		if len(list) == 0 && (!ok || w.idle()) {
			return w.violation
		}
		if most := w.now.Add(time.Duration(w.r.IntN(300)) * time.Millisecond); len(list) > 0 && (!ok || at.After(most)) {
			at = most // those who could go on are slow
		}
		if gap := at.Sub(w.now); len(list) == 0 && gap > 0 && w.r.IntN(8) == 0 {
			at = w.now.Add(time.Duration(w.r.Int64N(int64(gap)))) // somebody looks in vain
			if p := w.nodes[w.r.IntN(len(w.nodes))].proc; p != nil {
				p.again = true
			}
		}
		w.advance(at)
	}
	return w.violation
}

// stillBusy says that a run does not end: who did what in the last steps, what was done most often first, and who
// has no answer.
func (w *world) stillBusy() error {
	lines := slices.SortedFunc(maps.Keys(w.last), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.last[b], w.last[a]), cmp.Compare(a, b))
	})
	text := ""
	for _, line := range lines[:min(12, len(lines))] {
		text += fmt.Sprintf("\n%d times %s", w.last[line], line)
	}
	for _, c := range w.clients {
		if !c.done {
			text += fmt.Sprintf("\nclient %d has no answer to: %s", c.number, c.act)
		}
	}
	return fmt.Errorf("after %d steps there is still something to do: it is %s, and the last %d did%s", maxSteps, w.since(), lastSteps, text)
}

// idle reports whether only retention goes on, which never ends.
func (w *world) idle() bool {
	longest := max(w.c.Retain, w.c.Forget, w.c.Sweep)
	if longest == 0 {
		return false
	}
	if w.changes != w.db.writes || slices.ContainsFunc(w.clients, func(c *client) bool { return !c.done }) || !w.settled() {
		w.changes, w.changed = w.db.writes, w.now
		return false
	}
	_, more, err := w.db.Store.Next(context.Background(), core.TimeOf(w.clock()))
	return !more && err == nil && w.now.Sub(w.changed) > 2*longest+time.Minute
}

// possible lists what may happen next.
func (w *world) possible() (list []func()) {
	for _, n := range w.nodes {
		list = n.possible(list)
	}
	for _, c := range w.clients {
		if !c.done && c.asks == nil && !c.due.After(w.now) && w.serves() {
			list = append(list, c.ask)
		}
	}
	return list
}

// serves reports whether clients find a node.
func (w *world) serves() bool { return slices.ContainsFunc(w.nodes, (*node).up) }

// next is the next instant at which something may happen, other than heartbeats.
func (w *world) next() (at time.Time, ok bool) {
	sooner := func(t time.Time) {
		if t.After(w.now) && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	for _, c := range w.clients {
		if !c.done && c.asks == nil {
			sooner(c.due)
		}
	}
	for _, n := range w.nodes {
		n.next(sooner)
	}
	if w.disk != nil || w.settled() && (w.shared() || !w.calm()) {
		return at, ok
	}
	for _, n := range w.nodes { // somebody takes over, or gives back
		if n.proc != nil && n.proc.heard() {
			sooner(n.beatAt)
		}
	}
	return at, ok
}

// shared reports whether every node has its fair share.
func (w *world) shared() bool {
	return !slices.ContainsFunc(w.nodes, func(n *node) bool {
		return n.proc == nil || n.proc.session.leases.nodes != len(w.nodes) || len(n.proc.session.leases.surplus()) > 0
	})
}

// settled reports whether every part is with a node that is heard of, and knows it.
func (w *world) settled() bool {
	if w.disk != nil {
		return true
	}
	for i, p := range w.db.parts {
		if !slices.ContainsFunc(w.nodes, func(n *node) bool {
			return n.proc != nil && n.proc.heard() && n.proc.session.leases.id == p.owner && n.proc.session.leases.epochs[i] == p.epoch
		}) {
			return false
		}
	}
	return true
}

// advance moves the clock. Nodes that are well are heard of meanwhile.
func (w *world) advance(to time.Time) {
	w.now = to
	for _, n := range w.nodes {
		if n.proc != nil && n.proc.heard() {
			n.proc.session.keep(to)
		}
	}
}

// TestBusy: a run that does not end tells who did what at last, and who waits.
func TestBusy(t *testing.T) {
	w := newWorld(&Case{Seed: 1, Nodes: 1, Acts: []Act{{Kind: ActStart, At: time.Hour, What: "timer"}}}, false)
	defer w.nodes[0].end()
	if err := w.prepare(); err != nil {
		t.Fatal(err)
	}
	w.steps = maxSteps - 50
	w.nodes[0].boot()
	var err error
	for err == nil { // it is asked for work again and again
		w.nodes[0].proc.again = true
		if w.steps++; w.steps == maxSteps {
			err = w.stillBusy()
		}
		for _, next := range w.nodes[0].possible(nil)[:1] {
			next()
		}
	}
	for _, want := range []string{" times n0 → store: ready", "client 0 has no answer to: at 1h0m0s, node 0: start timer"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}
