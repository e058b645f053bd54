package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// imported is a job of another system that is in PROGRESS.
func imported(t testing.TB) JobImport {
	return JobImport{
		JobRequest: JobRequest{ID: "j1", Workflow: "board", Client: "car", Tags: []string{"b", "a"}, Definition: parse(t, `{"n":2}`)},
		Created:    1000, Updated: 4000, Status: parse(t, `{"state":"PROGRESS","progress":7}`),
		History: []JobVersion{
			{At: 1000, Status: parse(t, `{"state":"NEW","clientId":"car","definitionHash":"of 0"}`)},
			{At: 1500, Status: parse(t, `{"state":"PROGRESS","progress":1}`), Definition: parse(t, `{"n":1}`)},
			{At: 1700},
			{At: 2000, Status: parse(t, `{"state":"PROGRESS","progress":1,"definitionHash":"of 2"}`), Definition: parse(t, `{"n":2}`)},
			{At: 3000, Status: parse(t, `{"state":"PROGRESS","progress":1}`)},
		},
	}
}

func (h *harness) importJob(j JobImport, want Imported) {
	h.t.Helper()
	if what, err := h.ImportJob(h.t.Context(), j, false); err != nil || what != want {
		h.t.Fatalf("the job was %q (%v), want %q", what, err, want)
	}
}

func (h *harness) wantHistory(id string, want ...string) {
	h.t.Helper()
	_, list, _, err := h.JobWithHistory(h.t.Context(), id, 100, 1<<20)
	if err != nil {
		h.t.Fatal(err)
	}
	got := []string{}
	for _, c := range list {
		status := expr.Null
		if c.HasStatus {
			status = c.Status
		}
		got = append(got, fmt.Sprintf("%d %s %s", c.At, status, c.Content))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		h.t.Errorf("the history is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestImportJob: an imported job is as it was, goes on from there, and can be imported again until it changes here.
func TestImportJob(t *testing.T) {
	overStores(t, func(t *testing.T, on option) {
		h := boardHarness(t, on)
		j := imported(t)
		if what, err := h.ImportJob(t.Context(), j, true); err != nil || what != ImportNew {
			t.Fatalf("%q %v", what, err)
		}
		if _, err := h.Job(t.Context(), "j1"); !isMissing(err) {
			t.Fatalf("a dry import stored the job: %v", err)
		}
		h.importJob(j, ImportNew)
		job := h.job("j1")
		h.wantJob(job, `{"progress":7,"state":"PROGRESS"}`, "PROGRESS", "OPEN")
		if job.Created != 1000 || job.Updated != 4000 || strings.Join(job.Tags(), " ") != "a b" || job.Content.String() != `{"n":2}` || job.Job.Client != "car" {
			t.Errorf("the job is %+v", job)
		}
		h.wantHistory("j1", `3000 {"progress":1,"state":"PROGRESS"} {"n":2}`, `2000 null {"n":1}`, `1000 {"clientId":"car","definitionHash":"of 0","state":"NEW"} null`)
		h.importJob(j, ImportUnchanged)

		// It goes on there, and is imported again.
		j.History = append(j.History, JobVersion{At: 4000, Status: j.Status})
		j.Status, j.Updated, j.Tags = parse(t, `{"state":"VALIDATE"}`), 5000, nil
		h.importJob(j, ImportUpdated)
		h.wantJob(h.job("j1"), `{"state":"VALIDATE"}`, "VALIDATE", "OPEN")
		h.wantHistory("j1", `4000 {"progress":7,"state":"PROGRESS"} {"n":2}`, `3000 {"progress":1,"state":"PROGRESS"} {"n":2}`, `2000 null {"n":1}`, `1000 {"clientId":"car","definitionHash":"of 0","state":"NEW"} null`)
		h.importJob(j, ImportUnchanged)

		// What the definition was is known here, though not there.
		j.History = append(j.History, JobVersion{At: 5000, Status: j.Status, Definition: parse(t, `{"n":3}`)})
		j.Updated, j.Definition = 5500, parse(t, `{"n":3}`)
		h.importJob(j, ImportUpdated)
		h.wantHistory("j1", `5000 null {"n":2}`, `4000 {"progress":7,"state":"PROGRESS"} {"n":2}`, `3000 {"progress":1,"state":"PROGRESS"} {"n":2}`, `2000 null {"n":1}`, `1000 {"clientId":"car","definitionHash":"of 0","state":"NEW"} null`)

		// It goes on here: what the other system says does not count any more.
		h.move("j1", "WFX", `{"state":"DONE"}`)
		h.importJob(j, ImportKept)
		j.Status, j.Updated = parse(t, `{"state":"REJECTED"}`), 6000
		h.importJob(j, ImportDiverged)
		h.wantJob(h.job("j1"), `{"state":"DONE"}`, "DONE", "CLOSED")
		if problems, err := h.store.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("the store: %v %v", problems, err)
		}
	})
}

// TestImportEnded: a job that is over is over, and can still be reported.
func TestImportEnded(t *testing.T) {
	h := boardHarness(t)
	j := imported(t)
	j.Status = parse(t, `{"state":"DONE"}`)
	h.importJob(j, ImportNew)
	if job := h.job("j1"); job.Instance.Status != core.Completed || job.Ended != 4000 {
		t.Errorf("the job is %s since %d", job.Instance.Status, job.Ended)
	}
	h.move("j1", "CLIENT", `{"state":"DONE","message":"again"}`)
}

// TestImportTimer: the time limit of a state counts from the last change.
func TestImportTimer(t *testing.T) {
	h := boardHarness(t)
	j := imported(t)
	j.Created = h.now()
	j.Updated, j.History = j.Created, nil
	h.importJob(j, ImportNew)
	if row := h.get("j1"); !row.HasWake || row.Wake <= j.Updated {
		t.Errorf("it wakes at %v (%t)", row.Wake, row.HasWake)
	}
}

// TestImportRefused: what is wrong with a job is told, and nothing is stored.
func TestImportRefused(t *testing.T) {
	h := boardHarness(t)
	h.newJob("van")
	taken := h.newJob("bus")
	for want, change := range map[string]func(*JobImport){
		"it has no id":                   func(j *JobImport) { j.ID = "" },
		"not one of the workflow":        func(j *JobImport) { j.Status = parse(t, `{"state":"GONE"}`) },
		"its state \"\"":                 func(j *JobImport) { j.Status = parse(t, `[]`) },
		"cannot be resumed":              func(j *JobImport) { j.Status = parse(t, `{"state":"BACKLOG"}`) },
		"another instance has this id":   func(j *JobImport) { j.ID = taken.ID },
		"clientId is required":           func(j *JobImport) { j.Client = "" },
		"limit job-tag-bytes":            func(j *JobImport) { j.Tags = []string{strings.Repeat("x", maxTagBytes+1)} },
		"there is no workflow \"other\"": func(j *JobImport) { j.Workflow = "other" },
	} {
		j := imported(t)
		change(&j)
		if _, err := h.ImportJob(t.Context(), j, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var missing *NotFoundError
	if _, err := h.Job(t.Context(), "j1"); !errors.As(err, &missing) {
		t.Error("something was stored")
	}
}
