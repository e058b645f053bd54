package sqlite

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// tx is a transaction under way. Only the writer's goroutine has it.
type tx struct {
	w       *writer
	conn    *conn
	changes int64   // rows written
	after   []after // changes to mirrors, once it is durable; under the database's lock
	granted int64   // of the writer when it began

	row   instanceRow // scratch of store
	pages []core.Page // scratch of mergePages
	state []byte      // likewise

	counts map[countKey]int64       // what to add
	kinds  map[kind]int64           // new ones
	jobs   map[int64]int64          // what to add, by lane
	lanes  map[lane]int64           // new ones
	shapes map[shapeKey]codec.Shape // new ones
	spaces map[int64]bool           // new ones
	opened map[openedKey][]wait     // subscriptions that this transaction opens
	posted map[int64]bool           // instances that it posts messages to
}

type countKey struct{ ns, kind, status int64 }

func (k countKey) compare(o countKey) int {
	return cmp.Or(cmp.Compare(k.ns, o.ns), cmp.Compare(k.kind, o.kind), cmp.Compare(k.status, o.status))
}

func (t *tx) begin() {
	t.after, t.granted = t.after[:0], t.w.granted
	if t.counts == nil {
		t.counts, t.kinds, t.shapes, t.spaces = map[countKey]int64{}, map[kind]int64{}, map[shapeKey]codec.Shape{}, map[int64]bool{}
		t.jobs, t.lanes, t.opened, t.posted = map[int64]int64{}, map[lane]int64{}, map[openedKey][]wait{}, map[int64]bool{}
	}
	clear(t.counts)
	clear(t.kinds)
	clear(t.jobs)
	clear(t.lanes)
	clear(t.shapes)
	clear(t.spaces)
	clear(t.opened)
	clear(t.posted)
}

// exec writes and tells how many rows changed.
func (t *tx) exec(query string, args ...any) (int, error) {
	n, err := t.conn.exec(query, args...)
	t.changes += int64(n)
	return n, err
}

// after is a change to mirrors: a function or, without one, what a commit did to its instance.
type after struct {
	do func()

	sp          *space
	seq         int64
	id          string
	taken       int
	more, aside bool
	wake        any
}

func (a *after) run() {
	if a.do != nil {
		a.do()
	} else {
		a.sp.committed(a.seq, a.id, a.taken, a.more, a.aside, a.wake)
	}
}

// then changes mirrors once the transaction is durable.
func (t *tx) then(f func()) { t.after = append(t.after, after{do: f}) }

// committed is then for an instance of which so many messages were taken.
func (t *tx) committed(sp *space, h *head, taken int) {
	t.after = append(t.after, after{sp: sp, seq: h.seq, id: h.id, taken: taken, more: h.more, aside: h.aside, wake: h.wake})
}

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
	var rows []any
	for _, key := range slices.SortedFunc(maps.Keys(t.counts), countKey.compare) {
		if n := t.counts[key]; n != 0 {
			rows = append(rows, key.ns, key.kind, key.status, n)
		}
	}
	for columns := range slices.Chunk(rows, 2*4) { // a transition has two
		values := "(?, ?, ?, ?)" + strings.Repeat(", (?, ?, ?, ?)", len(columns)/4-1)
		if _, err := t.exec("INSERT INTO counts (ns, kind, status, n) VALUES "+values+" ON CONFLICT DO UPDATE SET n = n + excluded.n", columns...); err != nil {
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
	inRow                  bool   // all pages are in the row:
	pages                  []byte // encoded
	keys                   []core.Key
	found                  found
	lane                   int64
	place                  any   // int64 or nil: as it is in the column
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
	h, _, err := t.conn.head(sp.ns, id, t.kindRow, true)
	if h != nil && h.damaged == nil {
		t.w.heads.put(key, h)
	}
	return h, err
}

// head reads the head of an instance and its row; nil: there is none. A bare row is without a large output.
func (c *conn) head(ns int64, id string, names func(int64) kind, bare bool) (h *head, in store.Instance, err error) {
	_, err = c.one(
		"SELECT seq, rev, kind, status, created, ended, wake, more, aside, parent, error, last, told, lane, client, rest, updated, pages, place, "+
			"EXISTS (SELECT 1 FROM calls c WHERE c.ns = i.ns AND c.inst = i.seq) FROM instances i WHERE ns = ? AND id = ?",
		func(r row) error {
			h = &head{
				id: id, seq: r.ColumnInt64(0), rev: r.ColumnInt64(1), kind: r.ColumnInt64(2), status: r.ColumnInt64(3),
				created: r.ColumnInt64(4), ended: r.ColumnInt64(5), more: !r.ColumnIsNull(7), aside: !r.ColumnIsNull(8),
				parent: r.ColumnText(9), err: r.ColumnText(10), last: r.ColumnInt64(11), told: r.ColumnInt64(12), lane: r.ColumnInt64(13),
				inRow: !r.ColumnIsNull(17), calls: r.ColumnInt64(19) != 0, subs: true,
			}
			if !r.ColumnIsNull(6) {
				h.wake = r.ColumnInt64(6)
			}
			if !r.ColumnIsNull(18) {
				h.place = r.ColumnInt64(18)
			}
			if h.inRow {
				h.pages = blob(r, 17)
			}
			k := names(h.kind)
			in = store.Instance{
				Seq: h.seq, ID: id, Rev: h.rev, Definition: k.definition, Version: k.version, Digest: k.digest, Status: codec.StatusOf(h.status),
				Created: core.Time(h.created), Updated: core.Time(r.ColumnInt64(16)), Ended: core.Time(h.ended), Parent: h.parent, Records: h.told,
			}
			rest := blob(r, 15)
			var source *codec.ChunkSource
			if !bare && codec.Refers(rest) {
				source = c.chunks(h.seq, id)
			}
			if err := codec.DecodeRest(rest, &in, source); errors.Is(err, store.ErrDamaged) {
				h.damaged = damagedRow(id, err)
			} else if err != nil {
				return err
			}
			in.Held = h.aside && in.Quarantine == ""
			h.keys, h.found = in.Keys, found{in.Labels, in.Terms(), r.ColumnText(14)}
			return nil
		}, ns, id)
	return h, in, err
}

// offered are heads that were read outside of transactions: for the commit that follows.
type offered struct {
	mu    sync.Mutex
	heads map[headKey]*head
}

// maxOffered is how many there are at most: the commits of one transaction.
const maxOffered = maxBatch

func (o *offered) put(key headKey, h *head) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.heads == nil || len(o.heads) >= maxOffered {
		o.heads = map[headKey]*head{}
	}
	o.heads[key] = h
}

func (o *offered) take(key headKey) *head {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.heads[key]
	delete(o.heads, key)
	return h
}

// adopt takes the head that was read for a commit as that of its instance, unless another one is known. It may be
// outdated: the update of the row tells, and until then undo takes it back.
func (t *tx) adopt(sp *space, in *store.Instance) (undo func()) {
	key := headKey{sp.ns, in.ID}
	if h := t.w.db.offered.take(key); h != nil && h.rev == in.Rev && h.created == int64(in.Created) && t.w.heads.get(key) == nil {
		t.w.heads.put(key, h)
		return func() { t.w.heads.drop(key) }
	}
	return func() {}
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
