package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// delegate is a call that creates a job with the data as arguments.
func (b *builder) delegate(workflow string) stepOp {
	s := b.call("update")
	b.p.Functions[s.op.(*ir.Call).Function].Operation = "job:" + workflow
	return s
}

// campaignHarness has a board, and a workflow that creates one job of it.
func campaignHarness(t testing.TB, opts ...option) *harness {
	t.Helper()
	h := boardHarness(t, opts...)
	w := build("campaign")
	h.deploy(w.main(w.delegate("board")))
	return h
}

// only is the one job there is, apart from those that are over.
func (h *harness) only() Job {
	h.t.Helper()
	jobs, err := h.Jobs(h.t.Context(), store.Query{Status: []core.Status{core.Running, core.Waiting}})
	if err != nil || len(jobs) != 1 {
		h.t.Fatalf("%d jobs are open (%v)", len(jobs), err)
	}
	return jobs[0]
}

var (
	anyUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[458][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	uuid    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
)

func TestACallCreatesAJob(t *testing.T) {
	h := campaignHarness(t)
	id := h.start("campaign", `{"client":"d1","tags":["b","a"],"definition":{"release":2}}`)
	job := h.only() // also before it has taken its start
	if job.Job.Client != "d1" || job.Job.State != "BACKLOG" {
		t.Errorf("created as %+v", job)
	}
	h.poll()
	job = h.only()
	h.wantJob(job, `{"clientId":"d1","state":"NEW"}`, "NEW", "OPEN")
	if !uuid.MatchString(job.ID) || job.Parent != id || !job.Awaited || job.Depth != 1 {
		t.Errorf("the job is %+v", job.Instance)
	}
	if job.Content.String() != `{"release":2}` || !slices.Equal(job.Tags(), []string{"a", "b"}) {
		t.Errorf("it is about %s, with tags %v", job.Content, job.Tags())
	}
	h.want(id, core.Waiting, "")
	h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
	h.move(job.ID, "WFX", `{"state":"REJECTED","progress":7,"message":"no"}`)
	h.poll()
	h.want(id, core.Completed, `{"client":"d1","clientId":"d1","definition":{"release":2},"id":"`+job.ID+`","message":"no","progress":7,"state":"REJECTED","tags":["b","a"]}`)
	h.move(job.ID, "CLIENT", `{"state":"REJECTED","message":"late"}`) // nobody waits for that
	h.poll()
	records, err := h.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, r := range records {
		switch r.Type {
		case core.RecCalled, core.RecReturned, core.RecWarning:
			told = append(told, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Type, r.Name, r.Text)))
		}
	}
	if want := []string{"called update job " + job.ID, "returned update"}; !slices.Equal(told, want) {
		t.Errorf("history tells %q", told)
	}
	if calls, err := h.OpenCalls(t.Context(), ""); err != nil || len(calls)+len(h.mock.Calls()) > 0 {
		t.Errorf("it was called, too: %v %v", calls, err)
	}
}

func TestAMockedCallCreatesNoJob(t *testing.T) {
	h := newHarness(t, mock.Mocks{"update": {gives(`{"state":"DONE"}`)}}, func(c *Config) {
		c.Mocked = func(f *ir.Function) bool { return f.Name == "update" }
	})
	w := build("campaign")
	h.deploy(board("board"), w.main(w.delegate("board")))
	id := h.start("campaign", `{"client":"d1"}`)
	h.poll()
	h.want(id, core.Completed, `{"client":"d1","state":"DONE"}`)
	if n := len(h.list()); n != 1 {
		t.Errorf("%d instances", n)
	}
}

