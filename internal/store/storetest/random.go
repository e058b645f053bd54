package storetest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// Reopener is a store that random calls close and open again. What was ready then may
// come in another order.
type Reopener interface {
	store.Store
	Reopen() (Reopener, error)
}

// Random gives the same calls to a store and to store/memory: they must answer equally.
// Seqs may differ where one of them left some out, but not their order. A store that is an
// io.Closer is closed when a run is over.
func Random(t *testing.T, open func(t *testing.T) store.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &pair{T: rt, real: open(t), model: memory.New(), toModel: map[int64]int64{}}
		defer func() {
			if c, ok := p.real.(io.Closer); ok {
				_ = c.Close()
			}
		}()
		for _, digest := range []string{"x", "y"} { // so that there can be instances
			p.both("put", func(s store.Store) (string, error) {
				_, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: digest, Digest: digest, Program: Program(digest)}, nil, false)
				return "", err
			})
		}
		actions := map[string]func(*rapid.T){
			"commit": p.commit, "commit again": p.commit, "create": p.create, "ingest": p.ingest, "ingest more": p.ingest,
			"check": p.checkFresh, "again": p.routeAgain, "gather": p.gather, "work": p.work, "time": p.time,
			"define": p.define, "forget": p.forget, "": p.compare,
		}
		if _, ok := p.real.(Reopener); ok {
			actions["reopen"] = p.reopen
		}
		rt.Repeat(actions)
	})
}

// pair is two stores that must be alike.
type pair struct {
	*rapid.T
	real, model store.Store
	toModel     map[int64]int64 // Seqs of real
	now         core.Time
	events      int
	reopened    bool
	compared    int // how often
}

// seq is how a Seq of a side is called.
func (p *pair) seq(side store.Store, seq int64) int64 {
	if side == p.model || seq == 0 {
		return seq
	}
	if m, ok := p.toModel[seq]; ok {
		return m
	}
	return -seq
}

// both prints something of each side and compares.
func (p *pair) both(what string, show func(store.Store) (string, error)) string {
	m, merr := show(p.model)
	r, rerr := show(p.real)
	if kind(merr) != kind(rerr) {
		p.Fatalf("%s: the store gives %v, the model %v", what, rerr, merr)
	}
	if m != r {
		p.Fatalf("%s:%s", what, difference(r, m))
	}
	return m
}

// difference shows the lines that differ.
func difference(real, model string) (out string) {
	r, m := strings.Split(real, "\n"), strings.Split(model, "\n")
	for _, line := range r {
		if !slices.Contains(m, line) {
			out += "\nstore " + line
		}
	}
	for _, line := range m {
		if !slices.Contains(r, line) {
			out += "\nmodel " + line
		}
	}
	if out == "" {
		return fmt.Sprintf("\nstore %s\nmodel %s", real, model) // the order
	}
	return out
}

// kind is what callers tell errors apart by.
func kind(err error) string {
	for _, e := range []error{store.ErrConflict, store.ErrNotFound, store.ErrDuplicate, store.ErrLive, store.ErrOutdated, errRouter} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	var gone *store.NoContentError
	if errors.As(err, &gone) {
		return gone.Error()
	}
	var used *store.InUseError
	if errors.As(err, &used) {
		return used.Error()
	}
	if err != nil {
		return "other: " + err.Error()
	}
	return ""
}

var errRouter = errors.New("router")

func pick[T any](t *rapid.T, what string, list ...T) T {
	return rapid.SampledFrom(list).Draw(t, what)
}

func chance(t *rapid.T, what string, oneIn int) bool {
	return rapid.IntRange(1, oneIn).Draw(t, what) == 1
}

func some[T any](t *rapid.T, what string, list []T) []T {
	var out []T
	for _, v := range list {
		if rapid.Bool().Draw(t, what) {
			out = append(out, v)
		}
	}
	return out
}

// row draws what an instance becomes.
func (p *pair) row(t *rapid.T, in store.Instance) store.Instance {
	in.Status = pick(t, "status", core.Waiting, core.Running, core.Waiting, core.Completed, core.Failed)
	in.Updated = p.now
	in.Ended = 0
	if in.Status.Final() {
		in.Ended = p.now
	}
	in.HasWake = rapid.Bool().Draw(t, "wakes")
	in.Wake = 0
	if in.HasWake {
		in.Wake = p.now + core.Time(rapid.IntRange(-2, 9).Draw(t, "wake"))
	}
	in.More = chance(t, "more", 5)
	in.Fault = nil
	if in.Status == core.Failed {
		in.Fault = &core.Fault{Name: pick(t, "fault", "E", "F")}
	}
	in.Quarantine, in.Held = "", chance(t, "held", 8)
	if chance(t, "quarantine", 8) {
		in.Quarantine, in.Held = "why", false
	}
	in.Active = pick(t, "active", nil, []string{"x"}, []string{"x", "y"})
	if chance(t, "labelled", 3) {
		in.Labels = expr.Object(expr.Member{Key: pick(t, "label", "a", "b"), Value: pick(t, "value", expr.Int(1), expr.String("1"), expr.Array(expr.Int(1), expr.String("x")))})
	}
	in.Name, in.Key, in.Indexed = pick(t, "name", "", "", "1", "x"), pick(t, "key of the start", "", "", "1", "k"), chance(t, "indexed", 2)
	if chance(t, "keyed", 3) {
		in.Keys = []core.Key{{Name: "k", Value: pick(t, "key", "1", "2"), Fixed: true}}
	}
	if in.Job.Client != "" {
		in.Job.State, in.Job.Group = "", ""
		if !chance(t, "no job yet", 6) {
			in.Job.State = pick(t, "state", "NEW", "DONE", "y")
			in.Job.Group = map[string]string{"NEW": "OPEN", "DONE": "CLOSED"}[in.Job.State]
		}
	}
	return in
}

