package core

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Page is a part of a stored state. Frame 0 is the instance itself, its further
// parts the log of what can be undone; part 0 of another frame is that frame, part
// k+1 the result of the k-th item of its fan. Parts −1 and −2 hold the values of an
// instance or frame where they are large. Data nil means: delete the page.
type Page struct {
	Frame FrameID
	Part  int32
	Data  []byte
	Chunk ChunkRef // if not 0, as read from a store: no page, but a chunk to which pages refer
}

// The versions of the encoding; one of them leads every page. pageRefsFormat is followed by the
// chunks to which the page refers.
const (
	pageFormat     = 1
	pageRefsFormat = 2
)

var errPage = errors.New("malformed page")

// TakeDirty returns the pages that changed since it was last called, in order. seal, which may be
// nil, keeps secrets out of them.
func (s *State) TakeDirty(seal Sealer) []Page {
	out := make([]Page, 0, 4)
	if s.headDirty {
		out = s.encodeHead(out, seal)
		s.headDirty = false
	}
	out = s.done.pages(out)
	for _, f := range s.frames {
		if f.dirty || f.bulk.changed(f.values()) || f.varBulk.changed(f.varValues()) {
			out = s.encodeFrame(out, f, seal)
			f.dirty, f.stored = false, true
		}
		if f.fan != nil {
			for _, slot := range f.fan.dirty {
				w := newWriter(seal, s.chunks)
				result := &f.fan.results[slot]
				w.value(result.value)
				if result.failed { // other results end here
					w.fault(result.fault)
				}
				out = append(out, w.page(Page{Frame: f.id, Part: slot + 1}))
				result.stored = true
			}
			f.fan.dirty = nil
		}
	}
	out = append(out, s.gone...)
	s.gone = nil
	slices.SortStableFunc(out, comparePages)
	// A page that one fan of a frame left and the next one wrote is written.
	out = slices.CompactFunc(out, func(a, b Page) bool { return comparePages(a, b) == 0 })
	for _, p := range out {
		if p.Data == nil {
			s.chunks.refer(p, nil)
		}
	}
	s.chunks.told()
	return out
}

func comparePages(a, b Page) int {
	return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Part, b.Part))
}

// pages appends the chunks of the log that changed.
func (l *undoLog) pages(out []Page) []Page {
	chunks := (len(l.regions) + undoChunk - 1) / undoChunk
	for c := l.from / undoChunk; c < chunks && l.from < len(l.regions); c++ {
		w := newWriter(nil, nil)
		part := l.regions[c*undoChunk : min((c+1)*undoChunk, len(l.regions))]
		w.uint(uint64(len(part)))
		for _, r := range part {
			w.uint(uint64(r))
		}
		out = append(out, Page{Part: int32(c) + 1, Data: w.buf})
	}
	for c := chunks; c < l.chunks; c++ {
		out = append(out, Page{Part: int32(c) + 1})
	}
	l.from, l.chunks = len(l.regions), chunks
	return out
}

func (s *State) encodeHead(out []Page, seal Sealer) []Page {
	w := newWriter(seal, s.chunks)
	w.text(string(s.status))
	w.bool(s.paused)
	w.bool(s.undoing)
	w.uint(s.seed)
	w.uint(uint64(s.nextFrame))
	w.uint(uint64(s.steps))
	w.uint(uint64(len(s.keys)))
	for _, k := range s.keys {
		w.text(k.Name)
		w.text(k.Value)
	}
	w.uint(uint64(len(s.stash)))
	for _, a := range s.stash {
		w.uint(uint64(a.Event))
		w.value(a.Value)
	}
	w.fault(s.fault)
	w.uint(uint64(len(s.done.regions)))
	w.uint(uint64(len(s.frames)))
	out = s.bulk.write(out, w, Page{Part: partData}, s.values(), nil)
	if s.work > 0 || s.costly || !s.context.IsNull() { // pages of before there was such a count end here
		w.uint(uint64(s.work))
		w.bool(s.costly)
	}
	if !s.context.IsNull() {
		out = s.contextBulk.write(out, w, Page{Part: partVars}, []*expr.Value{&s.context}, nil)
	}
	return append(out, w.page(Page{}))
}

