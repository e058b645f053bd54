package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// board is a small state machine:
//
//	BACKLOG ⇒ NEW → PROGRESS → VALIDATE → DONE, REJECTED
//
// The first hop is immediate, PROGRESS ends in REJECTED after an hour.
func board(id string) *ir.Program {
	b := build(id)
	b.p.Job = true
	b.p.Groups = []ir.Group{{Name: "OPEN", States: []string{"NEW", "PROGRESS", "VALIDATE"}}, {Name: "CLOSED", States: []string{"DONE", "REJECTED"}}}
	names := []string{"BACKLOG", "NEW", "PROGRESS", "VALIDATE", "DONE", "REJECTED"}
	add := func(n ir.Node) ir.NodeID {
		b.p.Nodes = append(b.p.Nodes, n)
		return ir.NodeID(len(b.p.Nodes) - 1)
	}
	set := func(path ...string) ir.Put { return ir.Put{Mode: ir.PutSet, Path: path} }
	entry := map[string]ir.NodeID{}
	for _, name := range names {
		entry[name] = add(ir.Node{Name: name, Mark: ir.MarkEntered, Op: &ir.Eval{From: b.expr(jsonpath.TemplateLang, fmt.Sprintf("%q", name)), Put: set("status", "state")}})
	}
	leave := func(from, to string) ir.NodeID {
		return add(ir.Node{Name: from, Mark: ir.MarkLeft, Op: &ir.Eval{}, Next: entry[to]})
	}
	self := func(name string) []ir.Arm {
		return []ir.Arm{
			{Offer: &ir.Offer{Actor: "CLIENT", Choice: name}, Put: set("status"), Stay: true},
			{Offer: &ir.Offer{Actor: "WFX", Choice: name}, Put: set("status"), Stay: true},
		}
	}
	moves := map[string][]ir.Offer{
		"NEW":      {{Actor: "CLIENT", Choice: "PROGRESS"}},
		"PROGRESS": {{Actor: "CLIENT", Choice: "VALIDATE"}, {Actor: "WFX", Choice: "REJECTED"}},
		"VALIDATE": {{Actor: "WFX", Choice: "DONE"}, {Actor: "WFX", Choice: "REJECTED"}},
	}
	for _, name := range names {
		var next ir.NodeID
		switch list := moves[name]; {
		case name == "BACKLOG":
			next = leave(name, "NEW")
		case len(list) == 0:
			next = add(ir.Node{Name: name, Op: &ir.End{Offers: self(name)}})
		default:
			op := &ir.Await{Need: 1}
			for _, m := range list {
				op.Arms = append(op.Arms, ir.Arm{Offer: &m, Put: set("status"), Next: leave(name, m.Choice)})
			}
			op.Arms = append(op.Arms, self(name)...)
			if name == "PROGRESS" {
				late := b.expr(jsonpath.TemplateLang, `{"state":"REJECTED","message":"PROGRESS took longer than PT1H"}`)
				op.Timeout = span(time.Hour)
				op.OnTimeout = add(ir.Node{Name: name, Op: &ir.Eval{From: late, Put: set("status")}, Next: leave(name, "REJECTED")})
			}
			next = add(ir.Node{Name: name, Op: op})
		}
		b.p.Nodes[entry[name]].Next = next
	}
	b.p.Regions[0].Entry = entry["BACKLOG"]
	return b.p
}

func boardHarness(t testing.TB, opts ...option) *harness {
	t.Helper()
	h := newHarness(t, nil, opts...)
	h.deploy(board("board"))
	return h
}

func (h *harness) newJob(client string, tags ...string) Job {
	h.t.Helper()
	job, err := h.CreateJob(h.t.Context(), JobRequest{Workflow: "board", Client: client, Tags: tags, Definition: parse(h.t, `{"task":"`+client+`"}`)})
	if err != nil {
		h.t.Fatal(err)
	}
	return job
}

func (h *harness) update(id, actor, status string) (Job, error) {
	h.t.Helper()
	return h.UpdateJob(h.t.Context(), id, JobUpdate{Actor: actor, Status: parse(h.t, status)})
}

// move sends a status that must be accepted.
func (h *harness) move(id, actor, status string) Job {
	h.t.Helper()
	job, err := h.update(id, actor, status)
	if err != nil {
		h.t.Fatalf("%s %s: %v", actor, status, err)
	}
	return job
}

