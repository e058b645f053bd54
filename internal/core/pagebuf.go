package core

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Sealer keeps secrets out of what is stored. Seal puts references in their place, and Open puts the
// secrets back; Redact is for what people read and others are sent, and is final. Message is Redact for
// a text that may have only the beginning of a value in it.
type Sealer interface {
	Seal(v expr.Value) expr.Value
	Open(v expr.Value) (expr.Value, error)
	Redact(v expr.Value) expr.Value
	Message(text string) string
}

// writer and reader are the primitives of pages.
type writer struct {
	buf    []byte
	seal   Sealer    // may be nil
	chunks *chunkSet // may be nil
	refs   []expr.Value
}

func newWriter(seal Sealer, chunks *chunkSet) *writer {
	return &writer{buf: append(make([]byte, 0, 128), pageFormat), seal: seal, chunks: chunks}
}

// page is what was written, as a page.
func (w *writer) page(at Page) Page {
	w.chunks.refer(at, w.refs)
	at.Data = w.buf
	if len(w.refs) > 0 {
		refs := make([]ChunkRef, len(w.refs))
		for i, v := range w.refs {
			refs[i] = w.chunks.known[v].ref
		}
		at.Data = append(AppendChunkRefs([]byte{pageRefsFormat}, distinct(refs)), w.buf[1:]...)
	}
	return at
}

// ref has a chunk referred to.
func (w *writer) ref(v expr.Value) (uint64, bool) {
	c := w.chunks.known[v]
	if c == nil {
		return 0, false
	}
	w.refs = append(w.refs, v)
	return uint64(c.ref), true
}

func (w *writer) uint(u uint64) { w.buf = binary.AppendUvarint(w.buf, u) }
func (w *writer) int(i int64)   { w.buf = binary.AppendVarint(w.buf, i) }
func (w *writer) text(s string) { w.uint(uint64(len(s))); w.buf = append(w.buf, s...) }

func (w *writer) value(v expr.Value) {
	if w.seal != nil {
		v = w.seal.Seal(v)
	}
	if w.chunks == nil || len(w.chunks.known) == 0 {
		w.buf = v.AppendBinary(w.buf)
		return
	}
	w.buf = v.AppendBinaryRefs(w.buf, w.ref)
}

// fault writes a fault without secrets, or that there is none.
func (w *writer) fault(f *Fault) {
	if f == nil {
		w.text("")
		return
	}
	b, err := json.Marshal(f.Redacted(w.seal))
	if err != nil {
		panic(err) // a Fault is plain data
	}
	w.text(string(b))
}

func (r *reader) fault() *Fault {
	text := r.text()
	if text == "" {
		return nil
	}
	f := new(Fault)
	if err := json.Unmarshal([]byte(text), f); err != nil {
		r.err = err
	}
	return f
}

func (w *writer) bool(b bool) {
	if b {
		w.buf = append(w.buf, 1)
	} else {
		w.buf = append(w.buf, 0)
	}
}

// shared writes a value, or that it is the k-th of the known ones.
func (w *writer) shared(v expr.Value, known []expr.Value) {
	for i, k := range known {
		if v.Same(k) && v.Len() > 0 {
			w.uint(uint64(i) + 1)
			return
		}
	}
	w.uint(0)
	w.value(v)
}

type reader struct {
	data   []byte
	seal   Sealer       // may be nil
	chunks *ChunkReader // may be nil
	refs   []ChunkRef
	err    error
}

// newReader reads a page, with the chunks to which it refers.
func newReader(data []byte, seal Sealer, chunks *ChunkReader) *reader {
	switch {
	case len(data) == 0:
	case data[0] == pageFormat:
		return &reader{data: data[1:], seal: seal}
	case data[0] == pageRefsFormat:
		refs, rest, ok := CutChunkRefs(data[1:])
		for _, r := range refs {
			if ok {
				_, ok = chunks.Value(r)
			}
		}
		if ok {
			return &reader{data: rest, seal: seal, chunks: chunks, refs: refs}
		}
	}
	return &reader{err: errPage}
}

func (r *reader) chunk(n uint64) (expr.Value, bool) {
	if _, ok := slices.BinarySearch(r.refs, ChunkRef(n)); !ok {
		return expr.Null, false
	}
	return r.chunks.Value(ChunkRef(n))
}

func (r *reader) fail() { r.err = cmp.Or(r.err, errPage) } // the first error is the cause

func (r *reader) uint() uint64 {
	u, n := binary.Uvarint(r.data)
	if n <= 0 || r.err != nil {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return u
}

func (r *reader) int() int64 {
	i, n := binary.Varint(r.data)
	if n <= 0 || r.err != nil {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return i
}

// index reads a number below limit.
func (r *reader) index(limit int) int {
	u := r.uint()
	if u >= uint64(limit) {
		r.fail()
		return 0
	}
	return int(u)
}

// count reads a number of things, each at least a byte long.
func (r *reader) count() int { return r.index(len(r.data) + 1) }

func (r *reader) bool() bool { return r.index(2) == 1 }

func (r *reader) text() string {
	n := r.index(len(r.data) + 1)
	if n > len(r.data) {
		r.fail()
		return ""
	}
	s := string(r.data[:n])
	r.data = r.data[n:]
	return s
}

func (r *reader) value() expr.Value {
	if r.err != nil {
		return expr.Null
	}
	decode := expr.DecodeBinary
	if len(r.refs) > 0 {
		decode = func(data []byte) (expr.Value, []byte, error) { return expr.DecodeBinaryRefs(data, r.chunk) }
	}
	v, rest, err := decode(r.data)
	if err != nil {
		r.err = err
		return expr.Null
	}
	r.data = rest
	if r.seal != nil {
		if v, err = r.seal.Open(v); err != nil {
			r.err = err
			return expr.Null
		}
	}
	return v
}

func (r *reader) shared(known []expr.Value) expr.Value {
	k := r.index(len(known) + 1)
	if k > 0 {
		return known[k-1]
	}
	return r.value()
}
