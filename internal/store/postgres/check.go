package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// checkChunk is how many rows are compared at a time.
const checkChunk = 500

// checker collects problems.
type checker struct {
	ctx      context.Context
	s        *Store
	t        *tx
	ns       int32
	problems store.Problems
	chunks   map[int64]*wanted // by instance
}

// wanted are the chunks of an instance to which something refers.
type wanted struct {
	codec.ChunkSource
	id string
}

// Check looks for damage: in rows, and between them. What sound pages say only their program knows.
func (s *Store) Check(ctx context.Context) (out []store.Problem, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.snapshot(ctx, func(t *tx) error {
			// Before the view is taken: no generation is emptied that it still shows rows in.
			if _, err := t.do(ctx, "LOCK TABLE ~.history, ~.events, ~.event_keys, ~.deliveries IN ACCESS SHARE MODE"); err != nil {
				return err
			}
			k := checker{ctx: ctx, s: s, t: t, ns: ns, chunks: map[int64]*wanted{}}
			for _, f := range []func() error{k.pairs, k.contents, k.instances, k.pages, k.history, k.inputs, k.wanted, k.subscriptions, k.events, k.counts, k.tallies} {
				if err := f(); err != nil {
					return err
				}
			}
			out = k.problems
			return nil
		})
	})
	return out, err
}

// each runs a query whose first parameter is the namespace.
func (k *checker) each(text string, f func(pgx.Rows) error, args ...any) error {
	return k.t.each(k.ctx, text, append([]any{k.ns}, args...), f)
}

// later notes to which chunks a value of an instance refers.
func (k *checker) later(data []byte, inst int64, id string) *codec.ChunkSource {
	if !codec.Refers(data) {
		return nil
	}
	return k.wants(inst, id)
}

func (k *checker) wants(inst int64, id string) *codec.ChunkSource {
	if k.chunks[inst] == nil {
		k.chunks[inst] = &wanted{id: id}
	}
	return &k.chunks[inst].ChunkSource
}

