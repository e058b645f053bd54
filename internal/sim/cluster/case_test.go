package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/sim"
)

// Case is everything that happens from outside, as data. Together with the code it decides the
// whole run.
type Case struct {
	Seed   uint64 // of the order in which the nodes go on
	Nodes  int
	SQLite bool          // the store is SQLite, of one node
	Oracle *sim.Case     // what is deployed besides the fixed definitions, with how its functions answer; nil: nothing
	Retain time.Duration // how long instances stay that are over; 0: for ever
	Forget time.Duration // how long the feed tells what happened; 0: for ever
	Sweep  time.Duration // how long jobs stay that are over, or in a certain state; 0: for ever
	Join   time.Duration // when the last node comes up, and others give parts to it; 0: with them
	Acts   []Act         // by At
	Faults []Fault
}

// Act is something that a client wants. It asks again, somewhere else, until it has an answer.
type Act struct {
	At     time.Duration
	Node   int // who is asked first
	Kind   ActKind
	What   string // the definition, the instance or the job
	Input  expr.Value
	Event  event.Event
	Verb   core.Verb // of a control
	Choice string    // of a device or an operator
	Actor  string
	Update *sim.Update // of the job of the generated definition
	Since  bool        // of an update, a control or a drop: the instance is read first, and nothing must have changed since; of an answer: there will be a call
}

// ActKind is what a client wants.
type ActKind string

// The kinds of acts.
const (
	ActStart   ActKind = "start"   // an instance of What, under the key of the act
	ActEvent   ActKind = "event"   // to be taken
	ActControl ActKind = "control" // of the instance that the first act with its key started
	ActDelete  ActKind = "delete"  // likewise, once it is over
	ActDeploy  ActKind = "deploy"  // another version of What
	ActCron    ActKind = "cron"    // a definition with a schedule, and after a while one without
	ActJob     ActKind = "job"     // is created, with the id What
	ActUpdate  ActKind = "update"  // of the job What
	ActRead    ActKind = "read"    // likewise
	ActDevice  ActKind = "device"  // looks for a job of the client What, and advances it until it is done
	ActAnswer  ActKind = "answer"  // to the call that waits for a person, of the instance with the key What

	ActUndeploy ActKind = "undeploy" // all versions of What
	ActRestart  ActKind = "restart"  // an instance like the one with the key What
	ActDrop     ActKind = "drop"     // the job What, or that of the client Actor, whatever it does
	ActFollow   ActKind = "follow"   // what happens, while it does
	ActSchedule ActKind = "schedule" // that of the definition rounds is paused, resumed, triggered…: What says which
)

// Fault is something that goes wrong at a node.
type Fault struct {
	Kind FaultKind
	Node int
	On   string        // what the node asks the store for then, by its first word; "": anything
	Op   int           // when it does so for the Op-th time
	For  time.Duration // how long it lasts
}

// FaultKind is a kind of fault.
type FaultKind string

// The kinds of faults.
const (
	FaultCrash FaultKind = "crash" // before the store does it; the node comes back after For
	FaultDie   FaultKind = "die"   // likewise, after the store did it
	FaultFail  FaultKind = "fail"  // the store does not do it, and says so
	FaultLose  FaultKind = "lose"  // it does it, and the answer is lost
	FaultPause FaultKind = "pause" // the node stands still, also its heartbeats
	FaultStall FaultKind = "stall" // likewise, after the store did it
	FaultSlow  FaultKind = "slow"  // the store takes its time for this; heartbeats go on
	FaultCut   FaultKind = "cut"   // the node does not reach the store; heartbeats neither
	FaultLag   FaultKind = "lag"   // from now on the node's clock is late by For

	// Of functions: when they are called for the Op-th time, by whichever node.
	FaultHang  FaultKind = "hang"  // the answer comes much later
	FaultBreak FaultKind = "break" // the call fails
	FaultAgain FaultKind = "again" // of the calls that come again, the Op-th gets another answer

	FaultSink FaultKind = "sink" // does not take the Op-th event, or says so though it did
)

