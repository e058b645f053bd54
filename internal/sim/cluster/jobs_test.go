package cluster

import (
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/jobcheck"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// byClock is who moves a job whose time is up.
const byClock = "clock"

// deviceMoves are those of the definition device.
var deviceMoves = jobcheck.Moves{
	"CREATED":  {"CLIENT": {"FETCHING"}},
	"FETCHING": {"CLIENT": {"FETCHED", "BROKEN"}, "WFX": {"BROKEN"}, byClock: {"BROKEN"}},
	"FETCHED":  {"WFX": {"APPROVED"}},
	"APPROVED": {"CLIENT": {"DONE"}},
}

// deviceWay is who takes a job from a state to which next one.
var deviceWay = map[string][2]string{
	"CREATED": {"CLIENT", "FETCHING"}, "FETCHING": {"CLIENT", "FETCHED"}, "FETCHED": {"WFX", "APPROVED"}, "APPROVED": {"CLIENT", "DONE"},
}

// log is what clients did to a job and saw of it. All times are those of one thread.
func (l *ledger) log(job string) *jobcheck.Log {
	if l.logs[job] == nil {
		l.logs[job] = &jobcheck.Log{Moves: deviceMoves, Initial: jobcheck.Status{State: "CREATED"}, Clock: l.tick}
	}
	return l.logs[job]
}

// tick is the time in the order in which things happen.
func (l *ledger) tick() int64 {
	l.ticks++
	return l.ticks
}

func statusOf(j *engine.Job) jobcheck.Status {
	state, _ := j.Status.Get(jobdata.State)
	message, _ := j.Status.Get("message")
	return jobcheck.Status{State: state.Str(), Message: message.Str()}
}

// read reads a job.
func (c *client) read(p *process, id string) (job engine.Job, err error) {
	log := c.w.ledger.logs[id]
	if log == nil {
		return job, &notYet{"it is not created"}
	}
	log.Read(c.number, func() (jobcheck.Status, bool) {
		job, err = p.engine.Job(p.ctx, id)
		return statusOf(&job), err == nil && !p.dead
	})
	c.missing(p, id, err)
	return job, err
}

// missing: a job that is known is there, unless somebody deletes it.
func (c *client) missing(p *process, id string, err error) {
	var missing *engine.NotFoundError
	if !p.dead && c.w.c.Retain == 0 && !c.w.ledger.deleting[id] && errors.As(err, &missing) {
		c.w.violate("job %s is known, and: %w", id, err)
	}
}

// update sends a status, which nobody else sends.
func (c *client) update(p *process, id, actor, choice string, since bool) (err error) {
	log := c.w.ledger.logs[id]
	if log == nil {
		return &notYet{"it is not created"}
	}
	want := jobcheck.Status{State: choice, Message: fmt.Sprintf("%s/%d", c.name(), c.tries)}
	u := engine.JobUpdate{Actor: actor, Status: object(jobdata.State, expr.String(choice)).With("message", expr.String(want.Message))}
	var told engine.Job
	do := func() (jobcheck.Verdict, jobcheck.Status) {
		told, err = p.engine.UpdateJob(p.ctx, id, u)
		c.missing(p, id, err)
		return verdict(p, err), statusOf(&told)
	}
	if !since {
		if log.Update(c.number, actor, want, do) == jobcheck.Accepted && c.number%2 == 0 {
			c.follow(p, id, actor, told)
		}
		return err
	}
	job, err := c.read(p, id)
	if err != nil {
		return err
	}
	u.Rev = job.Rev
	log.UpdateSince(c.number, actor, statusOf(&job), want, do)
	return err
}

// follow sends a second status of the same state at the revision that the answer to the first told. It may be
// refused, but must not be taken if anything came between.
func (c *client) follow(p *process, id, actor string, first engine.Job) {
	was := statusOf(&first)
	want := jobcheck.Status{State: was.State, Message: was.Message + "+"}
	u := engine.JobUpdate{Actor: actor, Rev: first.Rev, Status: object(jobdata.State, expr.String(want.State)).With("message", expr.String(want.Message))}
	c.w.ledger.logs[id].UpdateSince(c.number, actor, was, want, func() (jobcheck.Verdict, jobcheck.Status) {
		job, err := p.engine.UpdateJob(p.ctx, id, u)
		return verdict(p, err), statusOf(&job)
	})
}

func verdict(p *process, err error) jobcheck.Verdict {
	var no *core.Rejected
	switch {
	case p.dead:
		return jobcheck.Unknown
	case err == nil:
		return jobcheck.Accepted
	case errors.As(err, &no):
		return jobcheck.Refused
	case refused(err):
		return jobcheck.Stale // or gone
	}
	return jobcheck.Unknown
}

// device advances a job of a client by one step, until it is done.
func (c *client) device(p *process) error {
	jobs, err := p.engine.Jobs(p.ctx, store.Query{Client: c.act.What})
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return &notYet{"it has no job"}
	}
	j := &jobs[0]
	move, ok := deviceWay[j.Job.State]
	if j.Instance.Status.Final() || !ok {
		return nil
	}
	c.w.ledger.log(j.ID)
	if err := c.update(p, j.ID, move[0], move[1], c.tries%2 == 1); err != nil && !refused(err) {
		return err
	}
	return &notYet{"its job goes on"}
}

