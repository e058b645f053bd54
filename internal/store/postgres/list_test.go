package postgres

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// growJobs makes n jobs of four workflows, a thousand at a time. Three in four of the first thousand are done, two in four of the others,
// but none of the workflow d1; of the first thousand one in twenty is in the state RARE. All have the labels a and b, and one that one in
// fifty has.
func growJobs(t *testing.T, s store.Store, n int) {
	t.Helper()
	for from := 0; from < n; from += 1000 {
		parent := store.Commit{Instance: store.Instance{ID: fmt.Sprint("parent", from), Definition: "p", Status: core.Waiting}}
		for i := from; i < from+1000; i++ {
			job := store.Job{Client: "c", State: "DONE", Group: "CLOSED"}
			switch i % 20 {
			case 3, 4, 16:
				job.State, job.Group = "NEW", "OPEN"
			case 5, 10:
				job.State, job.Group = "WORK", "OPEN"
			case 7:
				if i < 1000 {
					job.State, job.Group = "RARE", "RARE"
				}
			}
			if i >= 1000 && i%4 == 1 {
				job.State, job.Group = "WORK", "OPEN"
			}
			tags := expr.Array(expr.String("a"), expr.String("b"), expr.String(fmt.Sprint("site-", i%50)))
			parent.Children = append(parent.Children, store.NewInstance{Instance: store.Instance{
				ID: fmt.Sprint(i), Definition: fmt.Sprint("d", i%4), Status: core.Waiting, Job: job, Labels: expr.Object(expr.Member{Key: "tags", Value: tags}),
			}})
		}
		if err := s.Commit(ctx, parent); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJobListBlocks: a list of jobs reads, for each state of a workflow in which it finds some, as many entries of an index as it passes
// over and has; among twenty times as many jobs, too, and also where nobody has counted the table.
func TestJobListBlocks(t *testing.T) {
	tags := func(texts ...string) (out []store.Label) {
		for _, text := range texts {
			out = append(out, store.Label{Name: "tags", Value: text})
		}
		return out
	}
	open := []string{"OPEN"}
	for _, n := range []int{1_000, 20_000} {
		s := openTest(t, Options{}).Namespace("x").(*Store)
		growJobs(t, s, n)
		ns, err := s.ns(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, analyzed := range []bool{false, true} {
			for _, c := range []struct {
				name        string
				q           store.Query
				most, fresh int // blocks; fresh: where nobody has vacuumed, each entry of an index is looked up in the table
			}{
				{"all", store.Query{Limit: 100}, 350, 350},
				{"all, behind others", store.Query{Offset: 500}, 150, 150},
				{"all, newest, behind others", store.Query{Offset: 500, Newest: true}, 150, 150},
				{"open", store.Query{Groups: open}, 150, 150},
				{"open, 100", store.Query{Groups: open, Limit: 100}, 900, 900}, // of four states of workflows
				{"open, newest, 100", store.Query{Groups: open, Limit: 100, Newest: true}, 900, 900},
				{"open, behind others", store.Query{Groups: open, Offset: 100}, 800, 800},
				{"open with a or b", store.Query{Groups: open, Tagged: tags("a", "b")}, 150, 300},
				{"open with a or b, behind others", store.Query{Groups: open, Tagged: tags("a", "b"), Offset: 100}, 200, 1100}, // eight lists of 110
				{"open, newest, with a or b, behind others", store.Query{Groups: open, Tagged: tags("a", "b"), Offset: 100, Newest: true}, 200, 1100},
				{"open with one in fifty", store.Query{Groups: open, Tagged: tags("site-5")}, 100, 150},
				{"with a or b", store.Query{Tagged: tags("a", "b")}, 250, 600},
				{"in a rare state", store.Query{State: "RARE", Newest: true}, 100, 100},
				{"in a rare group", store.Query{Groups: []string{"RARE"}, Newest: true}, 100, 100},
				{"done, of a workflow whose later jobs are not", store.Query{Definition: "d1", State: "DONE", Limit: 100, Newest: true}, 800, 900},
				{"of a workflow", store.Query{Definition: "d1", Limit: 100}, 800, 900},
			} {
				q := c.q
				q.Jobs, q.Limit = true, cmp.Or(q.Limit, 10)
				x, _ := s.selected(ns, &q)
				text, most := x.list(&q), c.most
				if !analyzed {
					most = c.fresh
				}
				plan, raw := carriedOut(t, s, text, x.args)
				if blocks := plan.Hit + plan.Read; int(plan.Rows) != q.Limit || blocks == 0 || blocks > most {
					t.Errorf("%s, of %d, analyzed %t: %g jobs, %d blocks, not %d at most:\n%s\n%s", c.name, n, analyzed, plan.Rows, blocks, most, text, raw)
				}
			}
			if _, err := s.db.pool.Exec(ctx, "VACUUM ANALYZE"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
