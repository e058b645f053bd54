package sqlite

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// looksAtAll are parts of the statements that may look at more than they return: they
// list everything, or are rare.
var looksAtAll = []string{
	checkMark, "FROM sqlite_schema", "SELECT sqlite_version()",
	"SELECT kind, ns, definition, version, digest FROM kinds", "SELECT ns, kind, status, n FROM counts", "SELECT ns, name FROM namespaces", "GROUP BY b.inst", "SELECT id FROM suspects WHERE ns = ?", // at start
	"grp, n FROM lanes ORDER BY lane", // likewise
	"SELECT seq, id, aside FROM instances WHERE ns = ? AND more", "SELECT definition, digest, next FROM schedules", "SELECT type, places FROM shapes",
	"SELECT EXISTS (SELECT 1 FROM ",  // one row
	"SELECT min(", "SELECT max(pos)", // the end of an index
	"WHERE a.ns = ? ORDER BY a.id, a.seq", // all definitions
	"FROM policies WHERE ns = ? ORDER BY", // all policies
	"a.current = 1",                       // versions of a definition
	"AND id = ? AND current = 1",          // likewise
	"SELECT seq, event, received, producer, origin FROM events WHERE ns = ? ORDER BY seq", // a shape of any type that is new
	"WHERE ns = ? AND seq > ? AND NOT EXISTS (SELECT 1 FROM deliveries o",                 // a shape that is not stored
	"AND again IS NOT NULL ORDER BY seq LIMIT", "INDEXED BY subs_fresh",                   // lists of work
	"WHERE i.aside IS NULL AND c.ns = ?",      // all calls
	"SELECT inst, last FROM gone",             // by position
	"FROM kinds k CROSS JOIN counts c",        // all kinds, when a definition is deleted
	"DELETE FROM gatherings WHERE ns = ? AND", // likewise
	"SELECT kind, status FROM counts WHERE",   // kinds times statuses: each is a part of the list
	"FROM (VALUES ", "INSERT INTO counts",     // the values are given
	"SELECT match, inst, ticket, type FROM subs", // at start
}

// narrow says by what the statements find their rows that are run for every wait, or for
// every page of a list.
var narrow = map[string]string{
	"SELECT 1 FROM event_keys":                            "(ns=? AND type=? AND match=? AND event>?)",
	"FROM (VALUES ":                                       "(ns=? AND inst=? AND ticket=?)",
	"INDEXED BY events_type":                              "events_type (ns=? AND type=? AND rowid",
	"events NOT INDEXED WHERE":                            "PRIMARY KEY (rowid",
	"SELECT told, records":                                "history_told (inst=? AND told>?)",
	"SELECT inst FROM labels WHERE":                       "(ns=? AND name=? AND text=? AND lane=? AND inst",
	"SELECT lane FROM labels WHERE":                       "(ns=? AND name=? AND text=? AND lane>?)",
	"SELECT count(*) FROM (SELECT 1 FROM labels WHERE":    "(ns=? AND name=? AND text=? AND lane=?)",
	"FROM instances INDEXED BY instances_created_root":    "INDEX instances_created_root (ns=? AND created>? AND created<?)",
	"FROM instances INDEXED BY instances_created_child":   "INDEX instances_created_child (ns=? AND created>? AND created<?)",
	"FROM instances INDEXED BY instances_place":           "COVERING INDEX instances_place (ns=? AND place=? AND kind=? AND status=? AND rowid",
	"SELECT seq FROM instances WHERE ns = ? AND lane = ?": "COVERING INDEX instances_lane (ns=? AND lane=? AND rowid",
	"FROM emits WHERE":                                    "(ns=? AND sink=?",
	"DELETE FROM emits WHERE":                             "(ns=? AND sink=? AND seq=?)",
	"FROM events WHERE ns = ? AND type = ?":               "events_type (ns=? AND type=?)",
}

// TestPlans asks SQLite for every statement that the tests of stores run how it finds
// rows: by more than the namespace, unless the list says otherwise.
func TestPlans(t *testing.T) {
	plans := map[string][]string{}
	storetest.Cases(t, func(t *testing.T) store.Store {
		db := openTest(t)
		t.Cleanup(func() { explain(t, db, plans) }) // before it is closed
		return db.Namespace("default")
	})
	if len(plans) < 50 {
		t.Errorf("only %d statements were seen", len(plans))
	}
	for part, want := range narrow {
		found := false
		for query, plan := range plans {
			if strings.Contains(query, part) && !strings.HasPrefix(query, checkMark) {
				found = true
				if !slices.ContainsFunc(plan, func(line string) bool { return strings.Contains(line, want) }) {
					t.Errorf("%s\n\t%q, not by %s", query, plan, want)
				}
			}
		}
		if !found {
			t.Errorf("no statement has %q", part)
		}
	}
	for query, plan := range plans {
		if slices.ContainsFunc(looksAtAll, func(part string) bool { return strings.Contains(query, part) }) {
			continue
		}
		for _, line := range plan {
			whole := strings.HasPrefix(line, "SCAN") && !strings.HasPrefix(line, "SCAN (subquery")
			if whole || strings.HasSuffix(line, "(ns=?)") || strings.Contains(line, "TEMP B-TREE") {
				t.Errorf("%s\n\t%s", query, line)
			}
		}
	}
}

func explain(t *testing.T, db *DB, plans map[string][]string) {
	t.Helper()
	conns := []*conn{db.writer.conn}
	for range db.reading {
		c := <-db.readers
		conns = append(conns, c)
		db.readers <- c
	}
	err := db.writer.submit(ctx, 0, func(tr *tx) error {
		for _, c := range conns {
			for _, key := range reflect.ValueOf(c.Conn).Elem().FieldByName("stmts").MapKeys() {
				query := key.String()
				if _, known := plans[query]; known || strings.HasPrefix(query, "EXPLAIN") || strings.HasPrefix(query, "PRAGMA") {
					continue
				}
				plan := []string{}
				err := tr.conn.query("EXPLAIN QUERY PLAN "+query, func(r row) error {
					plan = append(plan, r.ColumnText(3))
					return nil
				})
				if err != nil {
					return err
				}
				plans[query] = plan
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
