package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

const eventFields = "SELECT events.seq, events.received, events.until, events.producer, events.origin, events.fate, events.event, " +
	"events.inst IS NOT NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.ns = events.ns AND d.event = events.seq AND d.refused = 0)"

const eventColumns = eventFields + " FROM events "

func readEvent(r row) (store.Event, error) {
	e := store.Event{
		Seq: r.ColumnInt64(0), Received: core.Time(r.ColumnInt64(1)), Until: core.Time(r.ColumnInt64(2)),
		Producer: r.ColumnText(3), Origin: r.ColumnText(4),
	}
	var err error
	if err = codec.DecodeFate(blob(r, 5), &e); err == nil {
		err = codec.DecodeEvent(blob(r, 6), &e)
	}
	if err != nil {
		return e, fmt.Errorf("event %d is %w: %w", e.Seq, store.ErrDamaged, err)
	}
	e.Taken = len(e.Used) > 0 || r.ColumnInt64(7) != 0
	return e, nil
}

// event reads an event.
func (c *conn) event(sp *space, seq int64) (e store.Event, ok bool, err error) {
	ok, err = c.one(eventFields+", events.again IS NOT NULL FROM events WHERE seq = ? AND ns = ?", func(r row) (err error) {
		e, err = readEvent(r)
		e.Again = r.ColumnInt64(8) != 0
		return err
	}, seq, sp.ns)
	return e, ok, err
}

// setFate writes what became of an event, and for which instances it is kept.
func (t *tx) setFate(sp *space, e *store.Event, instances []string) error {
	was := e.For
	e.For = instances
	if _, err := t.exec("UPDATE events SET fate = ?, until = ? WHERE seq = ?", codec.AppendFate(nil, e), int64(e.Until), e.Seq); err != nil {
		return err
	}
	return t.keepFor(sp, e.Seq, was, instances)
}

// keepFor keeps the table of instances that events are kept for.
func (t *tx) keepFor(sp *space, event int64, was, is []string) error {
	for _, id := range was {
		if slices.Contains(is, id) {
			continue
		}
		if _, err := t.exec("DELETE FROM kept_for WHERE ns = ? AND id = ? AND event = ?", sp.ns, id, event); err != nil {
			return err
		}
	}
	for _, id := range is {
		if slices.Contains(was, id) {
			continue
		}
		sp.keptFor = true
		if _, err := t.exec("INSERT OR IGNORE INTO kept_for (ns, id, event) VALUES (?, ?, ?)", sp.ns, id, event); err != nil {
			return err
		}
	}
	return nil
}

// Ingest takes an event and routes it. The router runs before anything is written, so
// its error leaves nothing behind.
func (s *Store) Ingest(ctx context.Context, e store.Event, emit int64, route store.EventRouter) (store.Event, error) {
	data := codec.AppendEvent(nil, &e)
	var out store.Event
	known := false
	err := s.db.writer.submit(ctx, 2*len(data), func(t *tx) (err error) {
		out, known, err = t.ingest(s.space, e, data, emit, route, false)
		return err
	})
	if err != nil {
		return store.Event{}, err
	}
	if known {
		return out, duplicate(&e)
	}
	return out, nil
}

// Preview routes an event without taking it.
func (s *Store) Preview(ctx context.Context, e store.Event, route store.EventRouter) error {
	e.Seq = math.MaxInt64
	return s.db.read(ctx, func(c *conn) error {
		v, n := s.view(c, &e), 0
		for _, k := range keysOf(v.shapes, &e.Event) {
			n += len(v.waits(k))
		}
		if n == 0 || n > manySubs {
			return nil
		}
		_, err := store.Decide(func() (store.Routing, error) { return route(e, v) }, &v.err)
		return err
	})
}

func duplicate(e *store.Event) error {
	return fmt.Errorf("event %s of %s: %w", e.Event.ID, e.Event.Source, store.ErrDuplicate)
}