func TestJobsThatCannotBeCreated(t *testing.T) {
	h := campaignHarness(t)
	unknown, plain := build("unknown"), build("plain")
	h.deploy(unknown.main(unknown.delegate("nothing")), plain.main(plain.delegate("campaign")))
	caught := build("caught")
	region := caught.region(ir.Region{Name: "R", Catch: []ir.Catch{{Error: core.FaultNoWorkflow, Next: 3}}}, caught.delegate("nothing"))
	h.deploy(caught.main(region))
	for _, c := range []struct{ workflow, input, fault, detail string }{
		{"campaign", `{}`, effect.InvalidArguments, `function "update": it needs client`},
		{"campaign", `{"client":""}`, effect.InvalidArguments, "client must be a text"},
		{"campaign", `{"client":7}`, effect.InvalidArguments, "client must be a text that is not empty, not 7"},
		{"campaign", `{"client":"d","tags":"x"}`, effect.InvalidArguments, `tags must be a list of texts, not "x"`},
		{"campaign", `{"client":"d","tags":[1]}`, effect.InvalidArguments, "tags must be a list of texts"},
		{"campaign", `{"client":"` + strings.Repeat("d", 300) + `"}`, effect.InvalidArguments, "job-client-bytes"},
		{"unknown", `{"client":"d"}`, core.FaultNoWorkflow, `there is no workflow "nothing" whose jobs could be created`},
		{"plain", `{"client":"d"}`, core.FaultNoWorkflow, `there is no workflow "campaign" whose jobs could be created`},
	} {
		id := h.start(c.workflow, c.input)
		h.poll()
		h.wantFault(id, c.fault)
		if f := h.get(id).Fault; f != nil && !strings.Contains(f.Detail, c.detail) {
			t.Errorf("%s %s: %s", c.workflow, c.input, f.Detail)
		}
	}
	id := h.start("caught", `{"client":"d"}`)
	h.poll()
	h.want(id, core.Completed, "")
	id = h.start("campaign", `{"client":"d","tags":null,"speed":1}`)
	h.poll()
	h.want(id, core.Waiting, "")
	records, err := h.History(t.Context(), id)
	if err != nil || !slices.ContainsFunc(records, func(r core.Record) bool {
		return r.Type == core.RecWarning && strings.Contains(r.Text, `no argument "speed"`)
	}) {
		t.Errorf("nobody is told of what means nothing: %v %v", records, err)
	}
}

// TestJobsAreRecalled: a job that nobody waits for any more is cancelled.
func TestJobsAreRecalled(t *testing.T) {
	h := campaignHarness(t)
	hasty := build("hasty")
	h.deploy(hasty.main(hasty.region(ir.Region{Name: "R", Timeout: span(time.Hour)}, hasty.delegate("board"))))
	cancelled, late := h.start("campaign", `{"client":"d1"}`), h.start("hasty", `{"client":"d2"}`)
	h.poll()
	jobs, err := h.Jobs(t.Context(), store.Query{})
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	if err := h.Control(t.Context(), cancelled, core.Control{Verb: core.VerbCancel}); err != nil {
		t.Fatal(err)
	}
	h.run(2 * time.Hour)
	h.want(cancelled, core.Cancelled, "")
	h.wantFault(late, "Timeout")
	for _, job := range jobs {
		h.want(job.ID, core.Cancelled, "")
		job = h.job(job.ID)
		h.wantJob(job, `{"clientId":"`+job.Job.Client+`","state":"NEW"}`, "NEW", "")
		if _, err := h.update(job.ID, "CLIENT", `{"state":"PROGRESS"}`); err == nil || !strings.Contains(err.Error(), "cancelled already") {
			t.Errorf("a move of a cancelled job: %v", err)
		}
	}
	if n, err := h.CountJobs(t.Context(), store.Query{Groups: []string{"OPEN"}}); err != nil || n != 0 {
		t.Errorf("%d of them are found where work is looked for (%v)", n, err)
	}
}

