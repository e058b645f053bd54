package main

import (
	"container/heap"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/client"
)

// simulation plays devices. One goroutine, in run, decides everything; a few others carry out the
// requests and follow the stream, so that thousands of devices need few connections.
type simulation struct {
	devices *client.Jobs
	operate *client.Jobs // the operator who is played too
	broke   func(error)  // tells that the devices lost their connection
	flags   *simFlags
	clients map[string]int // how many jobs each has had
	jobs    map[string]*simJob
	flows   map[string]*simWorkflow

	due     dueJobs
	ready   time.Time // of a limited rate: when the next request may go out
	running int
	listing int // how many listings are under way
	sum     simSummary
}

// simSummary is what a simulation tells at its end.
type simSummary struct {
	Clients int            `json:"clients"`
	Jobs    int            `json:"jobs"`
	Ended   map[string]int `json:"ended"` // by final state
	Failed  int            `json:"failed"`
	Waiting int            `json:"waiting"` // for an operator
	Open    int            `json:"open"`
	Deleted int            `json:"deleted"`
	Updates int            `json:"updates"`
	Refused int            `json:"refused"` // updates that came too late
	Seconds float64        `json:"seconds"`
}

// dueJob is a job whose device does something at a time.
type dueJob struct {
	at    time.Time
	order int // those of one instant go in the order in which they came
	job   *simJob
}

type dueJobs struct {
	list  []dueJob
	count int
}

func (d *dueJobs) Len() int { return len(d.list) }
func (d *dueJobs) Less(a, b int) bool {
	if !d.list[a].at.Equal(d.list[b].at) {
		return d.list[a].at.Before(d.list[b].at)
	}
	return d.list[a].order < d.list[b].order
}
func (d *dueJobs) Swap(a, b int) { d.list[a], d.list[b] = d.list[b], d.list[a] }
func (d *dueJobs) Push(x any)    { d.list = append(d.list, x.(dueJob)) }
func (d *dueJobs) Pop() any {
	last := d.list[len(d.list)-1]
	d.list = d.list[:len(d.list)-1]
	return last
}

// simTask is one request of a device; the answer comes back in it.
type simTask struct {
	job    *simJob
	status client.JobStatus // what it says; not used where it looks
	look   bool
	theirs bool // the operator says it
	got    client.Job
	err    error
}

const (
	simWorkers  = 16
	simPause    = time.Second // between two reports of a device at speed 1
	simPatience = time.Minute // how long the server may be away
)