func (s *State) encodeFrame(out []Page, f *frame, seal Sealer) []Page {
	w := newWriter(seal, s.chunks)
	w.uint(uint64(f.parent))
	w.uint(uint64(f.kind))
	w.uint(uint64(f.phase))
	w.uint(uint64(f.region))
	w.uint(uint64(f.node))
	w.int(int64(f.slot))
	w.bool(f.gather)
	w.uint(uint64(f.againAt))
	w.uint(uint64(f.againLen))
	w.uint(uint64(f.stopped))
	w.uint(uint64(f.attempt))
	w.uint(uint64(f.tickets))
	w.uint(uint64(len(f.attempts)))
	for _, a := range f.attempts {
		w.uint(uint64(a))
	}
	w.uint(uint64(len(f.waits)))
	for _, x := range f.waits {
		w.uint(uint64(x.n))
		w.uint(uint64(x.kind))
		w.uint(uint64(x.arm))
		w.int(int64(x.at))
	}
	for _, list := range [][]heard{f.heard, f.taken} {
		w.uint(uint64(len(list)))
		for _, h := range list {
			w.uint(uint64(h.index))
			w.value(h.event)
		}
	}
	w.bool(f.fan != nil)
	if x := f.fan; x != nil {
		for _, n := range []int32{x.total, x.next, x.live, x.ended, x.need, x.limit, x.held} {
			w.uint(uint64(n))
		}
	}
	out = f.bulk.write(out, w, Page{Frame: f.id, Part: partData}, f.values(), s.knownTo(f))
	values := f.varValues()
	redoing := f.fan != nil && f.fan.redo >= 0
	if len(values) > 0 || f.began != 0 || f.varBulk.apart || f.delays != nil || redoing { // pages of before there were variables end here
		w.int(int64(f.began))
		w.uint(uint64(len(f.vars)))
		for _, b := range f.vars {
			w.text(b.name)
		}
		w.bool(len(values) > len(f.vars))
		out = f.varBulk.write(out, w, Page{Frame: f.id, Part: partVars}, values, nil)
	}
	if f.delays != nil || redoing { // pages of before delays were carried on end here
		w.uint(uint64(len(f.delays)))
		for _, d := range f.delays {
			w.int(int64(d))
		}
	}
	if redoing { // pages of before failed items ran again end here
		w.uint(uint64(f.fan.redo))
	}
	return append(out, w.page(Page{Frame: f.id}))
}

// pages are those that the frame may have, but for the results of its fan, to be deleted.
func (f *frame) pages() []Page {
	out := f.bulk.gone(nil, Page{Frame: f.id, Part: partData})
	out = f.varBulk.gone(out, Page{Frame: f.id, Part: partVars})
	return append(out, Page{Frame: f.id})
}

// varValues are the values of a frame that its data does not change: of variables, then the items
// of a fan that carries the data.
func (f *frame) varValues() []*expr.Value {
	var out []*expr.Value
	for i := range f.vars {
		out = append(out, &f.vars[i].value)
	}
	if f.fan != nil && f.fan.carried != nil {
		out = append(out, f.fan.carried)
	}
	return out
}

// values are the values of an instance in the order in which pages hold them.
func (s *State) values() []*expr.Value {
	return []*expr.Value{&s.given, &s.output, &s.labels}
}

// values are the values of a frame in the order in which pages hold them.
func (f *frame) values() []*expr.Value {
	return []*expr.Value{&f.data, &f.input, &f.under, &f.delta, &f.again}
}

// knownTo lists values that a page may refer to instead of repeating them: those
// of the frame that waits for this one, which cannot change meanwhile. Nobody
// waits for a detached frame.
func (s *State) knownTo(f *frame) []expr.Value {
	if f.kind == kindRoot || f.kind == kindDetached {
		return []expr.Value{s.given}
	}
	parent := s.frame(f.parent)
	return []expr.Value{parent.data, parent.input, parent.under}
}

