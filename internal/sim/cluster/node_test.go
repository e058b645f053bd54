package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/sim"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var (
	errCrashed = errors.New("the process is gone")
	errFailed  = errors.New("the store fails")
)

// node is a place where one process runs after the other.
type node struct {
	w      *world
	number int
	name   string
	proc   *process  // nil: it is down
	upAt   time.Time // then it comes up again
	beatAt time.Time
	ops    map[string]int // requests to the store so far, by their first word; "": all
	born   int            // processes
	lag    time.Duration
	step   time.Duration // of its clock, where that is its own
	pause  time.Time     // until when it stands still
	cut    time.Time     // until when it does not reach the store
}

// process is one life of a node: an engine and its threads, of which one runs at a time.
type process struct {
	n       *node
	session *Session
	engine  *engine.Engine
	ctx     context.Context
	cancel  context.CancelFunc
	threads []*thread // the first looks for work, each other one does what a client wants
	runs    *thread
	begun   bool // it takes requests
	dead    bool
	moves   int // how often a thread went on
	served  int // likewise, one of a client

	again  bool // the last poll found something
	seen   int64
	parts  int64
	pollAt time.Time // zero: when something is written
}

// boot starts a process.
func (n *node) boot() {
	n.born++
	p := &process{n: n}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.session = n.w.db.Connect(fmt.Sprint(n.name, ".", n.born), p)
	n.proc = p
	if f := &n.w.ledger.fires; f.ending.IsZero() {
		f.up = n.w.now
	}
	n.w.tell(n.name, n.name, "starts")
	p.begin("start", nil, p.live)
}

// up reports whether the node takes requests.
func (n *node) up() bool {
	return n.proc != nil && n.proc.begun
}

// end stops the process; nothing of it goes on.
func (n *node) end() {
	if p := n.proc; p != nil {
		p.dead = true
		p.cancel()
		p.unwind()
		n.proc = nil
	}
}

// over says that nothing of a process is left but what is on its disk.
func (n *node) over() {
	n.proc = nil
	if d := n.w.disk; d != nil {
		if err := d.close(); err != nil {
			n.w.violate("the disk: %w", err)
		}
	}
}

// possible lists what may happen here next.
func (n *node) possible(list []func()) []func() {
	w, p := n.w, n.proc
	if p == nil {
		if !n.upAt.After(w.now) {
			list = append(list, n.boot)
		}
		return list
	}
	if n.pause.After(w.now) {
		return list
	}
	if p.session.leases.id != "" && !n.beatAt.After(w.now) && !n.cut.After(w.now) {
		list = append(list, n.beat)
	}
	for _, t := range p.threads {
		if t.ready() {
			list = append(list, t.goOn)
		}
	}
	return list
}

// next tells when something happens here, other than a heartbeat.
func (n *node) next(sooner func(time.Time)) {
	w, p := n.w, n.proc
	switch {
	case p == nil:
		sooner(n.upAt)
	case n.pause.After(w.now):
		sooner(n.pause)
	default:
		sooner(n.cut)
		for _, t := range p.threads {
			sooner(t.sleeps)
		}
		sooner(p.pollAt)
	}
}

func (n *node) beat() {
	n.beatAt = n.w.now.Add(beat)
	n.ops[onBeat]++
	lost := slices.ContainsFunc(n.w.c.Faults, func(f Fault) bool {
		return f.Kind == FaultLose && f.Node == n.number && f.On == onBeat && f.Op == n.ops[onBeat]
	})
	if lost {
		n.w.faults[FaultLose]++
		n.w.tell(n.name, n.name, "the answer to its heartbeat is lost")
	}
	n.proc.session.beat(lost)
}

// onBeat is what a fault of heartbeats is on.
const onBeat = "beat"

// heard reports whether heartbeats of the process come through.
func (p *process) heard() bool {
	now := p.n.w.now
	return !p.dead && !p.n.pause.After(now) && !p.n.cut.After(now) && p.session.leases.id != ""
}

// hasWork reports whether there is something to do that is known here.
func (p *process) hasWork() bool {
	w := p.n.w
	return p.again || p.seen != w.db.writes || p.parts != p.session.leases.count ||
		!p.pollAt.IsZero() && !p.pollAt.After(w.now)
}

// live is what the first thread does.
func (p *process) live() {
	if err := p.comeUp(); err != nil {
		p.n.w.tell(p.n.name, p.n.name, "does not come up: %v", err)
		p.die(time.Second)
		return
	}
	for !p.dead {
		if p.hasWork() {
			p.poll()
		} else if !p.yield("") {
			p.dead = true
		}
	}
}

// die ends the process from within, which unwinds: whatever it asks for from now on fails.
func (p *process) die(down time.Duration) {
	p.dead = true
	p.cancel()
	p.n.upAt = p.n.w.now.Add(down)
}

