package core

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The members of a job's data, and of what it is started with.
const (
	JobClient     = "clientId"
	JobDefinition = "definition"
	JobStatus     = "status"
	JobTags       = "tags" // of the start only: they become a label
	JobState      = "state"
	// Members of records only: the definition that an amended one replaced, and the tags
	// that came and went.
	JobReplaced = "replaced"
	JobAdded    = "added"
	JobRemoved  = "removed"
)

func jobStatus(data expr.Value) expr.Value {
	status, _ := data.Get(JobStatus)
	return status
}

// jobViolations says how an input is not one that a job can be started with.
func jobViolations(data expr.Value) (out []expr.Value) {
	wrong := func(pointer, message string) {
		out = append(out, expr.Object(
			expr.Member{Key: "pointer", Value: expr.String(pointer)}, expr.Member{Key: "message", Value: expr.String(message)}))
	}
	if client, _ := data.Get(JobClient); client.Kind() != expr.KindString || client.Str() == "" {
		wrong("/"+JobClient, "a job is for a client: give its id, a text")
	}
	for _, m := range data.Members() {
		switch m.Key {
		case JobClient, JobDefinition:
		case JobStatus:
			if !m.Value.IsObject() {
				wrong("/"+JobStatus, "must be an object, not "+article(m.Value.Kind()))
			}
		case JobTags:
			if !areTags(m.Value) {
				wrong("/"+JobTags, "must be a list of texts")
			}
		default:
			wrong("", fmt.Sprintf("%q is not known; a job has %s, %s and %s", m.Key, JobClient, JobDefinition, JobTags))
		}
	}
	return out
}

func areTags(v expr.Value) bool {
	return v.IsArray() && !slices.ContainsFunc(v.Items(), func(v expr.Value) bool { return v.Kind() != expr.KindString })
}

// jobStart makes a job's data and labels of what it is started with.
func jobStart(input, labels expr.Value) (data, labelled expr.Value) {
	data, labelled = input.Without(JobTags), labels
	if tags, ok := input.Get(JobTags); ok {
		labelled = labelled.With(JobTags, tags)
	}
	if definition, _ := data.Get(JobDefinition); definition.IsNull() {
		data = data.Without(JobDefinition)
	}
	client, _ := data.Get(JobClient)
	return data.With(JobStatus, jobStatus(data).With(JobClient, client)), labelled
}

// enteredWith is what the record of an entered state shows: of a job only the status,
// as it is in that state; the rest does not change with it.
func (m *machine) enteredWith(f *frame, n *ir.Node) expr.Value {
	if !m.p.Job {
		return f.data
	}
	return jobStatus(f.data).With(JobState, expr.String(n.Name))
}

// jobControl sees to what is special about interventions in jobs.
func (m *machine) jobControl(in *Control, record *Record) error {
	switch in.Verb {
	case VerbAmend:
		return m.amendJob(in, record)
	case VerbLabel:
		if tags, ok := in.Data.Get(JobTags); ok {
			before, _ := m.s.labels.Get(JobTags)
			record.Data = in.Data.With(JobAdded, without(tags, before)).With(JobRemoved, without(before, tags))
		}
	}
	return nil
}

// without lists the items that others does not have.
func without(list, others expr.Value) expr.Value {
	var out []expr.Value
	for _, v := range list.Items() {
		if !slices.ContainsFunc(others.Items(), func(o expr.Value) bool { return expr.Equal(v, o) }) {
			out = append(out, v)
		}
	}
	return expr.Array(out...)
}

// amendJob makes an amendment of a job's definition of one of its data: actors alone
// change the status, and nobody the client. The record tells the definition, and the
// one that it replaces.
func (m *machine) amendJob(in *Control, record *Record) error {
	data := m.s.root().data
	for _, key := range []string{JobClient, JobStatus} {
		given, ok := in.Data.Get(key)
		if have, _ := data.Get(key); ok && !expr.Equal(given, have) {
			return &Rejected{Msg: fmt.Sprintf("amend changes the definition of a job; its %s is %s", key, have)}
		}
	}
	if !in.Data.IsObject() {
		return &Rejected{Msg: fmt.Sprintf("amend needs an object with the job's %s, not %s", JobDefinition, article(in.Data.Kind()))}
	}
	told := expr.EmptyObject
	if before, ok := data.Get(JobDefinition); ok {
		told = told.With(JobReplaced, before)
	}
	data = data.Without(JobDefinition)
	if next, _ := in.Data.Get(JobDefinition); !next.IsNull() {
		data, told = data.With(JobDefinition, next), told.With(JobDefinition, next)
	}
	if fault := m.tooLarge(data); fault != nil {
		return &Rejected{Msg: fault.Detail}
	}
	in.Data, record.Data, record.Node = data, told, m.p.Nodes[m.s.root().node].Name
	return nil
}

// labelled merges labels. A job's tags are a set that is given as a whole.
func (m *machine) labelled(labels expr.Value) expr.Value {
	merged := expr.Merge(m.s.labels, labels)
	if tags, ok := labels.Get(JobTags); ok && m.p.Job {
		merged = merged.With(JobTags, tags)
	}
	return merged
}

// offered is an arm that an actor may take now.
type offered struct {
	f   *frame
	arm int32
	*ir.Arm
}

// offers lists the arms that actors may take: those that Awaits wait with, and when a
// job is over those of its end.
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
		return &Rejected{Msg: "the instance is paused: resume it before anything is chosen"}
	case m.s.status.Final() && m.s.status != Completed:
		return &Rejected{Msg: fmt.Sprintf("the instance is %s already", m.s.status)}
	}
	allowed := []ir.Offer{} // never nil: that tells it from other reasons
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
	if m.p.Job {
		if !in.Value.IsObject() {
			return &Rejected{Msg: "the status must be an object, not " + article(in.Value.Kind())}
		}
		in.Value = in.Value.With(JobState, expr.String(in.Choice))
	}
	f, n := o.f, &m.p.Nodes[o.f.node]
	m.record(Record{Type: RecTaken, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: in.Actor, Text: in.Choice, Data: in.Value, HasData: true})
	op, awaits := n.Op.(*ir.Await)
	if !awaits || op.Need == 1 {
		data, delta := f.data, f.delta
		if fault := m.put(f, n, &o.Put, in.Value, false); fault != nil {
			f.data, f.delta = data, delta
			return &Rejected{Msg: fault.Detail}
		}
	}
	m.waited()
	switch {
	case o.Stay:
		if m.s.status.Final() {
			m.s.output = jobStatus(f.data)
		}
	case op.Need == 1:
		m.closeWaits(f, func(w wait) bool { return w.kind == WaitEvent || w.kind == WaitTimer || w.kind == WaitOffer })
		m.goTo(f, o.Next)
	default:
		i := slices.IndexFunc(f.waits, func(w wait) bool { return w.kind == WaitOffer && w.arm == o.arm })
		m.command(Cancel{Ticket: ticket(f.id, f.waits[i].n), Kind: WaitOffer})
		f.drop(i)
		f.taken = append(f.taken, heard{o.arm, in.Value})
		if len(f.taken) == op.Need {
			m.satisfied(f, n, op)
		}
	}
	return nil
}
