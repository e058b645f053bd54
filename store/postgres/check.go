package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/ir"
	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/codec"
)

const (
	// maxProblems is how many problems one check tells ("check-problems").
	maxProblems = 100
	// checkChunk is how many rows are compared at a time.
	checkChunk = 500
)

// checker collects problems.
type checker struct {
	ctx  context.Context
	s    *Store
	t    *tx
	ns   int32
	list []store.Problem
}

// Check looks for damage: in rows, and between them. What pages say only their program knows.
func (s *Store) Check(ctx context.Context) (out []store.Problem, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.snapshot(ctx, func(t *tx) error {
			// Before the view is taken: no generation is emptied that it still shows rows in.
			if _, err := t.do(ctx, "LOCK TABLE ~.history, ~.events, ~.event_keys, ~.deliveries IN ACCESS SHARE MODE"); err != nil {
				return err
			}
			k := checker{ctx: ctx, s: s, t: t, ns: ns}
			for _, f := range []func() error{k.pairs, k.contents, k.instances, k.history, k.inputs, k.subscriptions, k.events, k.counts} {
				if err := f(); err != nil {
					return err
				}
			}
			out = k.list
			return nil
		})
	})
	return out, err
}

func (k *checker) problem(where, format string, args ...any) {
	if len(k.list) < maxProblems {
		k.list = append(k.list, store.Problem{Where: where, Text: fmt.Sprintf(format, args...)})
	}
}

// each runs a query whose first parameter is the namespace.
func (k *checker) each(text string, f func(pgx.Rows) error, args ...any) error {
	return k.t.each(k.ctx, text, append([]any{k.ns}, args...), f)
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
		err := k.each(text+fmt.Sprintf(" LIMIT %d", maxProblems), func(r pgx.Rows) error {
			where, what := "", ""
			err := r.Scan(&where, &what)
			k.problem(where, "%s", what)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// contents looks for programs that cannot be read.
func (k *checker) contents() error {
	return k.each("SELECT info, program FROM ~.contents WHERE ns = $1", func(r pgx.Rows) error {
		info, program := "", []byte(nil)
		if err := r.Scan(&info, &program); err != nil {
			return err
		}
		var d store.Definition
		if err := json.Unmarshal([]byte(info), &d); err != nil {
			k.problem("contents", "a definition cannot be read: %v", err)
		} else if _, err := ir.Decode(program); err != nil {
			k.problem("definition "+d.ID, "the program of version %q cannot be read: %v", d.Version, err)
		}
		return nil
	})
}

// history looks for records that cannot be read, and for those that are missing.
func (k *checker) history() error {
	inst, told := int64(0), int64(0)
	return k.each("SELECT h.inst, h.told, h.instance, h.records, i.told FROM ~.history h LEFT JOIN ~.instances i ON i.ns = h.ns AND i.seq = h.inst "+
		"WHERE h.ns = $1 AND (i.seq IS NOT NULL OR EXISTS (SELECT 1 FROM ~.gone g WHERE g.ns = h.ns AND g.inst = h.inst)) ORDER BY h.inst, h.pos", func(r pgx.Rows) error {
		at, up, id := int64(0), int64(0), ""
		var data []byte
		var all *int64
		if err := r.Scan(&at, &up, &id, &data, &all); err != nil {
			return err
		}
		if at != inst {
			inst, told = at, 0
		}
		if data != nil {
			records, err := codec.DecodeRecords(data)
			if err != nil {
				k.problem(id, "its history cannot be read: %v", err)
				told = up
				return nil
			}
			told += int64(len(records))
		}
		if told != up || all != nil && up > *all {
			k.problem(id, "its history has gaps")
			told = up
		}
		return nil
	})
}

// inputs looks for messages, calls and emits that cannot be read.
func (k *checker) inputs() error {
	for _, x := range []struct {
		table, column string
		decode        func([]byte) error
	}{
		{"inbox", "input", func(b []byte) error { _, err := codec.DecodeInput(b); return err }},
		{"calls", "call", func(b []byte) error { _, err := codec.DecodeInvoke(b); return err }},
		{"emits", "event", func(b []byte) error { _, err := codec.DecodeEvent(b); return err }},
	} {
		err := k.each(fmt.Sprintf("SELECT seq, %s FROM ~.%s WHERE ns = $1", x.column, x.table), func(r pgx.Rows) error {
			seq, data := int64(0), []byte(nil)
			if err := r.Scan(&seq, &data); err != nil {
				return err
			}
			if err := x.decode(data); err != nil {
				k.problem(x.table, "%d cannot be read: %v", seq, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// subscriptions compares them with where they are filed.
func (k *checker) subscriptions() error {
	return k.each("SELECT id, typ, match, filter FROM ~.subs WHERE ns = $1", func(r pgx.Rows) error {
		id, typ, match := "", int64(0), int64(0)
		var data []byte
		if err := r.Scan(&id, &typ, &match, &data); err != nil {
			return err
		}
		f, err := codec.DecodeFilter(data)
		if err != nil {
			k.problem(id, "one of its subscriptions cannot be read: %v", err)
			return nil
		}
		if _, m := codec.MatchOf(&f); typeOf(f.Type) != typ || m != match {
			k.problem(id, "no event finds one of its subscriptions")
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
	return k.each("SELECT "+eventFields+", (SELECT array_agg(x.typ::text || ' ' || x.match) FROM ~.event_keys x WHERE x.ns = e.ns AND x.gen = e.gen AND x.event = e.seq), "+
		"(SELECT array_agg(x.id) FROM unnest(e.fors) f(id) JOIN ~.kept_for x ON x.ns = e.ns AND x.id = f.id AND x.event = e.seq) FROM ~.events e WHERE e.ns = $1 AND "+notForgotten, func(r pgx.Rows) error {
		var keys, kept []string
		e, err := readEvent(withMore{r, []any{&keys, &kept}})
		if err != nil {
			k.problem("events", "%v", err)
			return nil
		}
		for _, key := range keysOf(known.shapes, &e.Event) {
			if !slices.Contains(keys, fmt.Sprint(key.typ, " ", key.match)) {
				k.problem("events", "subscriptions do not find event %d", e.Seq)
			}
		}
		for _, id := range e.For {
			if !slices.Contains(kept, id) {
				k.problem("events", "event %d is kept for %s, which does not find it", e.Seq, id)
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
