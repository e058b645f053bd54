package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// fold collects the outcome of several inputs to one instance as one commit. What is
// decided and taken back within it never leaves: a call that is cancelled in the same
// commit is not made.
type fold struct {
	e   *Engine
	l   *live
	now core.Time

	shard   int          // of its calls
	c       store.Commit // Instance is the row as it becomes
	did     bool         // the state changed
	changes int          // how often
	named   string       // identity, once it was asked for
	told    int          // records that tellCalled went past
	more    bool
	given   []core.Input // those that changed it, for Probe
	stopped error        // why its present step was stopped
	asks    int          // how often its present step asked whether to stop: at its begin, then every expr.StopEvery
	work    int          // steps of expressions that they took
	left    int          // of the inputs, those that it was not given
	alone   bool         // the caller's inputs have waited for others: now nothing is left to the lane
	others  bool         // what it is given now comes before what a caller waits for
}

func (e *Engine) newFold(l *live) *fold {
	f := &fold{e: e, l: l, now: e.timeFor(l), shard: e.callShard(l.id), more: l.row.More, c: store.Commit{Instance: l.row}}
	if l.row.Rev == 0 {
		f.c.Deployed = l.deployed
	}
	return f
}

// run gives the inputs one after the other. Where one breaks an invariant it returns
// its position and a brokenError. What is refused is returned apart, if it did not come
// by the inbox, whose senders wait for no answer.
func (f *fold) run(ctx context.Context, inputs []input) (broke int, rejected, err error) {
	for i, in := range inputs {
		if i > 0 && f.enough() {
			f.left = len(inputs) - i
			break
		}
		f.others = f.l.how == onRequest && in.extra == 0 && !f.alone
		err := guard(func() error {
			switch {
			case in.ask != nil:
				return f.answer(ctx, in)
			case in.rev != 0:
				if err := f.isAt(in.rev); err != nil {
					return err
				}
			}
			return f.give(ctx, in)
		})
		if err == nil {
			continue
		}
		changed, stale := errors.AsType[*RevisionError](err)
		no, refused := errors.AsType[*core.Rejected](err)
		switch {
		case stale:
			rejected = changed
		case refused && in.message == 0:
			rejected = no
		case refused:
			f.c.Taken = append(f.c.Taken, in.message)
		default:
			f.giveUp()
			return i, nil, err
		}
	}
	return 0, rejected, nil
}

// identity names the instance for ever.
func (f *fold) identity() string {
	if f.named == "" {
		f.named = identity(&f.l.row)
	}
	return f.named
}

// isAt says that the instance is not at a revision any more: it changed before, or in what
// the fold was given so far.
func (f *fold) isAt(rev int64) error {
	switch have := f.l.row.Rev; {
	case f.did: // no caller can have read this revision yet
		return &RevisionError{f.l.id, rev, have + 1}
	case have != rev:
		return &RevisionError{f.l.id, rev, have}
	}
	return nil
}

// give gives one input. All errors of the core but *core.Rejected and core.ErrStopped are
// broken invariants.
func (f *fold) give(ctx context.Context, in input) error {
	res, err := f.step(ctx, in.in)
	if err == nil {
		return f.take(ctx, in, res)
	}
	if _, rejected := errors.AsType[*core.Rejected](err); rejected || errors.Is(err, core.ErrStopped) {
		return err
	}
	return &brokenError{err}
}

// take notes the outcome of one input.
func (f *fold) take(ctx context.Context, in input, res core.Result) error {
	if in.message != 0 {
		f.c.Taken = append(f.c.Taken, in.message)
		if in.event && res.Stale {
			f.c.Release = append(f.c.Release, in.message)
		}
	}
	if in.call != 0 {
		f.c.Answered = append(f.c.Answered, in.call)
	}
	if in.taken != nil {
		*in.taken = !res.Stale
	}
	if _, ok := in.in.(core.Continue); ok && res.Stale {
		f.more, f.did = false, true // paused meanwhile: resuming will go on
	}
	if res.Stale {
		return nil
	}
	f.l.state, f.did, f.more = res.State, true, res.More
	if f.e.cfg.Probe.Fold != nil {
		f.given = append(f.given, in.in)
	}
	f.changes++
	for i := range res.Records {
		f.l.redactRecord(&res.Records[i])
	}
	if len(f.c.Records) == 0 {
		f.c.Records = res.Records // nobody else has them
	} else {
		f.c.Records = append(f.c.Records, res.Records...)
	}
	if reply, ok := in.in.(core.Reply); ok && in.event && !reply.Ticket.Standing() {
		f.unsubscribe(reply.Ticket)
	}
	for _, c := range res.Commands {
		if err := f.command(ctx, f.sent(c)); err != nil {
			return err
		}
	}
	return nil
}

