package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func TestRevisionsOfJobs(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev")
	stale := func(what string, err error) {
		t.Helper()
		var old *RevisionError
		if !errors.As(err, &old) {
			t.Errorf("%s: %v", what, err)
		}
	}
	first := job.Rev
	job, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Rev: first, Status: parse(t, `{"state":"PROGRESS"}`)})
	if err != nil || job.Rev != first+1 {
		t.Fatalf("at its revision: %d %v", job.Rev, err)
	}
	_, err = h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Rev: first, Status: parse(t, `{"state":"VALIDATE"}`)})
	stale("a status", err)
	_, err = h.DefineJob(t.Context(), job.ID, expr.EmptyObject, first, "")
	stale("a definition", err)
	_, err = h.TagJob(t.Context(), job.ID, []string{"x"}, nil, first)
	stale("tags", err)
	stale("a deletion", h.DeleteJob(t.Context(), job.ID, first))
	h.wantJob(job, `{"state":"PROGRESS"}`, "PROGRESS", "OPEN")
	if err := h.DeleteJob(t.Context(), job.ID, job.Rev); err != nil {
		t.Error(err)
	}
}

// gateStore holds up the commits of one instance, and counts them.
type gateStore struct {
	store.Store
	held    atomic.Value // string
	gate    chan struct{}
	waiting chan struct{}
	commits atomic.Int64
}

func (s *gateStore) Commit(ctx context.Context, c store.Commit) error {
	if c.Instance.ID == s.held.Load() {
		s.commits.Add(1)
		s.waiting <- struct{}{}
		<-s.gate
	}
	return s.Store.Commit(ctx, c)
}

// TestUpdatesShareACommit: those that come while a commit is under way go into the next
// one, each with a verdict of its own; who names a revision begins a commit.
func TestUpdatesShareACommit(t *testing.T) {
	slow := &gateStore{Store: newStore(t), gate: make(chan struct{}), waiting: make(chan struct{}, 100)}
	slow.held.Store("")
	h := boardHarness(t, func(c *Config) { c.Store, c.Inline, c.OnRecord = slow, false, nil })
	job := h.newJob("dev")
	slow.held.Store(job.ID)
	type answer struct {
		job Job
		err error
	}
	var all []chan answer
	send := func(actor string, rev int64, status string) {
		got := make(chan answer, 1)
		value := parse(t, status)
		before := posts(h, job.ID)
		go func() {
			job, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: actor, Rev: rev, Status: value})
			got <- answer{job, err}
		}()
		if all = append(all, got); len(all) > 1 {
			for posts(h, job.ID) == before {
				runtime.Gosched()
			}
		} else {
			<-slow.waiting // it is on its way to the store: the others come after it
		}
	}
	send("CLIENT", 0, `{"state":"NEW","progress":1}`)
	send("CLIENT", 0, `{"state":"PROGRESS","progress":2}`) // the next commit begins
	send("CLIENT", 0, `{"state":"NEW","progress":3}`)      // too late
	send("WFX", 0, `{"state":"PROGRESS","progress":4}`)
	send("CLIENT", 3, `{"state":"PROGRESS","progress":5}`) // begins another
	send("CLIENT", 0, `{"state":"VALIDATE","progress":6}`)
	send("CLIENT", 4, `{"state":"VALIDATE","progress":7}`) // and another, in which it is alone
	send("CLIENT", 4, `{"state":"VALIDATE","progress":8}`) // for this one the revision is over
	close(slow.gate)
	var told []string
	for _, got := range all {
		a := <-got
		line := fmt.Sprintf("%s rev %d", a.job.Status, a.job.Rev)
		var stale *RevisionError
		switch {
		case errors.As(a.err, &stale):
			line = fmt.Sprintf("stale: at %d", stale.Have)
		case a.err != nil:
			line = a.err.Error()
		}
		told = append(told, line)
	}
	want := []string{
		`{"progress":1,"state":"NEW"} rev 2`,
		`{"progress":2,"state":"PROGRESS"} rev 2`, // changed again in its commit
		`CLIENT may not choose "NEW" now`,
		`{"progress":4,"state":"PROGRESS"} rev 3`,
		`{"progress":5,"state":"PROGRESS"} rev 3`,
		`{"progress":6,"state":"VALIDATE"} rev 4`,
		`{"progress":7,"state":"VALIDATE"} rev 5`,
		`stale: at 5`,
	}
	if !slices.Equal(told, want) {
		t.Errorf("told:\n%s\nwant:\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	if n := slow.commits.Load(); n != 4 {
		t.Errorf("%d commits", n)
	}
	slow.held.Store("")
	h.wantJob(h.job(job.ID), `{"progress":7,"state":"VALIDATE"}`, "VALIDATE", "OPEN")
}

