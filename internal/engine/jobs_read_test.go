package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func showChanges(list []JobChange) string {
	var b strings.Builder
	for _, c := range list {
		since, until := c.At.Std().Sub(t0), c.Replaced.Std().Sub(t0)
		if c.HasStatus {
			fmt.Fprintf(&b, "%s…%s %s by %q with %s\n", since, until, c.Status, c.Actor, c.Content)
		} else {
			fmt.Fprintf(&b, "%s…%s definition %s\n", since, until, c.Content)
		}
	}
	return b.String()
}

func TestHistoryOfAJob(t *testing.T) {
	h := boardHarness(t)
	job, err := h.CreateJob(t.Context(), JobRequest{Workflow: "board", Client: "dev"})
	if err != nil {
		t.Fatal(err)
	}
	id := job.ID
	minute := func() { h.clock.Advance(h.clock.Now().Add(time.Minute)) }
	define := func(text string) {
		t.Helper()
		if _, err := h.DefineJob(t.Context(), id, parse(t, text), 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	minute()
	define(`1`)
	minute()
	h.move(id, "CLIENT", `{"state":"NEW","progress":5}`)
	minute()
	define(`2`)
	minute()
	if _, err := h.TagJob(t.Context(), id, []string{"x"}, nil, 0); err != nil {
		t.Fatal(err)
	}
	minute()
	h.move(id, "CLIENT", `{"state":"PROGRESS"}`)
	define(`null`)
	h.run(time.Hour) // the time in PROGRESS runs out
	minute()
	h.move(id, "WFX", `{"state":"REJECTED","message":"sorry"}`)
	want := strings.TrimLeft(`
1h5m0s…1h6m0s {"message":"PROGRESS took longer than PT1H","state":"REJECTED"} by "WFX" with null
5m0s…1h5m0s {"state":"PROGRESS"} by "" with null
5m0s…5m0s definition 2
4m0s…5m0s {"progress":5,"state":"NEW"} by "CLIENT" with 2
2m0s…3m0s definition 1
1m0s…2m0s {"clientId":"dev","state":"NEW"} by "CLIENT" with 1
0s…0s {"clientId":"dev","state":"BACKLOG"} by "" with null
`, "\n")
	job, list, err := h.history(id, 100)
	if err != nil || showChanges(list) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, showChanges(list), want)
	}
	h.wantJob(job, `{"message":"sorry","state":"REJECTED"}`, "REJECTED", "CLOSED")
	for limit := range 9 {
		lines := strings.SplitAfter(want, "\n")
		_, list, err := h.history(id, limit)
		if part := strings.Join(lines[:min(limit, len(lines))], ""); err != nil || showChanges(list) != part {
			t.Errorf("the newest %d are %v\n%s\nwant\n%s", limit, err, showChanges(list), part)
		}
	}
}

