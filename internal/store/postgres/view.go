package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// view is the store as a router sees it: without a lock, noting what it looked at, or
// inside of a transaction that has the lock. It remembers the first error, because the
// methods of a View have none to return.
type view struct {
	ctx     context.Context
	sp      *space
	ns      int32
	q       querier
	known   *known
	noting  bool
	notes   []note
	pending *store.Event         // is being taken; it has no row yet
	waiting []store.Subscription // that may match it, as arrive read them
	err     error
	damaged store.DamagedError
}

var _ store.View = (*view)(nil)

// note is something that a router looked at, and its sum; see the function seen of the schema.
type note struct {
	look
	Sum int64
}

func (v *view) Damaged() error { return v.damaged.Err() }

// leaveOut notes that something is damaged. Any other error is one of the query.
func (v *view) leaveOut(err error, seq int64, instance string) error {
	if errors.Is(err, store.ErrDamaged) {
		v.damaged.Add(seq, instance, err)
		return nil
	}
	return err
}

// look is something that a router looks at.
type look struct {
	What string
	A, B int64
	C, D string
}

const callSeen = "SELECT ~.seen(p_ns => @ns, p_what => @what, p_a => @a, p_b => @b, p_c => @c, p_d => @d)"

func (l look) args(ns int32) pgx.NamedArgs {
	return pgx.NamedArgs{"ns": ns, "what": l.What, "a": l.A, "b": l.B, "c": l.C, "d": l.D}
}

// query notes what is looked at and then reads it, with one round trip: what changes
// between the two is found changed later.
func (v *view) query(looks []look, text string, args []any, each func(pgx.Rows) error) {
	b := &pgx.Batch{}
	v.queue(b, looks, text, args, each)
	v.send(b)
}

// send runs a batch, unless something failed before.
func (v *view) send(b *pgx.Batch) {
	if v.err == nil && b.Len() > 0 {
		v.err = wrap(v.q.SendBatch(v.ctx, b).Close())
	}
}

// queue is query as a part of a batch.
func (v *view) queue(b *pgx.Batch, looks []look, text string, args []any, each func(pgx.Rows) error) {
	for _, l := range looks {
		if !v.noting || v.noted(l) {
			continue
		}
		at := len(v.notes)
		v.notes = append(v.notes, note{look: l})
		b.Queue(v.sp.db.sql(callSeen), l.args(v.ns)).QueryRow(func(r pgx.Row) error { return r.Scan(&v.notes[at].Sum) })
	}
	b.Queue(v.sp.db.sql(text), args...).Query(func(r pgx.Rows) error { return drain(r, each) })
}

// noted reports whether the same was looked at before: the earlier sum counts.
func (v *view) noted(l look) bool {
	return slices.ContainsFunc(v.notes, func(n note) bool { return n.look == l })
}

const eventFields = "e.seq, e.received, e.until, e.producer, e.origin, e.fors, e.fate, e.event, " +
	"e.started OR EXISTS (SELECT 1 FROM ~.deliveries d WHERE d.ns = e.ns AND d.gen = e.gen AND d.event = e.seq AND NOT d.refused)"

// notForgotten is what holds of events e that are kept, with $1 for the namespace.
const notForgotten = "e.over > coalesce((SELECT p.over FROM ~.purges p WHERE p.ns = $1 ORDER BY p.over DESC LIMIT 1), -9223372036854775808)"

func readEvent(r pgx.Rows) (e store.Event, err error) {
	var fate, data []byte
	var fors []string
	if err := r.Scan(&e.Seq, &e.Received, &e.Until, &e.Producer, &e.Origin, &fors, &fate, &data, &e.Taken); err != nil {
		return e, err
	}
	if err = codec.DecodeFate(fate, &e); err == nil {
		err = codec.DecodeEvent(data, &e)
	}
	if err != nil {
		return e, fmt.Errorf("event %d is %w: %w", e.Seq, store.ErrDamaged, err)
	}
	e.For = fors
	if len(fors) == 0 {
		e.For = nil
	}
	return e, nil
}

func (v *view) Event(seq int64) (out store.Event, ok bool) {
	if v.pending != nil && seq == v.pending.Seq {
		return *v.pending, true
	}
	v.query([]look{{What: "e", A: seq}}, "SELECT "+eventFields+", e.again FROM ~.events e WHERE e.ns = $1 AND e.seq = $2 AND "+notForgotten, []any{v.ns, seq}, func(r pgx.Rows) (err error) {
		again := false
		out, err = readEvent(withMore{r, []any{&again}})
		out.Again = again
		ok = err == nil
		return v.leaveOut(err, seq, "")
	})
	return out, ok
}