func (h *harness) job(id string) Job {
	h.t.Helper()
	job, err := h.Job(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return job
}

// wantJob compares what people see of a job, and that it is the same however it is read.
func (h *harness) wantJob(job Job, status, state, group string) {
	h.t.Helper()
	if job.Status.String() != status || job.Job.State != state || job.Job.Group != group {
		h.t.Errorf("the job is %s in %q of %q, want %s in %q of %q", job.Status, job.Job.State, job.Job.Group, status, state, group)
	}
	read := h.job(job.ID)
	h.sameJob("in memory", read, job)
	stored, ok, err := h.jobAt(h.t.Context(), h.get(job.ID))
	if err != nil || !ok {
		h.t.Fatalf("read again: %t %v", ok, err)
	}
	h.sameJob("as stored", stored, job)
}

func (h *harness) sameJob(how string, got, want Job) {
	h.t.Helper()
	got.Seq, want.Seq = 0, 0 // given by the store
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		h.t.Errorf("%s the job is\n%s, want\n%s", how, g, w)
	}
}

func TestLifeOfAJob(t *testing.T) {
	for _, cached := range []bool{true, false} {
		t.Run(fmt.Sprintf("cached %t", cached), func(t *testing.T) {
			h := boardHarness(t)
			if !cached {
				withoutCache(h)
			}
			job := h.newJob("dev", "b", "a", "b")
			if job.Rev != 1 || job.Created != job.Updated || job.Definition != "board" || job.Job.Client != "dev" || job.Core() != core.Waiting {
				t.Errorf("created as %+v", job)
			}
			if got := job.Tags(); !slices.Equal(got, []string{"a", "b"}) {
				t.Errorf("tags %v", got)
			}
			if job.Content.String() != `{"task":"dev"}` {
				t.Errorf("definition %s", job.Content)
			}
			h.wantJob(job, `{"clientId":"dev","state":"NEW"}`, "NEW", "OPEN")
			h.clock.Advance(t0.Add(time.Minute))
			job = h.move(job.ID, "CLIENT", `{"state":"PROGRESS","progress":10,"context":{"n":12345678901234567890}}`)
			h.wantJob(job, `{"context":{"n":12345678901234567890},"progress":10,"state":"PROGRESS"}`, "PROGRESS", "OPEN")
			if job.Rev != 2 || job.Updated != core.TimeOf(t0.Add(time.Minute)) || job.Created != core.TimeOf(t0) {
				t.Errorf("moved to %+v", job)
			}
			job = h.move(job.ID, "WFX", `{"state":"PROGRESS","message":"go on"}`)
			h.wantJob(job, `{"message":"go on","state":"PROGRESS"}`, "PROGRESS", "OPEN")
			job = h.move(job.ID, "CLIENT", `{"state":"VALIDATE"}`)
			job = h.move(job.ID, "WFX", `{"state":"DONE","message":"well"}`)
			h.wantJob(job, `{"message":"well","state":"DONE"}`, "DONE", "CLOSED")
			h.want(job.ID, core.Completed, `{"message":"well","state":"DONE"}`)
			ended := job.Ended
			h.clock.Advance(t0.Add(time.Hour))
			job = h.move(job.ID, "CLIENT", `{"state":"DONE","progress":100}`)
			h.wantJob(job, `{"progress":100,"state":"DONE"}`, "DONE", "CLOSED")
			if job.Ended != ended || job.Core() != core.Completed || job.Output.String() != job.Status.String() {
				t.Errorf("after the end it is %+v", job.Instance)
			}
		})
	}
}

// Core is the status of the instance, which the job's own hides.
func (j Job) Core() core.Status { return j.Instance.Status }

func TestJobsWithoutDefinitionOrTags(t *testing.T) {
	h := boardHarness(t)
	job, err := h.CreateJob(t.Context(), JobRequest{Workflow: "board", Client: "dev", ID: "chosen"})
	if err != nil || job.ID != "chosen" || !job.Content.IsNull() || len(job.Tags()) != 0 {
		t.Errorf("%+v %v", job, err)
	}
	h.wantJob(job, `{"clientId":"dev","state":"NEW"}`, "NEW", "OPEN")
	if id := (&Engine{}).newJobID(); len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) {
		t.Errorf("%q is no random UUID", id)
	}
}