func (p *process) comeUp() (err error) {
	w := p.n.w
	if w.disk != nil {
		if err := w.disk.open(); err != nil {
			return err
		}
		w.disk.recovered(p.ctx)
	}
	p.engine, err = engine.New(engine.Config{
		Store: w.store(p.session), Clock: w.clockOf(p.n), Languages: languages.All(), Timezone: "UTC", Inline: true, MissedFires: engine.MissedAll, Retention: w.c.Retain, FeedRetention: w.c.Forget, Housekeeping: w.c.housekeeping(),
		Invoker: effect.Func(func(_ context.Context, c effect.Call) effect.Outcome { return w.endpoints.invoke(p, c) }),
		NewID: func() string {
			w.ledger.ids++
			return fmt.Sprint("instance-", w.ledger.ids)
		},
		OnEmit: func(_ string, e event.Event) { w.ledger.produced = append(w.ledger.produced, sim.ProducedAt(w.now, e)) },
		Sink:   func(_ context.Context, e event.Event) error { return w.ledger.sink.take(p, e) },
		Node:   store.Member{Name: p.n.name},

		ChunkBytes: 16, // most values are large

		Probe: engine.Probe{Yield: p.block, Fold: func(c *store.Commit, inputs []core.Input) { w.ledger.folding(p.session.node, c, inputs) }},
	})
	if err != nil {
		return err
	}
	_, err = p.engine.Join(p.ctx)
	p.n.beatAt = w.now
	p.begun = err == nil
	return err
}

// store is the store as an engine gets it.
func (w *world) store(s *Session) store.Store {
	if w.disk != nil {
		return alone{s}
	}
	return s
}

// clockOf is the clock as an engine gets it; nil: that of the store.
func (w *world) clockOf(n *node) engine.Clock {
	if w.disk != nil {
		return n
	}
	return nil
}

// poll does what can be done now.
func (p *process) poll() {
	w := p.n.w
	p.seen, p.parts = w.db.writes, p.session.leases.count
	served := p.served
	progress, err := p.engine.Poll(p.ctx)
	p.again, p.pollAt = progress, time.Time{}
	switch {
	case p.dead || progress:
	case err != nil:
		p.pollAt = w.now.Add(time.Second)
	default:
		if next, ok := p.engine.Next(); ok {
			p.pollAt = next.Add(p.n.lag - w.stepOf(p.n))
			if !p.pollAt.After(w.now) {
				p.again = p.served != served // what a request left meanwhile is not waited for
				p.pollAt = w.now.Add(50 * time.Millisecond)
			}
		}
		if list, _ := w.db.Store.Outbound(p.ctx, 1); len(list) > 0 { // a node that runs looks every now and then
			if soon := w.now.Add(500 * time.Millisecond); p.pollAt.IsZero() || soon.Before(p.pollAt) {
				p.pollAt = soon
			}
		}
	}
}

// ask stops before the store does something.
func (p *process) ask(op string, writes bool) error {
	n := p.n
	if p.dead {
		return errCrashed
	}
	if !p.yield(op) {
		p.dead = true
		return errCrashed
	}
	word, _, _ := strings.Cut(op, " ")
	n.ops[""]++
	n.ops[word]++
	n.w.add(Line{At: n.w.since(), From: n.name, To: "store", Text: op, Read: !writes})
	if n.cut.After(n.w.now) {
		return errFailed
	}
	return p.faults(word, FaultCrash, FaultFail, FaultPause, FaultSlow, FaultCut, FaultLag, FaultPower, FaultWrite, FaultSync, FaultFull, FaultStep)
}

// answer stops after the store did something.
func (p *process) answer(op string, writes bool) error {
	if p.dead {
		return errCrashed
	}
	if writes && !p.yield(op+", done") {
		p.dead = true
		return errCrashed
	}
	word, _, _ := strings.Cut(op, " ")
	return p.faults(word, FaultDie, FaultLose, FaultStall)
}

// faults lets happen what goes wrong now.
func (p *process) faults(word string, kinds ...FaultKind) error {
	n := p.n
	for _, f := range n.w.c.Faults {
		if f.Node != n.number || f.On != "" && f.On != word || f.Op != n.ops[f.On] {
			continue
		}
		for _, kind := range kinds {
			if f.Kind != kind {
				continue
			}
			n.w.faults[kind]++
			n.w.tell(n.name, n.name, "%s for %s", kind, f.For)
			if err := p.suffer(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *process) suffer(f Fault) error {
	n, until := p.n, p.n.w.now.Add(f.For)
	if n.w.disk != nil {
		n.w.disk.suffer(f)
	}
	switch f.Kind {
	case FaultCrash, FaultDie:
		p.die(f.For)
		return errCrashed
	case FaultFail, FaultLose:
		return errFailed
	case FaultCut:
		n.cut = until
		return errFailed
	case FaultLag:
		n.lag = f.For
	case FaultStep:
		if n.w.disk == nil {
			n.w.shown = n.w.latest()
			n.w.step += f.For
		}
	case FaultPause, FaultStall:
		n.pause = until
		return p.wait()
	case FaultSlow:
		p.runs.sleeps = until
		return p.wait()
	}
	return nil
}

// wait stops once more.
func (p *process) wait() error {
	if !p.yield("waits") {
		p.dead = true
		return errCrashed
	}
	return nil
}

// now is the database's clock as the node knows it.
func (p *process) now() time.Time { return p.n.w.clock().Add(-p.n.lag) }

// local is the node's own clock.
func (p *process) local() time.Time { return p.n.w.now }
