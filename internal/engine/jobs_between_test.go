package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// betweenStore lets something happen, once, right before or after a call of the store.
type betweenStore struct {
	store.Store
	deleting, recording, listed func()
}

func happen(f *func()) {
	if do := *f; do != nil {
		*f = nil
		do()
	}
}

func (s *betweenStore) DeleteInstance(ctx context.Context, id string, d store.Deletion) error {
	happen(&s.deleting)
	return s.Store.DeleteInstance(ctx, id, d)
}

func (s *betweenStore) Records(ctx context.Context, id string, from int64, limit int) ([]core.Record, error) {
	happen(&s.recording)
	return s.Store.Records(ctx, id, from, limit)
}

func (s *betweenStore) Instances(ctx context.Context, q store.Query) ([]store.Instance, error) {
	rows, err := s.Store.Instances(ctx, q)
	if len(rows) > 0 {
		happen(&s.listed)
	}
	return rows, err
}

func betweenHarness(t *testing.T, opts ...option) (*harness, *betweenStore) {
	t.Helper()
	s := &betweenStore{Store: newStore(t)}
	return boardHarness(t, append([]option{func(c *Config) { c.Store = s }}, opts...)...), s
}

// TestDeletingWhatEndsByItself: a job whose parent waits for it is deleted also where its
// end is due already, by its time limit or because the parent gave it up.
func TestDeletingWhatEndsByItself(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(h *harness, parent, job string)
		want core.Status // of the parent
	}{
		"time limit": {func(h *harness, _, _ string) { h.clock.Advance(t0.Add(2 * time.Hour)) }, core.Completed},
		"recalled": {func(h *harness, parent, _ string) {
			if err := h.Control(h.t.Context(), parent, core.Control{Verb: core.VerbCancel}); err != nil {
				h.t.Fatal(err)
			}
		}, core.Cancelled},
		"not at all": {func(*harness, string, string) {}, core.Failed},
	} {
		for _, named := range []bool{false, true} {
			h := campaignHarness(t)
			parent := h.start("campaign", `{"client":"d1"}`)
			h.poll()
			job := h.move(h.only().ID, "CLIENT", `{"state":"PROGRESS"}`)
			c.end(h, parent, job.ID)
			rev := int64(0)
			if named {
				rev = job.Rev
			}
			err := h.DeleteJob(t.Context(), job.ID, rev)
			if named && name != "not at all" {
				var changed *RevisionError
				if !errors.As(err, &changed) || changed.Read != rev || changed.Have <= rev {
					t.Errorf("%s, at a revision: %v", name, err)
				}
				err = h.DeleteJob(t.Context(), job.ID, h.job(job.ID).Rev)
			}
			if err != nil {
				t.Errorf("%s, named %t: %v", name, named, err)
			}
			if _, err := h.Job(t.Context(), job.ID); !isMissing(err) {
				t.Errorf("%s, named %t: it is still there (%v)", name, named, err)
			}
			h.poll()
			h.want(parent, c.want, "")
		}
	}
}

// TestControlAtComesAfterWhatIsDue: what the instance does by itself before it counts.
func TestControlAtComesAfterWhatIsDue(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("w").main(delay(time.Minute), stepOp{"Again", delay(time.Hour).op}))
	id := h.start("w", `{}`)
	rev := h.get(id).Rev
	h.clock.Advance(t0.Add(2 * time.Minute))
	var changed *RevisionError
	pause := core.Control{Verb: core.VerbSuspend}
	if err := h.ControlAt(t.Context(), id, pause, rev); !errors.As(err, &changed) || changed.Have != rev+1 {
		t.Errorf("after a timer: %v", err)
	}
	h.want(id, core.Waiting, "")
	if err := h.ControlAt(t.Context(), id, pause, h.get(id).Rev); err != nil {
		t.Error(err)
	}
	h.want(id, core.Paused, "")
}

