package sqlite

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// tx is a transaction under way. Only the writer's goroutine has it.
type tx struct {
	w       *writer
	conn    *conn
	changes int64    // rows written
	after   []func() // changes to mirrors, once it is durable; under the database's lock
	granted int64    // of the writer when it began

	counts map[countKey]int64       // what to add
	kinds  map[kind]int64           // new ones
	jobs   map[int64]int64          // what to add, by lane
	lanes  map[lane]int64           // new ones
	shapes map[shapeKey]codec.Shape // new ones
	spaces map[int64]bool           // new ones
}

type countKey struct{ ns, kind, status int64 }

func (k countKey) compare(o countKey) int {
	return cmp.Or(cmp.Compare(k.ns, o.ns), cmp.Compare(k.kind, o.kind), cmp.Compare(k.status, o.status))
}

func (t *tx) begin() {
	t.after, t.granted = t.after[:0], t.w.granted
	if t.counts == nil {
		t.counts, t.kinds, t.shapes, t.spaces = map[countKey]int64{}, map[kind]int64{}, map[shapeKey]codec.Shape{}, map[int64]bool{}
		t.jobs, t.lanes = map[int64]int64{}, map[lane]int64{}
	}
	clear(t.counts)
	clear(t.kinds)
	clear(t.jobs)
	clear(t.lanes)
	clear(t.shapes)
	clear(t.spaces)
}

// exec writes and tells how many rows changed.
func (t *tx) exec(query string, args ...any) (int, error) {
	n, err := t.conn.exec(query, args...)
	t.changes += int64(n)
	return n, err
}

// then changes mirrors once the transaction is durable.
func (t *tx) then(f func()) { t.after = append(t.after, f) }

// seqBlock is how many Seqs are reserved with one write. Those that were not used when
// the process ends are left out.
const seqBlock = 1 << 20

// next gives out a Seq.
func (t *tx) next() (int64, error) {
	w := t.w
	if w.seq >= w.granted {
		granted := w.seq + seqBlock
		if _, err := t.exec("UPDATE meta SET value = ? WHERE name = 'seq'", granted); err != nil {
			return 0, err
		}
		w.granted = granted
	}
	w.seq++
	return w.seq, nil
}

// use makes sure that the namespace has its row.
func (t *tx) use(sp *space) error {
	if sp.stored || t.spaces[sp.ns] {
		return nil
	}
	if _, err := t.exec("INSERT INTO namespaces (ns, name) VALUES (?, ?)", sp.ns, sp.name); err != nil {
		return err
	}
	t.spaces[sp.ns] = true
	t.then(func() { sp.stored = true })
	return nil
}

// count notes that there are more or fewer instances of a kind and status.
func (t *tx) count(ns, kind, status, n int64) { t.counts[countKey{ns, kind, status}] += n }

// flush writes what was gathered over all requests, in an order that is always the same.
func (t *tx) flush() error {
	for _, key := range slices.SortedFunc(maps.Keys(t.counts), countKey.compare) {
		n := t.counts[key]
		if n == 0 {
			continue
		}
		_, err := t.exec("INSERT INTO counts (ns, kind, status, n) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n", key.ns, key.kind, key.status, n)
		if err != nil {
			return err
		}
	}
	if len(t.counts) > 0 {
		added := maps.Clone(t.counts)
		t.then(func() {
			for key, n := range added {
				t.w.db.kinds.count(key, n)
			}
		})
	}
	return t.flushLanes()
}

// head is what a commit must know of an instance before it writes.
type head struct {
	seq, rev, kind, status int64
	id                     string
	created, ended         int64
	wake                   any // int64 or nil: as it is in the column
	more, aside            bool
	parent, err            string
	last, told             int64
	keys                   []core.Key
	found                  found
	lane                   int64
	calls, subs            bool  // it may have some
	damaged                error // where not nil: keys and labels are not known, and the rest cannot be written
}

func (h *head) final() bool { return h.status >= firstFinal }

// firstFinal is the first status that is final; the schema knows it too.
const firstFinal = 4

// headCache keeps the heads of instances that were written lately. It is in two
// halves; when the young one is full, it becomes the old one, which is forgotten.
type headCache struct{ young, old map[headKey]*head }

type headKey struct {
	ns int64
	id string
}

const maxHeads = 16 << 10

func (c *headCache) clear() { c.young, c.old = map[headKey]*head{}, nil }

func (c *headCache) get(key headKey) *head {
	if h := c.young[key]; h != nil {
		return h
	}
	h := c.old[key]
	if h != nil {
		c.put(key, h)
	}
	return h
}

func (c *headCache) put(key headKey, h *head) {
	if len(c.young) >= maxHeads {
		c.young, c.old = map[headKey]*head{}, c.young
	}
	c.young[key] = h
}

func (c *headCache) drop(key headKey) {
	delete(c.young, key)
	delete(c.old, key)
}

