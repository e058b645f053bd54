package codec

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Tags of an instance's rest: the fields that have no column. Tags are stored, so never reuse one.
const (
	restEnd = iota
	restActive
	restWake
	restMore
	restOutput
	restFault
	restLabels
	restKeys
	restOffers
	restTicket
	restAwaited
	restDepth
	restRestartOf
	restQuarantine
	restJob
	restPauseReason
	restContinued
	restTrace
	restProgress
	restName
	restKey
	restChildren
	restReusable
	restIndexed
	restTree
)

// restOwner is the owner of an instance's rest: the columns of its row at a revision.
func restOwner(in *store.Instance, rev int64) owner {
	return owner{
		kindRest,
		[6]string{in.ID, in.Definition, in.Version, in.Digest, in.Parent, string(in.Status)},
		[4]int64{rev, int64(in.Created), int64(in.Updated), int64(in.Ended)},
	}
}

// AppendRest appends the fields of an instance that have no column: all but ID, Seq, Rev,
// Records, Definition, Version, Digest, Status, Created, Updated, Ended and Parent. rev is the
// revision that the row will have. The output may be one of the chunks.
func AppendRest(dst []byte, in *store.Instance, rev int64, chunks *core.Chunks) []byte {
	w := begin(dst)
	if len(in.Active) > 0 {
		w.uint(restActive)
		w.texts(in.Active)
	}
	if in.HasWake || in.Wake != 0 {
		w.uint(restWake)
		w.flag(in.HasWake)
		w.int(int64(in.Wake))
	}
	if in.More {
		w.uint(restMore)
	}
	if !in.Output.IsNull() {
		w.uint(restOutput)
		w.chunks = chunks
		w.large(in.Output)
		w.chunks = nil
	}
	if in.Fault != nil {
		w.uint(restFault)
		w.fault(in.Fault)
	}
	if !in.Labels.IsNull() {
		w.uint(restLabels)
		w.value(in.Labels)
	}
	if len(in.Keys) > 0 {
		w.uint(restKeys)
		w.json(in.Keys)
	}
	if len(in.Offers) > 0 {
		w.uint(restOffers)
		w.uint(uint64(len(in.Offers)))
		for _, o := range in.Offers {
			w.uint(uint64(o.Ticket))
			w.text(o.Actor)
			w.text(o.Choice)
		}
	}
	if in.Ticket != 0 {
		w.uint(restTicket)
		w.uint(uint64(in.Ticket))
	}
	if in.Awaited {
		w.uint(restAwaited)
	}
	if in.Depth != 0 {
		w.uint(restDepth)
		w.int(int64(in.Depth))
	}
	if in.RestartOf != "" {
		w.uint(restRestartOf)
		w.text(in.RestartOf)
	}
	if in.Quarantine != "" {
		w.uint(restQuarantine)
		w.text(in.Quarantine)
	}
	if in.Job != (store.Job{}) {
		w.uint(restJob)
		w.text(in.Job.Client)
		w.text(in.Job.State)
		w.text(in.Job.Group)
	}
	if in.PauseReason != "" {
		w.uint(restPauseReason)
		w.text(in.PauseReason)
	}
	if in.Continued != 0 {
		w.uint(restContinued)
		w.int(int64(in.Continued))
	}
	if in.Trace != "" {
		w.uint(restTrace)
		w.text(in.Trace)
	}
	if len(in.Progress) > 0 {
		w.uint(restProgress)
		w.json(in.Progress)
	}
	if in.Name != "" {
		w.uint(restName)
		w.text(in.Name)
	}
	if in.Key != "" {
		w.uint(restKey)
		w.text(in.Key)
	}
	if in.Children != 0 {
		w.uint(restChildren)
		w.int(in.Children)
	}
	if in.Reusable {
		w.uint(restReusable)
	}
	if in.Tree != "" {
		w.uint(restTree)
		w.text(in.Tree)
	}
	if in.Indexed {
		w.uint(restIndexed)
	}
	w.uint(restEnd)
	return w.end(restOwner(in, rev))
}

// DecodeRest is the reverse of AppendRest. The columns of in must be set. Without a source the output
// is left out where it refers to chunks; see [Refers].
func DecodeRest(data []byte, in *store.Instance, source *ChunkSource) error {
	r := open(data, restOwner(in, in.Rev))
	if source != nil {
		r.from(source)
	}
	for r.err == nil {
		switch r.uint() {
		case restEnd:
			return r.close()
		case restActive:
			in.Active = r.texts()
		case restWake:
			in.HasWake, in.Wake = r.flag(), core.Time(r.int())
		case restMore:
			in.More = true
		case restOutput:
			if in.Output = r.large(); len(r.refs) > 0 && source == nil {
				in.Output = expr.Null
			}
		case restFault:
			in.Fault = r.fault()
		case restLabels:
			in.Labels = r.value()
		case restKeys:
			r.json(&in.Keys)
		case restOffers:
			in.Offers = nil
			for range r.count() {
				in.Offers = append(in.Offers, store.Offer{
					Ticket: core.Ticket(r.uint()), Offer: ir.Offer{Actor: r.text(), Choice: r.text()},
				})
			}
		case restTicket:
			in.Ticket = core.Ticket(r.uint())
		case restAwaited:
			in.Awaited = true
		case restDepth:
			in.Depth = int(r.int())
		case restRestartOf:
			in.RestartOf = r.text()
		case restQuarantine:
			in.Quarantine = r.text()
		case restJob:
			in.Job = store.Job{Client: r.text(), State: r.text(), Group: r.text()}
		case restPauseReason:
			in.PauseReason = r.text()
		case restContinued:
			in.Continued = int(r.int())
		case restTrace:
			in.Trace = r.text()
		case restProgress:
			r.json(&in.Progress)
		case restName:
			in.Name = r.text()
		case restKey:
			in.Key = r.text()
		case restChildren:
			in.Children = r.int()
		case restReusable:
			in.Reusable = true
		case restTree:
			in.Tree = r.text()
		case restIndexed:
			in.Indexed = true
		default:
			r.fail()
		}
	}
	return r.close()
}

func (w *writer) flag(b bool) {
	if b {
		w.uint(1)
	} else {
		w.uint(0)
	}
}

func (r *reader) flag() bool {
	u := r.uint()
	if u > 1 {
		r.fail()
	}
	return u == 1
}
