package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/sim"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// client wants one thing, and asks until it has an answer.
type client struct {
	w      *world
	number int
	act    *Act
	due    time.Time
	tries  int
	asks   *process // whom it has asked; nil: nobody
	done   bool

	follows *follower // of the feed
}

// maxTries is how often a client asks for something that may never be possible.
const maxTries = 40

func (c *client) name() string { return fmt.Sprint("c", c.number) }

// key is that of a start: the same for those who want the same instance.
func (c *client) key() string {
	if c.act.Choice != "" {
		return c.act.Choice
	}
	return fmt.Sprint("act-", c.number)
}

// ask sends the request to a node that is up.
func (c *client) ask() {
	w := c.w
	for i := range w.nodes {
		n := w.nodes[(c.act.Node+c.tries+i)%len(w.nodes)]
		if !n.up() {
			continue
		}
		w.tell(c.name(), n.name, "%s", c.act)
		c.asks = n.proc
		p := n.proc
		p.begin("asked", c, func() { c.perform(p) })
		return
	}
	c.later(500 * time.Millisecond)
}

// lost says that whoever was asked is gone.
func (c *client) lost() {
	c.later(time.Second)
}

func (c *client) later(d time.Duration) {
	c.asks = nil
	c.tries++
	c.due = c.w.now.Add(d)
}

// perform does what the client wants, in the coroutine of the process.
func (c *client) perform(p *process) {
	err := c.do(p)
	if p.dead {
		return // nobody answers
	}
	var wait *notYet
	switch {
	case err == nil:
		c.w.tell(p.n.name, c.name(), "done")
		c.done = true
	case errors.As(err, &wait) && c.tries < maxTries:
		c.later(time.Second)
	case refused(err) || errors.As(err, &wait):
		c.w.tell(p.n.name, c.name(), "%v", err)
		c.done = true
	default:
		c.w.tell(p.n.name, c.name(), "%v", err)
		c.later(time.Second)
	}
}

// notYet says that something may be possible later.
type notYet struct{ why string }

func (e *notYet) Error() string { return e.why }

// refused reports whether asking again does not help.
func refused(err error) bool {
	var rejected *core.Rejected
	var missing *engine.NotFoundError
	var exists *engine.ExistsError
	var rev *engine.RevisionError
	var input *engine.InputError
	var version *engine.VersionConflictError
	var schedule *engine.ScheduleError
	var used *store.InUseError
	var key *engine.KeyConflictError
	return errors.As(err, &key) || errors.As(err, &used) || errors.As(err, &rejected) || errors.As(err, &missing) || errors.As(err, &exists) || errors.As(err, &rev) ||
		errors.As(err, &input) || errors.As(err, &version) || errors.As(err, &schedule)
}

func (c *client) do(p *process) error {
	a, l := c.act, &c.w.ledger
	switch a.Kind {
	case ActStart:
		return c.start(p)
	case ActRestart:
		return c.restart(p)
	case ActDrop:
		return c.drop(p)
	case ActFollow:
		return c.followFeed(p)
	case ActEvent:
		_, err := p.engine.Send(p.ctx, a.Event)
		if err == nil && !p.dead {
			l.events[a.Event.ID] = a
		}
		return err
	case ActControl:
		return c.control(p)
	case ActAnswer:
		return c.answer(p)
	case ActDelete:
		return c.remove(p)
	case ActUndeploy:
		return l.registry.undeploy(c, p)
	case ActDeploy:
		if a.What == "brief" {
			return l.registry.deploy(c, p)
		}
		again := *programs()[a.What]
		again.Version = fmt.Sprint("2.", c.number)
		return p.engine.Deploy(p.ctx, &again)
	case ActCron:
		if a.What == "cron" && !l.fires.ending.IsZero() {
			return nil // it is too late: it would never end
		}
		l.fires.begin(a.What, c.w.now)
		err := p.engine.Deploy(p.ctx, programs()[a.What])
		if err == nil && !p.dead {
			l.fires.end(a.What, c.w.now)
		}
		return err
	case ActJob:
		request := engine.JobRequest{Workflow: "device", Client: "c", ID: a.What}
		if a.What == sim.JobID {
			request = c.w.c.Oracle.JobRequest()
		}
		_, err := p.engine.CreateJob(p.ctx, request)
		if exists := (*engine.ExistsError)(nil); errors.As(err, &exists) && c.tries > 0 {
			err = nil // that was this client
		}
		if err == nil && !p.dead {
			l.log(a.What) // it is known from now on
		}
		return err
	case ActUpdate:
		if a.Update == nil {
			return c.update(p, a.What, a.Actor, a.Choice, a.Since)
		}
		reply, err := a.Update.Send(p.ctx, p.engine, c.w.now)
		if err == nil && !p.dead {
			l.replies = append(l.replies, reply)
		}
		return err
	case ActRead:
		_, err := c.read(p, a.What)
		return err
	case ActDevice:
		return c.device(p)
	case ActSchedule:
		return c.schedule(p)
	}
	panic("unknown act " + a.Kind)
}

// remove deletes an instance that is over.
func (c *client) remove(p *process) error {
	l := &c.w.ledger
	id := l.started[c.act.What]
	if id == "" {
		return &notYet{"it has not been started"}
	}
	l.deleting[id] = true
	err := p.engine.DeleteInstance(p.ctx, id, 0)
	var live *core.Rejected
	if errors.As(err, &live) {
		return &notYet{live.Error()}
	}
	return err
}

// deploy deploys everything before the nodes come up.
func (w *world) deploy(ctx context.Context) error {
	e, err := engine.New(engine.Config{Store: w.store(w.db.Connect("deploy", direct{w.db.now})), Clock: w.clockOf(w.nodes[0]), Languages: languages.All(), Timezone: "UTC", Inline: true})
	if err != nil {
		return err
	}
	for _, name := range order {
		if err := e.Deploy(ctx, programs()[name]); err != nil {
			return err
		}
	}
	if w.c.Oracle == nil {
		return nil
	}
	list, err := w.c.Oracle.Compile()
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(list) { // children first
		if err := e.Deploy(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
