package durability

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// run is one instance, from deployment to its end, through all processes.
type run struct {
	*story
	beside   beside
	t        *testing.T
	service  *service
	database string
	early    bool // the events come before the instance

	// What was acknowledged is not sent again.
	deployed  bool
	sent      int // events
	id        string
	processes int
}

func newRun(t *testing.T, s *story) *run {
	r := &run{story: s, t: t, service: newService(t), database: filepath.Join(t.TempDir(), "lockstep.db")}
	if s.beside != nil {
		r.beside = s.beside(t, r.service)
	}
	return r
}

// live runs a process until the instance is over and was looked at, or the process is. It reports
// whether it ended by itself, once the instance was over.
func (r *run) live(o command, look func(*client.Client, api.Instance) error) (whole bool) {
	r.t.Helper()
	r.processes++
	o.Database = r.database
	p, err := launch(o)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = p.cmd.Process.Kill() }()
	late := time.AfterFunc(time.Minute, func() { _ = p.cmd.Process.Kill() }) // where it is stuck the test must still end
	defer late.Stop()
	if p.url != "" {
		c, err := client.New(client.Options{URL: p.url, Attempts: 1})
		if err != nil {
			r.t.Fatal(err)
		}
		defer c.Close()
		in, err := r.drive(c, p)
		if err == nil {
			err = look(c, in)
		}
		if err == nil {
			if p.stop() {
				return true
			}
			err = p.err // it may have died at a write of its end
		}
		var problem *client.Problem
		if errors.As(err, &problem) {
			r.t.Fatalf("refused: %v\n%s", err, p.stderr.String())
		}
	}
	killed := p.killed()
	switch {
	case !late.Stop():
		r.t.Fatalf("nothing goes on:\n%s", p.stderr.String())
	case !killed || o.Kill == 0:
		r.t.Fatalf("the server ended by itself, with %v:\n%s", p.err, p.stderr.String())
	}
	return false
}

// drive sends what was not acknowledged yet, and waits for the end.
func (r *run) drive(c *client.Client, p *process) (api.Instance, error) {
	ctx := context.Background()
	if !r.deployed {
		for _, text := range r.definitions {
			text = strings.ReplaceAll(text, "SERVICE", r.service.URL)
			for name, value := range r.beside.names {
				text = strings.ReplaceAll(text, name, value)
			}
			if _, _, err := c.DeployDefinition(ctx, []byte(text), client.Deploy{}); err != nil {
				return api.Instance{}, err
			}
		}
		r.deployed = true
	}
	if r.early {
		if err := r.tell(ctx, c, nil); err != nil {
			return api.Instance{}, err
		}
	}
	if r.id == "" {
		in, err := c.StartInstance(ctx, r.name, client.Start{Key: "once", Input: api.Data(r.input)})
		if err != nil {
			return in, err
		}
		r.id = in.ID
	}
	if err := r.tell(ctx, c, p); err != nil {
		return api.Instance{}, err
	}
	for {
		in, err := c.GetInstance(ctx, r.id, time.Minute)
		if err == nil && in.Over() {
			err = r.others(ctx, c, p)
		}
		if err != nil || in.Over() {
			return in, err
		}
	}
}

// others waits for the instances that events of this one started.
func (r *run) others(ctx context.Context, c *client.Client, p *process) error {
	for {
		all, err := c.ListInstances(ctx, client.InstanceQuery{})
		if err != nil {
			return err
		}
		if len(all.Items) > 1+r.emitted {
			r.t.Errorf("%d instances were started by %d events", len(all.Items)-1, r.emitted)
		}
		if len(all.Items) > r.emitted && !slices.ContainsFunc(all.Items, func(in api.Instance) bool { return !in.Over() }) {
			return nil
		}
		if err := p.step(); err != nil {
			return err
		}
	}
}

// tell sends the events, each in time if a process is given, until it is acknowledged.
func (r *run) tell(ctx context.Context, c *client.Client, p *process) error {
	for ; r.sent < len(r.events); r.sent++ {
		e := r.events[r.sent]
		if p != nil {
			if err := r.inTime(ctx, c, p, e.state); err != nil {
				return err
			}
		}
		send := r.send
		if e.subject != "" {
			send = func(context.Context, *client.Client, string) error { return r.beside.publish(e.subject, e.text) }
		}
		if err := send(ctx, c, e.text); err != nil {
			return err
		}
	}
	return nil
}

// inTime waits until the instance is in a state, or beyond it: where the sending of an event
// was not acknowledged it may have been taken already.
func (r *run) inTime(ctx context.Context, c *client.Client, p *process, state string) error {
	for {
		in, err := c.GetInstance(ctx, r.id, 0)
		if err != nil {
			return err
		}
		if in.Over() || slices.Index(r.states, in.State) >= slices.Index(r.states, state) {
			return nil
		}
		if err := p.step(); err != nil {
			return err
		}
	}
}

// sentEvents counts the events of the story; its other messages are the broker's.
func (r *run) sentEvents() (n int) {
	for _, e := range r.events {
		if e.subject == "" {
			n++
		}
	}
	return n
}

func (r *run) send(ctx context.Context, c *client.Client, text string) error {
	got, err := c.SendEvents(ctx, api.Data(text))
	if err == nil && got.Accepted+got.Duplicates != 1 {
		r.t.Errorf("the event was not taken: %+v", got)
	}
	return err
}