func (p *pair) newRow(t *rapid.T, id string) store.Instance {
	return p.row(t, store.Instance{
		ID: id, Definition: pick(t, "definition", "d", "e"), Version: pick(t, "version", "1", "2"), Digest: pick(t, "digest", "x", "y"),
		Created: p.now, Parent: pick(t, "parent", "", "a"), Job: store.Job{Client: pick(t, "client", "", "c1", "c2")},
	})
}

func (p *pair) id(t *rapid.T) string { return pick(t, "id", "a", "b", "c", "d", "e", "f") }

func (p *pair) create(t *rapid.T) { p.step(t, p.newRow(t, p.id(t))) }

func (p *pair) commit(t *rapid.T) {
	in, err := p.model.Instance(ctx, p.id(t))
	if err != nil {
		in.ID, in.Rev = "a", 5000 // nobody is
	}
	if chance(t, "stale", 10) {
		in.Rev += pick(t, "by", int64(-1), 1)
	}
	p.step(t, p.row(t, in))
}

// step commits with random commands.
func (p *pair) step(t *rapid.T, row store.Instance) {
	n := func(what string, most int) int { return rapid.IntRange(0, most).Draw(t, what) }
	ticket := func() core.Ticket {
		return pick(t, "ticket", core.Ticket(1), core.Ticket(2), core.Ticket(3), ticket("0.1+"), ticket("0.2+"), ticket("1.1+"))
	}
	c := store.Commit{Instance: row}
	for range n("pages", 2) {
		page := core.Page{Frame: core.FrameID(n("frame", 2)), Part: int32(n("part", 2)) - 1}
		if !chance(t, "drop", 3) {
			page.Data = []byte(pick(t, "data", "", "x", "yy", strings.Repeat("z", 600)))
		}
		c.Pages = append(c.Pages, page)
	}
	for i := range n("records", 2) {
		c.Records = append(c.Records, core.Record{Time: p.now, Attempt: i, Text: pick(t, "text", "r", "s")})
	}
	for range n("calls", 2) {
		c.Calls = append(c.Calls, store.Call{Invoke: core.Invoke{Ticket: ticket(), Attempt: int(p.now & math.MaxInt64)}})
	}
	for range n("answered", 1) {
		c.Answered = append(c.Answered, ticket())
	}
	for range n("emits", 1) {
		p.events++
		c.Emits = append(c.Emits, store.Emit{Definition: "d", Event: p.event(t)})
		if rapid.Bool().Draw(t, "and out") {
			c.Emits = append(c.Emits, store.Emit{Definition: "d", Event: c.Emits[0].Event, Sink: true})
		}
	}
	for range n("subscribe", 2) {
		c.Subscribe = append(c.Subscribe, store.Subscription{Ticket: ticket(), Name: "n", Filter: p.filter(t)})
	}
	open, _ := p.model.Subscriptions(ctx, row.ID)
	for range n("unsubscribe", 1) {
		// A step closes a standing wait once, while it is open: what ended and goes on has none.
		if u := ticket(); !u.Standing() || slices.ContainsFunc(open, func(s store.Subscription) bool { return s.Ticket == u }) {
			c.Unsubscribe = append(c.Unsubscribe, u)
		}
	}
	for range n("children", 1) {
		c.Children = append(c.Children, store.NewInstance{Instance: p.newRow(t, p.id(t)), Start: core.Start{Seed: 3}})
	}
	for range n("messages", 2) {
		c.Messages = append(c.Messages, store.Message{To: p.id(t), At: p.now, Input: core.Reply{Ticket: 9}})
	}
	inbox, _ := p.model.Messages(ctx, row.ID)
	taken := some(t, "taken", inbox)
	release := some(t, "release", taken)
	p.both("commit "+row.ID, func(s store.Store) (string, error) {
		c := c
		own, _ := s.Messages(ctx, row.ID)
		for i, m := range inbox {
			if slices.ContainsFunc(taken, func(o store.Message) bool { return o.Seq == m.Seq }) {
				c.Taken = append(c.Taken, own[i].Seq)
			}
			if slices.ContainsFunc(release, func(o store.Message) bool { return o.Seq == m.Seq }) {
				c.Release = append(c.Release, own[i].Seq)
			}
		}
		return "", s.Commit(ctx, c)
	})
	p.levelFresh(row.ID)
}

func (p *pair) event(t *rapid.T) event.Event {
	e := event.Event{ID: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "event")), Source: pick(t, "source", "s", "r"), Type: pick(t, "type", "t", "u")}
	for _, name := range []string{"k", "l"} {
		if rapid.Bool().Draw(t, name) {
			e.Put(name, expr.String(pick(t, "value of "+name, "1", "2")))
		}
	}
	return e
}

func (p *pair) filter(t *rapid.T) event.Filter {
	f := event.Filter{Type: pick(t, "type", "t", "u", ""), Source: pick(t, "source", "", "s")}
	for _, name := range []string{"l", "k"} {
		if rapid.Bool().Draw(t, name) {
			f.Keys = append(f.Keys, event.Key{Name: name, Value: pick(t, "value of "+name, "1", "2"), Fixed: !chance(t, "free", 4), Void: chance(t, "void", 9)})
		}
	}
	return f
}

// reopen closes the store and opens it again.
func (p *pair) reopen(*rapid.T) {
	again, err := p.real.(Reopener).Reopen()
	if err != nil {
		p.Fatalf("reopen: %v", err)
	}
	p.real, p.reopened = again, true
}