func (f *fold) changed() bool {
	return f.did || len(f.c.Taken)+len(f.c.Answered) > 0 || f.l.row.Held && !f.held()
}

// held reports whether the instance stays held: its definition is paused, and only what a caller asked for was given.
func (f *fold) held() bool { return f.l.row.Held && f.e.holds(f.l.row.Definition) }

// finish completes the commit with what the state says of itself. Its records must not change any more if
// they tell chunks.
func (f *fold) finish(tell bool) error {
	f.describe(&f.c.Instance)
	f.boundHistory()
	f.c.Instance.Children = f.l.row.Children
	for i := range f.c.Children {
		if f.c.Children[i].Instance.Parent == f.l.id {
			f.c.Instance.Children++
		}
	}
	if f.l.state != nil {
		if row := &f.c.Instance; tell {
			f.c.Chunks = f.l.state.Tell(f.e.cfg.ChunkBytes, f.c.Records, row.Records+int64(len(f.c.Records)), row.Output)
		}
		f.c.Pages = f.l.state.TakeDirty(f.l.sealer())
	}
	return nil
}

// HistoryRecords is how many records an instance writes before it is paused, once for each so many ("history-records").
const HistoryRecords = 1_000_000

// historyActor is the actor in the history that pauses an instance because of it.
const historyActor = "history-records"

// boundHistory pauses an instance that wrote another HistoryRecords. A person decides: resume lets it write as many again.
func (f *fold) boundHistory() {
	limit, row := f.e.cfg.HistoryRecords, &f.c.Instance
	total := f.l.row.Records + int64(len(f.c.Records))
	if total/limit == f.l.row.Records/limit || row.Status.Final() || row.Status == core.Paused {
		return
	}
	f.warn("the history has %d records: the instance pauses after each %d (limit history-records); resume lets it write as many again, continueAs begins a new history", total, limit)
	f.message(f.l.id, core.Control{Verb: core.VerbSuspend, Actor: historyActor})
}

// describe fills a row with what the state says of itself.
func (f *fold) describe(row *store.Instance) {
	s := f.l.state
	row.Updated, row.More, row.Held = f.now, f.more, f.held()
	if s == nil {
		return
	}
	row.Status, row.Active = s.Status(), s.Active(f.l.prog)
	row.PauseReason, row.Progress = s.PauseReason(), f.progress(s)
	row.Wake, row.HasWake = s.Wake()
	row.Output, row.Keys = f.l.redact(s.Output()), slices.Clone(s.Keys())
	row.Name, row.Labels = named(f.l.redact(s.Labels()))
	row.Fault = s.Fault().Redacted(f.l.sealer())
	switch {
	case !row.Status.Final():
		row.Ended = 0
	case row.Ended == 0 || slices.ContainsFunc(f.c.Records, func(r core.Record) bool { return r.Type == core.RecFinished }):
		row.Ended = f.now // also of one that had failed, and has ended again by one request
	}
	row.Held = row.Held && !row.Status.Final()
	if f.l.prog.Job {
		row.Job = jobOf(f.l.prog, s.Data(), row.Job)
		if givenUp(row.Status) {
			row.Job.Group = "" // devices that search for work by group must not find it
		}
	}
}

// progress is how far each foreach is, without secrets.
func (f *fold) progress(s *core.State) []core.Progress {
	out := s.Progress(f.l.prog)
	for i := range out {
		for j := range out[i].Failures {
			out[i].Failures[j].Fault = out[i].Failures[j].Fault.Redacted(f.l.sealer())
		}
	}
	return out
}

func (f *fold) command(ctx context.Context, c core.Command) error {
	switch c := c.(type) {
	case core.Invoke:
		if workflow, ok := f.e.delegates(&c.Function); ok {
			return f.delegate(ctx, c, workflow)
		}
		call := store.Call{Instance: f.l.id, Shard: f.shard, Invoke: c}
		if f.l.row.Reusable {
			call.Key = callKey(f.identity(), c.Ticket)
		}
		f.c.Calls = append(f.c.Calls, call)
	case core.Subscribe:
		f.subscribe(c)
	case core.Offers:
		row := &f.c.Instance
		row.Offers = slices.Clone(row.Offers)
		for _, o := range c.Offers {
			row.Offers = append(row.Offers, store.Offer{Ticket: c.Ticket, Offer: o})
		}
	case core.Spawn:
		return f.spawn(ctx, c)
	case core.Emit:
		f.emit(c)
	case core.Cancel:
		return f.cancel(ctx, c)
	case core.Finish:
		return f.tellParent(ctx, c)
	}
	return nil
}