// TestJobOfTheSameStep: what is decided and taken back in one step is never created.
func TestJobOfTheSameStep(t *testing.T) {
	h := boardHarness(t)
	b := build("campaign")
	one := b.region(ir.Region{Name: "Job", Collect: true}, b.delegate("board"))
	quick := b.region(ir.Region{Name: "Quick", Collect: true}, stepOp{"Quick", &ir.Eval{}})
	fan := &ir.Fan{Join: ir.JoinMerge, Need: b.expr("jsonpath", "$.need")}
	for _, s := range []stepOp{one, quick} {
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: s.op.(*ir.Enter).Region})
	}
	h.deploy(b.main(stepOp{"Fan", fan}))
	id := h.start("campaign", `{"need":1,"client":"d"}`)
	h.poll()
	h.want(id, core.Completed, "")
	if n := len(h.list()); n != 1 {
		t.Errorf("%d instances", n)
	}
}

// TestJobsThatOthersEnd: the call fails, in a way that the definition can handle.
func TestJobsThatOthersEnd(t *testing.T) {
	for name, end := range map[string]func(h *harness, id string) error{
		"cancelled": func(h *harness, id string) error {
			return h.Control(h.t.Context(), id, core.Control{Verb: core.VerbCancel})
		},
		"terminated": func(h *harness, id string) error {
			return h.Control(h.t.Context(), id, core.Control{Verb: core.VerbTerminate})
		},
		"deleted": func(h *harness, id string) error { return h.DeleteJob(h.t.Context(), id, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			h := campaignHarness(t)
			tries := build("tries")
			retry := &ir.Retry{Max: 1, Delay: span(time.Minute)}
			h.deploy(tries.main(tries.region(ir.Region{Name: "R", Catch: []ir.Catch{{Error: core.FaultCancelled, Retry: retry}}}, tries.delegate("board"))))
			id := h.start("campaign", `{"client":"d1"}`)
			h.poll()
			first := h.only()
			if err := end(h, first.ID); err != nil {
				t.Fatal(err)
			}
			h.poll()
			h.wantFault(id, core.FaultCancelled)
			if f := h.get(id).Fault; f != nil && !strings.Contains(f.Detail, "job "+first.ID+` of client "d1" was `) {
				t.Errorf("told as %q", f.Detail)
			}
			id = h.start("tries", `{"client":"d2"}`)
			h.poll()
			second := h.only()
			if err := end(h, second.ID); err != nil {
				t.Fatal(err)
			}
			h.run(time.Hour)
			third := h.only() // tried again with another job
			if third.ID == second.ID {
				t.Error("a retry has the same job")
			}
			h.move(third.ID, "CLIENT", `{"state":"PROGRESS"}`)
			h.move(third.ID, "WFX", `{"state":"REJECTED"}`)
			h.poll()
			h.want(id, core.Completed, "")
		})
	}
}

func TestJobsOfAnInstanceThatIsThereAgain(t *testing.T) {
	h := campaignHarness(t)
	start := func() string {
		t.Helper()
		_, err := h.Start(t.Context(), StartRequest{Definition: "campaign", ID: "chosen", Input: parse(t, `{"client":"d1"}`)})
		if err != nil {
			t.Fatal(err)
		}
		h.poll()
		return h.only().ID
	}
	first := start()
	if err := h.Control(t.Context(), "chosen", core.Control{Verb: core.VerbCancel}); err != nil {
		t.Fatal(err)
	}
	if err := h.DeleteInstance(t.Context(), "chosen", 0); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(t0.Add(time.Minute))
	second := start()
	if first == second {
		t.Fatal("it has the job of the one before")
	}
	h.want(first, core.Cancelled, "")
	h.want("chosen", core.Waiting, "")
}

// cutStore fails one commit, before or after it takes effect: a process that ends there.
type cutStore struct {
	store.Store
	left  int
	after bool
	err   error
}

var errCut = errors.New("the process ends here")

func (s *cutStore) Commit(ctx context.Context, c store.Commit) error {
	if s.err != nil {
		return s.err
	}
	if s.left--; s.left > 0 {
		return s.Store.Commit(ctx, c)
	}
	s.err = errCut
	if s.after {
		if err := s.Store.Commit(ctx, c); err != nil {
			return err
		}
	}
	return errCut
}

