package simclient

import (
	"context"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/job"
)

// event is an event of the stream, or why the stream ended.
type event struct {
	client.JobEvent
	err error
}

// found is a job of a listing, its end, or why it failed.
type found struct {
	job  api.Job
	over bool
	err  error
}

// follow reads the events of jobs.
func (s *simulation) follow(ctx context.Context, to chan<- event) {
	q := client.JobEventQuery{Patience: patience, Broke: s.broke}
	if s.flags.workflow != anyWorkflow {
		q.Workflows = []string{s.flags.workflow}
	}
	for e, err := range s.devices.JobEvents(ctx, q) {
		select {
		case to <- event{e, err}:
		case <-ctx.Done():
			return
		}
	}
}

// list finds the jobs that a simulated actor can move.
func (s *simulation) list(ctx context.Context, to chan<- found) {
	give := func(f found) bool {
		select {
		case to <- f:
			return true
		case <-ctx.Done():
			return false
		}
	}
	workflows, err := s.workflows(ctx)
	if err != nil {
		give(found{err: err, over: true})
		return
	}
	for _, w := range workflows {
		for _, state := range w.States {
			if len(w.Moves(state.Name, api.ActorClient)) == 0 && (!s.flags.approve || w.Final(state.Name)) {
				continue
			}
			jobs, err := s.inState(ctx, w.Name, state.Name)
			if err != nil {
				give(found{err: err, over: true})
				return
			}
			for _, j := range jobs {
				if !give(found{job: j}) {
					return
				}
			}
		}
	}
	give(found{over: true})
}

func (s *simulation) workflows(ctx context.Context) ([]api.Workflow, error) {
	if s.flags.workflow != anyWorkflow {
		w, err := s.devices.GetWorkflow(ctx, s.flags.workflow)
		return []api.Workflow{w}, err
	}
	all, _, err := cli.Take(job.Pages(0, func(limit, offset int) (api.JobPage[api.Workflow], error) {
		return s.devices.ListWorkflows(ctx, client.WorkflowQuery{Limit: limit, Offset: offset})
	}), 0)
	return all, err
}

// inState reads all jobs in a state before any of them is changed: others would move up into pages that were
// already read.
func (s *simulation) inState(ctx context.Context, workflow, state string) ([]api.Job, error) {
	jobs, _, err := cli.Take(job.All(ctx, s.devices, client.JobQuery{Workflow: workflow, State: state}, 0), 0)
	return jobs, err
}

// adopt starts simulating a job.
func (s *simulation) adopt(got api.Job) {
	if _, ours := s.clients[got.ClientID]; !ours || s.jobs[got.ID] != nil || got.ID == "" {
		return
	}
	j := &simJob{id: got.ID, client: got.ClientID}
	s.jobs[j.id] = j
	s.sum.Jobs++
	if got.Workflow == nil || len(got.Workflow.Transitions) == 0 || got.State() == "" {
		j.look = true
		s.plan(j, 0)
		return
	}
	s.learn(j, got)
	s.enter(j, got.State())
}

// hear processes an event of a job. Events of jobs that a device works on are ignored: its own requests
// have them.
func (s *simulation) hear(e client.JobEvent) {
	j := s.jobs[e.Job.ID]
	switch {
	case j == nil && (e.Action == api.JobCreated || e.Action == api.JobStatusUpdated):
		s.adopt(e.Job)
	case j == nil || !j.parked:
	case e.Action == api.JobDeleted:
		if !j.over {
			s.sum.Deleted++
		}
		delete(s.jobs, j.id)
	case !j.over && e.Action == api.JobStatusUpdated && e.Job.State() != j.state:
		j.parked, j.look = false, true // the event may be old: read the job
		s.plan(j, 0)
	}
}
