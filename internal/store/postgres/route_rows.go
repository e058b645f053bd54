package postgres

import (
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// routeFunction writes what a router decided.
var routeFunction = describe[routeArgs]("SELECT ", "route")

// routeArgs are the arguments of the function that routes.
type routeArgs struct {
	NS      int32
	Numbers numbers
	Emit    int64 // it becomes the event that is taken; 0: none does

	Looks   []note       `sql:"x_"`
	Taken   takenEvent   `sql:"n_"`
	Events  []eventRow   `sql:"v_"`
	For     []forRow     `sql:"f_"`
	Deliver []deliverRow `sql:"d_"`
	Gather  []gatherRow  `sql:"g_"`

	Drop, Again []int64
	Checked     []string

	Start  []startRow `sql:"r_"`
	Labels []labelRow `sql:"l_"`
	Owners []ownerRow `sql:"o_"`
}

// takenEvent is the event that is taken; its Seq is 0 where none is.
type takenEvent struct {
	Seq, Typ, Received, Until int64
	Started                   bool
	Producer, Origin          string
	Fors                      []string
	Key, Fate, Event          []byte
	Typs, Matches             []int64 // the shapes by which it is found, and what it has there
}

// eventRow is what became of a kept event, and forRow an instance that one is kept for.
type eventRow struct {
	Seq, Until int64
	Started    bool
	Fate       []byte
}

type forRow struct {
	Event int64
	ID    string
}

type deliverRow struct {
	Event, At, Ticket int64
	ID                string
	Seq               int32
	Input             []byte
}

type gatherRow struct {
	Seq                int64 // 0: it is new, and its number is the offset Off
	Off                int32
	Until, Fits        int64
	Definition, Digest string
	Key, Rest          []byte
}

// startRow is a new instance and its first message.
type startRow struct {
	instanceRow
	Seq, Message int32
	Input        []byte
}

// args are the arguments for a decision. The numbers come in the order in which the reference gives them out.
func (d *decision) args(ns int32, looks []note) *routeArgs {
	r := &d.routing
	a := &routeArgs{NS: ns, Emit: d.emit, Looks: looks, Drop: r.Drop, Again: r.Again, Checked: r.Checked}
	if e := d.taken; e != nil {
		a.Taken = takenEvent{
			Seq: e.Seq, Key: eventID(&e.Event), Typ: typeOf(e.Event.Type), Received: int64(e.Received), Until: int64(e.Until),
			Started: len(e.Used) > 0, Producer: e.Producer, Origin: e.Origin, Fors: e.For, Fate: fateOf(e), Event: d.data,
		}
		for _, k := range d.keys {
			a.Taken.Typs = append(a.Taken.Typs, k.typ)
			a.Taken.Matches = append(a.Taken.Matches, k.match)
		}
	}
	for i := range r.Events {
		e := &r.Events[i]
		a.Events = append(a.Events, eventRow{Seq: e.Seq, Until: int64(e.Until), Started: len(e.Used) > 0, Fate: fateOf(e)})
		for _, id := range e.For {
			a.For = append(a.For, forRow{Event: e.Seq, ID: id})
		}
	}
	for i := range r.Deliver {
		x := &r.Deliver[i]
		m := &store.Message{To: x.Instance, At: x.At, Event: x.Event, Input: x.Reply}
		a.Deliver = append(a.Deliver, deliverRow{
			Event: x.Event, ID: x.Instance, At: int64(x.At), Ticket: int64(x.Reply.Ticket), Seq: a.Numbers.next(),
			Input: codec.AppendInput(nil, m),
		})
	}
	for i := range r.Gather {
		g := &r.Gather[i]
		a.Gather = append(a.Gather, gatherRow{
			Seq: g.Seq, Off: a.Numbers.next(), Until: int64(g.Until), Fits: fitsOf(g.Key), Key: []byte(g.Key),
			Definition: g.Definition, Digest: g.Digest, Rest: codec.AppendGathering(nil, g),
		})
	}
	for _, n := range d.start {
		seq := a.Numbers.next()
		a.Start = append(a.Start, startRow{instanceRow: n.row.instanceRow, Seq: seq, Message: a.Numbers.next(), Input: n.input})
		labels, owners := n.row.searchRows(int32(len(a.Start)))
		a.Labels = append(a.Labels, labels...)
		a.Owners = append(a.Owners, owners...)
	}
	return a
}

// fateOf encodes what became of an event but for whom it is kept.
func fateOf(e *store.Event) []byte {
	return codec.AppendFate(nil, &store.Event{Seq: e.Seq, Until: e.Until, Used: e.Used, Why: e.Why})
}

// parts are those of all instances that get something.
func (a *routeArgs) parts() (out []int16) {
	for i := range a.Start {
		out = append(out, a.Start[i].Shard)
	}
	for i := range a.Deliver {
		out = append(out, shardOf(a.Deliver[i].ID))
	}
	return out
}