// TestHistoryOfADefinitionThatChangesMeanwhile: what was read of the job before its
// history is not what was in force.
func TestHistoryOfADefinitionThatChangesMeanwhile(t *testing.T) {
	status := func(n int64) change {
		return change{kind: changeStatus, at: core.TimeOf(t0), status: expr.Int(n)}
	}
	defined := change{kind: changeContent, at: core.TimeOf(t0), content: expr.String("new"), replaced: expr.String("old")}
	got := showChanges(entries([]change{status(3), status(2), defined, status(1), status(0)}, expr.String("read before"), 10))
	want := `0s…0s 2 by "" with "new"
0s…0s 1 by "" with "new"
0s…0s definition "old"
0s…0s 0 by "" with "old"
`
	if got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

// readStore counts the records that are read.
type readStore struct {
	store.Store
	records atomic.Int64
}

func (s *readStore) Records(ctx context.Context, id string, after int64, limit int) ([]core.Record, error) {
	list, err := s.Store.Records(ctx, id, after, limit)
	s.records.Add(int64(len(list)))
	return list, err
}

// TestALittleHistoryCostsLittle: a few changes of a long history are read without the rest.
func TestALittleHistoryCostsLittle(t *testing.T) {
	counting := &readStore{Store: newStore(t)}
	h := boardHarness(t, func(c *Config) { c.Store = counting })
	job := h.newJob("dev")
	cost := func() int64 {
		t.Helper()
		before := counting.records.Load()
		_, list, err := h.history(job.ID, 3)
		if err != nil || len(list) != 3 {
			t.Fatalf("%d changes: %v", len(list), err)
		}
		return counting.records.Load() - before
	}
	for i := range 2000 {
		h.move(job.ID, "WFX", fmt.Sprintf(`{"state":"NEW","progress":%d}`, i))
	}
	if n := cost(); n > 100 {
		t.Errorf("%d records were read for three of 2000 changes", n)
	}
	_, list, err := h.history(job.ID, 1500)
	if err != nil || len(list) != 1500 {
		t.Fatalf("%d changes: %v", len(list), err)
	}
	for i, c := range list {
		if progress, _ := c.Status.Get("progress"); progress.String() != fmt.Sprint(1998-i) {
			t.Fatalf("change %d is of %s", i, c.Status)
		}
	}
}

func TestListsOfJobs(t *testing.T) {
	for _, cached := range []bool{true, false} {
		t.Run(fmt.Sprintf("cached %t", cached), func(t *testing.T) {
			h := boardHarness(t)
			if !cached {
				withoutCache(h)
			}
			h.deploy(build("plain").main(delay(time.Hour)))
			h.start("plain", "{}")
			a, b, c := h.newJob("a", "x", "y"), h.newJob("b", "y"), h.newJob("c")
			h.move(b.ID, "CLIENT", `{"state":"PROGRESS","progress":7}`)
			h.move(c.ID, "CLIENT", `{"state":"PROGRESS"}`)
			h.move(c.ID, "WFX", `{"state":"REJECTED"}`)
			for _, q := range []struct {
				query store.Query
				want  []string
			}{
				{store.Query{}, []string{a.ID, b.ID, c.ID}},
				{store.Query{Newest: true, Limit: 2}, []string{c.ID, b.ID}},
				{store.Query{Offset: 1, Limit: 1}, []string{b.ID}},
				{store.Query{State: "PROGRESS"}, []string{b.ID}},
				{store.Query{State: "REJECTED"}, []string{c.ID}},
				{store.Query{Groups: []string{"CLOSED"}}, []string{c.ID}},
				{store.Query{Groups: []string{"OPEN", "CLOSED"}, Client: "a"}, []string{a.ID}},
				{store.Query{Tagged: []store.Label{{Name: "tags", Value: "y"}}, Groups: []string{"OPEN"}}, []string{a.ID, b.ID}},
				{store.Query{Definition: "plain"}, nil},
			} {
				jobs, err := h.Jobs(t.Context(), q.query)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, job := range jobs {
					got = append(got, job.ID)
					h.sameJob("listed", job, h.job(job.ID))
				}
				if !slices.Equal(got, q.want) {
					t.Errorf("%+v selects %v, want %v", q.query, got, q.want)
				}
			}
		})
	}
}

// TestJobsAreReadWhole: a reader never sees the status of one revision with the row of
// another, however fast the job changes.
func TestJobsAreReadWhole(t *testing.T) {
	h := boardHarness(t, func(c *Config) { c.Inline, c.OnRecord = false, nil })
	withoutCache(h)
	job := h.newJob("dev")
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			now := h.job(job.ID).Rev
			status := fmt.Sprintf(`{"state":"NEW","progress":%d}`, now+1)
			if _, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "WFX", Status: parse(t, status)}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	check := func(job Job) {
		if progress, ok := job.Status.Get("progress"); ok && progress.String() != fmt.Sprint(job.Rev) {
			t.Errorf("revision %d has the status %s", job.Rev, job.Status)
		}
	}
	for range 300 {
		check(h.job(job.ID))
		jobs, err := h.Jobs(t.Context(), store.Query{State: "NEW"})
		if err != nil || len(jobs) != 1 {
			t.Errorf("%d jobs: %v", len(jobs), err)
			break
		}
		check(jobs[0])
	}
	close(stop)
	writing.Wait()
}

// movingStore does something when states are read.
type movingStore struct {
	store.Store
	meanwhile func()
}

func (s *movingStore) States(ctx context.Context, ids []string) ([]store.State, int, error) {
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do()
	}
	return s.Store.States(ctx, ids)
}

// TestAListTellsNoOtherState: a job that leaves a state, or is deleted, while the jobs in
// that state are read is not among them.
func TestAListTellsNoOtherState(t *testing.T) {
	moving := &movingStore{Store: newStore(t)}
	h := boardHarness(t, func(c *Config) { c.Store = moving })
	withoutCache(h)
	a, b := h.newJob("a"), h.newJob("b")
	for _, meanwhile := range []func(){
		func() { h.move(a.ID, "CLIENT", `{"state":"PROGRESS"}`) },
		func() {
			if err := h.DeleteJob(t.Context(), b.ID, 0); err != nil {
				t.Error(err)
			}
		},
	} {
		before, err := h.CountJobs(t.Context(), store.Query{State: "NEW"})
		if err != nil {
			t.Fatal(err)
		}
		moving.meanwhile = meanwhile
		jobs, err := h.Jobs(t.Context(), store.Query{State: "NEW"})
		if err != nil || len(jobs) != int(before)-1 {
			t.Errorf("%d of %d jobs: %v", len(jobs), before, err)
		}
	}
}

