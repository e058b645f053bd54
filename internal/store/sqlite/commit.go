package sqlite

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// encoded is a commit with all that can be encoded outside of the transaction.
type encoded struct {
	*store.Commit
	data     codec.Commit
	row      encodedRow
	filters  []encodedFilter
	children []encodedStart
	event    []byte // of Commit.Event
	arrived  int64  // that event, once it is stored
	bytes    int
}

type encodedRow struct {
	rest   []byte
	status int64
	wake   any
	err    string
}

type encodedFilter struct {
	data  []byte
	typ   string
	shape codec.Shape
	match int64

	correlated bool
}

type encodedStart struct {
	store.NewInstance
	row   encodedRow
	start []byte
}

// encodeRow encodes an instance as it will be at a revision.
func encodeRow(in *store.Instance, rev int64) (encodedRow, error) {
	if err := in.CheckText(); err != nil {
		return encodedRow{}, err
	}
	status, ok := codec.StatusCode(in.Status)
	if !ok {
		return encodedRow{}, fmt.Errorf("instance %s: unknown status %q", in.ID, in.Status)
	}
	out := encodedRow{rest: codec.AppendRest(nil, in, rev), status: status}
	if in.HasWake && !in.Aside() {
		out.wake = int64(in.Wake)
	}
	if in.Fault != nil {
		out.err = in.Fault.Name
	}
	return out, nil
}

func encodeStart(n store.NewInstance) (encodedStart, error) {
	row, err := encodeRow(&n.Instance, 1)
	return encodedStart{n, row, codec.EncodeStart(&n)}, err
}

func encode(c *store.Commit) (*encoded, error) {
	row, err := encodeRow(&c.Instance, c.Instance.Rev+1)
	if err != nil {
		return nil, err
	}
	e := &encoded{Commit: c, data: codec.EncodeCommit(c), row: row}
	e.bytes = len(row.rest) + e.data.Bytes
	if c.Event != nil {
		e.event = codec.AppendEvent(nil, &c.Event.Event)
		e.bytes += len(e.event)
	}
	for i := range c.Subscribe {
		f := &c.Subscribe[i].Filter
		s, match := codec.MatchOf(f)
		e.filters = append(e.filters, encodedFilter{e.data.Filters[i], f.Type, s, match, f.Correlated()})
	}
	for i, child := range c.Children {
		row, err := encodeRow(&child.Instance, 1)
		if err != nil {
			return nil, err
		}
		e.children = append(e.children, encodedStart{child, row, e.data.Starts[i]})
		e.bytes += len(row.rest)
	}
	return e, nil
}

// Commit writes the outcome of a step.
func (s *Store) Commit(ctx context.Context, c store.Commit) error {
	e, err := encode(&c)
	if err != nil {
		return err
	}
	return s.db.writer.submit(ctx, e.bytes, func(t *tx) error { return t.commit(s.space, e) })
}

func (t *tx) commit(sp *space, c *encoded) error {
	if err := t.use(sp); err != nil {
		return err
	}
	if err := t.mayCommit(sp, c); err != nil {
		return err
	}
	if e := c.Event; e != nil {
		stored, known, err := t.ingest(sp, e.Event, c.event, e.Emit, e.Route, true)
		if err != nil || known {
			return cmp.Or(err, duplicate(&e.Event))
		}
		c.arrived = stored.Seq
	}
	return t.write(sp, c)
}

// write does a commit that mayCommit allows.
func (t *tx) write(sp *space, c *encoded) error {
	h, err := t.writeRow(sp, c)
	if err != nil {
		return err
	}
	for i := range c.Pages {
		if err := t.page(sp, h, &c.Pages[i], c.data.Pages[i]); err != nil {
			return err
		}
	}
	taken, err := t.take(sp, h, c.Taken, c.Release)
	if err != nil {
		return err
	}
	back, err := t.putBack(sp, h, c.Unsubscribe)
	if err != nil {
		return err
	}
	if err := t.commands(sp, h, c); err != nil {
		return err
	}
	if h.final() {
		if err := t.finish(sp, h); err != nil {
			return err
		}
	}
	seq, id, more, aside, wake := h.seq, h.id, h.more, h.aside, h.wake
	t.then(func() { sp.committed(seq, id, taken+back, more, aside, wake) })
	return nil
}

