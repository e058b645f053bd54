package core

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

var (
	randomPrograms = flag.Int("core.programs", 1000, "how many random programs TestRandomPrograms runs")
	randomSeed     = flag.Int64("core.seed", 0, "the first seed")
)

// TestRandomPrograms gives random inputs to random programs, twice: to a state that
// stays in memory and to one that is read from its pages before every step. Both must
// do the same. Every open ticket was commanded, every command is closed once, the pages
// are exactly those that the state needs, and no frame waits for nothing.
func TestRandomPrograms(t *testing.T) {
	ended, chunks := map[Status]int{}, 0
	for seed := *randomSeed; seed < *randomSeed+int64(*randomPrograms); seed++ {
		d := runRandom(t, seed)
		if d.bad != "" {
			t.Fatalf("-core.seed=%d -core.programs=1: %s\nlast inputs:\n%s", seed, d.bad, strings.Join(d.log[max(0, len(d.log)-3):], "\n"))
		}
		ended[d.mem.Status()]++
		chunks += len(d.large)
	}
	for _, s := range []Status{Completed, Failed, Cancelled, Waiting} {
		if ended[s] == 0 && *randomPrograms >= 1000 {
			t.Errorf("no program ended %s: the generator has lost something (%v)", s, ended)
		}
	}
	if chunks == 0 && *randomPrograms >= 1000 {
		t.Error("no program told a chunk")
	}
	t.Logf("%d chunks", chunks)
}

// twin advances one instance in memory and one from pages.
type twin struct {
	p     *Program
	host  Host
	now   Time
	mem   *State
	pages map[pageKey][]byte
	tells bool                // large values of its history are chunks
	told  []Record            // the history
	large map[ChunkRef][]byte // the chunks in it
	open  map[Ticket]WaitKind // commanded and not closed
	log   []string
	bad   string // the first thing that is wrong
}

func runRandom(t *testing.T, seed int64) *twin {
	p, err := genProgram(seed)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewSource(seed * 7919))
	d := &twin{p: p, host: Host{Awaited: seed%2 == 0}, now: 1e18, pages: map[pageKey][]byte{}, large: map[ChunkRef][]byte{}, open: map[Ticket]WaitKind{}}
	d.tells = seed%2 == 0
	data := value(`{"items":[{"a":1},{"a":2},{"a":3}],"order":1}`)
	if seed%3 == 0 { // values that get pages of their own
		data = data.With("large", expr.String(strings.Repeat("x", inlineBytes)))
	}
	d.step(Start{Data: data, Seed: uint64(seed)})
	for i := 0; i < 60 && d.bad == ""; i++ {
		d.step(d.randomInput(r)...)
	}
	return d
}

