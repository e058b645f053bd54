package core

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Large data is stored once. History tells nearly all that an instance has: its input, the data with
// which a state is entered, arguments and answers of calls, the output. A value in a record that is at
// least ChunkBytes long, or such a part of one, is a chunk. It is stored with the records of the
// first commit that tells it. Later records, the state and the output refer to it there, so that
// it lives exactly as long as the history.
//
// A part of a value that is a chunk itself counts as a few bytes: where one field changes beside a
// large one, the large one stays as it is.
//
// Values are immutable, so that a chunk is known by the identity of its value, or by a hash where an
// equal one was built anew. Known are those to which the stored pages refer: a state that was decoded
// knows the same ones as the state in memory.

// ChunkBytes is from which size on a value is stored once ("chunk-bytes").
const ChunkBytes = 4 << 10

// ChunkRef names a chunk of an instance: by the number of records in the history with those that are
// stored with it, and its place among the chunks there. 0 is none.
type ChunkRef uint64

// chunkPlaces is how many chunks there may be in one commit.
const chunkPlaces = 1 << 24

// ChunkAt is the chunk at a place in the commit that brings the history to so many records.
func ChunkAt(told int64, place int) ChunkRef { return ChunkRef(told*chunkPlaces + int64(place)) }

// Told is the number of records up to those that the chunk is stored with.
func (r ChunkRef) Told() int64 { return int64(r / chunkPlaces) }

// Chunks are those that the records of a commit have. They are not changed any more.
type Chunks struct {
	Total int64    // how many records the history has with those of the commit
	Fresh [][]byte // told for the first time, by place
	refs  map[expr.Value]ChunkRef
}

// Ref says which chunk a value is.
func (c *Chunks) Ref(v expr.Value) (ChunkRef, bool) {
	r, ok := c.refs[v]
	return r, ok
}

// AppendChunkRefs appends references, in order: those to which the bytes behind them refer.
func AppendChunkRefs(dst []byte, refs []ChunkRef) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(refs)))
	for _, r := range refs {
		dst = binary.AppendUvarint(dst, uint64(r))
	}
	return dst
}

// CutChunkRefs reads what AppendChunkRefs wrote, and returns the rest.
func CutChunkRefs(data []byte) (refs []ChunkRef, rest []byte, ok bool) {
	count, n := binary.Uvarint(data)
	if n <= 0 || count > uint64(len(data)) {
		return nil, nil, false
	}
	data = data[n:]
	for range count {
		r, n := binary.Uvarint(data)
		if n <= 0 || r == 0 {
			return nil, nil, false
		}
		refs, data = append(refs, ChunkRef(r)), data[n:]
	}
	return refs, data, true
}

// PageRefs are the chunks to which a page refers; false: it is malformed.
func PageRefs(data []byte) (refs []ChunkRef, ok bool) {
	if len(data) == 0 || data[0] != pageRefsFormat {
		return nil, true
	}
	refs, _, ok = CutChunkRefs(data[1:])
	return refs, ok
}

// ChunkReader reads chunks as they are stored.
type ChunkReader struct {
	data   map[ChunkRef][]byte
	values map[ChunkRef]expr.Value
}

// Add adds a chunk.
func (c *ChunkReader) Add(r ChunkRef, data []byte) {
	if c.data == nil {
		c.data, c.values = map[ChunkRef][]byte{}, map[ChunkRef]expr.Value{}
	}
	c.data[r] = data
}

// Data is a chunk as it is stored; nil: it was not added.
func (c *ChunkReader) Data(r ChunkRef) []byte { return c.data[r] }

// Parts are the chunks to which a chunk refers.
func (c *ChunkReader) Parts(r ChunkRef) []ChunkRef {
	refs, _, _ := CutChunkRefs(c.data[r])
	return refs
}

// Pages appends the chunks to which pages refer, and those to which these refer.
func (c *ChunkReader) Pages(pages []Page) []Page {
	var all, level []ChunkRef
	for _, p := range pages {
		refs, _ := PageRefs(p.Data)
		level = append(level, refs...)
	}
	for len(level) > 0 {
		all = append(all, level...)
		var parts []ChunkRef
		for _, r := range level {
			parts = append(parts, c.Parts(r)...)
		}
		level = distinct(parts)
	}
	for _, r := range distinct(all) {
		pages = append(pages, Page{Chunk: r, Data: c.data[r]})
	}
	return pages
}