// readSub reads id, inst, ticket, name and filter.
func readSub(r pgx.Rows) (s store.Subscription, err error) {
	var ticket int64
	var name, filter []byte
	if err := r.Scan(&s.Instance, &s.InstanceSeq, &ticket, &name, &filter); err != nil {
		return s, err
	}
	s.Ticket, s.Name = core.Ticket(ticket), string(name)
	if err = codec.DecodeFilter(filter, &s); err != nil {
		return s, fmt.Errorf("subscription %s of %s is %w: %w", s.Ticket, s.Instance, store.ErrDamaged, err)
	}
	return s, nil
}

// subs lists subscriptions in order.
func (v *view) subs(looks []look, text string, args ...any) (out []store.Subscription) {
	v.query(looks, text, args, func(r pgx.Rows) error {
		s, err := readSub(r)
		return keep(&out, &v.damaged, s, 0, s.Instance, err)
	})
	store.SortSubscriptions(out)
	return out
}

func (v *view) Subscriptions(e event.Event) (out []store.Subscription) {
	if v.pending != nil && e.Source == v.pending.Event.Source && e.ID == v.pending.Event.ID {
		out = slices.Clone(v.waiting)
	} else {
		b := &pgx.Batch{}
		v.queueSubscriptions(b, e, &out)
		v.send(b)
	}
	store.SortSubscriptions(out)
	return out
}

// queueSubscriptions reads the subscriptions that may match an event as a part of a batch, in any order.
func (v *view) queueSubscriptions(b *pgx.Batch, e event.Event, out *[]store.Subscription) {
	var looks []look
	var typs, matches []int64
	for _, k := range keysOf(v.known.shapes, &e) {
		looks = append(looks, look{What: "s", A: k.typ, B: k.match})
		typs, matches = append(typs, k.typ), append(matches, k.match)
	}
	v.noteShapes()
	if len(typs) == 0 {
		return
	}
	text := "SELECT id, inst, ticket, name, filter, fresh FROM ~.waiting_subs($1, $2, $3)"
	v.queue(b, looks, text, []any{v.ns, typs, matches}, func(r pgx.Rows) error {
		fresh := false
		s, err := readSub(withMore{r, []any{&fresh}})
		s.Fresh = fresh
		return keep(out, &v.damaged, s, 0, s.Instance, err)
	})
}

// noteShapes notes that the shapes count as they are known.
func (v *view) noteShapes() {
	if v.noting && !v.noted(look{What: "h"}) {
		v.notes = append(v.notes, note{look{What: "h"}, v.known.sum})
	}
}

// Near is for people: nothing depends on it.
func (v *view) Near(e event.Event, limit int) []store.Subscription {
	typs := []int64{anyType, typeOf(e.Type)}
	if e.Type == "" {
		typs = typs[:1]
	}
	var out []store.Subscription
	for _, typ := range typs {
		out = append(out, v.subs(nil, "SELECT id, inst, ticket, name, filter FROM ~.subs WHERE ns = $1 AND typ = $2 AND NOT busy ORDER BY match LIMIT $3", v.ns, typ, limit)...)
	}
	store.SortSubscriptions(out)
	return out[:min(len(out), limit)]
}

func (v *view) Fresh(instance string) []store.Subscription {
	if !storable(instance) {
		return nil
	}
	return v.subs([]look{{What: "i", C: instance}},
		"SELECT s.id, s.inst, s.ticket, s.name, s.filter FROM ~.instances i JOIN ~.subs s ON s.inst = i.seq WHERE i.ns = $1 AND i.id = $2 AND NOT s.busy AND "+
			"(s.fresh OR s.ticket & 2147483648 <> 0 AND EXISTS (SELECT 1 FROM ~.subs f WHERE f.inst = s.inst AND f.fresh AND NOT f.busy AND f.ticket & 2147483648 <> 0 AND f.ticket >> 32 = s.ticket >> 32))", v.ns, instance)
}