// TestWhoLeavesTakesNobodyAlong: an update that is given up does not fail those that share
// its commit.
func TestWhoLeavesTakesNobodyAlong(t *testing.T) {
	slow := &gateStore{Store: newStore(t), gate: make(chan struct{}), waiting: make(chan struct{})}
	slow.held.Store("")
	h := boardHarness(t, func(c *Config) { c.Store, c.Inline, c.OnRecord = slow, false, nil })
	job := h.newJob("dev")
	slow.held.Store(job.ID)
	ctx, leave := context.WithCancel(t.Context())
	errs := make(chan error, 3)
	for i, c := range []context.Context{t.Context(), ctx, t.Context()} {
		before := posts(h, job.ID)
		go func() {
			_, err := h.UpdateJob(c, job.ID, JobUpdate{Actor: "CLIENT", Status: parse(t, `{"state":"NEW"}`)})
			errs <- err
		}()
		if i == 0 {
			<-slow.waiting
		} else {
			for posts(h, job.ID) == before {
				runtime.Gosched()
			}
		}
	}
	slow.gate <- struct{}{}
	<-slow.waiting // one of the others has both
	leave()
	slow.gate <- struct{}{}
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestManyWritersOfOneJob: every update that was accepted is in the history once, in the
// order of the revisions that were told, also after the engine begins anew.
func TestManyWritersOfOneJob(t *testing.T) {
	const writers, updates = 16, 100
	s := newStore(t)
	opened := func() *harness {
		return newHarness(t, nil, func(c *Config) { c.Store, c.Inline, c.OnRecord = s, false, nil })
	}
	h := opened()
	h.deploy(board("board"))
	job := h.newJob("dev")
	h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
	accepted := map[string]int{}
	for round := range 2 {
		lists := make([][]string, writers)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for n := range updates / 2 {
					name := fmt.Sprintf("%d-%d-%d", round, w, n)
					job, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{
						Actor: "CLIENT", Status: parse(t, `{"state":"PROGRESS","message":"`+name+`"}`),
					})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					if message, _ := job.Status.Get("message"); message.Str() != name {
						t.Errorf("%s was told %s", name, job.Status)
					}
					lists[w] = append(lists[w], name)
					if n%10 == 0 {
						if _, err := h.Job(t.Context(), job.ID); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		for _, list := range lists {
			for _, name := range list {
				accepted[name]++
			}
		}
		h = opened()
	}
	if len(accepted) != writers*updates {
		t.Fatalf("%d updates were accepted", len(accepted))
	}
	last := h.move(job.ID, "CLIENT", `{"state":"VALIDATE"}`)
	_, changes, err := h.history(job.ID, maxJobHistory)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if message, _ := c.Status.Get("message"); message.Str() != "" {
			accepted[message.Str()]--
		}
	}
	for name, n := range accepted {
		if n != 0 {
			t.Errorf("%s is in the history %d times", name, 1-n)
		}
	}
	if want := writers*updates + 3; len(changes) != want {
		t.Errorf("%d changes, want %d", len(changes), want)
	}
	h.wantJob(last, `{"state":"VALIDATE"}`, "VALIDATE", "OPEN")
}

// TestOneOfManyWinsARevision: of updates that name the same revision one is taken.
func TestOneOfManyWinsARevision(t *testing.T) {
	h := boardHarness(t, func(c *Config) { c.Inline, c.OnRecord = false, nil })
	job := h.newJob("dev")
	for range 20 {
		rev := h.job(job.ID).Rev
		var won, lost atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "WFX", Rev: rev, Status: parse(t, `{"state":"NEW"}`)})
				var stale *RevisionError
				switch {
				case err == nil:
					won.Add(1)
				case errors.As(err, &stale) && stale.Have == rev+1:
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || lost.Load() != 7 {
			t.Fatalf("%d won and %d lost", won.Load(), lost.Load())
		}
	}
}