// ingest takes an event, encoded, unless it is known. Directly: the step that takes it is in the same
// transaction, which fails as a whole if the event is known; that shows when its row is inserted.
func (t *tx) ingest(
	sp *space, e store.Event, data []byte, emit int64, route store.EventRouter, directly bool,
) (out store.Event, known bool, err error) {
	if !directly {
		earlier, known, err := t.known(sp, &e)
		if err != nil {
			return out, false, err
		}
		if known {
			return earlier, true, t.emitted(sp, emit)
		}
	}
	e.Seq, err = t.next()
	if err != nil {
		return out, false, err
	}
	v := t.view(sp, &e)
	routing, err := store.Decide(func() (store.Routing, error) { return route(e, v) }, &v.err)
	if err == nil {
		err = t.mayRoute(sp, &routing)
	}
	if err != nil {
		return out, false, err
	}
	if err := t.use(sp); err != nil {
		return out, false, err
	}
	for _, r := range routing.Events {
		if r.Seq == e.Seq {
			e.Until, e.For, e.Used, e.Why = r.Until, r.For, r.Used, r.Why
		}
	}
	routing.Events = slices.DeleteFunc(slices.Clone(routing.Events), func(r store.Event) bool { return r.Seq == e.Seq })
	var taker any // of an event that is taken directly
	if directly && len(routing.Deliver) > 0 {
		h, err := t.head(sp, routing.Deliver[0].Instance)
		if err != nil {
			return out, false, err
		}
		if h != nil {
			taker = h.seq
		}
	}
	row := []any{
		e.Seq, sp.ns, e.Event.Source, e.Event.ID, e.Event.Type, int64(e.Received), int64(e.Until), e.Producer, e.Origin, taker,
		codec.AppendFate(nil, &e), codec.SealEvent(data, &e),
	}
	for n := 0; n == 0; {
		n, err = t.exec("INSERT INTO events (seq, ns, source, id, type, received, until, producer, origin, again, inst, fate, event) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?) ON CONFLICT (ns, source, id) DO NOTHING", row...)
		if err == nil && n == 0 {
			out, known, err = t.known(sp, &e)
		}
		if err != nil || known {
			return out, known, err
		}
	}
	for _, k := range keysOf(t.shapesOf(sp), &e.Event) {
		if _, err := t.exec("INSERT INTO event_keys (ns, type, match, event) VALUES (?, ?, ?, ?)", sp.ns, k.typ, k.match, e.Seq); err != nil {
			return out, false, err
		}
	}
	if err := t.keepFor(sp, e.Seq, nil, e.For); err != nil {
		return out, false, err
	}
	t.until(sp, e.Until)
	if err := t.emitted(sp, emit); err != nil {
		return out, false, err
	}
	if err := t.route(sp, routing, &e, directly); err != nil {
		return out, false, err
	}
	e.Taken = len(e.Used) > 0 || slices.ContainsFunc(routing.Deliver, func(d store.Delivery) bool { return d.Event == e.Seq })
	return e, false, nil
}

// known finds an event of the same source and id whose time is not up.
func (t *tx) known(sp *space, e *store.Event) (known store.Event, ok bool, err error) {
	ok, err = t.conn.one(eventColumns+"WHERE ns = ? AND source = ? AND id = ?", func(r row) (err error) {
		known, err = readEvent(r)
		return err
	}, sp.ns, e.Event.Source, e.Event.ID)
	if err != nil || !ok {
		return known, false, err
	}
	if known.Until > e.Received {
		return known, true, nil
	}
	if err := t.forget(sp, &known); err != nil {
		return known, false, err
	}
	_, err = t.purge(sp, e.Received, purgeBatch)
	return known, false, err
}

// emitted forgets an emit.
func (t *tx) emitted(sp *space, seq int64) error {
	if seq == 0 {
		return nil
	}
	_, err := t.exec("DELETE FROM emits WHERE ns = ? AND sink = 0 AND seq = ?", sp.ns, seq)
	return err
}

// until notes when an event's time is up.
func (t *tx) until(sp *space, at core.Time) {
	t.then(func() { sp.purgeAt = min(sp.purgeAt, at) })
}

// Route decides again about events that are kept.
func (s *Store) Route(ctx context.Context, route store.Router) error {
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		v := t.view(s.space, nil)
		routing, err := store.Decide(func() (store.Routing, error) { return route(v) }, &v.err)
		if err == nil {
			err = t.mayRoute(s.space, &routing)
		}
		if err != nil {
			return err
		}
		if err := t.use(s.space); err != nil {
			return err
		}
		return t.route(s.space, routing, nil, false)
	})
}

// route does what a router decided. taken is the event that is being taken, if any; directly as in deliver.
func (t *tx) route(sp *space, r store.Routing, taken *store.Event, directly bool) error {
	for i := range r.Events {
		if err := t.reroute(sp, &r.Events[i]); err != nil {
			return err
		}
	}
	for i := range r.Deliver {
		if err := t.deliver(sp, &r.Deliver[i], taken, directly); err != nil {
			return err
		}
	}
	for i := range r.Gather {
		if err := t.gather(sp, &r.Gather[i]); err != nil {
			return err
		}
	}
	for _, seq := range r.Drop {
		if _, err := t.exec("DELETE FROM gatherings WHERE seq = ? AND ns = ?", seq, sp.ns); err != nil {
			return err
		}
	}
	for _, seq := range r.Again {
		if _, err := t.exec("UPDATE events SET again = 1 WHERE seq = ? AND ns = ?", seq, sp.ns); err != nil {
			return err
		}
		t.then(sp.again.set)
	}
	for _, n := range r.Start {
		start, err := encodeStart(n)
		if err != nil {
			return err
		}
		if err := t.insert(sp, &start); err != nil {
			return err
		}
	}
	for _, id := range r.Checked {
		h, err := t.head(sp, id)
		if err != nil {
			return err
		}
		if h == nil {
			continue
		}
		if _, err := t.exec("UPDATE subs SET fresh = 0 WHERE ns = ? AND inst = ? AND fresh = 1", sp.ns, h.seq); err != nil {
			return err
		}
	}
	return nil
}