// TestOneJobForEachTicket: whichever commit is the last before a crash, and whether it
// came through or not, there is one job for each device in the end, and one answer.
func TestOneJobForEachTicket(t *testing.T) {
	devices := []string{"d1", "d2", "d3"}
	program := func() *ir.Program {
		b := build("campaign")
		one := b.delegate("board")
		op := one.op.(*ir.Call)
		op.Data, op.Args = false, b.expr(jsonpath.TemplateLang, `{"client":"{{ $.device }}"}`)
		body := b.region(ir.Region{Name: "One", Collect: true}, one).op.(*ir.Enter).Region
		return b.main(stepOp{"Each", &ir.Fan{
			Each: &ir.Each{Over: b.expr("jsonpath", "$.devices"), Body: body, Var: "device"}, Join: ir.JoinAppend, Path: []string{"results"},
		}})
	}
	ends := 0
	for cut := 1; ends < 2; cut++ {
		for _, after := range []bool{false, true} {
			base := newStore(t)
			weak := &cutStore{Store: base, left: cut, after: after}
			h := newHarness(t, nil, func(c *Config) { c.Store = weak })
			h.deploy(board("board"), program())
			h.drive(devices)
			if weak.err == nil {
				ends++
			}
			h = newHarness(t, nil, func(c *Config) { c.Store = base })
			h.drive(devices)
			h.wantCampaign(devices, cut, after)
		}
	}
}

// drive does what is left to do, as far as the store lets it.
func (h *harness) drive(devices []string) {
	h.t.Helper()
	note := func(err error) bool {
		if err != nil && !errors.Is(err, errCut) {
			h.t.Fatal(err)
		}
		return err == nil
	}
	ctx := h.t.Context()
	_, err := h.Start(ctx, StartRequest{Definition: "campaign", ID: "c", Input: parse(h.t, `{"devices":["`+strings.Join(devices, `","`)+`"]}`)})
	var exists *ExistsError
	if !errors.As(err, &exists) && !note(err) {
		return
	}
	_, _ = h.Poll(ctx) // what fails in it is tried again by the next engine
	for _, step := range []struct{ from, actor, to string }{{"NEW", "CLIENT", "PROGRESS"}, {"PROGRESS", "WFX", "REJECTED"}} {
		jobs, err := h.Jobs(ctx, store.Query{})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, j := range jobs {
			if j.Job.State != step.from {
				continue
			}
			if _, err := h.update(j.ID, step.actor, `{"state":"`+step.to+`"}`); !note(err) {
				return
			}
		}
	}
	_, _ = h.Poll(ctx)
}

func (h *harness) wantCampaign(devices []string, cut int, after bool) {
	h.t.Helper()
	row := h.get("c")
	results, _ := row.Output.Get("results")
	jobs, err := h.Jobs(h.t.Context(), store.Query{})
	if err != nil || len(jobs) != len(devices) || row.Status != core.Completed || results.Len() != len(devices) {
		h.t.Fatalf("cut at %d (after: %t): %d jobs, the campaign is %s with %s (%v)", cut, after, len(jobs), row.Status, row.Output, err)
	}
	records, err := h.History(h.t.Context(), "c")
	if err != nil {
		h.t.Fatal(err)
	}
	told := map[string]int{}
	for _, r := range records {
		if r.Type == core.RecCalled {
			told[r.Text]++
		}
	}
	for i, result := range results.Items() {
		client, _ := result.Get("clientId")
		id, _ := result.Get("id")
		job := h.job(id.Str())
		if client.Str() != devices[i] || job.Job.Client != devices[i] || job.Job.State != "REJECTED" || told["job "+job.ID] != 1 {
			h.t.Errorf("cut at %d (after: %t): result %d is %s, of job %+v", cut, after, i, result, job.Job)
		}
	}
}
