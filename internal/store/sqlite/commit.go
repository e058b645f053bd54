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
	row      encodedRow
	pages    [][]byte // nil: the page goes
	records  []byte   // nil: none
	calls    [][]byte
	emits    [][]byte
	filters  []encodedFilter
	children []encodedStart
	messages [][]byte
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
		return encodedRow{}, fmt.Errorf("instance %s: there is no status %q", in.ID, in.Status)
	}
	out := encodedRow{rest: codec.AppendRest(nil, in, rev), status: status}
	if in.HasWake && in.Quarantine == "" {
		out.wake = int64(in.Wake)
	}
	if in.Fault != nil {
		out.err = in.Fault.Name
	}
	return out, nil
}

func encodeStart(n store.NewInstance) (encodedStart, error) {
	row, err := encodeRow(&n.Instance, 1)
	return encodedStart{n, row, codec.AppendInput(nil, &store.Message{To: n.Instance.ID, At: n.Instance.Created, Input: n.Start})}, err
}

func encode(c *store.Commit) (*encoded, error) {
	e := &encoded{Commit: c}
	var err error
	in := &c.Instance
	if e.row, err = encodeRow(in, in.Rev+1); err != nil {
		return nil, err
	}
	if len(c.Records) > 0 {
		e.records = codec.AppendRecords(nil, codec.Told{Instance: in.ID, At: in.Updated, Status: in.Status}, c.Records)
	}
	e.bytes = len(e.row.rest) + len(e.records)
	add := func(list *[][]byte, data []byte) {
		*list = append(*list, data)
		e.bytes += len(data)
	}
	e.pages = make([][]byte, 0, len(c.Pages))
	for i := range c.Pages {
		var data []byte
		if c.Pages[i].Data != nil {
			data = codec.AppendPage(nil, in.ID, in.Created, &c.Pages[i])
		}
		add(&e.pages, data)
	}
	for i := range c.Calls {
		add(&e.calls, codec.AppendInvoke(nil, in.ID, in.Created, &c.Calls[i].Invoke))
	}
	for i := range c.Emits {
		add(&e.emits, codec.AppendEmit(nil, in.ID, &c.Emits[i]))
	}
	for i := range c.Messages {
		add(&e.messages, codec.AppendInput(nil, &c.Messages[i]))
	}
	for i := range c.Subscribe {
		f := &c.Subscribe[i].Filter
		s, match := codec.MatchOf(f)
		e.filters = append(e.filters, encodedFilter{codec.AppendFilter(nil, in.ID, &c.Subscribe[i]), f.Type, s, match, f.Correlated()})
	}
	for _, child := range c.Children {
		n, err := encodeStart(child)
		if err != nil {
			return nil, err
		}
		e.children = append(e.children, n)
		e.bytes += len(n.row.rest) + len(n.start)
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
	h, err := t.compareAndSet(sp, c)
	if err != nil {
		return err
	}
	for i := range c.Pages {
		if err := t.page(sp, h, &c.Pages[i], c.pages[i]); err != nil {
			return err
		}
	}
	taken, err := t.take(sp, h, c.Taken, c.Release)
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
	t.then(func() { sp.committed(seq, id, taken, more, aside, wake) })
	return nil
}

// compareAndSet writes the row, with what history tells of it. Only the writer changes
// revisions, so those that it remembers hold.
func (t *tx) compareAndSet(sp *space, c *encoded) (*head, error) {
	in := &c.Instance
	h, err := t.head(sp, in.ID)
	switch {
	case err != nil:
		return nil, err
	case in.Rev == 0 && h != nil:
		return nil, fmt.Errorf("create instance %s: it exists: %w", in.ID, store.ErrConflict)
	case in.Rev == 0:
		if err := t.needs(sp, in.Definition, in.Digest); err != nil {
			return nil, fmt.Errorf("create instance %s: %w", in.ID, err)
		}
	case h == nil:
		return nil, fmt.Errorf("commit instance %s: %w", in.ID, store.ErrNotFound)
	case h.damaged != nil:
		return nil, fmt.Errorf("commit: %w", h.damaged)
	case h.rev != in.Rev:
		return nil, fmt.Errorf("commit instance %s at revision %d, it is at %d: %w", in.ID, in.Rev, h.rev, store.ErrConflict)
	case h.created != int64(in.Created):
		return nil, fmt.Errorf("commit instance %s: it is another one: %w", in.ID, store.ErrConflict)
	}
	if c.Unread && h != nil {
		if _, met, err := t.conn.number("SELECT 1 FROM inbox WHERE ns = ? AND inst = ? LIMIT 1", sp.ns, h.seq); err != nil || met {
			return nil, cmp.Or(err, fmt.Errorf("commit instance %s: it has messages: %w", in.ID, store.ErrConflict))
		}
	}
	for i := range c.Children {
		if err := t.needs(sp, c.Children[i].Instance.Definition, c.Children[i].Instance.Digest); err != nil {
			return nil, fmt.Errorf("commit instance %s: %w", in.ID, err)
		}
	}
	if h == nil {
		return t.create(sp, in, &c.row, c, true)
	}
	return h, t.replace(sp, h, in, c)
}

// create inserts a row.
func (t *tx) create(sp *space, in *store.Instance, row *encodedRow, c *encoded, told bool) (*head, error) {
	seq, err := t.next()
	if err != nil {
		return nil, err
	}
	h := &head{
		seq: seq, rev: 1, id: in.ID, status: row.status, created: int64(in.Created), ended: int64(in.Ended), wake: row.wake,
		more: in.More, aside: in.Quarantine != "", parent: in.Parent, err: row.err, keys: in.Keys, labels: in.Labels, client: in.Job.Client,
	}
	if h.kind, err = t.kindOf(sp, in); err != nil {
		return nil, err
	}
	if h.lane, err = t.laneOf(sp, h.kind, in.Job); err != nil {
		return nil, err
	}
	if told {
		if err := t.tell(sp, h, in.Updated, len(c.Records), c.records); err != nil {
			return nil, err
		}
	}
	_, err = t.exec(
		"INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		h.seq, sp.ns, h.id, h.rev, h.kind, h.status, h.created, int64(in.Updated), h.ended, h.wake,
		oneOrNull(h.more), oneOrNull(h.aside), orNull(h.parent), orNull(h.err), h.last, h.told, row.rest, laneOrNull(h.lane), orNull(h.client),
	)
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
	h.more, h.aside, h.parent, h.err = in.More, in.Quarantine != "", in.Parent, c.row.err
	h.keys, h.labels, h.lane, h.client = in.Keys, in.Labels, lane, in.Job.Client
	if len(c.records) > 0 || h.status != old.status {
		if err := t.tell(sp, h, in.Updated, len(c.Records), c.records); err != nil {
			return err
		}
	}
	n, err := t.update(h, &old, in.Updated, c.row.rest)
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
		t.then(func() { sp.stirs(wake) })
	}
	return nil
}