// linearJobs checks each job, also those that were deleted.
func (l *ledger) linearJobs() error {
	for _, me := range l.lives {
		if l.definitions[me] != "device" || l.hadID(me) {
			continue
		}
		if _, kept := l.ended[me]; (l.gone[me] || !kept) && l.w.disk != nil {
			continue // there may have been a commit that nobody heard of
		}
		if err := l.linear(me.id, l.history[me]); err != nil {
			return err
		}
	}
	return nil
}

// linear: there is an order of all updates and reads of a job that a single job could have gone through, and it
// is that of its history.
func (l *ledger) linear(id string, records []core.Record) error {
	var history []jobcheck.Status
	log := l.log(id)
	for i, r := range records {
		switch r.Type {
		case core.RecControl:
			return nil // it was given up from outside
		case core.RecTaken:
			message, _ := r.Data.Get("message")
			history = append(history, jobcheck.Status{State: r.Text, Message: message.Str()})
		case core.RecTimedOut:
			late := jobcheck.Status{State: "BROKEN", Message: fmt.Sprint(byClock, "-", i)}
			log.Itself(byClock, late)
			history = append(history, late)
		}
	}
	if len(history) > 0 {
		l.w.check(LinearJob)
	}
	if err := log.Check(history); err != nil {
		return fmt.Errorf("job %s: %w\n%v", id, err, history)
	}
	return nil
}

// campaigned: a campaign has one job for each of its devices, and is over when they are.
func (w *world) campaigned(in *store.Instance, rows []store.Instance, records []core.Record) error {
	devices, over := map[string]int{}, true
	for i := range rows {
		if rows[i].Parent == in.ID {
			devices[rows[i].Job.Client]++
			over = over && rows[i].Status.Final()
		}
	}
	if len(records) == 0 {
		return nil
	}
	w.check(WholeCampaign)
	input, _ := records[0].Data.Get("devices")
	for _, d := range input.Items() {
		n := devices[d.Str()]
		if n > 1 || n == 0 && in.Status == core.Completed && w.c.Retain == 0 && w.c.Sweep == 0 && !w.ledger.dropping[d.Str()] {
			return fmt.Errorf("campaign %s has %d jobs for %s", in.ID, n, d.Str())
		}
	}
	if in.Status.Final() && !over {
		return fmt.Errorf("campaign %s is %s, and jobs of it are not over", in.ID, in.Status)
	}
	if over && !in.Status.Final() && in.Status != core.Paused {
		return fmt.Errorf("campaign %s is %s, and all its jobs are over", in.ID, in.Status)
	}
	return nil
}
