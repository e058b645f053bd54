package core

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// offered is an arm that an actor may take now.
type offered struct {
	f   *frame
	arm int32
	*ir.Arm
}

// offers lists the arms that actors may take: those that Awaits wait with, and those of
// the End where the instance completed and its data is kept.
func (m *machine) offers() []offered {
	var out []offered
	for _, f := range m.s.frames {
		switch op := m.p.Nodes[f.node].Op.(type) {
		case *ir.Await:
			for _, w := range f.waits {
				if w.kind == WaitOffer {
					out = append(out, offered{f, w.arm, &op.Arms[w.arm]})
				}
			}
		case *ir.End:
			if m.s.status == Completed {
				for i := range op.Offers {
					out = append(out, offered{f, int32(i), &op.Offers[i]})
				}
			}
		}
	}
	return out
}

// take lets an actor choose among the offers. A value that cannot be put is refused:
// it is the actor's fault, not the workflow's.
func (m *machine) take(in Take) error {
	switch {
	case m.s.paused && !m.s.status.Final():
		return &Rejected{Msg: "the instance is paused: resume it first"}
	case m.s.status.Final() && m.s.status != Completed:
		return &Rejected{Msg: fmt.Sprintf("the instance is %s already", m.s.status)}
	}
	allowed := []ir.Offer{} // not nil, which would mean another reason; see Rejected.Allowed
	for _, o := range m.offers() {
		if o.Offer.Actor == in.Actor && o.Offer.Choice == in.Choice {
			return m.chosen(o, in)
		}
		if !slices.Contains(allowed, *o.Offer) {
			allowed = append(allowed, *o.Offer)
		}
	}
	return &Rejected{Msg: fmt.Sprintf("%s may not choose %q now", in.Actor, in.Choice), Allowed: allowed}
}

func (m *machine) chosen(o offered, in Take) error {
	value, err := m.p.Model.Choose(in.Value, in.Choice)
	if err != nil {
		return &Rejected{Msg: err.Error()}
	}
	f, n := o.f, &m.p.Nodes[o.f.node]
	m.record(Record{Type: RecTaken, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: in.Actor, Text: in.Choice, Data: value, HasData: true})
	op, awaits := n.Op.(*ir.Await)
	if !awaits || op.Need == 1 {
		data, delta := f.data, f.delta
		if fault := m.put(f, n, &o.Put, value, false); fault != nil {
			f.data, f.delta = data, delta
			return &Rejected{Msg: fault.Detail}
		}
	}
	m.waited()
	switch {
	case o.Stay:
		if m.s.status.Final() {
			m.s.output = m.p.Model.Output(f.data)
		}
	case op.Need == 1:
		m.closeWaits(f, func(w wait) bool { return w.kind == WaitEvent || w.kind == WaitTimer || w.kind == WaitOffer })
		m.goTo(f, o.Next)
	default:
		i := slices.IndexFunc(f.waits, func(w wait) bool { return w.kind == WaitOffer && w.arm == o.arm })
		m.command(Cancel{Ticket: ticket(f.id, f.waits[i].n), Kind: WaitOffer})
		f.drop(i)
		f.taken = append(f.taken, heard{o.arm, value})
		if len(f.taken) == op.Need {
			m.satisfied(f, n, op)
		}
	}
	return nil
}