// wanted reads the chunks to which others refer.
func (k *checker) wanted() error {
	for _, inst := range slices.Sorted(maps.Keys(k.chunks)) {
		w := k.chunks[inst]
		if len(w.Later) == 0 {
			continue
		}
		slices.Sort(w.Later)
		err := k.s.db.chunks(k.ctx, k.t.Tx, inst, w.id).Load(slices.Compact(w.Later))
		if errors.Is(err, store.ErrDamaged) {
			k.problems.Add(w.id, "something of it refers to its history: %v", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// pairs looks for rows without the one that they belong to, and for instances that are not
// in the lists that they should be in. Every query gives where and a text.
func (k *checker) pairs() error {
	queries := []string{
		"SELECT i.id, 'it is to be woken, and is in no list' FROM ~.instances i WHERE i.ns = $1 AND i.wake IS NOT NULL AND " +
			"NOT EXISTS (SELECT 1 FROM ~.wakes w WHERE w.ns = i.ns AND w.inst = i.seq AND w.wake = i.wake) AND NOT EXISTS (SELECT 1 FROM ~.ready r WHERE r.ns = i.ns AND r.inst = i.seq AND r.due = i.wake)",
		"SELECT i.id, 'it has something to do, and is in no list' FROM ~.instances i WHERE i.ns = $1 AND NOT i.aside AND " +
			"(i.more OR EXISTS (SELECT 1 FROM ~.inbox b WHERE b.ns = i.ns AND b.inst = i.seq)) AND NOT EXISTS (SELECT 1 FROM ~.ready r WHERE r.ns = i.ns AND r.inst = i.seq AND r.queued)",
		"SELECT i.id, 'it has nothing to do, and is in a list' FROM ~.ready r JOIN ~.instances i ON i.ns = r.ns AND i.seq = r.inst WHERE r.ns = $1 AND " +
			"(i.aside OR r.due IS DISTINCT FROM i.wake AND r.due IS NOT NULL OR r.queued AND NOT i.more AND NOT EXISTS (SELECT 1 FROM ~.inbox b WHERE b.ns = i.ns AND b.inst = i.seq))",
		"SELECT k.definition, format('%s instances of version \"%s\" have no program', count(*), k.version) FROM ~.kinds k JOIN ~.instances i ON i.ns = k.ns AND i.kind = k.kind " +
			"WHERE k.ns = $1 AND k.digest <> '' AND NOT EXISTS (SELECT 1 FROM ~.contents c WHERE c.ns = k.ns AND c.digest = k.digest) GROUP BY k.kind",
		"SELECT a.id, format('version \"%s\" has no program', a.version) FROM ~.aliases a WHERE a.ns = $1 AND " +
			"NOT EXISTS (SELECT 1 FROM ~.contents c WHERE c.ns = a.ns AND c.digest = a.digest AND c.edition = a.edition)",
		"SELECT i.id, 'it is not found by its state' FROM ~.instances i WHERE i.ns = $1 AND i.state IS NOT NULL AND " +
			"NOT EXISTS (SELECT 1 FROM ~.job_states j WHERE j.ns = i.ns AND j.kind = i.kind AND j.state = i.state AND j.grp = i.grp)",
	}
	for _, table := range []string{"pages", "labels", "owners", "inbox", "ready", "wakes", "calls", "subs"} {
		queries = append(queries, fmt.Sprintf("SELECT '%s', format('there is no instance %%s', x.inst) FROM ~.%[1]s x WHERE x.ns = $1 AND NOT EXISTS (SELECT 1 FROM ~.instances i WHERE i.ns = x.ns AND i.seq = x.inst)", table))
	}
	for _, x := range []struct{ table, where string }{{"deliveries", "e.gen = x.gen"}, {"event_keys", "e.gen = x.gen"}, {"kept_for", notForgotten}} {
		queries = append(queries, fmt.Sprintf("SELECT '%s', format('there is no event %%s', x.event) FROM ~.%[1]s x WHERE x.ns = $1 AND NOT EXISTS (SELECT 1 FROM ~.events e WHERE e.ns = x.ns AND e.seq = x.event AND %[2]s)", x.table, x.where))
	}
	queries = append(queries, "SELECT 'events', format('%s events are there with the source and id of event %s', count(*), min(e.seq)) FROM ~.events e WHERE e.ns = $1 AND "+notForgotten+" GROUP BY e.key HAVING count(*) > 1")
	for _, text := range queries {
		err := k.each(text+fmt.Sprintf(" LIMIT %d", store.MaxProblems), func(r pgx.Rows) error {
			where, what := "", ""
			err := r.Scan(&where, &what)
			k.problems.Add(where, "%s", what)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// contents looks for definitions and programs that cannot be read.
func (k *checker) contents() error {
	err := k.each("SELECT digest, info, program, source FROM ~.contents WHERE ns = $1", func(r pgx.Rows) error {
		d, err := readContent(r)
		if errors.Is(err, store.ErrDamaged) {
			k.problems.Add("contents", "%v", err)
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := ir.Decode(d.Program); err != nil {
			k.problems.Add("definition "+d.ID, "the program of version %q cannot be read: %v", d.Version, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return k.each("SELECT id, version, digest, info, source FROM ~.aliases WHERE ns = $1", func(r pgx.Rows) error {
		var a codec.Alias
		if err := r.Scan(&a.ID, &a.Version, &a.Digest, &a.Info, &a.Source); err != nil {
			return err
		}
		if _, err := codec.DecodeAlias(a); err != nil {
			k.problems.Add("definition "+a.ID, "%v", err)
		}
		return nil
	})
}

// pages reads the pages of all instances.
func (k *checker) pages() error {
	return k.each("SELECT i.seq, i.id, i.created, p.frame, p.part, p.data FROM ~.pages p JOIN ~.instances i ON i.ns = p.ns AND i.seq = p.inst WHERE p.ns = $1", func(r pgx.Rows) error {
		id, inst, created, frame := "", int64(0), int64(0), int64(0)
		var p core.Page
		if err := r.Scan(&inst, &id, &created, &frame, &p.Part, &p.Data); err != nil {
			return err
		}
		p.Frame = core.FrameID(frame)
		err := codec.DecodePage(id, core.Time(created), &p)
		if refs, ok := core.PageRefs(p.Data); err == nil && (len(refs) > 0 || !ok) {
			_, err = k.wants(inst, id).Pages([]core.Page{p})
		}
		if err != nil {
			k.problems.Add(id, "%v", err)
		}
		return nil
	})
}

// history looks for records that cannot be read, and for those that are missing.
func (k *checker) history() error {
	inst, told := int64(0), int64(0)
	return k.each("SELECT h.inst, h.told, h.instance, h.records, i.told, h.at, h.status FROM ~.history h LEFT JOIN ~.instances i ON i.ns = h.ns AND i.seq = h.inst "+
		"WHERE h.ns = $1 AND (i.seq IS NOT NULL OR EXISTS (SELECT 1 FROM ~.gone g WHERE g.ns = h.ns AND g.inst = h.inst)) ORDER BY h.inst, h.pos", func(r pgx.Rows) error {
		of, up, at, status := int64(0), int64(0), int64(0), int16(0)
		var data []byte
		var all *int64
		id := ""
		if err := r.Scan(&of, &up, &id, &data, &all, &at, &status); err != nil {
			return err
		}
		if of != inst {
			inst, told = of, 0
		}
		if data != nil {
			records, err := codec.DecodeRecords(data, codec.Told{Instance: id, At: core.Time(at), Status: codec.StatusOf(int64(status)), Total: up}, k.later(data, inst, id))
			if err != nil {
				k.problems.Add(id, "the records up to %d of its history cannot be read: %v", up, err)
				told = up
				return nil
			}
			told += int64(len(records))
		}
		if told != up || all != nil && up > *all {
			k.problems.Add(id, "its history has gaps")
			told = up
		}
		return nil
	})
}

// inputs looks for messages, calls, emits and gatherings that cannot be read, or are not where
// they belong.
func (k *checker) inputs() error {
	for _, x := range []struct {
		what, text string
		read       func(pgx.Rows) (id string, seq int64, fits bool, err error)
	}{
		{"message", "SELECT i.id, x.seq, x.at, x.event, x.ticket, x.input FROM ~.inbox x JOIN ~.instances i ON i.ns = x.ns AND i.seq = x.inst WHERE x.ns = $1", func(r pgx.Rows) (string, int64, bool, error) {
			var m store.Message
			var ticket int64
			var data []byte
			err := r.Scan(&m.To, &m.Seq, &m.At, &m.Event, &ticket, &data)
			if err == nil {
				err = codec.DecodeInput(data, &m)
			}
			return m.To, m.Seq, ticketOf(m.Input) == ticket, err
		}},
		{"call", "SELECT c.seq, i.id, i.created, c.parked, c.shard, c.call, c.ticket, c.inst FROM ~.calls c JOIN ~.instances i ON i.ns = c.ns AND i.seq = c.inst WHERE c.ns = $1", func(r pgx.Rows) (string, int64, bool, error) {
			ticket, inst := int64(0), int64(0)
			c, err := readCall(withMore{r, []any{&ticket, &inst}})
			if err == nil {
				err = c.decode(k.later(c.data, inst, c.Instance))
			}
			return c.Instance, c.Seq, int64(c.Ticket) == ticket, err
		}},
		{"produced event", "SELECT seq, instance, definition, event, sink FROM ~.emits WHERE ns = $1 AND sink", readProduced(true)},
		{"produced event", "SELECT seq, instance, definition, event, sink FROM ~.emits WHERE ns = $1 AND NOT sink", readProduced(false)},
		{"gathering", "SELECT " + gatheringFields + ", fits FROM ~.gatherings WHERE ns = $1", func(r pgx.Rows) (string, int64, bool, error) {
			fits := int64(0)
			g, err := readGathering(withMore{r, []any{&fits}})
			return g.Definition, g.Seq, fitsOf(g.Key) == fits, err
		}},
	} {
		err := k.each(x.text, func(r pgx.Rows) error {
			switch id, seq, fits, err := x.read(r); {
			case errors.Is(err, store.ErrDamaged):
				k.problems.Add(id, "its %s %d cannot be read: %v", x.what, seq, err)
			case err != nil:
				return err
			case !fits:
				k.problems.Add(id, "its %s %d is not found by what it has", x.what, seq)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func readProduced(sink bool) func(pgx.Rows) (string, int64, bool, error) {
	return func(r pgx.Rows) (string, int64, bool, error) {
		e, err := readEmit(withMore{r, []any{new(bool)}}, sink)
		return e.Instance, e.Seq, true, err
	}
}

// subscriptions compares them with where they are filed.
func (k *checker) subscriptions() error {
	return k.each("SELECT id, inst, ticket, name, filter, typ, match FROM ~.subs WHERE ns = $1", func(r pgx.Rows) error {
		typ, match := int64(0), int64(0)
		s, err := readSub(withMore{r, []any{&typ, &match}})
		if errors.Is(err, store.ErrDamaged) {
			k.problems.Add(s.Instance, "one of its subscriptions cannot be read: %v", err)
			return nil
		}
		if err != nil {
			return err
		}
		if _, m := codec.MatchOf(&s.Filter); typeOf(s.Filter.Type) != typ || m != match {
			k.problems.Add(s.Instance, "no event finds one of its subscriptions")
		}
		return nil
	})
}

// events compares them with where they are filed.
func (k *checker) events() error {
	known, err := k.s.shapesOf(k.ctx, k.ns)
	if err != nil {
		return err
	}
	return k.each("SELECT "+eventFields+", e.key, (SELECT array_agg(x.typ::text || ' ' || x.match) FROM ~.event_keys x WHERE x.ns = e.ns AND x.gen = e.gen AND x.event = e.seq), "+
		"(SELECT array_agg(x.id) FROM unnest(e.fors) f(id) JOIN ~.kept_for x ON x.ns = e.ns AND x.id = f.id AND x.event = e.seq) FROM ~.events e WHERE e.ns = $1 AND "+notForgotten, func(r pgx.Rows) error {
		var keys, kept []string
		var id []byte
		e, err := readEvent(withMore{r, []any{&id, &keys, &kept}})
		if err != nil {
			k.problems.Add("events", "%v", err)
			return nil
		}
		if !bytes.Equal(id, eventID(&e.Event)) {
			k.problems.Add("events", "event %d is not found by its source and id", e.Seq)
		}
		for _, key := range keysOf(known.shapes, &e.Event) {
			if !slices.Contains(keys, fmt.Sprint(key.typ, " ", key.match)) {
				k.problems.Add("events", "subscriptions do not find event %d", e.Seq)
			}
		}
		for _, id := range e.For {
			if !slices.Contains(kept, id) {
				k.problems.Add("events", "event %d is kept for %s, which does not find it", e.Seq, id)
			}
		}
		return nil
	})
}

// withMore reads columns behind those that a reader knows.
type withMore struct {
	pgx.Rows
	more []any
}

func (w withMore) Scan(into ...any) error { return w.Rows.Scan(append(into, w.more...)...) }

// tallies looks for hours that cannot be read.
func (k *checker) tallies() error {
	return k.each("SELECT hour, data FROM ~.tallies WHERE ns = $1", func(r pgx.Rows) error {
		_, err := readHour(r)
		if errors.Is(err, store.ErrDamaged) {
			k.problems.Add("tallies", "%v", err)
			return nil
		}
		return err
	})
}