// DecodeState reads a state from all its pages, in any order. With seal nil, references stay in the
// place of secrets.
func DecodeState(p *Program, pages []Page, seal Sealer) (*State, error) {
	s, chunks := new(State), new(ChunkReader)
	for _, p := range pages {
		if p.Chunk != 0 {
			chunks.Add(p.Chunk, p.Data)
		}
	}
	pages = slices.DeleteFunc(slices.Clone(pages), func(p Page) bool { return p.Chunk != 0 })
	slices.SortFunc(pages, comparePages)
	counts := headCounts{undo: -1}
	large := 0 // pages of values that are yet to be asked for
	for i, page := range pages {
		if i > 0 && comparePages(page, pages[i-1]) == 0 {
			return nil, fmt.Errorf("decode page %d/%d: %w: it is there twice", page.Frame, page.Part, errPage)
		}
		r := s.open(page, seal, chunks)
		apart := func(part int32) *reader {
			at, ok := slices.BinarySearchFunc(pages[:i], Page{Frame: page.Frame, Part: part}, comparePages)
			if !ok {
				return nil
			}
			large--
			return newReader(pages[at].Data, seal, chunks)
		}
		switch {
		case page.Part == partData || page.Part == partVars:
			large++
			continue // read by the page that follows
		case page.Frame == 0 && page.Part == 0:
			counts = s.decodeHead(r, apart)
		case page.Frame == 0:
			for range r.count() {
				s.done.regions = append(s.done.regions, ir.RegionID(r.index(len(p.Regions))))
			}
		case page.Part == 0:
			s.decodeFrame(p, page.Frame, r, apart)
		default:
			s.decodeResult(p, page, r)
		}
		if r.err != nil || len(r.data) > 0 {
			return nil, fmt.Errorf("decode page %d/%d: %w", page.Frame, page.Part, cmp.Or(r.err, errPage))
		}
	}
	if counts != (headCounts{len(s.done.regions), len(s.frames)}) || large != 0 || !s.whole() {
		return nil, fmt.Errorf("decode state: %w: the pages are not complete", errPage)
	}
	s.done.from = len(s.done.regions)
	s.done.chunks = (len(s.done.regions) + undoChunk - 1) / undoChunk
	return s, nil
}

// headCounts say how much else there must be, so that a lost page is found when
// the state is read and not by an instance that waits for ever.
type headCounts struct{ undo, frames int }

// whole reports whether there is a root, and every result of every fan.
func (s *State) whole() bool {
	if len(s.frames) == 0 {
		return s.status.Final()
	}
	for _, f := range s.frames {
		if f.fan != nil && f.fan.kept != 0 {
			return false // counted down by decodeResult
		}
	}
	return true
}

func (s *State) decodeHead(r *reader, apart func(part int32) *reader) headCounts {
	s.status = Status(r.text())
	s.paused = r.bool()
	s.undoing = r.bool()
	s.seed = r.uint()
	s.nextFrame = FrameID(r.uint())
	s.steps = int(r.uint())
	for range r.count() {
		s.keys = append(s.keys, Key{Name: r.text(), Value: r.text(), Fixed: true})
	}
	for range r.count() {
		s.stash = append(s.stash, Arrival{ir.EventID(r.uint()), r.value()})
	}
	s.fault = r.fault()
	counts := headCounts{int(r.uint()), int(r.uint())}
	s.bulk.read(r, func() *reader { return apart(partData) }, s.values(), nil)
	if !isGiven(s.given) {
		r.fail()
	}
	if len(r.data) > 0 {
		s.work = r.index(math.MaxInt)
		s.costly = r.bool()
	}
	if len(r.data) > 0 {
		s.contextBulk.read(r, func() *reader { return apart(partVars) }, []*expr.Value{&s.context}, nil)
	}
	return counts
}

func (s *State) decodeFrame(p *Program, id FrameID, r *reader, apart func(part int32) *reader) {
	f := &frame{
		id:     id,
		stored: true,
		parent: FrameID(r.uint()),
		kind:   frameKind(r.index(int(kindDetached) + 1)),
		phase:  phase(r.index(int(phaseParked) + 1)),
		region: ir.RegionID(r.index(len(p.Regions))),
		node:   ir.NodeID(r.index(len(p.Nodes))),
		slot:   int32(r.int()),
		gather: r.bool(),
	}
	f.againAt = ir.NodeID(r.index(len(p.Nodes)))
	f.againLen = r.index(1 << 30)
	f.stopped = ir.NodeID(r.index(len(p.Nodes)))
	f.attempt = int32(r.uint())
	f.tickets = uint32(r.uint())
	isFirst := len(s.frames) == 0
	if isFirst != (f.kind == kindRoot) || id >= s.nextFrame || !isFirst && (f.parent >= id || s.frame(f.parent) == nil) {
		r.fail()
		return
	}
	for range r.count() {
		f.attempts = append(f.attempts, int32(r.uint()))
	}
	for range r.count() {
		f.waits = append(f.waits, wait{uint32(r.uint()), WaitKind(r.index(int(WaitFeed) + 1)), int32(r.index(1 << 30)), Time(r.int())})
	}
	for _, list := range []*[]heard{&f.heard, &f.taken} {
		for range r.count() {
			*list = append(*list, heard{int32(r.index(1 << 30)), r.value()})
		}
	}
	if r.bool() {
		x := &fan{redo: -1}
		for _, n := range []*int32{&x.total, &x.next, &x.live, &x.ended, &x.need, &x.limit, &x.kept} {
			*n = int32(r.index(1 << 30))
		}
		if int(x.total) > p.Limits.FanWidth {
			r.fail()
			return
		}
		x.results = make([]result, x.total)
		f.fan = x
	}
	f.bulk.read(r, func() *reader { return apart(partData) }, f.values(), s.knownTo(f))
	if len(r.data) > 0 {
		f.decodeVars(r, func() *reader { return apart(partVars) })
	}
	if len(r.data) > 0 {
		for range r.count() {
			f.delays = append(f.delays, Time(r.int()))
		}
	}
	if len(r.data) > 0 {
		if f.fan == nil {
			r.fail()
			return
		}
		f.fan.redo = int32(r.index(int(f.fan.total) + 1))
	}
	if !f.fits(p) {
		r.fail()
		return
	}
	if op, ok := p.Nodes[f.node].Op.(*ir.Fan); ok && f.fan != nil {
		f.fan.pairs = op.Feed != nil && op.Feed.Body != 0
	}
	f.inner = f.kind == kindBranch || f.kind == kindDetached || p.Regions[f.region].Nested || !isFirst && s.frame(f.parent).inner
	s.frames = append(s.frames, f)
}

