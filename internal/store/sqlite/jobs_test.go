package sqlite

import (
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// jobAt is the i-th of n jobs: of four workflows, most of them closed, ten for each client.
// What it is repeats itself after twenty.
func jobAt(i, n int) store.Instance {
	job := store.Job{Client: fmt.Sprint("c", i%(n/10)), State: "DONE", Group: "CLOSED"}
	switch i % 20 {
	case 3, 4, 16:
		job.State, job.Group = "NEW", "OPEN"
	case 5, 10:
		job.State, job.Group = "WORK", "OPEN"
	}
	var tags []expr.Value
	if i%5 == 0 {
		tags = append(tags, expr.String("a"))
	}
	if i%2 == 0 {
		tags = append(tags, expr.String("b"))
	}
	return store.Instance{
		ID: fmt.Sprint("job-", i), Definition: fmt.Sprint("w", i%4), Version: "1", Digest: "x", Status: core.Waiting, Active: []string{job.State},
		Labels: expr.Object(expr.Member{Key: "tags", Value: expr.Array(tags...)}), Job: job,
	}
}

func fillWithJobs(t testing.TB, db *DB, n int) {
	t.Helper()
	s := db.Namespace("default").(*Store)
	if _, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < n; from += 1000 {
		err := db.writer.submit(ctx, 0, func(tr *tx) error {
			for i := from; i < min(n, from+1000); i++ {
				e, err := encode(&store.Commit{Instance: jobAt(i, n), Pages: []core.Page{{Data: make([]byte, 100)}}, Records: []core.Record{{Type: core.RecStarted}}})
				if err != nil {
					return err
				}
				if err := tr.commit(s.space, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// jobQueries are lists of jobs whose cost must not depend on how many there are.
var jobQueries = map[string]store.Query{
	"group and tags":       {Groups: []string{"OPEN"}, Tagged: []store.Label{{Name: "tags", Value: "a"}, {Name: "tags", Value: "b"}}},
	"all":                  {},
	"group":                {Groups: []string{"OPEN"}},
	"both groups":          {Groups: []string{"OPEN", "CLOSED"}},
	"state":                {State: "WORK"},
	"workflow":             {Definition: "w0"},
	"workflow and state":   {Definition: "w0", State: "NEW"},
	"client":               {Client: "c3"},
	"client and group":     {Client: "c5", Groups: []string{"OPEN"}},
	"client and tags":      {Client: "c10", Tagged: []store.Label{{Name: "tags", Value: "a"}}},
	"state and tag":        {State: "NEW", Tagged: []store.Label{{Name: "tags", Value: "b"}}},
	"a tag that must be":   {Groups: []string{"OPEN"}, Labels: []store.Label{{Name: "tags", Value: "a"}}},
	"a tag that is not":    {Groups: []string{"OPEN"}, Tagged: []store.Label{{Name: "tags", Value: "z"}}},
	"a group that is not":  {Groups: []string{"ODD"}},
	"tags of one workflow": {Definition: "w0", Tagged: []store.Label{{Name: "tags", Value: "a"}, {Name: "tags", Value: "b"}}},
}

type jobCost struct{ found, rows, queries, pages int64 }

// costs tells what lists and counts cost among n jobs.
func costs(t *testing.T, n int) map[string]jobCost {
	t.Helper()
	db := openTest(t)
	fillWithJobs(t, db, n)
	s := db.Namespace("default")
	out := map[string]jobCost{}
	measure := func(name string, ask func() (int64, error)) {
		t.Helper()
		before, pages := db.Counters(), pagesSeen(t, db)
		atRest := pagesSeen(t, db) - pages // what asking costs
		found, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		after := db.Counters()
		out[name] = jobCost{found, after.Rows - before.Rows, after.Queries - before.Queries, pagesSeen(t, db) - pages - 2*atRest}
	}
	for name, q := range jobQueries {
		q.Jobs = true
		for _, newest := range []bool{false, true} {
			for _, offset := range []int{0, 20} {
				q.Newest, q.Offset, q.Limit = newest, offset, 10
				measure(fmt.Sprintf("%s, newest %t, from %d", name, newest, offset), func() (int64, error) {
					list, err := s.Instances(ctx, q)
					return int64(len(list)), err
				})
			}
		}
		if q.Client == "" && len(q.Tagged) == 0 && len(q.Labels) == 0 {
			measure("count by "+name, func() (int64, error) { _, err := s.Count(ctx, q); return 0, err })
		}
	}
	return out
}

// TestManyJobs: ten of many jobs cost the same rows as ten of few, however they are asked
// for; so does counting them by where they are.
func TestManyJobs(t *testing.T) {
	most := 20_000
	if raceDetector {
		most = 4_000
	}
	few, many := costs(t, 1_000), costs(t, most)
	key := "group and tags, newest false, from 0"
	t.Logf("%s: %+v among 1,000, %+v among %d", key, few[key], many[key], most)
	if few[key].found != 10 {
		t.Errorf("%d are found", few[key].found)
	}
	for name, f := range few {
		m := many[name]
		if m.found != f.found || m.rows != f.rows || m.queries != f.queries {
			t.Errorf("%s: %+v among 1,000, %+v among %d", name, f, m, most)
		}
		if m.pages > 2*f.pages+20 { // the trees are a level deeper
			t.Errorf("%s: %d pages among 1,000, %d among %d", name, f.pages, m.pages, most)
		}
	}
}

// TestJobUpdates: what an update of a job's status writes. One that stays in its state
// writes nothing by which it is found.
func TestJobUpdates(t *testing.T) {
	for _, c := range []struct {
		tags         int
		self, moving [2]int64 // statements, and rows that they changed
	}{
		{0, [2]int64{2, 2}, [2]int64{5, 5}},
		{3, [2]int64{2, 2}, [2]int64{9, 9}},
	} {
		db := openTest(t)
		s := db.Namespace("default").(*Store)
		labels := expr.EmptyObject
		if c.tags > 0 {
			var list []expr.Value
			for i := range c.tags {
				list = append(list, expr.String(fmt.Sprint("t", i)))
			}
			labels = expr.Object(expr.Member{Key: "tags", Value: expr.Array(list...)})
		}
		update := func(state string) (out [2]int64) {
			t.Helper()
			in, err := s.Instance(ctx, "a")
			if err != nil {
				in = store.Instance{ID: "a", Definition: "w", Status: core.Waiting, Labels: labels}
			}
			in.Job = store.Job{Client: "c", State: state, Group: "OPEN"}
			statements, changes := db.Counters().Statements, db.writer.tx.changes
			err = s.Commit(ctx, store.Commit{Instance: in, Pages: []core.Page{{Data: []byte(state)}}, Records: []core.Record{{Type: core.RecTaken}}})
			if err != nil {
				t.Fatal(err)
			}
			// Without the beginning and the end of the transaction, and the mark of the head.
			return [2]int64{db.Counters().Statements - statements - 2, db.writer.tx.changes - changes - 1}
		}
		for _, state := range []string{"NEW", "WORK"} { // so that both are known
			update(state)
		}
		self, moving := update("WORK"), update("NEW")
		t.Logf("with %d tags: %v statements and rows for an update, %v for one that moves", c.tags, self, moving)
		if self != c.self || moving != c.moving {
			t.Errorf("with %d tags: %v for an update, %v for one that moves; want %v and %v", c.tags, self, moving, c.self, c.moving)
		}
	}
}
