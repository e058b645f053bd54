package durability

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/client"
)

// definition calls functions that a document describes, waits for an event that has its
// order, sleeps, fans out over a list, and takes back what it did.
const definition = `id: order
name: Order
version: "1"
functions:
- {name: reserve, operation: "SERVICE/openapi.yaml#reserve"}
- {name: release, operation: "SERVICE/openapi.yaml#release"}
- {name: pack, operation: "SERVICE/openapi.yaml#pack"}
- {name: ship, operation: "SERVICE/openapi.yaml#ship"}
events:
- name: Paid
  type: order.paid
  source: till
  kind: consumed
  correlation: [{contextAttributeName: order, contextAttributeValue: "{{ $.order }}"}]
states:
- name: Reserve
  type: operation
  start: {kind: default}
  actions:
  - functionRef: {refName: reserve, parameters: {order: "{{ $.order }}"}}
  compensatedBy: Release
  transition: {nextState: Pay}
- name: Pay
  type: event
  onEvents:
  - eventRefs: [Paid]
    eventDataFilter: {dataOutputPath: "{{ $.data }}"}
    actions: []
  transition: {nextState: Rest}
- {name: Rest, type: delay, timeDelay: PT0.05S, transition: {nextState: Pack}}
- name: Pack
  type: foreach
  inputCollection: "{{ $.items }}"
  iterationParam: item
  outputCollection: "{{ $.parcels }}"
  actions:
  - functionRef: {refName: pack, parameters: {item: "{{ $.item }}"}}
  transition: {nextState: Ship}
- name: Ship
  type: operation
  actions:
  - functionRef: {refName: ship, parameters: {parcels: "{{ $.parcels }}"}}
  onErrors:
  - {error: NotDeliverable, transition: {compensateBefore: true, nextState: Close}}
  end: {kind: default}
- {name: Close, type: inject, data: {closed: true}, end: {kind: default}}
- name: Release
  type: operation
  usedForCompensation: true
  actions:
  - functionRef: {refName: release, parameters: {number: "{{ $.number }}"}}
`

const (
	input  = `{"order":"o1","items":["hat","scarf","glove"]}`
	paid   = `{"specversion":"1.0","type":"order.paid","source":"till","id":"1","order":"o1","data":{"amount":7}}`
	paidBy = `{"specversion":"1.0","type":"order.paid","source":"till","id":"2","order":"o2","data":{"amount":9}}` // another's
)

// run is one instance, from deployment to its end, through all processes.
type run struct {
	t        *testing.T
	service  *service
	database string
	early    bool // the event comes before the instance

	// What was acknowledged is not sent again.
	deployed, sent, foreign bool
	id                      string
	processes               int
}

func newRun(t *testing.T) *run {
	return &run{t: t, service: newService(t), database: filepath.Join(t.TempDir(), "lockstep.db")}
}

// live runs a process until the instance is over or the process is. It reports whether
// the instance is over.
func (r *run) live(o order, look func(*client.Client, client.Instance)) (over bool) {
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
		if over = err == nil; over {
			look(c, in)
			if err := p.stop(); err != nil {
				r.t.Fatal(err)
			}
			return true
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
func (r *run) drive(c *client.Client, p *process) (client.Instance, error) {
	ctx := context.Background()
	if !r.deployed {
		text := strings.ReplaceAll(definition, "SERVICE", r.service.URL)
		if _, _, err := c.DeployDefinition(ctx, []byte(text), client.Deploy{}); err != nil {
			return client.Instance{}, err
		}
		r.deployed = true
	}
	if r.early {
		if err := r.pay(ctx, c); err != nil {
			return client.Instance{}, err
		}
	}
	if r.id == "" {
		in, err := c.StartInstance(ctx, "order", client.Start{Key: "once", Input: client.Data(input)})
		if err != nil {
			return in, err
		}
		r.id = in.ID
	}
	if !r.foreign {
		if err := r.send(ctx, c, paidBy); err != nil {
			return client.Instance{}, err
		}
		r.foreign = true
	}
	if err := r.inTime(ctx, c, p); err != nil {
		return client.Instance{}, err
	}
	if err := r.pay(ctx, c); err != nil {
		return client.Instance{}, err
	}
	for {
		in, err := c.GetInstance(ctx, r.id, time.Minute)
		if err != nil || in.Over() {
			return in, err
		}
	}
}

// pay sends the event that the instance waits for, until that is acknowledged.
func (r *run) pay(ctx context.Context, c *client.Client) error {
	if r.sent {
		return nil
	}
	err := r.send(ctx, c, paid)
	r.sent = err == nil
	return err
}

// inTime waits until the instance waits for the event, where it is not sent yet.
func (r *run) inTime(ctx context.Context, c *client.Client, p *process) error {
	for !r.sent {
		in, err := c.GetInstance(ctx, r.id, 0)
		if err != nil {
			return err
		}
		if in.Over() || !slices.Contains(in.States, "Reserve") {
			return nil // it took the event already where its sending was not acknowledged
		}
		select {
		case <-p.steps:
		case <-p.over:
			return fmt.Errorf("the server is gone: %w", p.err)
		}
	}
	return nil
}

func (r *run) send(ctx context.Context, c *client.Client, text string) error {
	got, err := c.SendEvents(ctx, client.Data(text))
	if err == nil && got.Accepted+got.Duplicates != 1 {
		r.t.Errorf("the event was not taken: %+v", got)
	}
	return err
}
