package postgres

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// growLabelled makes n instances, a thousand at a time. Each has an order, a name and a key of its own, and a
// region that all have. Of ten, nine are children of the first.
func growLabelled(t *testing.T, s store.Store, n int) {
	t.Helper()
	for from := 0; from < n; from += 1000 {
		c := store.Commit{Instance: store.Instance{ID: fmt.Sprint("parent", from), Definition: "p", Parent: "nobody", Status: core.Waiting}}
		for i := from; i < min(n, from+1000); i++ {
			in := store.Instance{
				ID: fmt.Sprintf("i%07d", i), Name: fmt.Sprintf("Order A-%d", i), Key: fmt.Sprintf("k-%d", i), Indexed: true, Definition: "d", Status: core.Waiting,
				Labels: expr.Object(expr.Member{Key: "order", Value: expr.String(fmt.Sprintf("A-%d", i))}, expr.Member{Key: "region", Value: expr.String("eu")}),
			}
			if i%10 != 0 {
				in.Parent = fmt.Sprintf("i%07d", i-i%10)
			}
			c.Children = append(c.Children, store.NewInstance{Instance: in})
		}
		if err := s.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
}

// plan is a node of a plan that was carried out.
type plan struct {
	Type  string  `json:"Node Type"`
	Rows  float64 `json:"Actual Rows"`
	Loops float64 `json:"Actual Loops"`
	Hit   int64   `json:"Shared Hit Blocks"`
	Read  int64   `json:"Shared Read Blocks"`
	Plans []plan
}

// rows is how many rows all nodes gave.
func (p *plan) rows() (n int64) {
	n = int64(p.Rows * p.Loops)
	for i := range p.Plans {
		n += p.Plans[i].rows()
	}
	return n
}

// TestFindingIsFree: a search among many looks at the rows and blocks of one among few, apart from the levels of
// the indexes. BENCH_FIND=1000000 sets how many; the log tells what each search cost.
func TestFindingIsFree(t *testing.T) {
	type cost struct{ found, rows, blocks int64 }
	costs := func(n int) map[string]cost {
		db := openTest(t, Options{})
		s := db.Namespace("n").(*Store)
		growLabelled(t, s, n)
		c, err := db.pool.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
		defer unhurried(c.Conn())() // a million takes a while
		if _, err := c.Exec(ctx, "VACUUM ANALYZE"); err != nil {
			t.Fatal(err)
		}
		i := n / 2
		order, region := []store.Label{{Name: "order", Value: fmt.Sprintf("A-%d", i)}}, []store.Label{{Name: "region", Value: "eu"}}
		out := map[string]cost{}
		for name, q := range map[string]store.Query{
			"a label that one has":           {Labels: order, Newest: true, Limit: 51},
			"a label that all have":          {Labels: region, Newest: true, Limit: 51},
			"a label that all have, last":    {Labels: region, Limit: 51},
			"a name":                         {Name: fmt.Sprintf("Order A-%d", i), Newest: true, Limit: 51},
			"a key":                          {Key: fmt.Sprintf("k-%d", i), Newest: true, Limit: 51},
			"plain text that is a value":     {Text: fmt.Sprintf("A-%d", i), Newest: true, Limit: 51},
			"plain text that is an id":       {Text: fmt.Sprintf("i%07d", i), Newest: true, Limit: 51},
			"plain text that nobody has":     {Text: "nobody has", Newest: true, Limit: 51},
			"a parent":                       {Parent: fmt.Sprintf("i%07d", i-i%10), Newest: true, Limit: 51},
			"roots":                          {Root: true, Newest: true, Limit: 21},
			"roots by definition and status": {Root: true, Definition: "d", Status: []core.Status{core.Waiting}, Newest: true, Limit: 21},
			"everything":                     {Newest: true, Limit: 51},
		} {
			err := s.ask(ctx, func(ns int32) error {
				x, _ := s.selected(ns, &q)
				text, list := x.list(&q), []struct{ Plan plan }{}
				var found string
				err := db.inOrder(ctx, db.pool, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+text, x.args, func(r pgx.Rows) error { return r.Scan(&found) })
				if err != nil {
					return err
				}
				if err := json.Unmarshal([]byte(found), &list); err != nil {
					return err
				}
				p := list[0].Plan
				out[name] = cost{int64(p.Rows), p.rows(), p.Hit + p.Read}
				return nil
			})
			if err != nil {
				t.Fatal(name, err)
			}
		}
		return out
	}
	few, most := 1_000, 20_000
	if text := os.Getenv("BENCH_FIND"); text != "" {
		if _, err := fmt.Sscan(text, &most); err != nil {
			t.Fatal(err)
		}
	}
	small, large := costs(few), costs(most)
	for name, a := range small {
		b := large[name]
		t.Logf("%-32s %3d found, %4d rows, %4d blocks among %d; %3d, %4d, %4d among %d", name, a.found, a.rows, a.blocks, few, b.found, b.rows, b.blocks, most)
		// Among few the server may read a whole table, which costs less there.
		if a.found != b.found || b.rows > 20*b.found+40 || b.blocks > 6*b.found+40 {
			t.Errorf("%s: %+v among %d, %+v among %d", name, a, few, b, most)
		}
	}
}
