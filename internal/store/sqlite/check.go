package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// checker collects problems.
type checker struct {
	s        *Store
	c        *conn
	problems store.Problems
}

// Check looks for damage: of the file, in rows, and between them. What sound pages say only
// their program knows.
func (s *Store) Check(ctx context.Context) (out []store.Problem, err error) {
	err = s.db.snapshot(ctx, func(c *conn) error {
		k := checker{s: s, c: c, problems: slices.Clone(s.db.found)}
		for _, f := range []func() error{k.file, k.references, k.contents, k.instances, k.pages, k.history, k.counts, k.inbox, k.subscriptions, k.events, k.tallies} {
			if err := f(); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		out = k.problems
		return nil
	})
	return out, err
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
			k.problems.Add("file", "%s", text)
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
			k.problems.Add(x.table, "there is no row %d in %s", r.ColumnInt64(0), x.key)
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
	err := k.query("SELECT digest, info, program, source FROM contents WHERE ns = ?", func(r row) error {
		d, err := codec.DecodeContent(codec.Content{Digest: r.ColumnText(0), Info: r.ColumnText(1), Program: blob(r, 2)}, blobOrNil(r, 3))
		if err != nil {
			k.problems.Add("contents", "%v", err)
			return nil
		}
		if _, err := ir.Decode(blob(r, 2)); err != nil {
			k.problems.Add("definition "+d.ID, "the program of version %q cannot be read: %v", d.Version, err)
		}
		return nil
	}, k.s.ns)
	if err != nil {
		return err
	}
	err = k.query("SELECT id, version, digest, info, source FROM aliases WHERE ns = ?", func(r row) error {
		_, err := codec.DecodeAlias(codec.Alias{ID: r.ColumnText(0), Version: r.ColumnText(1), Digest: r.ColumnText(2), Info: r.ColumnText(3), Source: blobOrNil(r, 4)})
		if err != nil {
			k.problems.Add("definition "+r.ColumnText(0), "%v", err)
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
			k.problems.Add("definition "+r.ColumnText(0), "%s", r.ColumnText(1))
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
	err := k.query("SELECT h.pos, h.records, h.told - coalesce(p.told, 0), h.at, h.status, coalesce(i.id, g.id, ''), h.told, h.inst FROM history h LEFT JOIN history p ON p.pos = h.prev "+
		"LEFT JOIN instances i ON i.seq = h.inst LEFT JOIN gone g ON g.inst = h.inst WHERE h.ns = ?", func(r row) error {
		records := 0
		if !r.ColumnIsNull(1) {
			of := codec.Told{Instance: r.ColumnText(5), At: core.Time(r.ColumnInt64(3)), Status: codec.StatusOf(r.ColumnInt64(4)), Total: r.ColumnInt64(6)}
			list, err := codec.DecodeRecords(blob(r, 1), of, k.c.chunks(r.ColumnInt64(7), of.Instance))
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return err
			}
			if err != nil {
				k.problems.Add(cmp.Or(of.Instance, "history"), "the records at position %d cannot be read: %v", r.ColumnInt64(0), err)
				return nil
			}
			records = len(list)
		}
		if n := r.ColumnInt64(2); n != int64(records) {
			k.problems.Add("history", "position %d has %d records, not %d", r.ColumnInt64(0), records, n)
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
			k.problems.Add("history", text, r.ColumnInt64(0))
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
			k.problems.Add("counts", "of kind %d and status %s there are %d more than it says", r.ColumnInt64(0), codec.StatusOf(r.ColumnInt64(1)), r.ColumnInt64(2))
			return nil
		}, k.s.ns)
}

// pages reads the pages of all instances.
func (k *checker) pages() error {
	var pages []core.Page
	err := k.query("SELECT id, created, pages, EXISTS (SELECT 1 FROM pages x WHERE x.ns = i.ns AND x.inst = i.seq), seq FROM instances i NOT INDEXED WHERE ns = ? AND pages IS NOT NULL", func(r row) (err error) {
		id := r.ColumnText(0)
		if pages, err = codec.DecodeState(pages[:0], blob(r, 2), id, core.Time(r.ColumnInt64(1))); err == nil {
			pages, err = k.c.refer(r.ColumnInt64(4), id, pages)
		}
		if errors.Is(err, store.ErrDamaged) {
			k.problems.Add(id, "%v", err)
			err = nil
		}
		if r.ColumnInt64(3) != 0 {
			k.problems.Add(id, "it has pages beside those in its row")
		}
		return err
	}, k.s.ns)
	if err != nil {
		return err
	}
	for _, table := range []string{"pages", "bulk"} {
		err := k.query("SELECT i.id, i.created, x.frame, x.part, x.data, i.seq FROM "+table+" x CROSS JOIN instances i ON i.seq = x.inst WHERE x.ns = ?", func(r row) error {
			p := core.Page{Frame: core.FrameID(r.ColumnInt64(2)), Part: int32(r.ColumnInt64(3)), Data: blob(r, 4)}
			id := r.ColumnText(0)
			err := codec.DecodePage(id, core.Time(r.ColumnInt64(1)), &p)
			if err == nil {
				_, err = k.c.chunks(r.ColumnInt64(5), id).Pages([]core.Page{p})
			}
			if errors.Is(err, store.ErrDamaged) {
				k.problems.Add(id, "%v", err)
				err = nil
			}
			return err
		}, k.s.ns)
		if err != nil {
			return err
		}
	}
	return nil
}

// inbox reads messages, calls, emits and gatherings.
func (k *checker) inbox() error {
	for query, decode := range map[string]func(row, []byte) error{
		"SELECT i.id, 'message', x.seq, x.input, x.at, x.event FROM inbox x CROSS JOIN instances i ON i.seq = x.inst WHERE x.ns = ?": func(r row, b []byte) error {
			return codec.DecodeInput(b, &store.Message{To: r.ColumnText(0), At: core.Time(r.ColumnInt64(4)), Event: r.ColumnInt64(5)})
		},
		"SELECT i.id, 'call', x.seq, x.call, i.created, x.ticket, x.inst FROM calls x CROSS JOIN instances i ON i.seq = x.inst WHERE x.ns = ?": func(r row, b []byte) error {
			c := store.Call{Instance: r.ColumnText(0), Created: core.Time(r.ColumnInt64(4))}
			err := codec.DecodeInvoke(b, &c, k.c.chunks(r.ColumnInt64(6), c.Instance))
			if err == nil && int64(c.Ticket) != r.ColumnInt64(5) {
				err = fmt.Errorf("it is that of ticket %s", c.Ticket)
			}
			return err
		},
		"SELECT instance, 'produced event', seq, event, definition, sink FROM emits WHERE ns = ?": func(r row, b []byte) error {
			return codec.DecodeEmit(b, &store.Emit{Instance: r.ColumnText(0), Definition: r.ColumnText(4), Sink: r.ColumnInt64(5) != 0})
		},
		"SELECT definition, 'gathering', seq, rest, digest, key FROM gatherings WHERE ns = ?": func(r row, b []byte) error {
			return codec.DecodeGathering(b, &store.Gathering{Definition: r.ColumnText(0), Digest: r.ColumnText(4), Key: r.ColumnText(5)})
		},
	} {
		err := k.query(query, func(r row) error {
			if err := decode(r, blob(r, 3)); err != nil {
				k.problems.Add(r.ColumnText(0), "its %s %d cannot be read: %v", r.ColumnText(1), r.ColumnInt64(2), err)
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
			k.problems.Add(s.Instance, "%v", err)
			return nil
		}
		_, match := codec.MatchOf(&s.Filter)
		if s.Filter.Type != r.ColumnText(5) || match != r.ColumnInt64(6) {
			k.problems.Add(s.Instance, "no event finds its subscription %s", s.Ticket)
		}
		return nil
	}, k.s.ns)
}

const subColumnsFiled = "SELECT i.id, s.inst, s.ticket, s.name, s.filter, s.type, s.match FROM subs s CROSS JOIN instances i ON i.seq = s.inst "

// tallies looks for hours that cannot be read.
func (k *checker) tallies() error {
	return k.query("SELECT id, data FROM tallies WHERE id >> 32 = ?", func(r row) error {
		h := store.Hour{At: tallyOf(r.ColumnInt64(0))}
		if err := codec.DecodeHour(blob(r, 1), &h); err != nil {
			k.problems.Add("tallies", "%v", err)
		}
		return nil
	}, k.s.ns)
}

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
			k.problems.Add("events", "%v", err)
			return nil
		}
		for _, key := range keysOf(func(typ string) []codec.Shape { return shapes[typ] }, &e.Event) {
			n, _, err := k.number("SELECT count(*) FROM event_keys WHERE ns = ? AND type = ? AND match = ? AND event = ?", k.s.ns, key.typ, key.match, e.Seq)
			if err != nil {
				return err
			}
			if n != 1 {
				k.problems.Add("events", "subscriptions do not find event %d", e.Seq)
			}
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(e.For))) {
			n, _, err := k.number("SELECT count(*) FROM kept_for WHERE ns = ? AND id = ? AND event = ?", k.s.ns, id, e.Seq)
			if err != nil {
				return err
			}
			if n != 1 {
				k.problems.Add("events", "event %d is kept for %s, which does not find it", e.Seq, id)
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
		k.problems.Add("events", "instances find %d events that are not kept for them", n-kept)
	}
	return err
}
