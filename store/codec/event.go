package codec

import (
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/store"
)

// AppendEvent appends an event.
func AppendEvent(dst []byte, e *event.Event) []byte {
	w := begin(dst)
	for _, s := range []string{e.ID, e.Source, e.Type, e.Subject, e.Time, e.DataContentType, e.DataSchema, e.DataBase64} {
		w.text(s)
	}
	w.uint(uint64(len(e.Extensions)))
	for _, m := range e.Extensions {
		w.text(m.Key)
		w.value(m.Value)
	}
	w.flag(e.HasData)
	w.value(e.Data)
	return w.buf
}

// DecodeEvent is the reverse of AppendEvent.
func DecodeEvent(data []byte) (event.Event, error) {
	r := open(data)
	var e event.Event
	for _, s := range []*string{&e.ID, &e.Source, &e.Type, &e.Subject, &e.Time, &e.DataContentType, &e.DataSchema, &e.DataBase64} {
		*s = r.text()
	}
	n := r.count()
	for i := 0; i < n && r.err == nil; i++ {
		e.Extensions = append(e.Extensions, expr.Member{Key: r.text(), Value: r.value()})
	}
	e.HasData = r.flag()
	e.Data = r.value()
	return e, r.close()
}

// AppendFate appends what became of an event: For, Used and Why.
func AppendFate(dst []byte, e *store.Event) []byte {
	w := begin(dst)
	w.texts(e.For)
	w.texts(e.Used)
	w.texts(e.Why)
	return w.buf
}

// DecodeFate is the reverse of AppendFate.
func DecodeFate(data []byte, e *store.Event) error {
	r := open(data)
	e.For, e.Used, e.Why = r.texts(), r.texts(), r.texts()
	return r.close()
}

// AppendFilter appends a filter.
func AppendFilter(dst []byte, f *event.Filter) []byte {
	w := begin(dst)
	w.json(f)
	return w.buf
}

// DecodeFilter is the reverse of AppendFilter.
func DecodeFilter(data []byte) (event.Filter, error) {
	r := open(data)
	var f event.Filter
	r.json(&f)
	return f, r.close()
}

// AppendGathering appends the keys and events of a gathering.
func AppendGathering(dst []byte, g *store.Gathering) []byte {
	w := begin(dst)
	w.json(g.Keys)
	w.uint(uint64(len(g.Events)))
	for _, seq := range g.Events {
		w.int(seq)
	}
	return w.buf
}

// DecodeGathering is the reverse of AppendGathering.
func DecodeGathering(data []byte, g *store.Gathering) error {
	r := open(data)
	r.json(&g.Keys)
	n := r.count()
	for i := 0; i < n && r.err == nil; i++ {
		g.Events = append(g.Events, r.int())
	}
	return r.close()
}
