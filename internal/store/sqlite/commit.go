package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// encoded is a commit with all that can be encoded outside of the transaction.
type encoded struct {
	store.Commit
	space    *space
	apply    func(*tx) error // writes it
	data     codec.Commit
	row      encodedRow
	filters  []encodedFilter
	children []encodedStart
	event    []byte      // of Commit.Event
	served   core.Ticket // that the event is delivered to
	bytes    int
	room     []byte // to encode into
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

// encodeRow encodes an instance as it will be at a revision, into room if it has enough.
func encodeRow(room []byte, in *store.Instance, rev int64, chunks *core.Chunks) (encodedRow, error) {
	if err := in.CheckText(); err != nil {
		return encodedRow{}, err
	}
	status, ok := codec.StatusCode(in.Status)
	if !ok {
		return encodedRow{}, fmt.Errorf("instance %s: unknown status %q", in.ID, in.Status)
	}
	out := encodedRow{rest: codec.AppendRest(room[:0], in, rev, chunks), status: status}
	if in.HasWake && !in.Aside() {
		out.wake = int64(in.Wake)
	}
	if in.Fault != nil {
		out.err = in.Fault.Name
	}
	return out, nil
}

func encodeStart(n store.NewInstance) (encodedStart, error) {
	row, err := encodeRow(nil, &n.Instance, 1, nil)
	return encodedStart{n, row, codec.EncodeStart(&n)}, err
}

// encodings are used again, with their memory.
var encodings = sync.Pool{New: func() any {
	e := new(encoded)
	e.apply = func(t *tx) error { return t.commit(e.space, e) }
	return e
}}

// free lets go of a commit that is written.
func (e *encoded) free() {
	*e = encoded{apply: e.apply, room: e.data.Room()}
	encodings.Put(e)
}

// encode encodes a commit, which is freed once it is written.
func encode(c *store.Commit) (*encoded, error) {
	e := encodings.Get().(*encoded)
	e.Commit = *c
	if err := e.encode(); err != nil {
		e.free()
		return nil, err
	}
	return e, nil
}

func (e *encoded) encode() error {
	c := &e.Commit
	if err := c.CheckChunks(); err != nil {
		return err
	}
	row, err := encodeRow(e.room, &c.Instance, c.Instance.Rev+1, c.Chunks)
	if err != nil {
		return err
	}
	e.row, e.data = row, codec.EncodeCommit(row.rest, c)
	e.bytes = len(row.rest) + e.data.Bytes
	for i := range c.Pages {
		e.bytes += len(c.Pages[i].Data)
	}
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
		row, err := encodeRow(nil, &child.Instance, 1, nil)
		if err != nil {
			return err
		}
		e.children = append(e.children, encodedStart{child, row, e.data.Starts[i]})
		e.bytes += len(row.rest)
	}
	return nil
}

// Commit writes the outcome of a step.
func (s *Store) Commit(ctx context.Context, c store.Commit) error {
	e, err := encode(&c)
	if err != nil {
		return err
	}
	defer e.free()
	e.space = s.space
	return s.db.writer.submit(ctx, e.bytes, e.apply)
}

func (t *tx) commit(sp *space, c *encoded) (err error) {
	undo := t.adopt(sp, &c.Instance)
	defer func() {
		if err != nil {
			undo()
		}
	}()
	if err := t.use(sp); err != nil {
		return err
	}
	if err := t.mayCommit(sp, c); err != nil {
		return err
	}
	if e := c.Event; e != nil {
		_, known, err := t.ingest(sp, e.Event, c.event, e.Emit, func(ev store.Event, v store.View) (store.Routing, error) {
			r, err := e.Route(ev, v)
			for _, d := range r.Deliver {
				c.served = d.Reply.Ticket
			}
			return r, err
		}, true)
		if err != nil || known {
			return cmp.Or(err, duplicate(&e.Event))
		}
	}
	return t.write(sp, c)
}