func TestJobsThatCannotBe(t *testing.T) {
	h := boardHarness(t)
	h.deploy(build("plain").main(delay(time.Hour)))
	h.newJob("dev")
	for name, c := range map[string]struct {
		r    JobRequest
		want any
		text string
	}{
		"no workflow":      {JobRequest{Workflow: "none", Client: "c"}, new(*NotFoundError), `there is no workflow "none"`},
		"no state machine": {JobRequest{Workflow: "plain", Client: "c"}, new(*NotFoundError), `there is no workflow "plain"`},
		"no client":        {JobRequest{Workflow: "board"}, new(*InputError), "/clientId: clientId is required"},
		"long client":      {JobRequest{Workflow: "board", Client: strings.Repeat("c", 257)}, new(*InputError), "limit job-client-bytes"},
		"control in it":    {JobRequest{Workflow: "board", Client: "a\x00b"}, new(*InputError), "no control characters"},
		"long tag":         {JobRequest{Workflow: "board", Client: "c", Tags: []string{strings.Repeat("t", 257)}}, new(*InputError), "limit job-tag-bytes"},
		"many tags":        {JobRequest{Workflow: "board", Client: "c", Tags: many(257)}, new(*InputError), "limit job-tags"},
		"bad id":           {JobRequest{Workflow: "board", Client: "c", ID: "a/b"}, new(*IDError), "cannot be the id"},
		"taken id":         {JobRequest{Workflow: "board", Client: "c", ID: "i1"}, new(*ExistsError), "exists already"},
	} {
		_, err := h.CreateJob(t.Context(), c.r)
		if err == nil || !errors.As(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.CreateJob(t.Context(), JobRequest{Workflow: "board", Client: "c", Tags: append(many(256), many(256)...)}); err != nil {
		t.Errorf("as many tags as allowed, twice: %v", err)
	}
}

func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("t%d", i)
	}
	return out
}

func TestMovesThatAreNotOpen(t *testing.T) {
	h := boardHarness(t)
	h.deploy(build("plain").main(delay(time.Hour)))
	job, plain := h.newJob("dev"), h.start("plain", "{}")
	for _, c := range []struct{ actor, status string }{{"CLIENT", `{"state":"DONE"}`}, {"WFX", `{"state":"PROGRESS"}`}, {"CLIENT", `{"state":"BACKLOG"}`}} {
		_, err := h.update(job.ID, c.actor, c.status)
		var no *core.Rejected
		want := []ir.Offer{{Actor: "CLIENT", Choice: "PROGRESS"}, {Actor: "CLIENT", Choice: "NEW"}, {Actor: "WFX", Choice: "NEW"}}
		if !errors.As(err, &no) || !slices.Equal(no.Allowed, want) {
			t.Errorf("%s %s: %v, %+v", c.actor, c.status, err, no)
		}
	}
	for _, status := range []string{`{}`, `7`, `{"state":1}`} {
		var no *core.Rejected
		if _, err := h.update(job.ID, "CLIENT", status); !errors.As(err, &no) {
			t.Errorf("%s: %v", status, err)
		}
	}
	h.wantJob(h.job(job.ID), `{"clientId":"dev","state":"NEW"}`, "NEW", "OPEN")
	if rev := h.job(job.ID).Rev; rev != 1 {
		t.Errorf("what was refused made revision %d", rev)
	}
	missing := func(what string, err error) {
		t.Helper()
		var no *NotFoundError
		if !errors.As(err, &no) || no.Kind != "job" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, id := range []string{"nobody", plain} {
		_, err := h.update(id, "CLIENT", `{"state":"PROGRESS"}`)
		missing("update of "+id, err)
		_, err = h.DefineJob(t.Context(), id, expr.EmptyObject, 0, "")
		missing("definition of "+id, err)
		_, err = h.TagJob(t.Context(), id, []string{"x"}, nil, 0)
		missing("tags of "+id, err)
		_, err = h.Job(t.Context(), id)
		missing("reading "+id, err)
		_, _, err = h.history(id, 10)
		missing("history of "+id, err)
		missing("deleting "+id, h.DeleteJob(t.Context(), id, 0))
	}
	_, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Client: "other", Status: parse(t, `{"state":"PROGRESS"}`)})
	missing("another client's job", err)
	_, err = h.DefineJob(t.Context(), job.ID, expr.EmptyObject, 0, "other")
	missing("the definition of another client's job", err)
	if _, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Client: "dev", Status: parse(t, `{"state":"PROGRESS"}`)}); err != nil {
		t.Errorf("its own client: %v", err)
	}
	if err := h.Control(t.Context(), job.ID, core.Control{Verb: core.VerbSuspend}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.update(job.ID, "CLIENT", `{"state":"VALIDATE"}`); err == nil || !strings.Contains(err.Error(), "paused") {
		t.Errorf("a paused job: %v", err)
	}
}

func TestStatusThatIsTooLargeIsRefused(t *testing.T) {
	limits := core.DefaultLimits
	limits.DataBytes = 1000
	h := boardHarness(t, func(c *Config) { c.Limits = &limits })
	job := h.newJob("dev")
	large := `{"state":"PROGRESS","message":"` + strings.Repeat("x", 1000) + `"}`
	if _, err := h.update(job.ID, "CLIENT", large); err == nil || !strings.Contains(err.Error(), "data-bytes") {
		t.Errorf("a large status: %v", err)
	}
	if _, err := h.DefineJob(t.Context(), job.ID, parse(t, large), 0, ""); err == nil || !strings.Contains(err.Error(), "data-bytes") {
		t.Errorf("a large definition: %v", err)
	}
	h.wantJob(h.job(job.ID), `{"clientId":"dev","state":"NEW"}`, "NEW", "OPEN")
	h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
}