func (t *tx) writeRow(sp *space, c *encoded) (*head, error) {
	if c.Instance.Rev == 0 {
		return t.create(sp, &c.Instance, &c.row, c, true)
	}
	h, err := t.head(sp, c.Instance.ID)
	if err != nil {
		return nil, err
	}
	return h, t.replace(sp, h, &c.Instance, c)
}

// mayCommit compares a commit with what is stored. Only the writer changes revisions, so those that it
// remembers hold.
func (t *tx) mayCommit(sp *space, c *encoded) error {
	in := &c.Instance
	h, err := t.head(sp, in.ID)
	switch {
	case err != nil:
		return err
	case in.Rev == 0 && h != nil:
		return fmt.Errorf("create instance %s: it exists: %w", in.ID, store.ErrConflict)
	case in.Rev == 0:
		if err := t.needs(sp, in.Definition, in.Digest); err != nil {
			return fmt.Errorf("create instance %s: %w", in.ID, err)
		}
	case h == nil:
		return fmt.Errorf("commit instance %s: %w", in.ID, store.ErrNotFound)
	case h.damaged != nil:
		return fmt.Errorf("commit: %w", h.damaged)
	case h.rev != in.Rev:
		return fmt.Errorf("commit instance %s at revision %d, it is at %d: %w", in.ID, in.Rev, h.rev, store.ErrConflict)
	case h.created != int64(in.Created):
		return fmt.Errorf("commit instance %s: it was deleted and created again: %w", in.ID, store.ErrConflict)
	}
	if c.Unread && h != nil {
		if _, met, err := t.conn.number("SELECT 1 FROM inbox WHERE ns = ? AND inst = ? LIMIT 1", sp.ns, h.seq); err != nil || met {
			return cmp.Or(err, fmt.Errorf("commit instance %s: it has messages: %w", in.ID, store.ErrConflict))
		}
	}
	for i := range c.Children {
		if err := t.needs(sp, c.Children[i].Instance.Definition, c.Children[i].Instance.Digest); err != nil {
			return fmt.Errorf("commit instance %s: %w", in.ID, err)
		}
	}
	return nil
}

// create inserts a row.
func (t *tx) create(sp *space, in *store.Instance, row *encodedRow, c *encoded, told bool) (*head, error) {
	seq, err := t.next()
	if err != nil {
		return nil, err
	}
	h := &head{
		seq: seq, rev: 1, id: in.ID, status: row.status, created: int64(in.Created), ended: int64(in.Ended), wake: row.wake,
		more: in.More, aside: in.Aside(), parent: in.Parent, err: row.err, keys: in.Keys, found: foundOf(in),
	}
	if h.kind, err = t.kindOf(sp, in); err != nil {
		return nil, err
	}
	if h.lane, err = t.laneOf(sp, h.kind, in.Job); err != nil {
		return nil, err
	}
	if told {
		if err := t.tell(sp, h, in.Updated, len(c.Records), c.data.Records); err != nil {
			return nil, err
		}
	}
	stored := &instanceRow{h, sp.ns, in.Updated, row.rest}
	_, err = t.exec(insertInstance.text, insertInstance.args(stored)...)
	if err != nil {
		return nil, err
	}
	if err := t.setOwner(sp, h, h.kind, nil, true); err != nil {
		return nil, err
	}
	if err := t.setFound(sp, h, &head{lane: h.lane}); err != nil {
		return nil, err
	}
	t.count(sp.ns, h.kind, h.status, 1)
	t.countLane(h.lane, 1)
	t.w.heads.put(headKey{sp.ns, h.id}, h)
	return h, nil
}