// write does a commit that mayCommit allows.
func (t *tx) write(sp *space, c *encoded) error {
	h, err := t.writeRow(sp, c)
	if err != nil {
		return err
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
	t.committed(sp, h, taken+back)
	if h.final() {
		t.w.heads.drop(headKey{sp.ns, h.id}) // it is seldom written again
	}
	return nil
}

func (t *tx) writeRow(sp *space, c *encoded) (*head, error) {
	if c.Instance.Rev == 0 {
		return t.create(sp, &c.Instance, &c.row, c)
	}
	h, err := t.head(sp, c.Instance.ID)
	if err != nil {
		return nil, err
	}
	return h, t.replace(sp, h, &c.Instance, c)
}

// mayCommit compares a commit with what is stored. Only the writer changes revisions, so those that it
// remembers hold. Whether a new instance exists already shows when its row is inserted, unless an event is stored
// before that.
func (t *tx) mayCommit(sp *space, c *encoded) error {
	in := &c.Instance
	if in.Rev > 0 || c.Event != nil {
		h, err := t.head(sp, in.ID)
		if err == nil {
			err = t.mayReplace(sp, h, c)
		}
		if err != nil {
			return err
		}
	}
	if in.Rev == 0 {
		if err := t.needs(sp, in.Definition, in.Digest); err != nil {
			return fmt.Errorf("create instance %s: %w", in.ID, err)
		}
	}
	for i := range c.Children {
		if err := t.needs(sp, c.Children[i].Instance.Definition, c.Children[i].Instance.Digest); err != nil {
			return fmt.Errorf("commit instance %s: %w", in.ID, err)
		}
	}
	return nil
}

// mayReplace compares a commit with the head of its instance; nil: it does not exist.
func (t *tx) mayReplace(sp *space, h *head, c *encoded) error {
	in := &c.Instance
	switch {
	case in.Rev == 0 && h != nil:
		return exists(in.ID)
	case in.Rev == 0:
		return nil
	case h == nil:
		return fmt.Errorf("commit instance %s: %w", in.ID, store.ErrNotFound)
	case h.damaged != nil:
		return fmt.Errorf("commit: %w", h.damaged)
	case h.rev != in.Rev:
		return fmt.Errorf("commit instance %s at revision %d, it is at %d: %w", in.ID, in.Rev, h.rev, store.ErrConflict)
	case h.created != int64(in.Created):
		return fmt.Errorf("commit instance %s: it was deleted and created again: %w", in.ID, store.ErrConflict)
	}
	if c.Unread && t.mayHaveMessages(sp, h) {
		if _, met, err := t.conn.number("SELECT 1 FROM inbox WHERE ns = ? AND inst = ? LIMIT 1", sp.ns, h.seq); err != nil || met {
			return cmp.Or(err, fmt.Errorf("commit instance %s: it has messages: %w", in.ID, store.ErrConflict))
		}
	}
	return nil
}

func exists(id string) error {
	return fmt.Errorf("create instance %s: it exists: %w", id, store.ErrConflict)
}

// create inserts a row, and what the commit c that creates it says besides; nil: it is yet to take its start. If the
// instance exists, it fails with ErrConflict.
func (t *tx) create(sp *space, in *store.Instance, row *encodedRow, c *encoded) (*head, error) {
	seq, err := t.next()
	if err != nil {
		return nil, err
	}
	h := &head{
		seq: seq, rev: 1, id: in.ID, status: row.status, created: int64(in.Created), ended: int64(in.Ended), wake: row.wake,
		more: in.More, aside: in.Aside(), parent: in.Parent, err: row.err, keys: in.Keys, found: foundOf(in), place: placeOf(in), inRow: true,
	}
	if h.kind, err = t.kindOf(sp, in); err != nil {
		return nil, err
	}
	if h.lane, err = t.laneOf(sp, h.kind, in.Job); err != nil {
		return nil, err
	}
	var pages []core.Page
	if c != nil {
		pages, h.told = c.Pages, int64(len(c.Records))
		if h.last, err = t.next(); err != nil {
			return nil, err
		}
	}
	apart, err := t.mergePages(h, pages)
	if err != nil {
		return nil, err
	}
	n, err := t.store(&insertInstance, instanceRow{h, sp.ns, in.Updated, row.rest})
	if err != nil {
		return nil, err
	}
	if n == 0 { // nothing was written
		return nil, exists(in.ID)
	}
	if c != nil {
		if err := t.tell(sp, h, 0, in.Updated, c.data.Records); err != nil {
			return nil, err
		}
	}
	if err := t.putPages(sp, h, apart); err != nil {
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
	apart, err := t.mergePages(h, c.Pages)
	if err != nil {
		return err
	}
	t.changes++ // from here on the head is ahead of the file
	h.rev++
	h.kind, h.status, h.created, h.ended, h.wake = kind, c.row.status, int64(in.Created), int64(in.Ended), c.row.wake
	h.more, h.aside, h.parent, h.err = in.More, in.Aside(), in.Parent, c.row.err
	h.keys, h.found, h.lane, h.place = in.Keys, foundOf(in), lane, placeOf(in)
	if len(c.data.Records) > 0 || h.status != old.status {
		if h.last, err = t.next(); err != nil {
			return err
		}
		h.told += int64(len(c.Records))
		if err := t.tell(sp, h, old.last, in.Updated, c.data.Records); err != nil {
			return err
		}
	}
	n, err := t.update(&old, instanceRow{h, sp.ns, in.Updated, c.row.rest})
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("commit instance %s: revision %d is not in the file: %w", in.ID, old.rev, store.ErrConflict)
	}
	if err := t.putPages(sp, h, apart); err != nil {
		return err
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
func (t *tx) update(old *head, r instanceRow) (int, error) {
	h := r.head
	same := h.kind == old.kind && h.status == old.status && h.ended == old.ended && h.wake == old.wake &&
		h.more == old.more && h.aside == old.aside && h.err == old.err && h.place == old.place
	s := &updateMost
	switch {
	case h.created != old.created || h.parent != old.parent || h.found.client != old.found.client:
		s = &updateAll
	case same && h.lane == old.lane:
		s = &updatePlain
	case same:
		s = &updateLane
	}
	return t.store(s, r, h.seq, old.rev)
}

// tell writes what history tells of an instance at its last position, encoded.
func (t *tx) tell(sp *space, h *head, prev int64, at core.Time, records []byte) error {
	_, err := t.exec("INSERT INTO history (pos, ns, inst, prev, at, status, told, records) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", h.last, sp.ns, h.seq, prev, int64(at), h.status, h.told, records)
	return err
}
