package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// link is the way between a node and the database. Every call goes through it: it may stop there,
// and what it says may get lost.
type link interface {
	// ask stops before something is done; an error: it never is.
	ask(op string, writes bool) error
	// answer stops after it was done; an error: nobody hears of it.
	answer(op string, writes bool) error
	// now is what the node knows of the database's clock, which is never early.
	now() time.Time
	// local is the node's own clock, which only goes on.
	local() time.Time
}

// direct is a link on which nothing happens.
type direct struct{ clock func() time.Time }

func (direct) ask(string, bool) error    { return nil }
func (direct) answer(string, bool) error { return nil }
func (d direct) now() time.Time          { return d.clock() }
func (d direct) local() time.Time        { return d.clock() }

// Session is the database as one node sees it.
type Session struct {
	db     *Database
	node   string
	link   link
	leases leases
	joins  int
	doubts int // how often calls may have come that this node does not know of, though they are its
	solved int // as many of them
	looked inboxes
}

var _ store.Shared = (*Session)(nil)

// read asks for something.
func read[T any](s *Session, ctx context.Context, op string, f func() (T, error)) (out T, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if err := s.link.ask(op, false); err != nil {
		return out, fmt.Errorf("%s: %w", op, err)
	}
	got, err := f()
	if lost := s.link.answer(op, false); lost != nil {
		return out, fmt.Errorf("%s: %w", op, lost)
	}
	return got, err
}

// write changes something. Whose answer is lost does not know whether it did.
func write[T any](s *Session, ctx context.Context, op string, f func() (T, error)) (out T, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if err := s.link.ask(op, true); err != nil {
		return out, fmt.Errorf("%s: %w", op, err)
	}
	got, err := f()
	if err == nil {
		s.db.writes++
	}
	if lost := s.link.answer(op, true); lost != nil {
		s.doubts++
		return out, fmt.Errorf("%s: %w: %w", op, store.ErrUncertain, lost)
	}
	return got, err
}