func (f *fold) subscribe(c core.Subscribe) {
	f.c.Unsubscribe = slices.DeleteFunc(f.c.Unsubscribe, func(t core.Ticket) bool { return t == c.Ticket })
	f.c.Subscribe = slices.DeleteFunc(f.c.Subscribe, func(s store.Subscription) bool { return s.Ticket == c.Ticket })
	filter := filterOf(&f.l.prog.Events[c.Event], c.Keys)
	filter.Most = c.Most
	f.c.Subscribe = append(f.c.Subscribe, store.Subscription{Instance: f.l.id, Ticket: c.Ticket, Name: c.Name, Filter: filter})
}

func (f *fold) unsubscribe(t core.Ticket) {
	f.c.Subscribe = slices.DeleteFunc(f.c.Subscribe, func(s store.Subscription) bool { return s.Ticket == t })
	f.c.Unsubscribe = append(f.c.Unsubscribe, t)
}

// cancel lets go of a ticket that nobody waits for any more.
func (f *fold) cancel(ctx context.Context, c core.Cancel) error {
	switch c.Kind {
	case core.WaitCall:
		if job, err := f.recall(ctx, c.Ticket); job || err != nil {
			return err
		}
		decided := len(f.c.Calls)
		f.c.Calls = slices.DeleteFunc(f.c.Calls, func(o store.Call) bool { return o.Ticket == c.Ticket })
		if len(f.c.Calls) == decided {
			f.c.Answered = append(f.c.Answered, c.Ticket)
		}
	case core.WaitEvent, core.WaitListen, core.WaitFeed:
		f.unsubscribe(c.Ticket)
	case core.WaitOffer:
		row := &f.c.Instance
		row.Offers = slices.DeleteFunc(slices.Clone(row.Offers), func(o store.Offer) bool { return o.Ticket == c.Ticket })
	case core.WaitChild:
		f.cancelChild(c.Ticket)
	}
	return nil
}

// emit decides on an event; its id is the effect's idempotency key.
func (f *fold) emit(c core.Emit) {
	if !c.Event.IsNull() {
		f.emitWhole(c)
		return
	}
	ev := event.Event{
		ID: callKey(f.identity(), c.Ticket), Source: c.Source, Type: c.Type, Time: f.now.String(),
		Data: c.Data, HasData: c.HasData,
	}
	if ev.Source == "" {
		ev.Source = f.e.eventSource(f.l.row.Definition)
	}
	ev.Type = cmp.Or(ev.Type, c.Name)
	if ev.HasData {
		ev.DataContentType = "application/json"
	}
	for _, a := range c.Attrs {
		if !ev.Put(a.Key, a.Value) {
			f.warn("event %q: its attribute %q cannot be chosen; it is left as it is", c.Name, a.Key)
		}
	}
	f.traceEvent(&ev, c.Ticket)
	f.send(ev)
}

// emitWhole decides on an event whose attributes the program gave. One that is no event is told as
// a warning: the step is over.
func (f *fold) emitWhole(c core.Emit) {
	ev, err := event.FromValue(c.Event)
	if err != nil {
		f.warn("event %q is not sent: %v", c.Name, err)
		return
	}
	f.traceEvent(&ev, c.Ticket)
	f.send(ev)
}

func (f *fold) send(ev event.Event) {
	row := store.Emit{Instance: f.l.id, Definition: f.l.row.Definition, Event: ev}
	f.c.Emits = append(f.c.Emits, row)
	if f.e.cfg.Sink != nil {
		row.Sink = true
		f.c.Emits = append(f.c.Emits, row)
	}
}

func (e *Engine) eventSource(definition string) string {
	if e.cfg.EventSource != "" {
		return e.cfg.EventSource
	}
	return "lockstep/" + e.cfg.Namespace + "/" + definition
}

// message posts an input to another instance, or to the same one.
func (f *fold) message(to string, in core.Input) {
	f.c.Messages = append(f.c.Messages, store.Message{To: to, At: f.now, Input: in})
}

func (f *fold) warn(format string, args ...any) {
	f.c.Records = append(f.c.Records, core.Record{Time: f.now, Type: core.RecWarning, Text: fmt.Sprintf(format, args...)})
}