func value(text string) expr.Value {
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func (d *twin) randomInput(r *rand.Rand) []Input {
	some := func() expr.Value {
		return value(fmt.Sprintf(`{"id":"1","source":"s","type":"t","key":"p1","key2":"q","k%d":%d,"data":{"d%d":[%d]}}`, r.Intn(3), r.Intn(9), r.Intn(3), r.Intn(9)))
	}
	open := d.mem.Open(d.p)
	switch x := r.Intn(20); {
	case x < 12 && len(open) > 0:
		o := open[r.Intn(len(open))]
		in := Reply{Ticket: o.Ticket, Value: some()}
		switch y := r.Intn(6); {
		case y == 0 && o.Kind != WaitEvent && o.Kind != WaitListen:
			in.Fault = &Fault{Name: []string{"E1", "E2", "E3"}[r.Intn(3)]}
		case y == 1:
			in.None = true
		case y == 2 && o.Kind == WaitChild && r.Intn(4) == 0:
			in.Terminate = true
		}
		return []Input{in}
	case x < 15:
		d.now += Time(r.Intn(15)) * 1e9
		var due []Input
		for _, tk := range d.mem.Due(d.now) {
			due = append(due, Reply{Ticket: tk})
		}
		return due
	case x < 16:
		return []Input{Take{Actor: "A", Choice: fmt.Sprintf("c%d", r.Intn(2)), Value: some()}}
	case x < 17:
		verbs := []Verb{VerbSuspend, VerbResume, VerbResume, VerbRetry, VerbRetry, VerbSkip, VerbLabel, VerbAmend, VerbCancel}
		c := Control{Verb: verbs[r.Intn(len(verbs))], Compensate: r.Intn(2) == 0, Items: r.Intn(2) == 0}
		if c.Verb == VerbCancel && r.Intn(3) > 0 {
			c.Verb = VerbRetry
		}
		if r.Intn(2) == 0 || c.Verb == VerbAmend || c.Verb == VerbSkip {
			c.Data, c.HasData = value(`{"items":[1,2,3,4]}`), true
		}
		return []Input{c}
	}
	return []Input{Continue{}}
}

func (d *twin) fail(format string, args ...any) {
	if d.bad == "" {
		d.bad = fmt.Sprintf(format, args...)
	}
}

func (d *twin) decoded() *State {
	if d.mem == nil {
		return nil
	}
	var pages []Page
	for k, data := range d.pages {
		pages = append(pages, Page{Frame: k.frame, Part: k.part, Data: data})
		pages = d.chunks(pages, data, func(b []byte) ([]ChunkRef, bool) { return PageRefs(b) })
	}
	s, err := DecodeState(d.p, pages, nil)
	if err != nil {
		d.fail("decode: %v", err)
	}
	return s
}

// chunks appends the chunks to which a page or a chunk refers.
func (d *twin) chunks(pages []Page, data []byte, refs func([]byte) ([]ChunkRef, bool)) []Page {
	list, ok := refs(data)
	if !ok {
		d.fail("the references of a page cannot be read")
	}
	for _, r := range list {
		if d.large[r] == nil {
			d.fail("chunk %d is referred to and was never told", r)
		}
		pages = append(pages, Page{Chunk: r, Data: d.large[r]})
		pages = d.chunks(pages, d.large[r], func(b []byte) ([]ChunkRef, bool) {
			refs, _, ok := CutChunkRefs(b)
			return refs, ok
		})
	}
	return pages
}

// knownChunks shows the chunks that a state knows, and how often each page refers to them.
func knownChunks(s *State) string {
	if s.chunks == nil || len(s.chunks.known) == 0 {
		return "none"
	}
	pages := map[pageKey][]ChunkRef{}
	for k, values := range s.chunks.pages {
		for _, v := range values {
			pages[k] = append(pages[k], s.chunks.known[v].ref)
		}
		pages[k] = distinct(pages[k])
	}
	var all []ChunkRef
	for _, c := range s.chunks.known {
		all = append(all, c.ref)
	}
	return fmt.Sprint(pages, distinct(all), len(s.chunks.same))
}

// tell adds records to the history: both states find the same chunks in them, and the values that are chunks
// are read from there.
func (d *twin) tell(a, b Result) {
	d.told = append(d.told, a.Records...)
	told, again := a.State.Tell(24, a.Records, int64(len(d.told))), b.State.Tell(24, b.Records, int64(len(d.told)))
	if told == nil || again == nil {
		if told != again {
			d.fail("one state finds chunks, the other one does not")
		}
		return
	}
	if !slices.EqualFunc(told.Fresh, again.Fresh, bytes.Equal) {
		d.fail("the states find other chunks")
	}
	var all ChunkReader
	for i, data := range told.Fresh {
		d.large[ChunkAt(told.Total, i)] = data
	}
	for r, data := range d.large {
		all.Add(r, data)
	}
	for _, r := range a.Records {
		if ref, ok := told.Ref(r.Data); ok {
			if v, ok := all.Value(ref); !ok || !expr.Equal(v, r.Data) {
				d.fail("a chunk is %s, not %s", v, r.Data)
			}
		}
	}
}

// step gives inputs to both and compares.
func (d *twin) step(inputs ...Input) {
	for _, in := range inputs {
		d.log = append(d.log, fmt.Sprintf("%T %+v", in, in))
		stored := d.decoded()
		if d.bad != "" {
			return
		}
		a, errA := StepFor(d.host, d.p, d.mem, d.now, in)
		b, errB := StepFor(d.host, d.p, stored, d.now, in)
		switch {
		case fmt.Sprint(errA) != fmt.Sprint(errB):
			d.fail("errors differ: %v | %v", errA, errB)
		case errA != nil && !isRejected(errA):
			d.fail("broken: %v", errA)
		case errA == nil && show(d.p, a) != show(d.p, b):
			d.fail("outcomes differ:\nin memory:\n%s\nfrom pages:\n%s", show(d.p, a), show(d.p, b))
		case errA == nil && !a.Stale && dump(a.State) != dump(b.State):
			d.fail("states differ:\nin memory:\n%s\nfrom pages:\n%s", dump(a.State), dump(b.State))
		}
		if errA != nil || a.Stale || d.bad != "" {
			continue
		}
		d.mem = a.State
		d.commands(in, a.Commands)
		if d.tells {
			d.tell(a, b)
		}
		d.store(a.State.TakeDirty(nil))
		if again := d.decoded(); again != nil && dump(again) != dump(d.mem) {
			d.fail("what is stored differs:\nin memory:\n%s\nfrom pages:\n%s", dump(d.mem), dump(again))
		} else if again != nil && knownChunks(again) != knownChunks(d.mem) {
			d.fail("in memory the chunks are %s, from pages %s", knownChunks(d.mem), knownChunks(again))
		}
		if !a.More && !d.mem.status.Final() && !d.mem.paused {
			d.waits()
		}
	}
}

// commands checks that what is open in the state is what was commanded and not closed.
func (d *twin) commands(in Input, list []Command) {
	if r, ok := in.(Reply); ok {
		delete(d.open, r.Ticket)
	}
	opened := func(t Ticket, k WaitKind, again bool) {
		if _, ok := d.open[t]; ok && !again {
			d.fail("ticket %s is commanded twice", t)
		}
		d.open[t] = k
	}
	for _, c := range list {
		switch c := c.(type) {
		case Invoke:
			opened(c.Ticket, WaitCall, false)
		case Subscribe:
			opened(c.Ticket, WaitEvent, true)
		case Offers:
			opened(c.Ticket, WaitOffer, false)
		case Spawn:
			if c.Wait || c.Continue {
				opened(c.Ticket, WaitChild, false)
			}
		case Cancel:
			if _, ok := d.open[c.Ticket]; !ok {
				d.fail("%s %s is cancelled but not open", c.Kind, c.Ticket)
			}
			delete(d.open, c.Ticket)
		}
	}
	want := maps.Clone(d.open)
	for _, f := range d.mem.frames {
		for _, w := range f.waits {
			if t := ticket(f.id, w.n); !w.timer() {
				if _, ok := want[t]; !ok {
					d.fail("%s %s is open but was not commanded", w.kind, t)
				}
				delete(want, t)
			}
		}
	}
	for t, k := range want {
		d.fail("%s %s was commanded and never closed", k, t)
	}
}

// store applies pages and checks that those which are there are those which are needed.
func (d *twin) store(pages []Page) {
	for _, p := range pages {
		k := pageKey{p.Frame, p.Part}
		if p.Data != nil {
			d.pages[k] = p.Data
			continue
		}
		if d.pages[k] == nil {
			d.fail("page %v is deleted but was never stored", k)
		}
		delete(d.pages, k)
	}
	need := map[pageKey]bool{{0, 0}: true}
	if d.mem.bulk.apart {
		need[pageKey{0, -1}] = true
	}
	for i := range (len(d.mem.done.regions) + undoChunk - 1) / undoChunk {
		need[pageKey{0, int32(i + 1)}] = true
	}
	for _, f := range d.mem.frames {
		need[pageKey{f.id, 0}] = true
		if f.bulk.apart {
			need[pageKey{f.id, -1}] = true
		}
		if f.fan != nil {
			for i, r := range f.fan.results {
				if r.has || r.failed {
					need[pageKey{f.id, int32(i + 1)}] = true
				}
			}
		}
	}
	for k := range need {
		if d.pages[k] == nil {
			d.fail("page %v is missing", k)
		}
	}
	for k := range d.pages {
		if !need[k] {
			d.fail("page %v is left over", k)
		}
	}
}

// waits checks that every frame that does not run waits for something, and for one thing.
func (d *twin) waits() {
	for _, f := range d.mem.frames {
		works := slices.ContainsFunc(d.mem.frames, func(c *frame) bool {
			return c.parent == f.id && c.kind != kindRoot && c.kind != kindDetached
		})
		count := map[WaitKind]int{}
		for _, w := range f.waits {
			count[w.kind]++
		}
		own := len(f.waits) - count[WaitDeadline] - count[WaitTotal] - count[WaitListen]
		_, awaits := d.p.Nodes[f.node].Op.(*ir.Await)
		if f.phase == phaseWait && own == 0 && !works && !awaits {
			d.fail("frame %d waits for nothing at node %d", f.id, f.node)
		}
		calls := count[WaitCall] + count[WaitChild]
		if calls > 1 || count[WaitRetry] > 1 || count[WaitRetry] > 0 && (calls > 0 || works || f.phase == phaseRun) {
			d.fail("frame %d both retries and runs: %v", f.id, f.waits)
		}
	}
}

// dump shows everything that a state is.
func dump(s *State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s paused=%t undoing=%t next=%d steps=%d out=%s in=%s labels=%s keys=%v undo=%v stash=%d fault=%t\n",
		s.status, s.paused, s.undoing, s.nextFrame, s.steps, s.output, s.given, s.labels, s.keys, s.done.regions, len(s.stash), s.fault != nil)
	for _, f := range s.frames {
		fmt.Fprintf(&b, "%d<%d kind=%d phase=%d R%d@%d slot=%d data=%s in=%s under=%s delta=%s again=%s@%d+%d gather=%t attempts=%v/%v/%d tickets=%d waits=%v heard=%v taken=%v",
			f.id, f.parent, f.kind, f.phase, f.region, f.node, f.slot, f.data, f.input, f.under, f.delta, f.again, f.againAt, f.againLen,
			f.gather, f.attempts, f.delays, f.attempt, f.tickets, f.waits, f.heard, f.taken)
		if x := f.fan; x != nil {
			fmt.Fprintf(&b, " fan=%d/%d/%d/%d/%d/%d/%d", x.total, x.next, x.live, x.ended, x.need, x.limit, x.held)
			for _, r := range x.results {
				fmt.Fprintf(&b, " [%t %s]", r.has, r.value)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (h heard) String() string { return fmt.Sprintf("%d=%s", h.index, h.event) }