// replace writes a row over another.
func (t *tx) replace(sp *space, h *head, in *store.Instance, c *encoded) error {
	old := *h
	kind, err := t.kindOf(sp, in)
	if err != nil {
		return err
	}
	lane, err := t.laneOf(sp, kind, in.Job)
	if err != nil {
		return err
	}
	t.changes++ // from here on the head is ahead of the file
	h.rev++
	h.kind, h.status, h.created, h.ended, h.wake = kind, c.row.status, int64(in.Created), int64(in.Ended), c.row.wake
	h.more, h.aside, h.parent, h.err = in.More, in.Aside(), in.Parent, c.row.err
	h.keys, h.found, h.lane = in.Keys, foundOf(in), lane
	if len(c.data.Records) > 0 || h.status != old.status {
		if err := t.tell(sp, h, in.Updated, len(c.Records), c.data.Records); err != nil {
			return err
		}
	}
	n, err := t.update(&old, &instanceRow{h, sp.ns, in.Updated, c.row.rest})
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("commit instance %s: revision %d is not in the file: %w", in.ID, old.rev, store.ErrConflict)
	}
	if err := t.setOwner(sp, h, old.kind, old.keys, old.final()); err != nil {
		return err
	}
	if err := t.setFound(sp, h, &old); err != nil {
		return err
	}
	if old.lane != h.lane {
		t.countLane(old.lane, -1)
		t.countLane(h.lane, 1)
	}
	if old.kind != h.kind || old.status != h.status {
		t.count(sp.ns, old.kind, old.status, -1)
		t.count(sp.ns, h.kind, h.status, 1)
	}
	if old.wake != h.wake {
		wake := old.wake
		t.then(func() { sp.wakeGone(wake) })
	}
	return nil
}

// update writes the columns of a row that may have changed.
func (t *tx) update(old *head, r *instanceRow) (int, error) {
	h := r.head
	same := h.kind == old.kind && h.status == old.status && h.created == old.created && h.ended == old.ended && h.wake == old.wake &&
		h.more == old.more && h.aside == old.aside && h.parent == old.parent && h.err == old.err && h.found.client == old.found.client
	s := &updateAll
	switch {
	case same && h.lane == old.lane:
		s = &updatePlain
	case same:
		s = &updateLane
	}
	return t.exec(s.text, s.args(r, h.seq, old.rev)...)
}

// tell writes what history tells of an instance: so many records, encoded.
func (t *tx) tell(sp *space, h *head, at core.Time, records int, data []byte) error {
	pos, err := t.next()
	if err != nil {
		return err
	}
	h.told += int64(records)
	_, err = t.exec("INSERT INTO history (pos, ns, inst, prev, at, status, told, records) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", pos, sp.ns, h.seq, h.last, int64(at), h.status, h.told, data)
	h.last = pos
	return err
}

// page writes a page, encoded; nil removes it.
func (t *tx) page(sp *space, h *head, p *core.Page, data []byte) error {
	remove, put := "DELETE FROM pages WHERE ns = ? AND inst = ? AND frame = ? AND part = ?", "INSERT OR REPLACE INTO pages (ns, inst, frame, part, data) VALUES (?, ?, ?, ?, ?)"
	if p.Part < 0 {
		remove, put = "DELETE FROM bulk WHERE ns = ? AND inst = ? AND frame = ? AND part = ?", "INSERT OR REPLACE INTO bulk (ns, inst, frame, part, data) VALUES (?, ?, ?, ?, ?)"
	}
	if data == nil {
		_, err := t.exec(remove, sp.ns, h.seq, int64(p.Frame), int64(p.Part))
		return err
	}
	_, err := t.exec(put, sp.ns, h.seq, int64(p.Frame), int64(p.Part), data)
	return err
}
