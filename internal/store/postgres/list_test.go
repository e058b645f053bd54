package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestJobListBlocks: a list of all jobs looks at what it has and at the index entries that it passes over, whatever their
// workflows and states are, also where nobody has counted the table.
func TestJobListBlocks(t *testing.T) {
	s := openTest(t, Options{}).Namespace("x").(*Store)
	parent := store.Commit{Instance: store.Instance{ID: "parent", Definition: "p", Status: core.Waiting}}
	for i := range 5000 {
		in := store.Instance{ID: fmt.Sprint(i), Definition: fmt.Sprint("d", i%4), Status: core.Waiting, Job: store.Job{Client: "c", State: fmt.Sprint("S", i%5), Group: "OPEN"}}
		parent.Children = append(parent.Children, store.NewInstance{Instance: in})
	}
	if err := s.Commit(ctx, parent); err != nil {
		t.Fatal(err)
	}
	ns, err := s.ns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q     store.Query
		first string
		most  int
	}{
		{store.Query{Jobs: true, Limit: 100}, "0", 100*3 + 50},
		{store.Query{Jobs: true, Limit: 10, Offset: 1000}, "1000", 150},
		{store.Query{Jobs: true, Limit: 10, Offset: 1000, Newest: true}, "3999", 150},
	} {
		rows, err := s.Instances(ctx, c.q)
		if err != nil || len(rows) != c.q.Limit || rows[0].ID != c.first {
			t.Fatalf("%d jobs, %v: %+v", len(rows), err, rows[0])
		}
		x, _ := s.selected(ns, &c.q)
		text := x.list(&c.q)
		plan := ""
		if err := s.db.one(ctx, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+text, x.args, &plan); err != nil {
			t.Fatal(err)
		}
		blocks := 0
		for _, m := range sharedBlocks.FindAllStringSubmatch(plan, 2) { // hit and read, of the topmost node
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			blocks += n
		}
		if blocks == 0 || blocks > c.most {
			t.Errorf("limit %d, offset %d: %d blocks, not %d at most:\n%s", c.q.Limit, c.q.Offset, blocks, c.most, plan)
		}
	}
}

var sharedBlocks = regexp.MustCompile(`"Shared (?:Hit|Read) Blocks": (\d+)`)