// TestTwoEnginesOnOneJob: where another process writes too, memory alone decides nothing.
func TestTwoEnginesOnOneJob(t *testing.T) {
	s := newStore(t)
	var engines [2]*harness
	for i := range engines {
		engines[i] = newHarness(t, nil, func(c *Config) { c.Store, c.Inline, c.OnRecord = s, false, nil })
		engines[i].alone = false
		engines[i].deploy(board("board"))
	}
	one, two := engines[0], engines[1]
	job := one.newJob("dev")
	two.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
	one.wantJob(two.job(job.ID), `{"state":"PROGRESS"}`, "PROGRESS", "OPEN")
	one.move(job.ID, "WFX", `{"state":"PROGRESS","progress":50}`) // what one remembers does not allow it
	if _, err := two.update(job.ID, "CLIENT", `{"state":"NEW"}`); err == nil {
		t.Error("a move was judged by a state that is over")
	}
	two.move(job.ID, "CLIENT", `{"state":"PROGRESS","progress":1}`)
	rev := two.job(job.ID).Rev
	if _, err := one.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Rev: rev, Status: parse(t, `{"state":"PROGRESS"}`)}); err != nil {
		t.Errorf("at the revision that is stored: %v", err)
	}
	var stale *RevisionError
	if _, err := two.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Rev: rev, Status: parse(t, `{"state":"PROGRESS"}`)}); !errors.As(err, &stale) {
		t.Errorf("at the one before: %v", err)
	}
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for n := range 25 {
				status := expr.Object(expr.Member{Key: "state", Value: expr.String("PROGRESS")}, expr.Member{Key: "message", Value: expr.String(fmt.Sprintf("%d-%d", w, n))})
				for {
					_, err := engines[w%2].UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Status: status})
					if errors.Is(err, store.ErrConflict) {
						continue // it lost too often: that is allowed, to lose an update is not
					}
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	all.Wait()
	one.move(job.ID, "CLIENT", `{"state":"VALIDATE"}`)
	_, list, err := two.history(job.ID, 1000)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, c := range list {
		if message, ok := c.Status.Get("message"); ok {
			seen[message.Str()]++
		}
	}
	if len(seen) != 200 {
		t.Errorf("%d updates are in the history", len(seen))
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", name, n)
		}
	}
}

// brokenPages gives no state of one instance that could be read.
type brokenPages struct {
	store.Store
	id string
}

func (s *brokenPages) Pages(ctx context.Context, id string) ([]core.Page, error) {
	if id == s.id {
		return []core.Page{{Data: []byte("?")}}, nil
	}
	return s.Store.Pages(ctx, id)
}

func (s *brokenPages) States(ctx context.Context, ids []string) ([]store.State, int, error) {
	list, n, err := s.Store.States(ctx, ids)
	for i := range list {
		if list[i].ID == s.id {
			list[i].Pages = []core.Page{{Data: []byte("?")}}
		}
	}
	return list, n, err
}

// TestAJobInQuarantine: what is known of it is shown, nobody changes it, and it can be deleted.
func TestAJobInQuarantine(t *testing.T) {
	broken := &brokenPages{Store: newStore(t)}
	h := boardHarness(t, func(c *Config) { c.Store = broken })
	withoutCache(h)
	job := h.newJob("dev")
	h.move(job.ID, "CLIENT", `{"state":"PROGRESS","progress":1}`)
	broken.id = job.ID
	if _, err := h.Job(t.Context(), job.ID); err == nil {
		t.Error("a state that cannot be read is shown")
	}
	for range 2 {
		var aside *QuarantineError
		if _, err := h.update(job.ID, "CLIENT", `{"state":"VALIDATE"}`); !errors.As(err, &aside) {
			t.Errorf("it was changed: %v", err)
		}
	}
	h.wantJob(h.job(job.ID), `{"clientId":"dev","state":"PROGRESS"}`, "PROGRESS", "OPEN")
	if err := h.DeleteJob(t.Context(), job.ID, 0); err != nil {
		t.Error(err)
	}
}
