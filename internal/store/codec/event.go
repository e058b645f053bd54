package codec

import (
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func eventOwner(e *store.Event) owner {
	return owner{kind: kindEvent, texts: [6]string{e.Producer, e.Origin}, numbers: [4]int64{e.Seq, int64(e.Received)}}
}

func emitOwner(id string, e *store.Emit) owner {
	o := owner{kind: kindEmit, texts: [6]string{id, e.Definition}}
	if e.Sink {
		o.numbers[0] = 1
	}
	return o
}

// AppendEvent appends a received event.
func AppendEvent(dst []byte, e *store.Event) []byte {
	w := appendEvent(dst, &e.Event)
	return w.end(eventOwner(e))
}

// SealEvent replaces the checksum of what AppendEvent wrote, for the event's final Seq. Seq is
// known only inside the transaction, after the event was encoded.
func SealEvent(data []byte, e *store.Event) []byte {
	o := eventOwner(e)
	return o.seal(append(make([]byte, 0, len(data)), data[:len(data)-sumSize]...), 0)
}

// DecodeEvent is the reverse of AppendEvent. The columns of e must be set: the checksum covers them.
func DecodeEvent(data []byte, e *store.Event) (err error) {
	r := open(data, eventOwner(e))
	e.Event, err = r.event()
	return err
}

// AppendEmit appends the event that an instance produced.
func AppendEmit(dst []byte, id string, e *store.Emit) []byte {
	w := appendEvent(dst, &e.Event)
	return w.end(emitOwner(id, e))
}

// DecodeEmit is the reverse of AppendEmit. The columns of e must be set.
func DecodeEmit(data []byte, e *store.Emit) (err error) {
	r := open(data, emitOwner(e.Instance, e))
	e.Event, err = r.event()
	return err
}

func appendEvent(dst []byte, e *event.Event) writer {
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
	return w
}

func (r *reader) event() (e event.Event, err error) {
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

func fateOwner(e *store.Event) owner {
	return owner{kind: kindFate, numbers: [4]int64{e.Seq, int64(e.Until)}}
}

// AppendFate appends what became of an event: For, Used and Why.
func AppendFate(dst []byte, e *store.Event) []byte {
	w := begin(dst)
	w.texts(e.For)
	w.texts(e.Used)
	w.texts(e.Why)
	return w.end(fateOwner(e))
}

// DecodeFate is the reverse of AppendFate. The columns of e must be set.
func DecodeFate(data []byte, e *store.Event) error {
	r := open(data, fateOwner(e))
	e.For = r.texts()
	e.Used = r.texts()
	e.Why = r.texts()
	return r.close()
}

func filterOwner(id string, s *store.Subscription) owner {
	return owner{kind: kindFilter, texts: [6]string{id, s.Name}, numbers: [4]int64{int64(s.Ticket)}}
}

// AppendFilter appends the filter of an instance's subscription.
func AppendFilter(dst []byte, id string, s *store.Subscription) []byte {
	w := begin(dst)
	w.json(&s.Filter)
	return w.end(filterOwner(id, s))
}

// DecodeFilter is the reverse of AppendFilter. The columns of s must be set.
func DecodeFilter(data []byte, s *store.Subscription) error {
	r := open(data, filterOwner(s.Instance, s))
	r.json(&s.Filter)
	return r.close()
}

func gatheringOwner(g *store.Gathering) owner {
	return owner{kind: kindGathering, texts: [6]string{g.Definition, g.Digest, g.Key}}
}

// AppendGathering appends the keys and events of a gathering.
func AppendGathering(dst []byte, g *store.Gathering) []byte {
	w := begin(dst)
	w.json(g.Keys)
	w.uint(uint64(len(g.Events)))
	for _, seq := range g.Events {
		w.int(seq)
	}
	return w.end(gatheringOwner(g))
}

// DecodeGathering is the reverse of AppendGathering. The columns of g must be set.
func DecodeGathering(data []byte, g *store.Gathering) error {
	r := open(data, gatheringOwner(g))
	r.json(&g.Keys)
	n := r.count()
	for i := 0; i < n && r.err == nil; i++ {
		g.Events = append(g.Events, r.int())
	}
	return r.close()
}
