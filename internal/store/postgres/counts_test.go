package postgres

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestCounts: what is counted is the same before and after differences are added up, also by
// two at a time, and nobody looks at instances for it.
func TestCounts(t *testing.T) {
	db := openTest(t, Options{})
	s := db.Namespace("n").(*Store)
	job := func(id, state string, rev int64) store.Commit {
		return store.Commit{Instance: store.Instance{ID: id, Definition: "j", Rev: rev, Status: core.Waiting, Job: store.Job{Client: "c", State: state, Group: "OPEN"}}}
	}
	var all []store.Commit
	for i := range 5 {
		all = append(all, store.Commit{Instance: store.Instance{ID: fmt.Sprint("i", i), Definition: "d", Status: core.Running}}, job(fmt.Sprint("j", i), "NEW", 0))
	}
	all = append(all, job("j0", "DONE", 1), job("j1", "DONE", 1), store.Commit{Instance: store.Instance{ID: "i0", Definition: "d", Rev: 1, Status: core.Completed}})
	for i, c := range all {
		if err := s.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
		if i%4 == 3 {
			if err := s.fold(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []store.JobStat{{Definition: "j", State: "DONE", Group: "OPEN", Count: 2}, {Definition: "j", State: "NEW", Group: "OPEN", Count: 3}}
	check := func(when string) {
		t.Helper()
		if got, err := s.JobStats(ctx); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v %v", when, got, err)
		}
		for _, c := range []struct {
			query store.Query
			want  int64
		}{
			{store.Query{}, 10},
			{store.Query{Definition: "d"}, 5},
			{store.Query{Status: []core.Status{core.Completed}}, 1},
			{store.Query{Jobs: true}, 5},
			{store.Query{Jobs: true, State: "NEW"}, 3},
			{store.Query{Groups: []string{"OPEN", "CLOSED"}}, 5},
			{store.Query{Definition: "nobody"}, 0},
		} {
			if n, err := s.Count(ctx, c.query); err != nil || n != c.want {
				t.Errorf("%s: %+v counts %d, want %d: %v", when, c.query, n, c.want, err)
			}
		}
	}
	check("before")
	for range 2 {
		if err := s.fold(ctx); err != nil {
			t.Fatal(err)
		}
	}
	check("after")
	left := 0
	if err := db.one(ctx, "SELECT count(*) FROM ~.differences", nil, &left); err != nil || left > 0 {
		t.Errorf("%d differences are left: %v", left, err)
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	if _, err := db.pool.Exec(ctx, "DELETE FROM lockstep.instances"); err != nil {
		t.Fatal(err)
	}
	check("without looking")
}