// run plays until ctx ends or the flags say that it is enough.
func (s *simulation) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tasks, done := make(chan *simTask), make(chan *simTask)
	for range simWorkers {
		go s.work(ctx, tasks, done)
	}
	events, found := make(chan simEvent), make(chan simFound)
	go s.follow(ctx, events)
	begun := time.Now()
	defer func() { s.finish(time.Since(begun)) }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var next *simTask
	for followed := false; ; {
		if followed && s.enough(next) {
			return nil
		}
		if next == nil {
			next = s.take(time.Now(), timer)
		}
		out := tasks
		if next == nil {
			out = nil
		}
		select {
		case out <- next:
			next = nil
			s.running++
		case t := <-done:
			s.running--
			if err := s.settle(t); err != nil {
				return err
			}
		case e := <-events:
			switch {
			case e.err != nil:
				return e.err
			case e.Kind == client.StreamReady: // what happened before it is in the list
				followed = true
				s.listing++
				go s.list(ctx, found)
			default:
				s.hear(e.JobEvent)
			}
		case f := <-found:
			if f.over {
				s.listing--
			}
			if f.err != nil {
				return f.err
			}
			s.adopt(f.job)
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// enough reports whether there is nothing left to do that was asked for.
func (s *simulation) enough(next *simTask) bool {
	ended := s.sum.Deleted
	for _, n := range s.sum.Ended {
		ended += n
	}
	if s.flags.jobs > 0 && ended >= s.flags.jobs {
		return true
	}
	return s.flags.untilIdle && s.listing == 0 && s.running == 0 && s.due.Len() == 0 && next == nil
}

// take is the next request that may go out now; else the timer is set to when one may.
func (s *simulation) take(now time.Time, timer *time.Timer) *simTask {
	if s.due.Len() == 0 {
		return nil
	}
	at := s.due.list[0].at
	if s.ready.After(at) {
		at = s.ready
	}
	if at.After(now) {
		timer.Reset(at.Sub(now))
		return nil
	}
	if s.flags.rate > 0 {
		s.ready = now.Add(time.Duration(float64(time.Second) / s.flags.rate))
	}
	j := heap.Pop(&s.due).(dueJob).job
	t := &simTask{job: j, look: j.look}
	if !t.look {
		t.theirs = j.workflow.theirs[j.state]
		t.status = j.next(s.flags.reports)
	}
	return t
}

// work carries out requests.
func (s *simulation) work(ctx context.Context, tasks <-chan *simTask, done chan<- *simTask) {
	for {
		select {
		case t := <-tasks:
			if t.look {
				t.got, t.err = s.devices.GetJob(ctx, t.job.id, false)
			} else {
				side, status := s.devices, client.JobStatus{}
				if t.theirs {
					side = s.operate
				}
				status, t.err = side.UpdateStatus(ctx, t.job.id, t.status)
				t.got.Status = &status
			}
			select {
			case done <- t:
				continue
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		return
	}
}

// settle goes on after a request.
func (s *simulation) settle(t *simTask) error {
	j := t.job
	var problem *client.Problem
	switch {
	case errors.As(t.err, &problem) && problem.Status == http.StatusNotFound:
		s.sum.Deleted++
		delete(s.jobs, j.id)
		return nil
	case errors.As(t.err, &problem) && problem.Status == http.StatusBadRequest && !t.look:
		s.sum.Refused++ // someone was faster: see how it stands
		j.look = true
		s.plan(j, 0)
		return nil
	case client.Passing(t.err): // the stream notices when the server stays away
		j.look = true
		s.plan(j, simPause)
		return nil
	case t.err != nil:
		return t.err
	}
	if t.look {
		j.look = false
		s.learn(j, t.got)
	} else {
		s.sum.Updates++
		s.note(j, t.status.State) // also one that it leaves at once
	}
	s.enter(j, t.got.State())
	return nil
}

// learn takes what a job that was read says of its workflow.
func (s *simulation) learn(j *simJob, got client.Job) {
	if j.workflow != nil || got.Workflow == nil {
		return
	}
	j.workflow = s.flow(*got.Workflow)
	s.begin(j)
}

func (s *simulation) flow(w client.Workflow) *simWorkflow {
	if s.flows[w.Name] == nil {
		s.flows[w.Name] = newSimWorkflow(w, s.flags.failState, s.flags.approve)
	}
	return s.flows[w.Name]
}

// begin decides how a job is to end.
func (s *simulation) begin(j *simJob) {
	n := s.clients[j.client]
	s.clients[j.client]++
	j.rng = newRandom(s.flags.seed, j.client, j.workflow.Name, n)
	j.fails = j.rng.Float64() < float64(s.flags.fail)
}

// enter goes on from the state that a job is in.
func (s *simulation) enter(j *simJob, state string) {
	j.enter(state, s.flags.reports)
	s.note(j, state)
	switch {
	case !j.parked:
		s.plan(j, s.pause(j))
	case j.workflow.Final(state):
		s.sum.Ended[state]++
		j.over = true
	}
}

// note counts a job that came to a failure, be it its end or not.
func (s *simulation) note(j *simJob, state string) {
	if j.workflow.failed[state] && !j.failed {
		j.failed = true
		s.sum.Failed++
	}
}

// pause is how long a device takes to its next report.
func (s *simulation) pause(j *simJob) time.Duration {
	if s.flags.speed <= 0 {
		return 0
	}
	return time.Duration(float64(simPause) / s.flags.speed * (0.5 + j.rng.Float64()))
}

func (s *simulation) plan(j *simJob, after time.Duration) {
	s.due.count++
	heap.Push(&s.due, dueJob{time.Now().Add(after), s.due.count, j})
}

func (s *simulation) finish(took time.Duration) {
	s.sum.Clients, s.sum.Seconds = len(s.clients), took.Seconds()
	for _, j := range s.jobs {
		switch {
		case j.over:
		case j.parked:
			s.sum.Waiting++
		default:
			s.sum.Open++
		}
	}
}
