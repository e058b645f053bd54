package sqlite

import (
	"errors"
	"reflect"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// take removes messages from an inbox and puts back the refused events.
func (t *tx) take(sp *space, h *head, taken, release []int64) (gone int, err error) {
	if len(taken) == 0 {
		return 0, nil
	}
	for _, seq := range release {
		if err := t.release(sp, h, seq); err != nil {
			return 0, err
		}
	}
	for _, seq := range taken {
		n, err := t.exec("DELETE FROM inbox WHERE ns = ? AND inst = ? AND seq = ?", sp.ns, h.seq, seq)
		if err != nil {
			return 0, err
		}
		gone += n
	}
	return gone, nil
}

// release puts back the event of a message.
func (t *tx) release(sp *space, h *head, message int64) error {
	m, ticket := store.Message{To: h.id}, core.Ticket(0)
	_, err := t.conn.one("SELECT event, input, at FROM inbox WHERE ns = ? AND inst = ? AND seq = ?", func(r row) error {
		m.Event, m.At = r.ColumnInt64(0), core.Time(r.ColumnInt64(2))
		err := codec.DecodeInput(blob(r, 1), &m)
		if reply, ok := m.Input.(core.Reply); ok {
			ticket = reply.Ticket
		}
		return err
	}, sp.ns, h.seq, message)
	if errors.Is(err, store.ErrDamaged) { // its subscription is unknown; the instance is being set aside
		return nil
	}
	if err != nil || m.Event == 0 {
		return err
	}
	return t.refuse(sp, h, m.Event, ticket)
}

// refuse puts back an event that arrived after its subscription was closed. It is kept for the
// instance: another subscription may take it; if none does, it is routed again.
func (t *tx) refuse(sp *space, h *head, event int64, ticket core.Ticket) error {
	if _, err := t.file(sp, t.opens, "UPDATE subs SET busy = 0 WHERE ns = ? AND inst = ? AND ticket = ? AND busy = 1", sp.ns, h.seq, int64(ticket)); err != nil {
		return err
	}
	if _, err := t.exec("UPDATE subs SET fresh = 1 WHERE ns = ? AND inst = ? AND fresh = 0", sp.ns, h.seq); err != nil {
		return err
	}
	t.then(sp.unchecked.set)
	e, ok, err := t.conn.event(sp, event)
	if errors.Is(err, store.ErrDamaged) { // it reaches nobody
		return nil
	}
	if err != nil || !ok {
		return err
	}
	if _, err := t.exec("UPDATE deliveries SET refused = 1 WHERE ns = ? AND event = ? AND inst = ? AND ticket = ?", sp.ns, event, h.seq, int64(ticket)); err != nil {
		return err
	}
	if slices.Contains(e.For, h.id) {
		return nil
	}
	return t.setFate(sp, &e, append(slices.Clone(e.For), h.id))
}

// putBack refuses the events that are on their way to standing subscriptions which are removed.
func (t *tx) putBack(sp *space, h *head, removed []core.Ticket) (gone int, err error) {
	if h.final() || !slices.ContainsFunc(removed, core.Ticket.Standing) {
		return 0, nil
	}
	type underway struct {
		seq, event int64
		ticket     core.Ticket
	}
	var list []underway
	err = t.conn.query("SELECT seq, event, input, at FROM inbox WHERE ns = ? AND inst = ? AND event <> 0 ORDER BY seq", func(r row) error {
		m := store.Message{To: h.id, Event: r.ColumnInt64(1), At: core.Time(r.ColumnInt64(3))}
		if codec.DecodeInput(blob(r, 2), &m) != nil {
			return nil // the instance will be set aside
		}
		if reply, ok := m.Input.(core.Reply); ok && reply.Ticket.Standing() && slices.Contains(removed, reply.Ticket) {
			list = append(list, underway{r.ColumnInt64(0), m.Event, reply.Ticket})
		}
		return nil
	}, sp.ns, h.seq)
	if err != nil {
		return 0, err
	}
	for _, m := range list {
		if err := t.refuse(sp, h, m.event, m.ticket); err != nil {
			return 0, err
		}
		if _, err := t.exec("DELETE FROM inbox WHERE ns = ? AND inst = ? AND seq = ?", sp.ns, h.seq, m.seq); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// commands writes what a step decided.
func (t *tx) commands(sp *space, h *head, c *encoded) error {
	answered := c.Answered
	if h.final() { // it lets go of all its calls
		answered = nil
	}
	for _, ticket := range answered {
		if _, err := t.exec("DELETE FROM calls WHERE ns = ? AND inst = ? AND ticket = ?", sp.ns, h.seq, int64(ticket)); err != nil {
			return err
		}
	}
	for i := range c.Calls {
		seq, err := t.next()
		if err != nil {
			return err
		}
		if _, err := t.exec("INSERT OR REPLACE INTO calls (ns, inst, ticket, seq, call) VALUES (?, ?, ?, ?, ?)", sp.ns, h.seq, int64(c.Calls[i].Ticket), seq, c.data.Calls[i]); err != nil {
			return err
		}
		h.calls = true
	}
	for i := range c.Emits {
		seq, err := t.next()
		if err != nil {
			return err
		}
		if _, err := t.exec("INSERT INTO emits (ns, sink, seq, instance, definition, event) VALUES (?, ?, ?, ?, ?, ?)", sp.ns, c.Emits[i].Sink, seq, h.id, c.Emits[i].Definition, c.data.Emits[i]); err != nil {
			return err
		}
		if c.Emits[i].Sink {
			t.then(sp.sends.set)
		} else {
			t.then(sp.emits.set)
		}
	}
	var served []store.Subscription // that got the event which arrived just now
	unsubscribe := c.Unsubscribe
	if h.final() { // it lets go of all its subscriptions
		unsubscribe = nil
	}
	for _, ticket := range unsubscribe {
		if c.Event != nil && c.served == ticket && len(c.Subscribe) > 0 {
			if err := t.servedBy(sp, h, ticket, &served); err != nil {
				return err
			}
		}
		if _, err := t.file(sp, t.shuts, "DELETE FROM subs WHERE ns = ? AND inst = ? AND ticket = ?", sp.ns, h.seq, int64(ticket)); err != nil {
			return err
		}
	}
	if !h.final() { // else they would be gone at once
		for i := range c.Subscribe {
			if err := t.subscribe(sp, h, &c.Subscribe[i], &c.filters[i], served); err != nil {
				return err
			}
		}
	}
	for i := range c.children {
		if err := t.insert(sp, &c.children[i]); err != nil {
			return err
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if err := t.post(sp, m.To, m.At, m.Event, c.data.Messages[i]); err != nil {
			return err
		}
	}
	return nil
}

// subscribe adds a subscription, or replaces what the ticket asked for before. It is
// fresh only where an event is kept that it may get: most waits begin before their event
// comes, and cost no further transaction then. One that goes on where another was served just now needs no
// look: that one had got all events before. A listen that takes many would look at all of them for each.
func (t *tx) subscribe(sp *space, h *head, s *store.Subscription, f *encodedFilter, served []store.Subscription) error {
	fresh, err := t.mayBeKept(sp, h, f)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(served, func(o store.Subscription) bool { return reflect.DeepEqual(o.Filter, s.Filter) }) {
		fresh = false
	}
	w := wait{f.match, h.seq, int64(s.Ticket)}
	const insert = "INSERT INTO subs (ns, inst, ticket, type, match, fresh, busy, name, filter) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?) ON CONFLICT DO "
	row := []any{sp.ns, w.inst, w.ticket, f.typ, f.match, fresh, s.Name, f.data}
	opened, err := t.exec(insert+"NOTHING", row...)
	if err == nil && opened == 0 { // it replaces one; that stays closed while an event is on its way to it
		opened, err = t.file(sp, t.shuts, "DELETE FROM subs WHERE ns = ? AND inst = ? AND ticket = ? AND busy = 0", sp.ns, w.inst, w.ticket)
		if err == nil {
			_, err = t.exec(insert+"UPDATE SET type = excluded.type, match = excluded.match, fresh = excluded.fresh, name = excluded.name, filter = excluded.filter", row...)
		}
	}
	if err != nil {
		return err
	}
	if opened > 0 {
		t.opens(sp, f.typ, w)
	}
	h.subs = true
	if fresh {
		t.then(sp.unchecked.set)
	}
	return nil
}

// servedBy adds a subscription that got an event which was routed in this transaction: a fresh one gets an
// event only where none is kept that came before. An instance for which events are kept may want them yet.
func (t *tx) servedBy(sp *space, h *head, ticket core.Ticket, served *[]store.Subscription) error {
	list, err := t.conn.subs(
		subColumns+"WHERE s.ns = ? AND s.inst = ? AND s.ticket = ? AND "+
			"NOT EXISTS (SELECT 1 FROM kept_for k WHERE k.ns = s.ns AND k.id = i.id)", nil,
		sp.ns, h.seq, int64(ticket),
	)
	if errors.Is(err, store.ErrDamaged) {
		return nil // it is compared with what is kept
	}
	*served = append(*served, list...)
	return err
}

// mayBeKept reports whether an event is kept that a new subscription of an instance may
// get.
func (t *tx) mayBeKept(sp *space, h *head, f *encodedFilter) (bool, error) {
	if f.match == codec.NoMatch {
		return false, nil
	}
	if err := t.learn(sp, f.typ, f.shape); err != nil {
		return false, err
	}
	after := int64(0)
	if !f.correlated {
		after = h.seq // what came before is not for it
	}
	_, ok, err := t.conn.number("SELECT 1 FROM event_keys WHERE ns = ? AND type = ? AND match = ? AND event > ? LIMIT 1", sp.ns, f.typ, f.match, after)
	return ok, err
}

// insert creates an instance that is yet to take its start, unless it exists.
func (t *tx) insert(sp *space, n *encodedStart) error {
	h, err := t.create(sp, &n.Instance, &n.row, nil)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	if h.more || h.wake != nil {
		t.committed(sp, h, 0)
	}
	return t.post(sp, h.id, n.Instance.Created, 0, n.start)
}

// post puts a message into an inbox. It drops the message if the instance was deleted.
func (t *tx) post(sp *space, to string, at core.Time, event int64, input []byte) error {
	h, err := t.head(sp, to)
	if err != nil || h == nil {
		return err
	}
	seq, err := t.next()
	if err != nil {
		return err
	}
	if _, err := t.exec("INSERT INTO inbox (ns, inst, seq, at, event, input) VALUES (?, ?, ?, ?, ?, ?)", sp.ns, h.seq, seq, int64(at), event, input); err != nil {
		return err
	}
	inst, aside := h.seq, h.aside
	t.posted[inst] = true
	t.then(func() { sp.posted(inst, to, aside) })
	return nil
}

// finish lets go of what a finished instance held.
func (t *tx) finish(sp *space, h *head) error {
	if h.subs {
		if _, err := t.file(sp, t.shuts, "DELETE FROM subs WHERE ns = ? AND inst = ?", sp.ns, h.seq); err != nil {
			return err
		}
		h.subs = false
	}
	if h.calls {
		if _, err := t.exec("DELETE FROM calls WHERE ns = ? AND inst = ?", sp.ns, h.seq); err != nil {
			return err
		}
		h.calls = false
	}
	return t.letGo(sp, h)
}

// letGo has the events routed again that are kept for an instance.
func (t *tx) letGo(sp *space, h *head) error {
	if !sp.keptFor {
		return nil
	}
	var events []int64
	err := t.conn.query("SELECT event FROM kept_for WHERE ns = ? AND id = ?", func(r row) error {
		events = append(events, r.ColumnInt64(0))
		return nil
	}, sp.ns, h.id)
	if err != nil {
		return err
	}
	for _, seq := range events {
		e, ok, err := t.conn.event(sp, seq)
		if errors.Is(err, store.ErrDamaged) { // it reaches nobody
			ok, err = false, t.keepFor(sp, seq, []string{h.id}, nil)
		}
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := t.setFate(sp, &e, slices.DeleteFunc(slices.Clone(e.For), func(id string) bool { return id == h.id })); err != nil {
			return err
		}
		if _, err := t.exec("UPDATE events SET again = 1 WHERE seq = ?", seq); err != nil {
			return err
		}
		t.then(sp.again.set)
	}
	return nil
}