// TestDeletingAtARevision: an update that another process makes right before is not lost.
func TestDeletingAtARevision(t *testing.T) {
	h, s := betweenHarness(t)
	job := h.newJob("dev")
	touch := func() {
		row, err := s.Store.Instance(t.Context(), job.ID)
		if err == nil {
			err = s.Store.Commit(t.Context(), store.Commit{Instance: row})
		}
		if err != nil {
			t.Error(err)
		}
	}
	s.deleting = touch
	var changed *RevisionError
	if err := h.DeleteJob(t.Context(), job.ID, job.Rev); !errors.As(err, &changed) || changed.Have != job.Rev+1 {
		t.Errorf("at a revision: %v", err)
	}
	if got := h.job(job.ID); got.Rev != job.Rev+1 {
		t.Errorf("it is at revision %d", got.Rev)
	}
	s.deleting = touch
	if err := h.DeleteJob(t.Context(), job.ID, 0); err != nil {
		t.Errorf("at any revision: %v", err)
	}
	if _, err := h.Job(t.Context(), job.ID); !isMissing(err) {
		t.Errorf("it is still there (%v)", err)
	}
}

// TestHousekeepingLeavesWhatIsTouched: a job that changes after housekeeping listed it stays.
func TestHousekeepingLeavesWhatIsTouched(t *testing.T) {
	h, s := betweenHarness(t, func(c *Config) {
		c.Housekeeping = []JobRetention{{Workflow: "board", States: []string{"NEW"}, After: 24 * time.Hour}}
	})
	idle, touched := h.newJob("idle"), h.newJob("touched")
	h.clock.Advance(t0.Add(25 * time.Hour))
	s.listed = func() { h.move(touched.ID, "CLIENT", `{"state":"NEW","message":"here"}`) }
	h.poll()
	if s.listed != nil {
		t.Fatal("housekeeping did not look")
	}
	if _, err := h.Job(t.Context(), idle.ID); !isMissing(err) {
		t.Errorf("the job that nobody touched is there: %v", err)
	}
	h.wantJob(h.job(touched.ID), `{"message":"here","state":"NEW"}`, "NEW", "OPEN")
	h.run(25 * time.Hour)
	if _, err := h.Job(t.Context(), touched.ID); !isMissing(err) {
		t.Errorf("it stays for ever: %v", err)
	}
}