// Size is how large a chunk is, with those to which it refers. It must have been read.
func (c *ChunkReader) Size(r ChunkRef) int {
	n := len(c.data[r])
	for _, part := range c.Parts(r) {
		n += c.Size(part)
	}
	return n
}

// Value reads a chunk, and those that it refers to; false: one is missing or malformed.
func (c *ChunkReader) Value(r ChunkRef) (expr.Value, bool) {
	if v, ok := c.values[r]; ok {
		return v, true
	}
	refs, data, ok := CutChunkRefs(c.data[r])
	if !ok {
		return expr.Null, false
	}
	for _, part := range refs {
		if part >= r { // parts are told before the whole
			return expr.Null, false
		}
		if _, ok := c.Value(part); !ok {
			return expr.Null, false
		}
	}
	v, rest, err := expr.DecodeBinaryRefs(data, func(n uint64) (expr.Value, bool) {
		_, ok := slices.BinarySearch(refs, ChunkRef(n))
		return c.values[ChunkRef(n)], ok
	})
	if err != nil || len(rest) > 0 {
		return expr.Null, false
	}
	c.values[r] = v
	return v, true
}

// pageKey names a page.
type pageKey struct {
	frame FrameID
	part  int32
}

// chunkSet are the chunks to which the pages of a state refer. Of nil there are none.
type chunkSet struct {
	known map[expr.Value]*chunk
	same  map[[sha256.Size]byte]*stored
	pages map[pageKey][]expr.Value // what they refer to
	now   []expr.Value             // in the records of this commit
	bytes int
}

// chunk is a value that is known to be one.
type chunk struct {
	*stored
	parts []expr.Value // of it, that are chunks
	uses  int          // by pages, by wholes, and by the records of this commit
}

// stored is a chunk in the store; equal values are one.
type stored struct {
	ref    ChunkRef
	sum    [sha256.Size]byte
	bytes  int
	values int // known ones
}

func newChunkSet() *chunkSet {
	return &chunkSet{known: map[expr.Value]*chunk{}, same: map[[sha256.Size]byte]*stored{}, pages: map[pageKey][]expr.Value{}}
}

// add makes a value known: with the chunk of an equal one, or with ref.
func (s *chunkSet) add(v expr.Value, data []byte, parts []expr.Value, ref ChunkRef) (c *chunk, fresh bool) {
	sum := sha256.Sum256(data)
	st := s.same[sum]
	if fresh = st == nil; fresh {
		st = &stored{ref: ref, sum: sum, bytes: len(data)}
		s.same[sum] = st
	}
	st.values++
	s.bytes += st.bytes
	s.hold(parts)
	c = &chunk{stored: st, parts: parts}
	s.known[v] = c
	return c, fresh
}

// read makes a chunk known that was read, with its parts.
func (s *chunkSet) read(r ChunkRef, from *ChunkReader) expr.Value {
	v := from.values[r]
	if s.known[v] != nil {
		return v
	}
	refs := from.Parts(r)
	parts := make([]expr.Value, len(refs))
	for i, part := range refs {
		parts[i] = s.read(part, from)
	}
	s.add(v, from.data[r], parts, r)
	return v
}

func (s *chunkSet) hold(values []expr.Value) {
	for _, v := range values {
		s.known[v].uses++
	}
}

func (s *chunkSet) release(values []expr.Value) {
	for _, v := range values {
		c := s.known[v]
		if c.uses--; c.uses > 0 {
			continue
		}
		delete(s.known, v)
		s.bytes -= c.bytes
		if c.values--; c.values == 0 {
			delete(s.same, c.sum)
		}
		s.release(c.parts)
	}
}