// reroute writes what became of a kept event.
func (t *tx) reroute(sp *space, e *store.Event) error {
	kept, ok, err := t.conn.event(sp, e.Seq)
	if err != nil || !ok {
		return err
	}
	kept.Until, kept.Used, kept.Why = e.Until, e.Used, e.Why
	if err := t.setFate(sp, &kept, e.For); err != nil {
		return err
	}
	t.until(sp, e.Until)
	_, err = t.exec("UPDATE events SET again = NULL WHERE seq = ? AND again IS NOT NULL", e.Seq)
	return err
}

// deliver puts an event into an inbox and closes the subscription to others, unless it is standing. Directly: the
// step that takes it is in the same transaction, and removes the subscription.
func (t *tx) deliver(sp *space, d *store.Delivery, taken *store.Event, directly bool) error {
	h, err := t.head(sp, d.Instance)
	if err != nil || h == nil {
		return err
	}
	if taken == nil || taken.Seq != d.Event {
		e, ok, err := t.conn.event(sp, d.Event)
		if err != nil || !ok {
			return err
		}
		taken = &e
	}
	ticket := int64(d.Reply.Ticket)
	if !directly && !d.Reply.Ticket.Standing() {
		if _, err := t.file(sp, t.shuts, "UPDATE subs SET busy = 1 WHERE ns = ? AND inst = ? AND ticket = ? AND busy = 0", sp.ns, h.seq, ticket); err != nil {
			return err
		}
	}
	if !directly { // else the row of the event says so
		if _, err := t.exec("INSERT OR REPLACE INTO deliveries (ns, event, inst, ticket, refused) VALUES (?, ?, ?, ?, 0)", sp.ns, d.Event, h.seq, ticket); err != nil {
			return err
		}
	}
	if slices.Contains(taken.For, d.Instance) {
		left := slices.DeleteFunc(slices.Clone(taken.For), func(id string) bool { return id == d.Instance })
		if err := t.setFate(sp, taken, left); err != nil {
			return err
		}
	}
	if directly {
		return nil
	}
	return t.post(sp, d.Instance, d.At, d.Event, codec.AppendInput(nil, &store.Message{To: d.Instance, At: d.At, Event: d.Event, Input: d.Reply}))
}

const (
	// purgeBatch is how many events one transaction forgets, and purgeBatches how many
	// such transactions one call of Purge asks for ("purge-batch").
	purgeBatch   = 1024
	purgeBatches = 16
)

// Purge forgets events whose time is up.
func (s *Store) Purge(ctx context.Context, now core.Time) error {
	for range purgeBatches {
		s.db.mu.Lock()
		nothing := now < s.purgeAt
		s.db.mu.Unlock()
		if nothing {
			return ctx.Err()
		}
		n := 0
		err := s.db.writer.submit(ctx, 0, func(t *tx) (err error) {
			n, err = t.purge(s.space, now, purgeBatch)
			return err
		})
		if err != nil || n < purgeBatch {
			return err
		}
	}
	return nil
}

func (t *tx) purge(sp *space, now core.Time, limit int) (int, error) {
	var list []store.Event
	damaged := map[int64]bool{}
	err := t.conn.query(eventColumns+"WHERE ns = ? AND until <= ? ORDER BY until, seq LIMIT ?", func(r row) error {
		e, err := readEvent(r)
		list = append(list, e)
		if errors.Is(err, store.ErrDamaged) {
			damaged[e.Seq] = true
			return nil
		}
		return err
	}, sp.ns, int64(now), limit)
	if err != nil {
		return 0, err
	}
	for i := range list {
		forget := t.forget
		if damaged[list[i].Seq] {
			forget = t.forgetDamaged
		}
		if err := forget(sp, &list[i]); err != nil {
			return 0, err
		}
	}
	next, ok, err := t.conn.number("SELECT min(until) FROM events WHERE ns = ?", sp.ns)
	if err != nil {
		return 0, err
	}
	if !ok {
		next = int64(never)
	}
	t.then(func() { sp.purgeAt = core.Time(next) })
	return len(list), nil
}

// forgetDamaged drops an event that cannot be read. What leads to it is found by looking at all that
// leads to any.
func (t *tx) forgetDamaged(sp *space, e *store.Event) error {
	for _, table := range []string{"event_keys", "deliveries", "kept_for"} {
		if _, err := t.exec("DELETE FROM "+table+" WHERE ns = ? AND event = ?", sp.ns, e.Seq); err != nil {
			return err
		}
	}
	_, err := t.exec("DELETE FROM events WHERE seq = ?", e.Seq)
	return err
}

// forget drops an event.
func (t *tx) forget(sp *space, e *store.Event) error {
	for _, k := range keysOf(t.shapesOf(sp), &e.Event) {
		if _, err := t.exec("DELETE FROM event_keys WHERE ns = ? AND type = ? AND match = ? AND event = ?", sp.ns, k.typ, k.match, e.Seq); err != nil {
			return err
		}
	}
	if _, err := t.exec("DELETE FROM deliveries WHERE ns = ? AND event = ?", sp.ns, e.Seq); err != nil {
		return err
	}
	if err := t.keepFor(sp, e.Seq, e.For, nil); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM events WHERE seq = ?", e.Seq)
	return err
}
