package simclient

import (
	"container/heap"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// simulation simulates devices. One goroutine, in run, decides everything; a few others send the requests and
// read the stream, so that thousands of devices need few connections.
type simulation struct {
	devices *client.Jobs
	operate *client.Jobs // for the simulated operator
	broke   func(error)  // reports that the devices lost their connection
	flags   *flags
	clients map[string]int // how many jobs each has had
	jobs    map[string]*simJob
	flows   map[string]*workflow

	due     dueJobs
	ready   time.Time // of a limited rate: when the next request may go out
	running int
	listing int // how many listings are under way
	sum     summary
}

// summary is the result of a simulation.
type summary struct {
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

// dueJob is a job and the time of its device's next request.
type dueJob struct {
	at    time.Time
	order int // of jobs that are due at the same time
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

func (d *dueJobs) Push(x any) { d.list = append(d.list, x.(dueJob)) }

func (d *dueJobs) Pop() any {
	last := d.list[len(d.list)-1]
	d.list = d.list[:len(d.list)-1]
	return last
}

// task is one request of a device, with its answer.
type task struct {
	job    *simJob
	status api.JobStatus // the update; unused if look
	look   bool
	theirs bool // the operator sends it
	got    api.Job
	err    error
}

const (
	workers      = 16
	pauseBetween = time.Second // between two reports of a device at speed 1
	patience     = time.Minute // how long the server may be unreachable
)

// run simulates until ctx ends or the condition of a flag is met.
func (s *simulation) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tasks, done := make(chan *task), make(chan *task)
	for range workers {
		go s.work(ctx, tasks, done)
	}
	events, found := make(chan event), make(chan found)
	go s.follow(ctx, events)
	begun := time.Now()
	defer func() { s.finish(time.Since(begun)) }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var next *task
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
			if err := s.finishTask(t); err != nil {
				return err
			}
		case e := <-events:
			switch {
			case e.err != nil:
				return e.err
			case e.Kind == api.StreamReady: // what happened before it is in the list
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

// enough reports whether the condition of a flag is met.
func (s *simulation) enough(next *task) bool {
	ended := s.sum.Deleted
	for _, n := range s.sum.Ended {
		ended += n
	}
	if s.flags.jobs > 0 && ended >= s.flags.jobs {
		return true
	}
	return s.flags.untilIdle && s.listing == 0 && s.running == 0 && s.due.Len() == 0 && next == nil
}

// take returns the next request that is due; otherwise it sets the timer.
func (s *simulation) take(now time.Time, timer *time.Timer) *task {
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
	t := &task{job: j, look: j.look}
	if !t.look {
		t.theirs = j.workflow.theirs[j.state]
		t.status = j.next(s.flags.reports)
	}
	return t
}

// work carries out requests.
func (s *simulation) work(ctx context.Context, tasks <-chan *task, done chan<- *task) {
	for {
		select {
		case t := <-tasks:
			if t.look {
				t.got, t.err = s.devices.GetJob(ctx, t.job.id, false)
			} else {
				side, status := s.devices, api.JobStatus{}
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

// finishTask processes the answer to a request.
func (s *simulation) finishTask(t *task) error {
	j := t.job
	var problem *client.Problem
	switch {
	case errors.As(t.err, &problem) && problem.Status == http.StatusNotFound:
		s.sum.Deleted++
		delete(s.jobs, j.id)
		return nil
	case errors.As(t.err, &problem) && problem.Status == http.StatusBadRequest && !t.look:
		s.sum.Refused++ // the job changed meanwhile: read it
		j.look = true
		s.plan(j, 0)
		return nil
	case client.IsTemporary(t.err): // the stream ends if the server stays unreachable
		j.look = true
		s.plan(j, pauseBetween)
		return nil
	case t.err != nil:
		return t.err
	}
	if t.look {
		j.look = false
		s.learn(j, t.got)
	} else {
		s.sum.Updates++
		s.note(j, t.status.State) // even if the job leaves it immediately
	}
	s.enter(j, t.got.State())
	return nil
}

// learn sets the workflow of a job that was read.
func (s *simulation) learn(j *simJob, got api.Job) {
	if j.workflow != nil || got.Workflow == nil {
		return
	}
	j.workflow = s.flow(*got.Workflow)
	s.begin(j)
}

func (s *simulation) flow(w api.Workflow) *workflow {
	if s.flows[w.Name] == nil {
		s.flows[w.Name] = newWorkflow(w, s.flags.failState, s.flags.approve)
	}
	return s.flows[w.Name]
}

// begin decides how a job will end.
func (s *simulation) begin(j *simJob) {
	n := s.clients[j.client]
	s.clients[j.client]++
	j.rng = newRandom(s.flags.seed, j.client, j.workflow.Name, n)
	j.fails = j.rng.Float64() < float64(s.flags.fail)
}

// enter continues from the current state of a job.
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

// note counts a job that reached a failure state, final or not.
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
	return time.Duration(float64(pauseBetween) / s.flags.speed * (0.5 + j.rng.Float64()))
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