// refer notes what a page refers to.
func (s *chunkSet) refer(at Page, values []expr.Value) {
	if s == nil {
		return
	}
	key := pageKey{at.Frame, at.Part}
	was := s.pages[key]
	if len(values) == 0 && was == nil {
		return
	}
	s.hold(values)
	s.release(was)
	if s.pages[key] = values; len(values) == 0 {
		delete(s.pages, key)
	}
}

// told forgets the records of this commit, once its pages are written.
func (s *chunkSet) told() {
	if s != nil {
		s.release(s.now)
		s.now = nil
	}
}

// ChunkSize is how large the chunks are to which the stored state refers.
func (s *State) ChunkSize() int {
	if s.chunks == nil {
		return 0
	}
	return s.chunks.bytes
}

// open reads a page, and notes to which chunks it refers.
func (s *State) open(page Page, seal Sealer, chunks *ChunkReader) *reader {
	r := newReader(page.Data, seal, chunks)
	if len(r.refs) > 0 && s.chunks == nil {
		s.chunks = newChunkSet()
	}
	values := make([]expr.Value, len(r.refs))
	for i, ref := range r.refs {
		values[i] = s.chunks.read(ref, chunks)
	}
	s.chunks.refer(page, values)
	return r
}

// Tell finds the chunks, of least bytes and more, in the records that are committed with the next pages, after
// which the history has total ones; TakeDirty must follow. also are values that may refer to them, or to
// earlier ones. It returns nil where there are none.
func (s *State) Tell(least int, records []Record, total int64, also ...expr.Value) *Chunks {
	t := teller{least: least, set: s.chunks, out: &Chunks{Total: total}}
	for i := range records {
		t.tell(records[i].Data)
		if f := records[i].Fault; f != nil {
			t.tell(f.Data)
			t.tell(f.Args)
			t.tell(f.State)
		}
	}
	for _, v := range also {
		if t.set != nil && t.set.known[v] != nil {
			t.touch(v)
		}
	}
	s.chunks = t.set
	if t.out.refs == nil {
		return nil
	}
	return t.out
}

// teller goes through the records of a commit.
type teller struct {
	least int
	set   *chunkSet
	out   *Chunks
}

func (t *teller) tell(v expr.Value) {
	if !t.mayBeChunk(v) {
		return
	}
	if t.set == nil {
		t.set = newChunkSet()
	}
	if t.set.known[v] != nil {
		t.touch(v)
		return
	}
	for _, it := range v.Items() {
		t.tell(it)
	}
	for _, m := range v.Members() {
		t.tell(m.Value)
	}
	var parts []expr.Value
	var refs []ChunkRef
	body := v.AppendBinaryRefs(nil, func(part expr.Value) (uint64, bool) {
		c := t.set.known[part]
		if c == nil {
			return 0, false
		}
		parts, refs = append(parts, part), append(refs, c.ref)
		return uint64(c.ref), true
	})
	if len(body) < t.least || len(t.out.Fresh) == chunkPlaces {
		return
	}
	data := append(AppendChunkRefs(make([]byte, 0, len(body)+16), distinct(refs)), body...)
	if _, fresh := t.set.add(v, data, parts, ChunkAt(t.out.Total, len(t.out.Fresh))); fresh {
		t.out.Fresh = append(t.out.Fresh, data)
	}
	t.touch(v)
}

// touch has a known value referred to.
func (t *teller) touch(v expr.Value) {
	if _, ok := t.out.refs[v]; ok {
		return
	}
	if t.out.refs == nil {
		t.out.refs = map[expr.Value]ChunkRef{}
	}
	t.out.refs[v] = t.set.known[v].ref
	t.set.now = append(t.set.now, v)
	t.set.known[v].uses++
}

// mayBeChunk says no of most values that are none, without reading much of them.
func (t *teller) mayBeChunk(v expr.Value) bool {
	switch v.Kind() {
	case expr.KindString:
		return v.Len() >= t.least
	case expr.KindArray, expr.KindObject:
		_, _, large := expr.Measure(v, t.least/2, 1<<30)
		return large
	}
	return false
}

// distinct are references in order, each once.
func distinct(refs []ChunkRef) []ChunkRef {
	slices.Sort(refs)
	return slices.Compact(refs)
}
