package codec

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// large writes a value, or refers to the chunk that it is.
func (w *writer) large(v expr.Value) {
	if w.chunks == nil {
		w.value(v)
		return
	}
	chunks, refs := w.chunks, w.refs
	w.buf = v.AppendBinaryRefs(w.buf, func(v expr.Value) (uint64, bool) {
		r, ok := chunks.Ref(v)
		if ok {
			refs = append(refs, r)
		}
		return uint64(r), ok
	})
	w.refs = refs
}

// putChunks puts what the value refers to before it: the chunks that are stored with it, and the references.
func (w *writer) putChunks() {
	slices.Sort(w.refs)
	refs := slices.Compact(w.refs)
	size := len(w.buf) + 16*(len(w.fresh)+len(refs)+2)
	for _, data := range w.fresh {
		size += len(data)
	}
	out := append(append(make([]byte, 0, size), w.buf[:w.from]...), sealedRefs)
	out = binary.AppendUvarint(out, uint64(len(w.fresh)))
	if len(w.fresh) > 0 {
		out = binary.AppendUvarint(out, uint64(w.chunks.Total))
	}
	for _, data := range w.fresh {
		out = append(binary.AppendUvarint(out, uint64(len(data))), data...)
	}
	w.buf = append(core.AppendChunkRefs(out, refs), w.buf[w.from+1:]...)
}

// chunks reads what putChunks wrote.
func (r *reader) chunks() {
	if n := r.count(); n > 0 {
		r.told = int64(r.uint())
		for range n {
			r.fresh = append(r.fresh, r.bytes())
		}
	}
	refs, rest, ok := core.CutChunkRefs(r.data)
	if !ok || r.err != nil {
		r.fail()
		return
	}
	r.refs, r.data = refs, rest
}

// from reads the chunks to which the value refers.
func (r *reader) from(source *ChunkSource) {
	if r.err != nil || len(r.refs) == 0 {
		return
	}
	if r.source = source; source == nil {
		r.err = errNoChunk
	} else {
		r.err = source.Load(r.refs)
	}
	if r.err != nil {
		r.data = nil
	}
}

// large is the reverse of its namesake.
func (r *reader) large() expr.Value {
	if r.err != nil || len(r.refs) == 0 {
		return r.value()
	}
	refs, source := r.refs, r.source
	v, rest, err := expr.DecodeBinaryRefs(r.data, func(n uint64) (expr.Value, bool) {
		if _, ok := slices.BinarySearch(refs, core.ChunkRef(n)); !ok || source == nil || source.Rows == nil {
			return expr.Null, ok
		}
		return source.chunks.Value(core.ChunkRef(n))
	})
	if err != nil {
		r.err = fmt.Errorf("%w: %w", errMalformed, err)
		r.data = nil
		return expr.Null
	}
	r.data = rest
	return v
}

const errNoChunk damage = "a large value to which it refers is missing"

// Refers reports whether a stored value refers to chunks.
func Refers(data []byte) bool { return len(data) > 0 && data[0] == sealedRefs }

// ChunkSource reads the chunks of one instance from its history, each row of which it reads once.
type ChunkSource struct {
	// Rows reads the rows of history that have records, and with them one of these numbers of records in all. If it
	// is nil, null is in place of what values refer to, and Later has the references.
	Rows  func(told []int64, row func(of Told, records []byte) error) error
	Later []core.ChunkRef

	chunks core.ChunkReader
	read   []int64 // rows, in order
}

// note takes the chunks that are stored with records.
func (s *ChunkSource) note(of Told, fresh [][]byte) {
	at, known := slices.BinarySearch(s.read, of.Total)
	if known {
		return
	}
	s.read = slices.Insert(s.read, at, of.Total)
	for i, data := range fresh {
		s.chunks.Add(core.ChunkAt(of.Total, i), data)
	}
}

// Load reads chunks, and those to which they refer.
func (s *ChunkSource) Load(refs []core.ChunkRef) error {
	if s.Rows == nil {
		s.Later = append(s.Later, refs...)
		return nil
	}
	for len(refs) > 0 {
		var rows []int64
		for _, r := range refs {
			if s.chunks.Data(r) != nil {
				continue
			}
			if _, known := slices.BinarySearch(s.read, r.Told()); known {
				return errNoChunk
			}
			rows = append(rows, r.Told())
		}
		slices.Sort(rows)
		if rows = slices.Compact(rows); len(rows) > 0 {
			err := s.Rows(rows, func(of Told, records []byte) error {
				r := open(records, of.owner())
				if err := r.stored(of); err != nil {
					return fmt.Errorf("the records up to %d: %w", of.Total, err)
				}
				s.note(of, r.fresh)
				return nil
			})
			if err != nil {
				return err
			}
		}
		var parts []core.ChunkRef
		for _, r := range refs {
			if s.chunks.Data(r) == nil {
				return errNoChunk
			}
			for _, part := range s.chunks.Parts(r) {
				if part >= r { // parts are told before the whole
					return errMalformed
				}
				parts = append(parts, part)
			}
		}
		slices.Sort(parts)
		refs = slices.Compact(parts)
	}
	return nil
}

// Take takes the chunks that are stored with records; those of other rows are read when they are needed. It
// says nothing of damage: who needs the row reads it again.
func (s *ChunkSource) Take(of Told, records []byte) {
	if r := open(records, of.owner()); r.stored(of) == nil {
		s.note(of, r.fresh)
	}
}

// stored checks that chunks are stored in the row that they were written for.
func (r *reader) stored(of Told) error {
	if r.err == nil && len(r.fresh) > 0 && r.told != of.Total {
		return errSum
	}
	return r.err
}

// Pages appends the chunks to which pages refer.
func (s *ChunkSource) Pages(pages []core.Page) ([]core.Page, error) {
	var refs []core.ChunkRef
	for _, p := range pages {
		more, ok := core.PageRefs(p.Data)
		if !ok {
			return pages, errMalformed
		}
		refs = append(refs, more...)
	}
	if len(refs) == 0 {
		return pages, nil
	}
	if err := s.Load(refs); err != nil {
		return pages, fmt.Errorf("the state refers to large values of the history: %w", err)
	}
	return s.chunks.Pages(pages), nil
}

// Size is how large the chunks are to which a value refers that was read.
func (s *ChunkSource) Size(data []byte, of Told) (n int) {
	if !Refers(data) {
		return 0
	}
	for _, r := range open(data, of.owner()).refs {
		n += s.chunks.Size(r)
	}
	return n
}