var faultKinds = []FaultKind{FaultCrash, FaultDie, FaultFail, FaultLose, FaultPause, FaultSlow, FaultCut, FaultLag, FaultStep, FaultHang, FaultBreak, FaultAgain, FaultSink}

var actKinds = []ActKind{ActStart, ActEvent, ActControl, ActDelete, ActDeploy, ActCron, ActJob, ActUpdate, ActRead, ActDevice, ActAnswer, ActUndeploy, ActRestart, ActDrop, ActFollow, ActSchedule}

// outside are the faults of those whom nodes ask.
var outside = []FaultKind{FaultHang, FaultBreak, FaultAgain, FaultSink}

// Those of a node that has the store in its files. Also a crash then leaves only some of what was
// not synced.
const (
	FaultPower FaultKind = "power" // the machine stops in the midst of writing, and is back after For
	FaultWrite FaultKind = "write" // one fails
	FaultSync  FaultKind = "sync"  // a few fail
	FaultFull  FaultKind = "full"  // the disk is, for For
	FaultStep  FaultKind = "step"  // the clock is put forward by For, or back; where nodes share the store: the database's
)

var diskFaults = []FaultKind{FaultCrash, FaultDie, FaultPower, FaultPower, FaultWrite, FaultSync, FaultFull, FaultStep, FaultSlow, FaultHang, FaultBreak, FaultAgain, FaultSink}

// Generate makes the case of a seed.
func Generate(seed uint64) *Case {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0xc105)), c: &Case{Seed: seed}}
	g.c.Nodes = pick(g, 1, 2, 2, 3, 3)
	if g.c.SQLite = seed%4 == 0; g.c.SQLite {
		g.c.Nodes = 1
	}
	if g.chance(50) {
		g.oracle(seed)
	}
	for range pick(g, 1, 1, 2, 3) {
		pick(g, g.pairs, g.timers, g.retries, g.jobs, g.gatherings, g.families, g.redeploys, g.crons, g.nudges, g.fragiles, g.questions, g.bells, g.campaigns, g.briefs, g.rebirths)()
	}
	if g.c.Oracle == nil && g.chance(25) {
		g.c.Retain = pick(g, time.Second, 20*time.Second)
	}
	if g.c.Retain > 0 && g.chance(30) {
		g.c.Forget = pick(g, 2*time.Second, 20*time.Second)
	}
	if g.c.Oracle == nil && g.chance(25) && slices.ContainsFunc(g.c.Acts, func(a Act) bool { return a.Kind == ActJob || a.Kind == ActDevice }) {
		g.c.Sweep = pick(g, 2*time.Second, 10*time.Second)
	}
	if g.chance(25) {
		g.add(Act{Kind: ActFollow, At: g.soon()})
	}
	if g.c.Oracle == nil && g.c.Nodes > 1 && g.chance(40) { // what changes hands may take longer than the interpreter says
		near := time.Duration(g.r.IntN(600)-300) * time.Millisecond // of the calls of timers
		g.c.Join = pick(g, 5*time.Second+near, 6*time.Second+near, time.Duration(1+g.r.IntN(8000))*time.Millisecond)
	}
	if g.chance(75) {
		for range 1 + g.r.IntN(6) {
			g.fault()
		}
		g.stall()
	}
	if g.c.Retain == 0 && seed%8 == 6 || g.c.Retain == 0 && seed%16 == 8 { // 8: on SQLite
		g.roundsOps()
	}
	slices.SortStableFunc(g.c.Acts, func(a, b Act) int { return int(a.At - b.At) })
	return g.c
}

type generator struct {
	r *rand.Rand
	c *Case
	n int // of what has a name of its own
}

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func pick[T any](g *generator, list ...T) T { return list[g.r.IntN(len(list))] }