// change is write without a result.
func change(s *Session, ctx context.Context, op string, f func() error) error {
	_, err := write(s, ctx, op, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// Commit writes the outcome of a step.
func (s *Session) Commit(ctx context.Context, c store.Commit) error {
	return change(s, ctx, fmt.Sprintf("commit %s at %d", c.Instance.ID, c.Instance.Rev), func() error {
		return s.commit(ctx, c)
	})
}

// Ingest takes an event and routes it.
func (s *Session) Ingest(ctx context.Context, e store.Event, emit int64, route func(store.Event, store.View) (store.Routing, error)) (store.Event, error) {
	op := "ingest " + e.Event.ID
	for range s.db.looks {
		writes := s.db.writes
		v, err := read(s, ctx, op+": look", func() (store.View, error) { return s.db.view(ctx) })
		if err != nil {
			return store.Event{}, err
		}
		as, known, err := s.db.pending(ctx, e)
		if err != nil {
			return store.Event{}, err
		}
		if known {
			break
		}
		if _, err := route(as, pendingView{v, as}); err != nil {
			return store.Event{}, err
		}
		if writes == s.db.writes {
			break
		}
	}
	return write(s, ctx, op, func() (store.Event, error) { return s.db.Store.Ingest(ctx, e, emit, route) })
}

// Preview routes an event without taking it.
func (s *Session) Preview(ctx context.Context, e store.Event, route func(store.Event, store.View) (store.Routing, error)) error {
	_, err := read(s, ctx, "preview "+e.Event.ID, func() (struct{}, error) { return struct{}{}, s.db.Store.Preview(ctx, e, route) })
	return err
}

// Route decides again about events that are kept.
func (s *Session) Route(ctx context.Context, route store.Router) error {
	for range s.db.looks {
		writes := s.db.writes
		v, err := read(s, ctx, "route: look", func() (store.View, error) { return s.db.view(ctx) })
		if err != nil {
			return err
		}
		if _, err := route(v); err != nil {
			return err
		}
		if writes == s.db.writes {
			break
		}
	}
	return change(s, ctx, "route", func() error { return s.db.Store.Route(ctx, route) })
}

// Writable asks the database.
func (s *Session) Writable(ctx context.Context) error {
	_, err := read(s, ctx, "probe", func() (struct{}, error) { return struct{}{}, nil })
	return err
}

// PutDefinitions deploys.
func (s *Session) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) ([]store.Definition, error) {
	what := "deploy"
	for _, d := range ds {
		what += " " + d.ID + " " + d.Version
	}
	return write(s, ctx, what, func() ([]store.Definition, error) {
		out, err := s.db.Store.PutDefinitions(ctx, ds, move)
		if err == nil {
			s.db.deployments++
		}
		return out, err
	})
}

// DeleteDefinition removes an alias.
func (s *Session) DeleteDefinition(ctx context.Context, id, version string, next func(store.Definition) *store.Schedule) (*store.Definition, error) {
	return write(s, ctx, "delete definition "+id+" "+version, func() (*store.Definition, error) {
		heir, err := s.db.Store.DeleteDefinition(ctx, id, version, next)
		if err == nil {
			s.db.deployments++
		}
		return heir, err
	})
}

// Definition finds by alias.
func (s *Session) Definition(ctx context.Context, id, version string) (store.Definition, error) {
	return read(s, ctx, "definition "+id, func() (store.Definition, error) { return s.db.Store.Definition(ctx, id, version) })
}

// Content finds by digest.
func (s *Session) Content(ctx context.Context, digest string) (store.Definition, error) {
	return read(s, ctx, "content", func() (store.Definition, error) { return s.db.Store.Content(ctx, digest) })
}

// ListDefinitions lists all versions.
func (s *Session) ListDefinitions(ctx context.Context) ([]store.Definition, error) {
	return read(s, ctx, "definitions", func() ([]store.Definition, error) { return s.db.Store.ListDefinitions(ctx) })
}

// everything is more than there is.
const everything = 1 << 20

// mine reads a list of work and leaves out what this node does not have.
func mine[T any](s *Session, ctx context.Context, op string, limit int, part func(T) int, f func(limit int) ([]T, error)) ([]T, error) {
	return read(s, ctx, op, func() ([]T, error) {
		if s.leases.id == "" {
			return f(limit)
		}
		if !s.Leased() {
			return nil, nil
		}
		list, err := f(everything)
		list = slices.DeleteFunc(list, func(v T) bool { return !s.leases.held(part(v)) })
		return list[:min(limit, len(list))], err
	})
}

// Ready lists instances that have something to do.
func (s *Session) Ready(ctx context.Context, now core.Time, limit int) ([]string, error) {
	return mine(s, ctx, "ready", limit, partOf, func(n int) ([]string, error) { return s.db.Store.Ready(ctx, now, n) })
}

// Messages lists an inbox.
func (s *Session) Messages(ctx context.Context, instance string) ([]store.Message, error) {
	return read(s, ctx, "inbox "+instance, func() ([]store.Message, error) {
		s.looked[instance] = true
		return s.db.Store.Messages(ctx, instance)
	})
}

// Calls lists calls without an answer.
func (s *Session) Calls(ctx context.Context, instance string) ([]store.Call, error) {
	return read(s, ctx, "calls "+instance, func() ([]store.Call, error) { return s.calls(ctx, instance) })
}

func (s *Session) calls(ctx context.Context, instance string) ([]store.Call, error) {
	list, err := s.db.Store.Calls(ctx, instance)
	for i := range list {
		list[i].Shard = partOfCall(&list[i]) + 1
		list[i].Parked = s.db.parked[idOf(&list[i])]
	}
	return list, err
}

func emitPart(e store.Emit) int { return partOf(e.Instance) }

// Emits lists events to be ingested.
func (s *Session) Emits(ctx context.Context, limit int) ([]store.Emit, error) {
	return mine(s, ctx, "emits", limit, emitPart, func(n int) ([]store.Emit, error) { return s.db.Store.Emits(ctx, n) })
}

// Outbound lists events for the sink.
func (s *Session) Outbound(ctx context.Context, limit int) ([]store.Emit, error) {
	return mine(s, ctx, "outbound", limit, emitPart, func(n int) ([]store.Emit, error) { return s.db.Store.Outbound(ctx, n) })
}

// Sent forgets an event that the sink took.
func (s *Session) Sent(ctx context.Context, seq int64) error {
	return change(s, ctx, "sent", func() error { return s.db.Store.Sent(ctx, seq) })
}

// Unchecked lists the instances that have fresh subscriptions.
func (s *Session) Unchecked(ctx context.Context, limit int) ([]string, error) {
	return mine(s, ctx, "unchecked", limit, partOf, func(n int) ([]string, error) { return s.db.Store.Unchecked(ctx, n) })
}

// Again lists the events that must be routed again.
func (s *Session) Again(ctx context.Context, limit int) ([]int64, error) {
	return mine(s, ctx, "again", limit, numberPart, func(n int) ([]int64, error) { return s.db.Store.Again(ctx, n) })
}

// Expired lists gatherings whose time is up.
func (s *Session) Expired(ctx context.Context, now core.Time, limit int) ([]store.Gathering, error) {
	return mine(s, ctx, "expired", limit, func(g store.Gathering) int { return numberPart(g.Seq) }, func(n int) ([]store.Gathering, error) { return s.db.Store.Expired(ctx, now, n) })
}

// Schedules lists those that are due.
func (s *Session) Schedules(ctx context.Context, now core.Time) ([]store.Schedule, error) {
	return mine(s, ctx, "schedules", everything, func(x store.Schedule) int { return partOf(x.Definition) }, func(int) ([]store.Schedule, error) { return s.db.Store.Schedules(ctx, now) })
}

// Advance moves a schedule.
func (s *Session) Advance(ctx context.Context, was store.Schedule, next *core.Time, fires string) error {
	return change(s, ctx, "advance "+was.Definition, func() error { return s.db.Store.Advance(ctx, was, next, fires) })
}

// Purge forgets events.
func (s *Session) Purge(ctx context.Context, now core.Time) error {
	_, err := read(s, ctx, "purge", func() (struct{}, error) { return struct{}{}, s.db.Store.Purge(ctx, now) })
	return err
}

// Next is when there is something to do.
func (s *Session) Next(ctx context.Context, after core.Time) (core.Time, bool, error) {
	found := false
	at, err := read(s, ctx, "next", func() (at core.Time, err error) {
		at, found, err = s.db.Store.Next(ctx, after)
		return at, err
	})
	return at, found, err
}

// Suspect names an instance.
func (s *Session) Suspect(ctx context.Context, instance string) error {
	return change(s, ctx, "suspect "+instance, func() error { return s.db.Store.Suspect(ctx, instance) })
}

// Suspects lists the named instances.
func (s *Session) Suspects(ctx context.Context) ([]string, error) {
	return mine(s, ctx, "suspects", everything, partOf, func(int) ([]string, error) { return s.db.Store.Suspects(ctx) })
}

// Unsuspect removes a name.
func (s *Session) Unsuspect(ctx context.Context, instance string) error {
	return change(s, ctx, "unsuspect "+instance, func() error { return s.db.Store.Unsuspect(ctx, instance) })
}

// Instance reads a row.
func (s *Session) Instance(ctx context.Context, id string) (store.Instance, error) {
	return read(s, ctx, "instance "+id, func() (store.Instance, error) { return s.db.Store.Instance(ctx, id) })
}

// Pages reads a state.
func (s *Session) Pages(ctx context.Context, id string) ([]core.Page, error) {
	return read(s, ctx, "pages "+id, func() ([]core.Page, error) { return s.db.Store.Pages(ctx, id) })
}

// States reads several.
func (s *Session) States(ctx context.Context, ids []string) (list []store.State, through int, err error) {
	list, err = read(s, ctx, "states", func() (out []store.State, err error) {
		out, through, err = s.db.Store.States(ctx, ids)
		return out, err
	})
	return list, through, err
}

// Instances lists.
func (s *Session) Instances(ctx context.Context, q store.Query) ([]store.Instance, error) {
	return read(s, ctx, "instances", func() ([]store.Instance, error) { return s.db.Store.Instances(ctx, q) })
}

// Count counts.
func (s *Session) Count(ctx context.Context, q store.Query) (int64, error) {
	return read(s, ctx, "count", func() (int64, error) { return s.db.Store.Count(ctx, q) })
}

// Stats counts instances.
func (s *Session) Stats(ctx context.Context) ([]store.Stat, error) {
	return read(s, ctx, "stats", func() ([]store.Stat, error) { return s.db.Store.Stats(ctx) })
}

// JobStats counts jobs.
func (s *Session) JobStats(ctx context.Context) ([]store.JobStat, error) {
	return read(s, ctx, "job stats", func() ([]store.JobStat, error) { return s.db.Store.JobStats(ctx) })
}

// Records reads a history.
func (s *Session) Records(ctx context.Context, id string, after int64, limit int) ([]core.Record, error) {
	return read(s, ctx, "records "+id, func() ([]core.Record, error) { return s.db.Store.Records(ctx, id, after, limit) })
}

// Feed reads what happened.
func (s *Session) Feed(ctx context.Context, after int64, limit int) (store.Feed, error) {
	return read(s, ctx, "feed", func() (store.Feed, error) { return s.db.Store.Feed(ctx, after, limit) })
}

// Cursor is up to where the feed is passed on.
func (s *Session) Cursor(ctx context.Context, name string) (pos int64, ok bool, err error) {
	pos, err = read(s, ctx, "cursor "+name, func() (pos int64, err error) {
		pos, ok, err = s.db.Store.Cursor(ctx, name)
		return pos, err
	})
	return pos, ok && err == nil, err
}

// SetCursor says up to where the feed is passed on.
func (s *Session) SetCursor(ctx context.Context, name string, pos int64) error {
	return change(s, ctx, "cursor "+name, func() error { return s.db.Store.SetCursor(ctx, name, pos) })
}

// Subscriptions lists what an instance waits for.
func (s *Session) Subscriptions(ctx context.Context, instance string) ([]store.Subscription, error) {
	return read(s, ctx, "subscriptions "+instance, func() ([]store.Subscription, error) { return s.db.Store.Subscriptions(ctx, instance) })
}

// Events lists kept ones.
func (s *Session) Events(ctx context.Context, q store.EventQuery) (store.EventPage, error) {
	return read(s, ctx, "events", func() (store.EventPage, error) { return s.db.Store.Events(ctx, q) })
}

// Check looks for damage.
func (s *Session) Check(ctx context.Context) ([]store.Problem, error) {
	return read(s, ctx, "check", func() ([]store.Problem, error) { return s.db.Store.Check(ctx) })
}

// DeleteInstance removes an instance.
func (s *Session) DeleteInstance(ctx context.Context, id string, d store.Deletion) error {
	return change(s, ctx, "delete "+id, func() error { return s.delete(ctx, id, d) })
}

// PurgeInstances removes those that ended long ago.
func (s *Session) PurgeInstances(ctx context.Context, before, at core.Time, limit int) (int, error) {
	return s.purge(ctx, "purge instances", func() (int, error) {
		n, err := s.db.Store.PurgeInstances(ctx, before, at, limit)
		if s.db.purged != nil {
			s.db.purged(ctx, before)
		}
		return n, err
	})
}

// PurgeFeed forgets what happened long ago.
func (s *Session) PurgeFeed(ctx context.Context, before core.Time, limit int) (int, error) {
	return s.purge(ctx, "purge feed", func() (int, error) {
		if s.db.forgets != nil {
			defer s.db.forgets(ctx, before)()
		}
		return s.db.Store.PurgeFeed(ctx, before, limit)
	})
}

func (s *Session) purge(ctx context.Context, op string, f func() (int, error)) (int, error) {
	return write(s, ctx, op, func() (int, error) {
		n, err := f()
		if n == 0 && err == nil {
			s.db.writes-- // nothing is written
		}
		return n, err
	})
}

// Policies lists what operators decided.
func (s *Session) Policies(ctx context.Context) ([]store.Policy, error) {
	return read(s, ctx, "policies", func() ([]store.Policy, error) { return s.db.Store.Policies(ctx) })
}

// SetPolicy changes what operators decided.
func (s *Session) SetPolicy(ctx context.Context, p store.Policy) error {
	return change(s, ctx, "policy of "+p.Definition, func() error {
		err := s.db.Store.SetPolicy(ctx, p)
		if err == nil {
			s.db.deployments++
		}
		return err
	})
}

// Held lists the instances of a definition that are held.
func (s *Session) Held(ctx context.Context, definition string, limit int) ([]string, error) {
	return read(s, ctx, "held "+definition, func() ([]string, error) { return s.db.Store.Held(ctx, definition, limit) })
}

// ListSchedules lists all schedules.
func (s *Session) ListSchedules(ctx context.Context) ([]store.Schedule, error) {
	return read(s, ctx, "all schedules", func() ([]store.Schedule, error) { return s.db.Store.ListSchedules(ctx) })
}

// AddTallies counts what happened in some hours.
func (s *Session) AddTallies(ctx context.Context, hours []store.Hour, oldest core.Time) error {
	return change(s, ctx, "tallies", func() error { return s.db.Store.AddTallies(ctx, hours, oldest) })
}

// ListTallies lists what happened in some hours.
func (s *Session) ListTallies(ctx context.Context, from, until core.Time) ([]store.Hour, error) {
	return read(s, ctx, "all tallies", func() ([]store.Hour, error) { return s.db.Store.ListTallies(ctx, from, until) })
}

// PutNote stores a note.
func (s *Session) PutNote(ctx context.Context, n store.Note, now core.Time) error {
	return change(s, ctx, "note "+n.Key, func() error { return s.db.Store.PutNote(ctx, n, now) })
}

// Note reads a note.
func (s *Session) Note(ctx context.Context, kind, key string) (store.Note, error) {
	return read(s, ctx, "read note "+key, func() (store.Note, error) { return s.db.Store.Note(ctx, kind, key) })
}

// Notes lists notes.
func (s *Session) Notes(ctx context.Context, kind, after string, limit int) ([]store.Note, error) {
	return read(s, ctx, "notes", func() ([]store.Note, error) { return s.db.Store.Notes(ctx, kind, after, limit) })
}

// DeleteNote removes a note.
func (s *Session) DeleteNote(ctx context.Context, kind, key string) (bool, error) {
	return write(s, ctx, "delete note "+key, func() (bool, error) { return s.db.Store.DeleteNote(ctx, kind, key) })
}

// AppendEntry appends to the audit log.
func (s *Session) AppendEntry(ctx context.Context, e store.Entry, oldest core.Time) error {
	return change(s, ctx, "audit "+e.ID, func() error { return s.db.Store.AppendEntry(ctx, e, oldest) })
}

// Entries lists the audit log.
func (s *Session) Entries(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	return read(s, ctx, "audit log", func() ([]store.Entry, error) { return s.db.Store.Entries(ctx, q) })
}