// update writes the columns of a row. Those that have an index are left out where none of
// them changes, or only the lane, as when a job moves: SQLite would write each index anew.
func (t *tx) update(h, old *head, updated core.Time, rest []byte) (int, error) {
	same := h.kind == old.kind && h.status == old.status && h.created == old.created && h.ended == old.ended && h.wake == old.wake &&
		h.more == old.more && h.aside == old.aside && h.parent == old.parent && h.err == old.err && h.client == old.client
	switch {
	case same && h.lane == old.lane:
		return t.exec("UPDATE instances SET rev = ?, updated = ?, last = ?, told = ?, rest = ? WHERE seq = ? AND rev = ?",
			h.rev, int64(updated), h.last, h.told, rest, h.seq, old.rev)
	case same:
		return t.exec("UPDATE instances SET rev = ?, updated = ?, last = ?, told = ?, rest = ?, lane = ? WHERE seq = ? AND rev = ?",
			h.rev, int64(updated), h.last, h.told, rest, laneOrNull(h.lane), h.seq, old.rev)
	}
	return t.exec(
		"UPDATE instances SET rev = ?, kind = ?, status = ?, created = ?, updated = ?, ended = ?, wake = ?, more = ?, aside = ?, "+
			"parent = ?, error = ?, last = ?, told = ?, rest = ?, lane = ?, client = ? WHERE seq = ? AND rev = ?",
		h.rev, h.kind, h.status, h.created, int64(updated), h.ended, h.wake, oneOrNull(h.more), oneOrNull(h.aside),
		orNull(h.parent), orNull(h.err), h.last, h.told, rest, laneOrNull(h.lane), orNull(h.client), h.seq, old.rev,
	)
}

// tell writes what history tells of an instance: so many records, encoded.
func (t *tx) tell(sp *space, h *head, at core.Time, records int, data []byte) error {
	pos, err := t.next()
	if err != nil {
		return err
	}
	h.told += int64(records)
	_, err = t.exec("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", pos, sp.ns, h.seq, h.last, int64(at), h.status, h.told, data)
	h.last = pos
	return err
}

// page writes a page, encoded; nil removes it.
func (t *tx) page(sp *space, h *head, p *core.Page, data []byte) error {
	remove, put := "DELETE FROM pages WHERE ns = ? AND inst = ? AND frame = ? AND part = ?", "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)"
	if p.Part < 0 {
		remove, put = "DELETE FROM bulk WHERE ns = ? AND inst = ? AND frame = ? AND part = ?", "INSERT OR REPLACE INTO bulk VALUES (?, ?, ?, ?, ?)"
	}
	if data == nil {
		_, err := t.exec(remove, sp.ns, h.seq, int64(p.Frame), int64(p.Part))
		return err
	}
	_, err := t.exec(put, sp.ns, h.seq, int64(p.Frame), int64(p.Part), data)
	return err
}
