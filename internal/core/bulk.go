package core

import (
	"cmp"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// inlineBytes is up to which size the values of a frame stay on its page. Larger
// ones get a page of their own, which is written only when one of them changes: a
// fan over a large collection counts a hundred thousand results without writing
// the collection once more.
const inlineBytes = 512

// bulk remembers how values of an instance or frame are stored. An owner has two: the values that
// change with its data, and those that seldom do (variables, the context, items).
type bulk struct {
	saved []expr.Value // as they are stored; nil: not at all
	apart bool         // on a page of their own
}

// The parts that hold the values of an owner where they are large.
const (
	partData = -1
	partVars = -2
)

// changed reports whether the stored values are not those any more.
func (b *bulk) changed(values []*expr.Value) bool {
	if b.saved == nil || len(b.saved) != len(values) {
		return len(b.saved)+len(values) > 0
	}
	for i, v := range values {
		if !v.Same(b.saved[i]) {
			return true
		}
	}
	return false
}

// write adds the values to the page that w holds, or to one of their own. Values that
// are among the known ones, or among those before them, are only referred to.
func (b *bulk) write(out []Page, w *writer, at Page, values []*expr.Value, known []expr.Value) []Page {
	if b.apart && !b.changed(values) {
		w.bool(true)
		return out
	}
	if cap(b.saved) < len(values) {
		b.saved = make([]expr.Value, 0, len(values))
	}
	b.saved = b.saved[:0]
	var room [8]expr.Value
	known = append(room[:0], known...)
	from, refs := len(w.buf), len(w.refs)
	w.bool(false)
	for _, v := range values {
		w.shared(*v, known)
		known = append(known, *v)
		b.saved = append(b.saved, *v)
	}
	large := len(w.buf)-from > inlineBytes
	switch {
	case large:
		own := writer{buf: append(append(make([]byte, 0, len(w.buf)-from), pageFormat), w.buf[from+1:]...), chunks: w.chunks, refs: slices.Clone(w.refs[refs:])}
		out = append(out, own.page(at))
		w.refs = w.refs[:refs]
		w.buf = slices.Clone(w.buf[:from]) // without the room for the values
		w.bool(true)
	case b.apart:
		out = append(out, at)
	}
	b.apart = large
	return out
}

// read is the reverse of write; apart gives the page of the values.
func (b *bulk) read(r *reader, apart func() *reader, values []*expr.Value, known []expr.Value) {
	from := r
	if b.apart = r.bool(); b.apart {
		if from = apart(); from == nil {
			r.fail()
			return
		}
	}
	for _, v := range values {
		*v = from.shared(known)
		known = append(known, *v)
		b.saved = append(b.saved, *v)
	}
	if from.err != nil || from != r && len(from.data) > 0 {
		r.err = cmp.Or(r.err, from.err)
		r.fail()
	}
}

// gone adds what must be deleted when the owner goes.
func (b *bulk) gone(out []Page, at Page) []Page {
	if b.apart {
		return append(out, at)
	}
	return out
}