func TestDeletedJobs(t *testing.T) {
	h := boardHarness(t)
	live, over, child := h.newJob("live"), h.newJob("over"), ""
	h.move(over.ID, "CLIENT", `{"state":"PROGRESS"}`)
	h.move(over.ID, "WFX", `{"state":"REJECTED"}`)
	w := build("parent")
	start := stepOp{"Input", inputOfJob(w)}
	h.deploy(w.main(start, spawn("board", true)))
	parent := h.start("parent", `{}`)
	jobs, err := h.Jobs(t.Context(), store.Query{Client: "spawned"})
	if err != nil || len(jobs) != 1 || jobs[0].Job.State != "BACKLOG" {
		t.Errorf("a job that has not begun is listed as %+v (%v)", jobs, err)
	}
	h.poll()
	jobs, err = h.Jobs(t.Context(), store.Query{Client: "spawned"})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs of the parent: %v", len(jobs), err)
	}
	child = jobs[0].ID
	if got := jobs[0].Tags(); !slices.Equal(got, []string{"wave-1"}) {
		t.Errorf("the spawned job has the tags %v", got)
	}
	h.move(child, "CLIENT", `{"state":"PROGRESS"}`)
	for _, id := range []string{live.ID, over.ID, child} {
		if err := h.DeleteJob(t.Context(), id, 0); err != nil {
			t.Fatal(err)
		}
		var no *NotFoundError
		if _, err := h.Job(t.Context(), id); !errors.As(err, &no) || no.Kind != "job" {
			t.Errorf("%s is still there: %v", id, err)
		}
		if err := h.DeleteJob(t.Context(), id, 0); !errors.As(err, &no) {
			t.Errorf("%s can be deleted again: %v", id, err)
		}
		if last := h.log[len(h.log)-1]; !strings.Contains(last, id+" deleted") {
			t.Errorf("the last that was told is %q", last)
		}
	}
	h.poll()
	h.wantFault(parent, core.FaultCancelled)
	feed, err := h.Feed(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, item := range feed.Items {
		for _, r := range item.Records {
			if r.Type == core.RecDeleted {
				told = append(told, item.Client)
			}
		}
	}
	if !slices.Equal(told, []string{"live", "over", "spawned"}) {
		t.Errorf("the feed tells of the deletion of %v", told)
	}
	again, err := h.CreateJob(t.Context(), JobRequest{Workflow: "board", Client: "again", ID: live.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.wantJob(again, `{"clientId":"again","state":"NEW"}`, "NEW", "OPEN")
}

// TestAFinishedJobIsItsParentsResult: the status is what whoever waits for it gets.
func TestAFinishedJobIsItsParentsResult(t *testing.T) {
	h := boardHarness(t)
	w := build("parent")
	h.deploy(w.main(stepOp{"Input", inputOfJob(w)}, spawn("board", true)))
	parent := h.start("parent", `{}`)
	h.poll()
	jobs, err := h.Jobs(t.Context(), store.Query{Groups: []string{"OPEN"}})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs of the parent: %v", len(jobs), err)
	}
	h.move(jobs[0].ID, "CLIENT", `{"state":"PROGRESS"}`)
	h.move(jobs[0].ID, "WFX", `{"state":"REJECTED","message":"broken"}`)
	h.poll()
	row := h.get(parent)
	if state, _ := row.Output.Get("state"); row.Status != core.Completed || state.Str() != "REJECTED" {
		t.Errorf("the parent is %s with %s", row.Status, row.Output)
	}
}

func TestManyJobsAtOnce(t *testing.T) {
	h := boardHarness(t, func(c *Config) { c.Inline, c.OnRecord, c.NewID = false, nil, nil })
	requests := make([]JobRequest, 200)
	for i := range requests {
		requests[i] = JobRequest{Workflow: "board", Client: fmt.Sprintf("c%d", i), Tags: []string{"wave"}}
	}
	bad := slices.Clone(requests)
	bad[7].Client, bad[9].Workflow = "", "none"
	_, _, err := h.CreateJobs(t.Context(), bad)
	var which *BulkError
	if !errors.As(err, &which) || which.Index != 7 || !strings.Contains(err.Error(), `job 10: there is no workflow "none"`) {
		t.Errorf("two bad ones: %v", err)
	}
	count := func() int64 {
		t.Helper()
		n, err := h.CountJobs(t.Context(), store.Query{Definition: "board"})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("%d jobs were created all the same", n)
	}
	twice := slices.Clone(requests[:2])
	twice[0].ID, twice[1].ID = "same", "same"
	var exists *ExistsError
	if _, _, err := h.CreateJobs(t.Context(), twice); !errors.As(err, &exists) || count() != 0 {
		t.Errorf("one id twice: %v", err)
	}
	jobs, _, err := h.CreateJobs(t.Context(), requests)
	if err != nil || count() != 200 {
		t.Fatalf("%d jobs: %v", count(), err)
	}
	for i, job := range jobs {
		if job.Job.Client != requests[i].Client || job.Job.State != "NEW" || len(job.ID) != 36 {
			t.Fatalf("job %d is %+v", i, job)
		}
	}
	if _, _, err := h.CreateJobs(t.Context(), make([]JobRequest, maxBulk+1)); err == nil || !strings.Contains(err.Error(), "bulk-jobs") {
		t.Errorf("too many: %v", err)
	}
	stats, err := h.JobStats(t.Context())
	if want := (store.JobStat{Definition: "board", State: "NEW", Group: "OPEN", Count: 200}); err != nil || len(stats) != 1 || stats[0] != want {
		t.Errorf("counted as %+v (%v)", stats, err)
	}
}

func TestOldJobsAreDeleted(t *testing.T) {
	const jobs = 2*sweepPart + 10
	h := boardHarness(t, func(c *Config) {
		c.Housekeeping = []JobRetention{
			{Workflow: "board", States: []string{"REJECTED", "DONE"}, After: 24 * time.Hour},
			{Workflow: "other", After: time.Hour},
			{Workflow: "board", States: []string{"NEW"}, After: 240 * time.Hour},
		}
	})
	h.deploy(board("other"))
	var last string
	for range jobs {
		job := h.newJob("dev")
		h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
		h.move(job.ID, "WFX", `{"state":"REJECTED"}`)
		last = job.ID
	}
	stuck := h.newJob("stuck")
	other, err := h.CreateJob(t.Context(), JobRequest{Workflow: "other", Client: "dev"})
	if err != nil {
		t.Fatal(err)
	}
	count := func(q store.Query) int64 {
		t.Helper()
		n, err := h.CountJobs(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	h.run(12 * time.Hour)
	h.move(last, "WFX", `{"state":"REJECTED","message":"looked at"}`)
	h.run(12*time.Hour - time.Nanosecond)
	if n := count(store.Query{State: "REJECTED"}); n != jobs {
		t.Errorf("%d are left before their time", n)
	}
	h.run(time.Hour)
	if n := count(store.Query{State: "REJECTED"}); n != 1 {
		t.Errorf("%d are left", n)
	}
	h.job(last)
	h.run(12 * time.Hour)
	if n := count(store.Query{State: "REJECTED"}); n != 0 {
		t.Errorf("%d are left in the end", n)
	}
	h.job(other.ID) // it is not over
	h.job(stuck.ID)
	h.run(240 * time.Hour)
	if n := count(store.Query{Client: "stuck"}); n != 0 {
		t.Error("the job that nobody began is left")
	}
	if _, err := New(Config{Store: h.store, Housekeeping: []JobRetention{{Workflow: "w"}}}); err == nil || !strings.Contains(err.Error(), `workflow "w"`) {
		t.Errorf("housekeeping without a time: %v", err)
	}
}

// inputOfJob makes the data of a job's start.
func inputOfJob(b *builder) *ir.Eval {
	return &ir.Eval{From: b.expr(jsonpath.TemplateLang, `{"clientId":"spawned","tags":["wave-1"]}`), Put: ir.Put{Mode: ir.PutReplace}}
}