// decodeVars reads what encodeFrame writes after the values.
func (f *frame) decodeVars(r *reader, apart func() *reader) {
	f.began = Time(r.int())
	for range r.count() {
		f.vars = append(f.vars, binding{name: r.text()})
	}
	if r.bool() {
		if f.fan == nil {
			r.fail()
			return
		}
		f.fan.carried = new(expr.Value)
	}
	f.varBulk.read(r, apart, f.varValues(), nil)
	if f.fan != nil && f.fan.carried != nil {
		f.fan.items = f.fan.carried.Items()
	}
}

// fits checks that what a frame waits for exists in the program, so that damaged
// pages are found here and not by a panic later.
func (f *frame) fits(p *Program) bool {
	r := &p.Regions[f.region]
	await, _ := p.Nodes[f.node].Op.(*ir.Await)
	fanned, _ := p.Nodes[f.node].Op.(*ir.Fan)
	arms := 0
	if await != nil {
		arms = len(await.Arms)
	}
	for _, w := range f.waits {
		switch w.kind {
		case WaitEvent, WaitOffer:
			if int(w.arm) >= arms || (w.kind == WaitOffer) != (await.Arms[w.arm].Offer != nil) {
				return false
			}
		case WaitListen:
			if int(w.arm) >= len(r.Listen) {
				return false
			}
		case WaitFeed:
			if fanned == nil || fanned.Feed == nil || f.fan == nil || int(w.arm) >= len(fanned.Feed.Events)+len(fanned.Feed.Stop) {
				return false
			}
		}
	}
	for _, h := range f.taken {
		if int(h.index) >= arms {
			return false
		}
	}
	if f.fan != nil {
		if fanned == nil {
			return false
		}
		if carry := fanned.Join == ir.JoinLast; carry != (f.fan.carried != nil) || carry && len(f.fan.items) != int(f.fan.total) {
			return false
		}
	}
	if f.kind == kindUndo && int(f.slot) >= len(p.Regions) {
		return false
	}
	counted := len(f.attempts) == 0 || len(f.attempts) == len(r.Catch)
	return counted && (len(f.delays) == 0 || len(f.delays) == len(r.Catch))
}

func (s *State) decodeResult(p *Program, page Page, r *reader) {
	f := s.frame(page.Frame)
	if f == nil || f.fan == nil || page.Part < 1 || page.Part > f.fan.total {
		r.fail()
		return
	}
	v := r.value()
	if f.fan.pairs && (!v.IsArray() || v.Len() < 1 || v.Len() > 2) {
		r.fail()
		return
	}
	f.fan.results[page.Part-1] = result{has: true, stored: true, value: v}
	if op, ok := p.Nodes[f.node].Op.(*ir.Fan); ok && op.Each != nil && len(r.data) > 0 {
		f.fan.results[page.Part-1] = result{failed: true, stored: true, fault: r.fault()}
		f.fan.bad = append(f.fan.bad, page.Part-1) // pages come in order
	}
	f.fan.kept--
	f.fan.held++
}
