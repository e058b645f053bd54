package main

import (
	"context"

	"github.com/lockstep-workflows/lockstep/client"
)

// simEvent is what the stream tells, or why it ended.
type simEvent struct {
	client.JobEvent
	err error
}

// simFound is a job of a listing, its end, or why it failed.
type simFound struct {
	job  client.Job
	over bool
	err  error
}

// follow reads the stream of what happens to jobs.
func (s *simulation) follow(ctx context.Context, to chan<- simEvent) {
	q := client.JobEventQuery{Patience: simPatience, Broke: s.broke}
	if s.flags.workflow != anyWorkflow {
		q.Workflows = []string{s.flags.workflow}
	}
	for e, err := range s.devices.JobEvents(ctx, q) {
		select {
		case to <- simEvent{e, err}:
		case <-ctx.Done():
			return
		}
	}
}

// list finds the jobs in states from which those who are played can go on.
func (s *simulation) list(ctx context.Context, to chan<- simFound) {
	give := func(f simFound) bool {
		select {
		case to <- f:
			return true
		case <-ctx.Done():
			return false
		}
	}
	workflows, err := s.workflows(ctx)
	if err != nil {
		give(simFound{err: err, over: true})
		return
	}
	for _, w := range workflows {
		for _, state := range w.States {
			if len(w.Moves(state.Name, client.ActorClient)) == 0 && (!s.flags.approve || w.Final(state.Name)) {
				continue
			}
			jobs, err := s.inState(ctx, w.Name, state.Name)
			if err != nil {
				give(simFound{err: err, over: true})
				return
			}
			for _, j := range jobs {
				if !give(simFound{job: j}) {
					return
				}
			}
		}
	}
	give(simFound{over: true})
}

func (s *simulation) workflows(ctx context.Context) ([]client.Workflow, error) {
	if s.flags.workflow != anyWorkflow {
		w, err := s.devices.GetWorkflow(ctx, s.flags.workflow)
		return []client.Workflow{w}, err
	}
	var out []client.Workflow
	for {
		page, err := s.devices.ListWorkflows(ctx, client.WorkflowQuery{Limit: jobPage, Offset: len(out)})
		if err != nil {
			return nil, err
		}
		out = append(out, page.Content...)
		if len(page.Content) < jobPage {
			return out, nil
		}
	}
}

// inState reads all jobs in a state before any of them is touched: later ones would move up into
// pages that were read already.
func (s *simulation) inState(ctx context.Context, workflow, state string) ([]client.Job, error) {
	var out []client.Job
	for {
		page, err := s.devices.ListJobs(ctx, client.JobQuery{Workflow: workflow, State: state, Limit: jobPage, Offset: len(out)})
		if err != nil {
			return nil, err
		}
		out = append(out, page.Content...)
		if len(page.Content) < jobPage {
			return out, nil
		}
	}
}

// adopt begins with a job that was found.
func (s *simulation) adopt(got client.Job) {
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

// hear takes note of what happened to a job. Of those that a device works on, its own requests tell.
func (s *simulation) hear(e client.JobEvent) {
	j := s.jobs[e.Job.ID]
	switch {
	case j == nil && (e.Action == client.JobCreated || e.Action == client.JobStatusUpdated):
		s.adopt(e.Job)
	case j == nil || !j.parked:
	case e.Action == client.JobDeleted:
		if !j.over {
			s.sum.Deleted++
		}
		delete(s.jobs, j.id)
	case !j.over && e.Action == client.JobStatusUpdated && e.Job.State() != j.state:
		j.parked, j.look = false, true // an event may be older than what is known: ask
		s.plan(j, 0)
	}
}