// soon draws an instant of the first seconds; many of them are the same.
func (g *generator) soon() time.Duration {
	return pick(g, 0, 0, time.Second, time.Duration(g.r.IntN(5000))*time.Millisecond)
}

// add adds an act at any node, and tells which.
func (g *generator) add(a Act) (node int) { return g.addAt(g.r.IntN(g.c.Nodes), a) }

func (g *generator) addAt(node int, a Act) int {
	a.Node = node
	g.c.Acts = append(g.c.Acts, a)
	return node
}

func (g *generator) name(kind string) string {
	g.n++
	return fmt.Sprint(kind, "-", g.n)
}

// oracle takes a case of package sim: what comes of it is known.
func (g *generator) oracle(seed uint64) {
	c := sim.Generate(seed)
	if _, open := sim.Interpret(c); open != "" || c.TakesAll() {
		return // nobody promises what comes of it; what takes every event gets those for other definitions
	}
	g.c.Oracle = c
	if c.IsJob() {
		g.add(Act{Kind: ActJob, What: sim.JobID})
	} else if c.ByHand {
		g.add(Act{Kind: ActStart, What: c.ID(), Input: c.Input})
	}
	for _, e := range c.Events {
		ev, err := event.FromValue(e.Event)
		if err != nil {
			panic(err)
		}
		g.add(Act{Kind: ActEvent, At: e.At, Event: ev})
	}
	for i := range c.Updates {
		g.add(Act{Kind: ActUpdate, At: c.Updates[i].At, What: sim.JobID, Update: &c.Updates[i]})
	}
}

// send adds an event; some come twice.
func (g *generator) send(at time.Duration, typ, key string) {
	e := event.Event{ID: g.name(typ), Source: source, Type: typ}
	e.Put("order", expr.String(key))
	for range pick(g, 1, 1, 1, 2) {
		g.add(Act{Kind: ActEvent, At: at, Event: e})
	}
}

// source is that of the events for the fixed definitions.
const source = "sim"

// pairs sends events of a few orders, which two instances of each may want.
func (g *generator) pairs() {
	for range 1 + g.r.IntN(3) {
		key := g.name("order")
		for range 1 + g.r.IntN(5) {
			g.send(g.soon(), "message", key)
		}
	}
}

// nudges lets instances wait for an event that may come at the very end of their patience.
func (g *generator) nudges() {
	for range 1 + g.r.IntN(3) {
		key := g.name("nudged")
		at := g.soon()
		g.add(Act{Kind: ActStart, At: at, What: "nudged", Choice: key, Input: expr.Object(expr.Member{Key: "order", Value: expr.String(key)})})
		comes := at + pick(g, 0, time.Second, 1001*time.Millisecond, 999*time.Millisecond, 3*time.Second)
		g.send(comes, "nudge", key)
		if g.chance(40) { // the instance ends while its event is on the way
			g.add(Act{Kind: ActControl, At: comes, What: key, Verb: pick(g, core.VerbCancel, core.VerbTerminate)})
			g.add(Act{Kind: ActDelete, At: comes + pick(g, 0, 0, time.Second), What: key})
		}
	}
}

// gatherings sends what a start needs both of.
func (g *generator) gatherings() {
	for range 1 + g.r.IntN(2) {
		key := g.name("parcel")
		for range 1 + g.r.IntN(3) {
			g.send(g.soon(), "paid", key)
			g.send(g.soon(), "packed", key)
		}
	}
}

