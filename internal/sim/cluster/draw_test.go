package cluster

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// object is an object with one member.
func object(key string, v expr.Value) expr.Value {
	return expr.Object(expr.Member{Key: key, Value: v})
}

// step draws by how much a clock is put forward or back.
func (g *generator) step(d time.Duration) time.Duration {
	return pick(g, d, -d, time.Duration(g.r.IntN(7200)-3600)*time.Second)
}

// again makes a fault one of the first calls that come again, and has the node crash, so that some do.
func (g *generator) again(f *Fault) {
	g.c.Faults = append(g.c.Faults, Fault{Kind: pick(g, FaultCrash, FaultDie), Node: f.Node, On: "commit", Op: 1 + g.r.IntN(6), For: f.For})
	f.On, f.Op = "", 1+g.r.IntN(2)
}

// operators intervene in an instance: at once, while it works, and when it is over.
func (g *generator) operators(start Act) {
	for range 1 + g.r.IntN(3) {
		a := Act{
			Kind: ActControl, At: start.At + pick(g, g.soon(), g.soon()+5*time.Second), What: start.Choice,
			Verb:  pick(g, core.VerbRetry, core.VerbRetry, core.VerbSkip, core.VerbSkip, core.VerbAmend, core.VerbLabel, core.VerbSuspend, core.VerbResume),
			Since: g.chance(30),
		}
		if a.Verb == core.VerbSkip || a.Verb == core.VerbAmend || a.Verb == core.VerbLabel || g.chance(30) {
			a.Input = object("n", expr.Int(int64(g.r.IntN(9))))
		}
		g.add(a)
	}
}

// likewise starts others like an instance: under its key with another input, which is refused, and as its repetition.
func (g *generator) likewise(a Act) {
	if g.chance(15) {
		other := a
		other.At, other.Input = a.At+g.soon(), object("n", expr.Int(10))
		g.add(other)
	}
	if g.chance(15) {
		again := Act{Kind: ActRestart, At: a.At + g.soon(), What: a.Choice, Choice: g.name("repeated")}
		for range pick(g, 1, 2) {
			g.add(again)
		}
	}
}

// fragiles start instances that fail, until operators have helped them often enough.
func (g *generator) fragiles() {
	for range 1 + g.r.IntN(2) {
		g.operators(g.start("fragile"))
	}
}

// questions let persons answer a call: two of them, with two answers. Some questions go before they are answered,
// and another one gets the id.
func (g *generator) questions() {
	for range 1 + g.r.IntN(2) {
		key := g.name("question")
		at := g.soon()
		here := g.add(Act{Kind: ActStart, At: at, What: "question", Choice: key})
		reborn := g.chance(40)
		if reborn {
			at += pick(g, 500*time.Millisecond, time.Second)
			there := g.add(Act{Kind: ActControl, At: at, What: key, Verb: core.VerbTerminate})
			g.addAt(there, Act{Kind: ActDelete, At: at + 100*time.Millisecond, What: key})
			g.addAt(there, Act{Kind: ActStart, At: at + 200*time.Millisecond, What: "question", Choice: key})
			at += pick(g, 200*time.Millisecond, 500*time.Millisecond)
		}
		for range pick(g, 1, 2, 2, 3) {
			g.addAt(here, Act{Kind: ActAnswer, At: at + g.soon(), What: key, Choice: g.name("answer"), Since: reborn})
			here = g.r.IntN(g.c.Nodes)
		}
	}
}

// rebirths end and delete instances while their call is under way, and start others that get their ids.
func (g *generator) rebirths() {
	for range 1 + g.r.IntN(3) {
		a := Act{Kind: ActStart, At: g.soon(), What: "slow", Choice: g.name("reborn")}
		g.add(a)
		for range 1 + g.r.IntN(2) {
			a.At += pick(g, 200*time.Millisecond, 500*time.Millisecond, time.Second, 2*time.Second)
			g.add(Act{Kind: ActControl, At: a.At, What: a.Choice, Verb: pick(g, core.VerbCancel, core.VerbTerminate)})
			a.At += 100 * time.Millisecond
			g.add(Act{Kind: ActDelete, At: a.At, What: a.Choice})
			a.At += 100 * time.Millisecond
			g.add(a)
		}
	}
}

// bells start instances that produce several events.
func (g *generator) bells() {
	for range 1 + g.r.IntN(3) {
		g.start("bells")
	}
}

// jobs lets a device and an operator advance a job; some updates come too early, some twice.
func (g *generator) jobs() {
	id := g.name("job")
	at := g.soon()
	times := []time.Duration{at}
	g.add(Act{Kind: ActJob, At: at, What: id})
	for _, step := range []struct{ actor, choice string }{{"CLIENT", "FETCHING"}, {"CLIENT", "FETCHED"}, {"WFX", "APPROVED"}, {"CLIENT", "DONE"}} {
		at += time.Duration(g.r.IntN(3)) * time.Second
		times = append(times, at)
		for range pick(g, 1, 1, 2, 3) {
			choice := step.choice
			if choice == "FETCHED" && g.chance(20) {
				choice = "BROKEN"
			}
			g.add(Act{Kind: ActUpdate, At: at, What: id, Actor: step.actor, Choice: choice, Since: g.chance(40)})
		}
		if g.chance(60) {
			g.add(Act{Kind: ActRead, At: at + pick(g, 0, 0, time.Second), What: id})
		}
	}
	if g.chance(40) {
		g.add(Act{Kind: ActDrop, At: pick(g, times...), What: id, Since: g.chance(70)})
	}
}

// campaigns create jobs for several devices, of which one may act from two places, and another never.
func (g *generator) campaigns() {
	var devices []expr.Value
	for range 1 + g.r.IntN(3) {
		devices = append(devices, expr.String(g.name("device")))
	}
	key := g.name("campaign")
	at := g.soon()
	g.add(Act{Kind: ActStart, At: at, What: "campaign", Choice: key, Input: object("devices", expr.Array(devices...))})
	for _, d := range devices {
		for range pick(g, 0, 1, 1, 2) {
			g.add(Act{Kind: ActDevice, At: at + g.soon(), What: d.Str()})
		}
		if g.chance(20) {
			g.add(Act{Kind: ActDrop, At: at + g.soon(), Actor: d.Str(), Since: g.chance(30)})
		}
	}
	if g.chance(40) {
		g.add(Act{Kind: ActControl, At: at + g.soon(), What: key, Verb: pick(g, core.VerbCancel, core.VerbTerminate)})
	}
}

// briefs deploy and delete a definition while it is started; it is in use while instances are there.
func (g *generator) briefs() {
	for range 1 + g.r.IntN(3) {
		at := g.soon()
		g.n++
		key := fmt.Sprint("brief-", g.n)
		g.add(Act{Kind: ActStart, At: at, What: "brief", Choice: key})
		g.add(Act{Kind: ActDelete, At: at + pick(g, 0, time.Second), What: key})
	}
	for range 2 + g.r.IntN(5) {
		g.add(Act{Kind: pick(g, ActUndeploy, ActUndeploy, ActDeploy), At: g.soon() + pick(g, 0, 3*time.Second), What: "brief"})
	}
}
