package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/ir"
	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/codec"
)

// maxProblems is how many problems one check tells ("check-problems").
const maxProblems = 100

// checker collects problems.
type checker struct {
	s    *Store
	c    *conn
	list []store.Problem
}

// Check looks for damage: of the file, in rows, and between them. What pages say only
// their program knows.
func (s *Store) Check(ctx context.Context) (out []store.Problem, err error) {
	err = s.db.snapshot(ctx, func(c *conn) error {
		k := checker{s: s, c: c, list: slices.Clone(s.db.found)}
		for _, f := range []func() error{k.file, k.references, k.contents, k.instances, k.history, k.counts, k.inbox, k.subscriptions, k.events} {
			if err := f(); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		out = k.list
		return nil
	})
	return out, err
}

func (k *checker) problem(where, format string, args ...any) {
	if len(k.list) < maxProblems {
		k.list = append(k.list, store.Problem{Where: where, Text: fmt.Sprintf(format, args...)})
	}
}

// A check may look at everything; its statements are marked for the test of plans.

const checkMark = "/* check */ "

func (k *checker) query(query string, each func(row) error, args ...any) error {
	return k.c.query(checkMark+query, each, args...)
}

func (k *checker) number(query string, args ...any) (int64, bool, error) {
	return k.c.number(checkMark+query, args...)
}

// file asks SQLite, also whether every index has the rows of its table: quick_check does not.
func (k *checker) file() error {
	return k.query("PRAGMA integrity_check", func(r row) error {
		if text := r.ColumnText(0); text != "ok" {
			k.problem("file", "%s", text)
		}
		return nil
	})
}

// references looks for rows whose owner is not there.
func (k *checker) references() error {
	for _, x := range []struct{ table, of, key string }{
		{"pages", "inst", "instances"},
		{"bulk", "inst", "instances"},
		{"labels", "inst", "instances"},
		{"owners", "inst", "instances"},
		{"inbox", "inst", "instances"},
		{"calls", "inst", "instances"},
		{"subs", "inst", "instances"},
		{"deliveries", "event", "events"},
		{"event_keys", "event", "events"},
		{"kept_for", "event", "events"},
	} {
		query := fmt.Sprintf("SELECT DISTINCT %s FROM %s x WHERE ns = ? AND NOT EXISTS (SELECT 1 FROM %s o WHERE o.seq = x.%s AND o.ns = x.ns) LIMIT 10", x.of, x.table, x.key, x.of)
		err := k.query(query, func(r row) error {
			k.problem(x.table, "there is no row %d in %s", r.ColumnInt64(0), x.key)
			return nil
		}, k.s.ns)
		if err != nil {
			return err
		}
	}
	return nil
}

// contents looks for programs that cannot be read, and for those that instances and
// names of definitions need and that are not there.
func (k *checker) contents() error {
	err := k.query("SELECT info, program FROM contents WHERE ns = ?", func(r row) error {
		var d store.Definition
		if err := json.Unmarshal([]byte(r.ColumnText(0)), &d); err != nil {
			k.problem("contents", "a definition cannot be read: %v", err)
			return nil
		}
		if _, err := ir.Decode(blob(r, 1)); err != nil {
			k.problem("definition "+d.ID, "the program of version %q cannot be read: %v", d.Version, err)
		}
		return nil
	}, k.s.ns)
	if err != nil {
		return err
	}
	for _, query := range []string{
		`SELECT k.definition, sum(c.n) || ' instances of version "' || k.version || '" have no program' FROM kinds k JOIN counts c ON c.ns = k.ns AND c.kind = k.kind ` +
			"WHERE k.ns = ? AND k.digest <> '' AND NOT EXISTS (SELECT 1 FROM contents o WHERE o.ns = k.ns AND o.digest = k.digest) GROUP BY k.kind HAVING sum(c.n) > 0",
		`SELECT a.id, 'version "' || a.version || '" has no program' FROM aliases a ` +
			"WHERE a.ns = ? AND NOT EXISTS (SELECT 1 FROM contents o WHERE o.ns = a.ns AND o.digest = a.digest AND o.edition = a.edition)",
	} {
		err := k.query(query, func(r row) error {
			k.problem("definition "+r.ColumnText(0), "%s", r.ColumnText(1))
			return nil
		}, k.s.ns)
		if err != nil {
			return err
		}
	}
	return nil
}

// history follows it from every instance, deleted ones included, and finds it whole.
func (k *checker) history() error {
	err := k.query("SELECT h.pos, h.records, h.told - coalesce(p.told, 0) FROM history h LEFT JOIN history p ON p.pos = h.prev WHERE h.ns = ?", func(r row) error {
		records := 0
		if !r.ColumnIsNull(1) {
			list, err := codec.DecodeRecords(blob(r, 1))
			if err != nil {
				k.problem("history", "position %d cannot be read: %v", r.ColumnInt64(0), err)
				return nil
			}
			records = len(list)
		}
		if n := r.ColumnInt64(2); n != int64(records) {
			k.problem("history", "position %d has %d records, not %d", r.ColumnInt64(0), records, n)
		}
		return nil
	}, k.s.ns)
	if err != nil {
		return err
	}
	const broken = "SELECT h.pos FROM history h WHERE h.ns = ? AND h.prev <> 0 AND NOT EXISTS (SELECT 1 FROM history p WHERE p.pos = h.prev AND p.inst = h.inst AND p.pos < h.pos) LIMIT 10"
	const ends = "SELECT x.last FROM (SELECT seq, last, ns FROM instances UNION ALL SELECT inst, last, ns FROM gone) x " +
		"WHERE x.ns = ? AND x.last <> 0 AND NOT EXISTS (SELECT 1 FROM history h WHERE h.pos = x.last AND h.inst = x.seq) LIMIT 10"
	const told = "SELECT i.last FROM instances i JOIN history h ON h.pos = i.last WHERE i.ns = ? AND i.told <> h.told LIMIT 10"
	for query, text := range map[string]string{
		broken: "what came before position %d is not there", ends: "position %d, the last of an instance, is not there",
		told: "position %d, the last of an instance, tells of another number of records",
	} {
		err := k.query(query, func(r row) error {
			k.problem("history", text, r.ColumnInt64(0))
			return nil
		}, k.s.ns)
		if err != nil {
			return err
		}
	}
	return nil
}

// counts counts again.
func (k *checker) counts() error {
	return k.query(
		"SELECT kind, status, sum(n) FROM (SELECT kind, status, count(*) AS n FROM instances WHERE ns = ?1 GROUP BY kind, status "+
			"UNION ALL SELECT kind, status, -n FROM counts WHERE ns = ?1) GROUP BY kind, status HAVING sum(n) <> 0",
		func(r row) error {
			k.problem("counts", "of kind %d and status %s there are %d more than it says", r.ColumnInt64(0), codec.StatusOf(r.ColumnInt64(1)), r.ColumnInt64(2))
			return nil
		}, k.s.ns)
}

// inbox reads messages, calls and emits.
func (k *checker) inbox() error {
	for query, decode := range map[string]func([]byte) error{
		"SELECT 'message', seq, input FROM inbox WHERE ns = ?":       func(b []byte) error { _, err := codec.DecodeInput(b); return err },
		"SELECT 'call', seq, call FROM calls WHERE ns = ?":           func(b []byte) error { _, err := codec.DecodeInvoke(b); return err },
		"SELECT 'emit', seq, event FROM emits WHERE ns = ?":          func(b []byte) error { _, err := codec.DecodeEvent(b); return err },
		"SELECT 'gathering', seq, rest FROM gatherings WHERE ns = ?": func(b []byte) error { return codec.DecodeGathering(b, new(store.Gathering)) },
	} {
		err := k.query(query, func(r row) error {
			if err := decode(blob(r, 2)); err != nil {
				k.problem(r.ColumnText(0), "%d cannot be read: %v", r.ColumnInt64(1), err)
			}
			return nil
		}, k.s.ns)
		if err != nil {
			return err
		}
	}
	return nil
}

// subscriptions compares them with where they are filed.
func (k *checker) subscriptions() error {
	return k.query(subColumnsFiled+"WHERE s.ns = ?", func(r row) error {
		s, err := readSub(r)
		if err != nil {
			k.problem(s.Instance, "%v", err)
			return nil
		}
		_, match := codec.MatchOf(&s.Filter)
		if s.Filter.Type != r.ColumnText(5) || match != r.ColumnInt64(6) {
			k.problem(s.Instance, "no event finds its subscription %s", s.Ticket)
		}
		return nil
	}, k.s.ns)
}

const subColumnsFiled = "SELECT i.id, s.inst, s.ticket, s.name, s.filter, s.type, s.match FROM subs s CROSS JOIN instances i ON i.seq = s.inst "

// events compares them with where they are filed.
func (k *checker) events() error {
	shapes := map[string][]codec.Shape{}
	err := k.query("SELECT type, places FROM shapes WHERE ns = ?", func(r row) error {
		s, err := codec.ParseShape(r.ColumnText(1))
		shapes[r.ColumnText(0)] = append(shapes[r.ColumnText(0)], s)
		return err
	}, k.s.ns)
	if err != nil {
		return err
	}
	kept := int64(0)
	err = k.query(eventColumns+"WHERE ns = ? ORDER BY seq", func(r row) error {
		e, err := readEvent(r)
		if err != nil {
			k.problem("events", "%v", err)
			return nil
		}
		for _, key := range keysOf(func(typ string) []codec.Shape { return shapes[typ] }, &e.Event) {
			n, _, err := k.number("SELECT count(*) FROM event_keys WHERE ns = ? AND type = ? AND match = ? AND event = ?", k.s.ns, key.typ, key.match, e.Seq)
			if err != nil {
				return err
			}
			if n != 1 {
				k.problem("events", "subscriptions do not find event %d", e.Seq)
			}
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(e.For))) {
			n, _, err := k.number("SELECT count(*) FROM kept_for WHERE ns = ? AND id = ? AND event = ?", k.s.ns, id, e.Seq)
			if err != nil {
				return err
			}
			if n != 1 {
				k.problem("events", "event %d is kept for %s, which does not find it", e.Seq, id)
			}
			kept++
		}
		return nil
	}, k.s.ns)
	if err != nil {
		return err
	}
	n, _, err := k.number("SELECT count(*) FROM kept_for WHERE ns = ?", k.s.ns)
	if err == nil && n != kept {
		k.problem("events", "instances find %d events that are not kept for them", n-kept)
	}
	return err
}