func TestTimeInAStateRunsOut(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev")
	h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
	h.run(59 * time.Minute)
	h.move(job.ID, "CLIENT", `{"state":"PROGRESS","progress":99}`) // the time goes on
	h.run(time.Minute)
	job = h.job(job.ID)
	h.wantJob(job, `{"message":"PROGRESS took longer than PT1H","state":"REJECTED"}`, "REJECTED", "CLOSED")
	if job.Updated != core.TimeOf(t0.Add(time.Hour)) {
		t.Errorf("at %s", job.Updated)
	}
}

// TestTooLateIsTooLate: an update that meets a state whose time is up is judged after it.
func TestTooLateIsTooLate(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev")
	h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
	rev := h.job(job.ID).Rev
	h.clock.Advance(t0.Add(time.Hour)) // nobody polls
	_, err := h.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Rev: rev, Status: parse(t, `{"state":"VALIDATE"}`)})
	var stale *RevisionError
	if !errors.As(err, &stale) || stale.Have != rev+1 {
		t.Errorf("with a revision: %v", err)
	}
	_, err = h.update(job.ID, "CLIENT", `{"state":"VALIDATE"}`)
	var no *core.Rejected
	if !errors.As(err, &no) {
		t.Errorf("without: %v", err)
	}
	h.wantJob(h.job(job.ID), `{"message":"PROGRESS took longer than PT1H","state":"REJECTED"}`, "REJECTED", "CLOSED")
}

func TestDefinitionsOfJobs(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev")
	h.clock.Advance(t0.Add(time.Minute))
	job, err := h.DefineJob(t.Context(), job.ID, parse(t, `{"v":2}`), job.Rev, "dev")
	if err != nil || job.Content.String() != `{"v":2}` || job.Rev != 2 {
		t.Fatalf("%s %d %v", job.Content, job.Rev, err)
	}
	h.wantJob(job, `{"clientId":"dev","state":"NEW"}`, "NEW", "OPEN")
	h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
	h.move(job.ID, "WFX", `{"state":"REJECTED"}`)
	job, err = h.DefineJob(t.Context(), job.ID, expr.Null, 0, "")
	if err != nil || !job.Content.IsNull() || job.Core() != core.Completed {
		t.Fatalf("after the end: %s %v", job.Content, err)
	}
	h.wantJob(job, `{"state":"REJECTED"}`, "REJECTED", "CLOSED")
}

func TestTagsOfJobs(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev", "a")
	tag := func(add, remove []string, want ...string) Job {
		t.Helper()
		job, err := h.TagJob(t.Context(), job.ID, add, remove, 0)
		if err != nil || !slices.Equal(job.Tags(), want) {
			t.Errorf("+%v -%v: %v, want %v (%v)", add, remove, job.Tags(), want, err)
		}
		h.wantJob(job, `{"clientId":"dev","state":"NEW"}`, "NEW", "OPEN")
		return job
	}
	tag([]string{"c", "b", "c"}, nil, "a", "b", "c")
	rev := tag(nil, []string{"b", "x"}, "a", "c").Rev
	if again := tag([]string{"a"}, []string{"b"}, "a", "c").Rev; again != rev {
		t.Errorf("nothing changed, and the revision is %d after %d", again, rev)
	}
	find := func(tag string) int64 {
		t.Helper()
		n, err := h.CountJobs(t.Context(), store.Query{Tagged: []store.Label{{Name: "tags", Value: tag}}})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if find("a") != 1 || find("b") != 0 || find("c") != 1 {
		t.Errorf("found by a %d, b %d, c %d times", find("a"), find("b"), find("c"))
	}
	tag(nil, []string{"a", "c"})
	var no *core.Rejected
	if _, err := h.TagJob(t.Context(), job.ID, many(257), nil, 0); !errors.As(err, &no) || !strings.Contains(err.Error(), "job-tags") {
		t.Errorf("too many: %v", err)
	}
	records, err := h.History(context.Background(), job.ID)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, r := range records {
		if r.Type == core.RecControl {
			told = append(told, r.Data.String())
		}
	}
	want := []string{`{"added":["b","c"],"removed":[],"tags":["a","b","c"]}`, `{"added":[],"removed":["b"],"tags":["a","c"]}`, `{"added":[],"removed":["a","c"],"tags":[]}`}
	if !slices.Equal(told, want) {
		t.Errorf("told as\n%s", strings.Join(told, "\n"))
	}
}

// history reads a job with its newest changes, however large they are.
func (h *harness) history(id string, limit int) (Job, []JobChange, error) {
	job, list, _, err := h.JobWithHistory(h.t.Context(), id, limit, math.MaxInt)
	return job, list, err
}