// head finds an instance; nil: there is none.
func (t *tx) head(sp *space, id string) (*head, error) {
	key := headKey{sp.ns, id}
	if h := t.w.heads.get(key); h != nil {
		return h, nil
	}
	h := &head{id: id, calls: true, subs: true}
	found, err := t.conn.one(
		"SELECT seq, rev, kind, status, created, ended, wake, more, aside, parent, error, last, told, lane, client, rest, updated FROM instances WHERE ns = ? AND id = ?",
		func(r row) error {
			h.seq, h.rev, h.kind, h.status = r.ColumnInt64(0), r.ColumnInt64(1), r.ColumnInt64(2), r.ColumnInt64(3)
			h.created, h.ended = r.ColumnInt64(4), r.ColumnInt64(5)
			if !r.ColumnIsNull(6) {
				h.wake = r.ColumnInt64(6)
			}
			h.more, h.aside = !r.ColumnIsNull(7), !r.ColumnIsNull(8)
			h.parent, h.err, h.last, h.told = r.ColumnText(9), r.ColumnText(10), r.ColumnInt64(11), r.ColumnInt64(12)
			h.lane, h.found.client = r.ColumnInt64(13), r.ColumnText(14)
			k := t.kindRow(h.kind)
			in := store.Instance{
				ID: id, Rev: h.rev, Definition: k.definition, Version: k.version, Digest: k.digest, Status: codec.StatusOf(h.status),
				Created: core.Time(h.created), Updated: core.Time(r.ColumnInt64(16)), Ended: core.Time(h.ended), Parent: h.parent,
			}
			if err := codec.DecodeRest(blob(r, 15), &in); err != nil {
				h.damaged = damagedRow(id, err)
			}
			h.keys, h.found.labels, h.found.terms = in.Keys, in.Labels, in.Terms()
			return nil
		}, sp.ns, id)
	if err != nil || !found {
		return nil, err
	}
	if h.damaged == nil {
		t.w.heads.put(key, h)
	}
	return h, nil
}

// kind is what instances are instances of.
type kind struct {
	ns                          int64
	definition, version, digest string
}

// kinds are all of them, in memory, with how many instances each has.
type kinds struct {
	byRow  map[kind]int64
	rows   map[int64]kind
	counts map[countKey]int64
	last   int64
}

func newKinds() kinds {
	return kinds{byRow: map[kind]int64{}, rows: map[int64]kind{}, counts: map[countKey]int64{}}
}

func (k *kinds) add(n int64, row kind) {
	k.byRow[row], k.rows[n] = n, row
	k.last = max(k.last, n)
}

func (k *kinds) count(key countKey, n int64) {
	if k.counts[key] += n; k.counts[key] == 0 {
		delete(k.counts, key)
	}
}

// kindOf numbers what an instance is an instance of.
func (t *tx) kindOf(sp *space, in *store.Instance) (int64, error) {
	row := kind{sp.ns, in.Definition, in.Version, in.Digest}
	known := &t.w.db.kinds // only the writer changes it
	if n, ok := known.byRow[row]; ok {
		return n, nil
	}
	if n, ok := t.kinds[row]; ok {
		return n, nil
	}
	n := known.last + int64(len(t.kinds)) + 1
	if _, err := t.exec("INSERT INTO kinds (kind, ns, definition, version, digest) VALUES (?, ?, ?, ?, ?)", n, row.ns, row.definition, row.version, row.digest); err != nil {
		return 0, err
	}
	t.kinds[row] = n
	t.then(func() { known.add(n, row) })
	return n, nil
}

// kindRow is the reverse of kindOf.
func (t *tx) kindRow(n int64) kind {
	if row, ok := t.w.db.kinds.rows[n]; ok {
		return row
	}
	for row, k := range t.kinds {
		if k == n {
			return row
		}
	}
	return kind{}
}

// setOwner keeps the table of correlation keys of instances that are not over.
func (t *tx) setOwner(sp *space, h *head, oldKind int64, old []core.Key, wasFinal bool) error {
	had, has := old, h.keys
	if wasFinal {
		had = nil
	}
	if h.final() {
		has = nil
	}
	if oldKind == h.kind && slices.Equal(had, has) {
		return nil
	}
	for _, k := range had {
		if _, err := t.exec("DELETE FROM owners WHERE ns = ? AND definition = ? AND name = ? AND value = ? AND inst = ?", sp.ns, t.kindRow(oldKind).definition, k.Name, k.Value, h.seq); err != nil {
			return err
		}
	}
	for _, k := range has {
		if _, err := t.exec("INSERT OR IGNORE INTO owners (ns, definition, name, value, inst) VALUES (?, ?, ?, ?, ?)", sp.ns, t.kindRow(h.kind).definition, k.Name, k.Value, h.seq); err != nil {
			return err
		}
	}
	return nil
}