// TestAJobAndItsHistoryAreOfOneRevision, and one that goes away meanwhile is not found.
func TestAJobAndItsHistoryAreOfOneRevision(t *testing.T) {
	h, s := betweenHarness(t)
	job := h.newJob("dev")
	s.recording = func() { h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`) }
	got, list, err := h.history(job.ID, 10)
	if err != nil || got.Rev != job.Rev+1 || len(list) != 2 {
		t.Fatalf("revision %d with %d changes (%v)", got.Rev, len(list), err)
	}
	if state, _ := list[0].Status.Get("state"); got.Job.State != "PROGRESS" || state.Str() != "NEW" {
		t.Errorf("in %s after %s", got.Job.State, list[0].Status)
	}
	for what, read := range map[string]func(id string) error{
		"history": func(id string) error {
			_, _, err := h.history(id, 10)
			return err
		},
		"definition": func(id string) error { return second(h.DefinitionAfter(t.Context(), id, core.Record{})) },
	} {
		gone := h.newJob("gone").ID
		s.recording = func() {
			if err := h.DeleteJob(t.Context(), gone, 0); err != nil {
				t.Error(err)
			}
		}
		var no *NotFoundError
		if err := read(gone); !errors.As(err, &no) || no.Kind != "job" || no.ID != gone {
			t.Errorf("%s of a job that was deleted meanwhile: %v", what, err)
		}
	}
}

// fullStore fails every commit while it is full.
type fullStore struct {
	store.Store
	full atomic.Bool
}

var errFull = errors.New("no space left")

func (s *fullStore) Commit(ctx context.Context, c store.Commit) error {
	if s.full.Load() {
		return errFull
	}
	return s.Store.Commit(ctx, c)
}

// TestNothingIsAcknowledgedThatIsNotStored: where a commit fails, all who share it are
// told so, and the job is as it was.
func TestNothingIsAcknowledgedThatIsNotStored(t *testing.T) {
	full := &fullStore{Store: newStore(t)}
	slow := &gateStore{Store: full, gate: make(chan struct{}), waiting: make(chan struct{}, 100)}
	slow.held.Store("")
	h := boardHarness(t, func(c *Config) { c.Store, c.Inline, c.OnRecord = slow, false, nil })
	job := h.newJob("dev")
	slow.held.Store(job.ID)
	full.full.Store(true)
	progress, next := parse(t, `{"state":"PROGRESS"}`), parse(t, `{"task":"other"}`)
	asks := []func() (Job, error){
		func() (Job, error) {
			return h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Status: progress})
		},
		func() (Job, error) { return h.TagJob(t.Context(), job.ID, []string{"tag"}, nil, 0) },
		func() (Job, error) { return h.DefineJob(t.Context(), job.ID, next, 0, "") },
		func() (Job, error) {
			return h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Status: progress})
		},
	}
	errs := make(chan error, len(asks))
	for i, ask := range asks {
		before := posts(h, job.ID)
		go func() { errs <- second(ask()) }()
		if i == 0 {
			<-slow.waiting // it is on its way to the store: the others share the next commit
			continue
		}
		for posts(h, job.ID) == before {
			runtime.Gosched()
		}
	}
	close(slow.gate)
	for range asks {
		if err := <-errs; !errors.Is(err, errFull) {
			t.Errorf("told %v", err)
		}
	}
	if n := slow.commits.Load(); n != 2 {
		t.Errorf("%d commits were tried", n)
	}
	check := func(job Job) {
		t.Helper()
		h.wantJob(job, `{"clientId":"dev","state":"NEW"}`, "NEW", "OPEN")
		if job.Content.String() != `{"task":"dev"}` || len(job.Tags()) > 0 {
			t.Errorf("it is about %s, with tags %v", job.Content, job.Tags())
		}
	}
	check(h.job(job.ID))
	slow.held.Store("")
	full.full.Store(false)
	after, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Rev: job.Rev, Status: progress})
	if err != nil || after.Rev != job.Rev+1 || len(after.Tags()) > 0 || after.Content.String() != `{"task":"dev"}` {
		t.Errorf("with space again: %+v %v", after, err)
	}
}

// TestSpawnDepthOfJobs: a job counts like any child.
func TestSpawnDepthOfJobs(t *testing.T) {
	h := boardHarness(t)
	depth := func(n int) core.Status {
		t.Helper()
		w := build("deep")
		h.deploy(w.main(w.delegate("board")))
		d, err := h.find(t.Context(), "deep", "")
		if err != nil {
			t.Fatal(err)
		}
		row := newRow(d, h.cfg.NewID(), h.now())
		row.Depth = n
		id, err := h.create(t.Context(), d, 0, row, core.Start{Data: parse(t, `{"client":"d1"}`)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		h.poll()
		if got := h.get(id); got.Fault != nil && !strings.Contains(got.Fault.Detail, "limit spawn-depth") {
			t.Errorf("at %d: %s", n, got.Fault.Detail)
		}
		return h.get(id).Status
	}
	if got := depth(maxSpawnDepth - 1); got != core.Waiting {
		t.Errorf("the last that may: %s", got)
	}
	if got := depth(maxSpawnDepth); got != core.Failed {
		t.Errorf("one too deep: %s", got)
	}
	if jobs, err := h.Jobs(t.Context(), store.Query{}); err != nil || len(jobs) != 1 || jobs[0].Depth != maxSpawnDepth {
		t.Errorf("%d jobs (%v)", len(jobs), err)
	}
}

// TestARestartedJobHasAUUID like any job, with a key the same each time.
func TestARestartedJobHasAUUID(t *testing.T) {
	h := boardHarness(t, func(c *Config) { c.NewID = nil })
	job := h.newJob("dev", "a")
	seen := map[string]bool{job.ID: true}
	for _, key := range []string{"", "k", "other"} {
		id, again, err := h.Restart(t.Context(), job.ID, RestartRequest{Key: key})
		if err != nil || again || seen[id] || !anyUUID.MatchString(id) {
			t.Fatalf("key %q: %s, %t, %v", key, id, again, err)
		}
		seen[id] = true
		got := h.job(id)
		h.wantJob(got, `{"clientId":"dev","state":"NEW"}`, "NEW", "OPEN")
		if got.RestartOf != job.ID || !expr.Equal(got.Content, job.Content) || len(got.Tags()) != 1 {
			t.Errorf("key %q: %+v", key, got)
		}
		if key == "" {
			continue
		}
		if same, again, err := h.Restart(t.Context(), job.ID, RestartRequest{Key: key}); err != nil || !again || same != id {
			t.Errorf("key %q again: %s, %t, %v", key, same, again, err)
		}
		var conflict *KeyConflictError
		other := RestartRequest{Key: key, HasInput: true, Input: jobInput("else", nil, expr.Null)}
		if _, _, err := h.Restart(t.Context(), job.ID, other); !errors.As(err, &conflict) {
			t.Errorf("key %q with another input: %v", key, err)
		}
	}
}