func (v *view) Kept(s store.Subscription) (out []store.Event) {
	typ := typeOf(s.Filter.Type)
	shape, match := codec.MatchOf(&s.Filter)
	if match == codec.NoMatch {
		return nil
	}
	after := int64(0)
	if !s.Filter.Correlated() {
		after = s.InstanceSeq // what came before is not for it
	}
	const open = "NOT EXISTS (SELECT 1 FROM ~.deliveries o WHERE o.ns = e.ns AND o.gen = e.gen AND o.event = e.seq AND o.inst = $3 AND (NOT o.refused OR o.ticket = $4))"
	text, args := "SELECT "+eventFields+" FROM ~.events e WHERE 0 + e.ns = $1 AND e.seq > $2 AND "+notForgotten+" AND "+open+" ORDER BY e.seq", []any{v.ns, after, s.InstanceSeq, int64(s.Ticket)}
	looks := []look{{What: "t"}}
	v.noteShapes()
	if v.known.has(typ, shape) { // else nobody waits like this: it is not stored
		text = "SELECT " + eventFields + " FROM ~.event_keys k JOIN ~.events e ON e.ns = k.ns AND e.gen = k.gen AND e.seq = k.event " +
			"WHERE k.ns = $1 AND k.event > $2 AND k.typ = $5 AND k.match = $6 AND " + notForgotten + " AND " + open + " ORDER BY k.event"
		args, looks = append(args, typ, match), []look{{What: "k", A: typ, B: match}}
	}
	v.query(looks, text, args, func(r pgx.Rows) error {
		e, err := readEvent(r)
		if ok, _ := s.Filter.Match(e.Event); err == nil && (!ok || e.Producer == s.Instance) {
			return nil
		}
		return keep(&out, &v.damaged, e, e.Seq, "", err)
	})
	if p := v.pending; p != nil && p.Producer != s.Instance {
		if ok, _ := s.Filter.Match(p.Event); ok {
			out = append(out, *p)
		}
	}
	return out
}

func (v *view) Owner(definition string, keys []core.Key) (out store.Instance, found bool) {
	if len(keys) == 0 {
		return store.Instance{}, false
	}
	var looks []look
	for _, k := range keys {
		looks = append(looks, look{What: "o", A: ownerKey(definition, k)})
	}
	v.query(looks, "SELECT "+instanceFields+" FROM ~.owners o JOIN ~.instances i ON i.ns = o.ns AND i.seq = o.inst JOIN ~.kinds k ON k.kind = i.kind WHERE o.ns = $1 AND o.key = $2 ORDER BY o.inst",
		[]any{v.ns, looks[0].A}, func(r pgx.Rows) error {
			if found {
				return nil
			}
			in, err := readInstance(r)
			if in.Definition == definition && (err != nil || in.Fixed(keys)) {
				out, found, err = in, true, v.leaveOut(err, 0, in.ID)
			}
			return err
		})
	return out, found && v.err == nil
}

func (v *view) Got(event int64, definition string, keys []core.Key) (got bool) {
	if len(keys) == 0 || !storable(definition) {
		return false
	}
	v.query([]look{{What: "e", A: event}}, "SELECT "+instanceFields+" FROM (SELECT ns, inst FROM ~.deliveries WHERE ns = $1 AND event = $2 AND NOT refused OFFSET 0) d "+
		"JOIN ~.instances i ON i.ns = d.ns AND i.seq = d.inst JOIN ~.kinds k ON k.kind = i.kind WHERE k.definition = $3", []any{v.ns, event, definition}, func(r pgx.Rows) error {
		in, err := readInstance(r)
		got = got || err != nil || in.Fixed(keys)
		return v.leaveOut(err, 0, in.ID)
	})
	return got && v.err == nil
}

const gatheringFields = "seq, definition, digest, key, until, rest"

func readGathering(r pgx.Rows) (g store.Gathering, err error) {
	var key, rest []byte
	if err := r.Scan(&g.Seq, &g.Definition, &g.Digest, &key, &g.Until, &rest); err != nil {
		return g, err
	}
	g.Key = string(key)
	if err := codec.DecodeGathering(rest, &g); err != nil {
		return g, fmt.Errorf("gathering %d of %s is %w: %w", g.Seq, g.Definition, store.ErrDamaged, err)
	}
	return g, nil
}

// fitsOf is the hash of what an event must have to fit into a gathering.
func fitsOf(key string) int64 {
	if key == "" {
		return 0
	}
	return codec.SumOf(key)
}

func (v *view) Gatherings(definition, digest, key string) (out []store.Gathering) {
	if !storable(definition, digest) {
		return nil
	}
	fits := fitsOf(key)
	v.query([]look{{What: "g", A: fits, C: definition, D: digest}},
		"SELECT "+gatheringFields+" FROM ~.gatherings WHERE ns = $1 AND definition = $2 AND digest = $3 AND fits IN (0, $4) ORDER BY seq",
		[]any{v.ns, definition, digest, fits}, func(r pgx.Rows) error {
			g, err := readGathering(r)
			if err == nil && g.Key != "" && g.Key != key {
				return nil
			}
			return keep(&out, &v.damaged, g, g.Seq, "", err)
		})
	return out
}
