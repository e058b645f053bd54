package core

import "github.com/lockstep-workflows/lockstep/expr"

// inlineBytes is up to which size the values of a frame stay on its page. Larger
// ones get a page of their own, which is written only when one of them changes: a
// fan over a large collection counts a hundred thousand results without writing
// the collection once more.
const inlineBytes = 512

// bulk remembers how the values of an instance or frame are stored.
type bulk struct {
	saved []expr.Value // as they are stored; nil: not at all
	apart bool         // on a page of their own
}

// changed reports whether the stored values are not those any more.
func (b *bulk) changed(values []*expr.Value) bool {
	if b.saved == nil {
		return true
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
func (b *bulk) write(out []Page, w *writer, id FrameID, values []*expr.Value, known []expr.Value) []Page {
	if b.apart && !b.changed(values) {
		w.bool(true)
		return out
	}
	b.saved = b.saved[:0]
	own := newWriter()
	for _, v := range values {
		own.shared(*v, known)
		known = append(known, *v)
		b.saved = append(b.saved, *v)
	}
	large := len(own.buf) > inlineBytes
	w.bool(large)
	switch {
	case large:
		out = append(out, Page{id, -1, own.buf})
	case b.apart:
		out = append(out, Page{Frame: id, Part: -1})
	}
	if !large {
		w.buf = append(w.buf, own.buf[1:]...) // without the version of a page
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
		r.fail()
	}
}

// gone adds what must be deleted when the owner goes.
func (b *bulk) gone(out []Page, id FrameID) []Page {
	if b.apart {
		return append(out, Page{Frame: id, Part: -1})
	}
	return out
}