// start adds an instance, and with it what is done to that.
func (g *generator) start(definition string) (a Act) {
	a = Act{Kind: ActStart, At: g.soon(), What: definition, Input: expr.Object(expr.Member{Key: "n", Value: expr.Int(int64(g.r.IntN(9)))})}
	g.n++
	a.Choice = fmt.Sprint("key-", g.n)
	for range pick(g, 1, 1, 2) { // the same key twice is one instance
		g.add(a)
	}
	g.likewise(a)
	switch g.r.IntN(5) {
	case 0:
		g.add(Act{Kind: ActControl, At: a.At + g.soon(), What: a.Choice, Verb: pick(g, core.VerbCancel, core.VerbTerminate, core.VerbSuspend), Since: g.chance(30)})
		if g.chance(50) {
			g.add(Act{Kind: ActControl, At: a.At + 10*time.Second, What: a.Choice, Verb: core.VerbResume})
		}
	case 1:
		d := Act{Kind: ActDelete, At: a.At + g.soon() + 8*time.Second, What: a.Choice}
		g.add(d)
		if g.chance(50) { // then another instance gets the id
			again := a
			again.At = d.At + pick(g, 0, time.Second)
			g.add(again)
		}
	case 2:
		g.operators(a)
	}
	return a
}

func (g *generator) timers() {
	for range 1 + g.r.IntN(4) {
		g.start("timer")
	}
}

func (g *generator) retries() {
	for range 1 + g.r.IntN(3) {
		g.start("retry")
	}
}

func (g *generator) families() {
	for range 1 + g.r.IntN(2) {
		g.start("parent")
	}
}

// redeploys deploys other versions while instances start.
func (g *generator) redeploys() {
	g.start("timer")
	g.add(Act{Kind: ActDeploy, At: g.soon(), What: "timer"})
	g.start("timer")
}

// crons lets a schedule start instances for a while.
func (g *generator) crons() {
	if slices.ContainsFunc(g.c.Acts, func(a Act) bool { return a.Kind == ActCron }) {
		return // one is enough
	}
	at := g.soon()
	g.add(Act{Kind: ActCron, At: at, What: "cron"})
	g.add(Act{Kind: ActCron, At: at + time.Duration(60+g.r.IntN(200))*time.Second, What: "uncron"})
	if g.chance(30) { // nobody is up at some of its times
		op, outage := 1+g.r.IntN(100), time.Duration(20+g.r.IntN(60))*time.Second
		for i := range g.c.Nodes {
			g.c.Faults = append(g.c.Faults, Fault{Kind: FaultCrash, Node: i, On: "schedules", Op: op, For: outage})
		}
	}
}

// stall lets a node stand still until its lease is over, between a decision and what follows from it. Not where ids
// come again: requests that waited would read one instant of the simulated clock, and create two instances in it.
func (g *generator) stall() {
	comesAgain := slices.ContainsFunc(g.c.Acts, func(a Act) bool { return a.Kind == ActDelete })
	if g.c.SQLite || !g.chance(15) {
		return
	}
	long := lease + time.Duration(g.r.IntN(3000))*time.Millisecond
	f := Fault{Kind: FaultStall, Node: g.r.IntN(g.c.Nodes), On: "commit", Op: 1 + g.r.IntN(12), For: long}
	if !comesAgain {
		g.c.Faults = append(g.c.Faults, f)
	}
}

func (g *generator) fault() {
	if g.c.SQLite {
		g.diskFault()
		return
	}
	f := Fault{Kind: pick(g, faultKinds...), Node: g.r.IntN(g.c.Nodes), Op: 1 + g.r.IntN(pick(g, 20, 120, 500))}
	if g.chance(50) {
		f.On, f.Op = pick(g, "commit", "ingest", "route", "advance", "handed", "inbox", "instance"), 1+g.r.IntN(12)
	}
	f.For = time.Duration(g.r.IntN(4000)) * time.Millisecond
	switch f.Kind {
	case FaultLose:
		if g.chance(20) {
			f.On, f.Op = onBeat, 1+g.r.IntN(30)
		}
	case FaultLag:
		f.For = time.Duration(g.r.IntN(200)) * time.Millisecond
	case FaultStep:
		f.For = g.step(f.For)
	case FaultHang, FaultBreak, FaultSink:
		f.On, f.Op = "", 1+g.r.IntN(8)
		f.For *= 10
	case FaultAgain:
		g.again(&f)
	}
	g.c.Faults = append(g.c.Faults, f)
}
