package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/query"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// planNode is a node of a plan that was carried out.
type planNode struct {
	Relation string     `json:"Relation Name"`
	Rows     float64    `json:"Actual Rows"`
	Loops    float64    `json:"Actual Loops"`
	Filtered float64    `json:"Rows Removed by Filter"`
	Again    float64    `json:"Rows Removed by Index Recheck"`
	Hit      int        `json:"Shared Hit Blocks"`
	Read     int        `json:"Shared Read Blocks"`
	Plans    []planNode `json:"Plans"`
}

// read is how many rows of the table of instances the nodes looked at.
func (n *planNode) read() int {
	rows := 0
	if n.Relation == "instances" {
		rows = int((n.Rows + n.Filtered + n.Again) * n.Loops)
	}
	for i := range n.Plans {
		rows += n.Plans[i].read()
	}
	return rows
}

// entries is how many rows or entries of an index the leaf looked at that looked at the most.
func (n *planNode) entries() int {
	if len(n.Plans) == 0 {
		return int((n.Rows + n.Filtered + n.Again) * n.Loops)
	}
	most := 0
	for i := range n.Plans {
		most = max(most, n.Plans[i].entries())
	}
	return most
}

// carriedOut is the plan of a statement, carried out as lists and counts are.
func carriedOut(t *testing.T, s *Store, text string, args []any) (plan planNode, raw []byte) {
	t.Helper()
	err := s.db.inOrder(ctx, s.db.pool, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+text, args, func(r pgx.Rows) error { return r.Scan(&raw) })
	if err != nil {
		t.Fatal(err)
	}
	var out []struct{ Plan planNode }
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out[0].Plan, raw
}

// mostBlocks is how many blocks a list looks at: of each instance the levels of up to three trees, and two rows. An inner block counts
// each time.
const mostBlocks = 12 * storetest.MostFound

// TestQueriesAreBounded: no question of the page and of the command line reads more than 500 rows of instances, however
// many there are, whether the tables were analyzed or not; a count looks at no more entries of an index than it counts, and
// ends at 10,000.
func TestQueriesAreBounded(t *testing.T) {
	s := openTest(t, Options{}).Namespace("x").(*Store)
	now := core.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	const n = 20_000
	if _, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < n; from += 2000 {
		parent := store.Commit{Instance: store.Instance{ID: fmt.Sprint("parent", from), Definition: "p", Status: core.Waiting, Created: now, Updated: now}}
		for i := from; i < from+2000; i++ {
			parent.Children = append(parent.Children, store.NewInstance{Instance: storetest.Mixed(i, n, now)})
		}
		if err := s.Commit(ctx, parent); err != nil {
			t.Fatal(err)
		}
	}
	bounded(t, s, now, false)
	if _, err := s.db.pool.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	bounded(t, s, now, true)
}

func bounded(t *testing.T, s *Store, now core.Time, analyzed bool) {
	t.Helper()
	ns, err := s.ns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	filters, err := storetest.Filters("../../query")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range filters {
		for _, way := range []string{"newest", "oldest", "newest fold", "count"} {
			f, err := query.Parse(c.Text, now)
			if err != nil {
				t.Fatal(err)
			}
			f.Query.Newest = strings.HasPrefix(way, "newest")
			f.Query.Root = f.Query.Root || strings.Contains(way, "fold") && f.Browses()
			q, whole := f.Query.Indexed()
			if way == "count" && whole && f.Exact {
				x, ok := s.selected(ns, &q)
				if !ok {
					t.Fatalf("%s selects nothing", c.Text)
				}
				n, err := s.Count(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				text, args := x.count(ns, &q, storetest.MostCounted)
				plan, raw := carriedOut(t, s, text, args)
				most := min(int(n), storetest.MostCounted)
				if q.Counted() {
					most = 0 // nothing is counted: the kept counts are, and their differences
				}
				if entries, blocks := plan.entries(), plan.Hit+plan.Read; entries > most+60 || blocks > most+40 {
					t.Errorf("%s, %s: %d entries, %d blocks (%d counted):\n%s\n%s", c.Text, way, entries, blocks, n, text, raw)
				}
				continue
			}
			q.Limit = storetest.MostFound
			list, err := s.Instances(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			fits := 0
			for i := range list {
				if f.Selects(&list[i]) {
					fits++
				}
			}
			if c.Finds >= 0 && !strings.Contains(way, "fold") && q.Near == "" && fits != c.Finds {
				t.Errorf("%s, %s: %d found, want %d", c.Text, way, fits, c.Finds)
			}
			if err := s.prefixed(ctx, ns, &q); err != nil {
				t.Fatal(err)
			}
			x, ok := s.selected(ns, &q)
			if !ok {
				t.Fatalf("%s selects nothing", c.Text)
			}
			text := x.list(&q)
			plan, raw := carriedOut(t, s, text, x.args)
			if rows, blocks := plan.read(), plan.Hit+plan.Read; rows > 500 || blocks > mostBlocks {
				t.Errorf("%s, %s: %d rows, %d blocks (%d found):\n%s\n%s", c.Text, way, rows, blocks, fits, text, raw)
			}
		}
	}
}
