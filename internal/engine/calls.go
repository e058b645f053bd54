package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// callKey names a call of an instance; with the identity of that it is the idempotency
// key of an effect.
func callKey(instance string, t core.Ticket) string {
	var room [96]byte
	return string(t.Append(append(append(room[:0], instance...), '/')))
}

// CallKey is the idempotency key of a call that has no answer yet.
func CallKey(c store.Call) string {
	return cmp.Or(c.Key, callKey(identity(&store.Instance{ID: c.Instance, Created: c.Created}), c.Ticket))
}

// KeyOf is the idempotency key of a call that an instance made.
func KeyOf(row *Instance, t core.Ticket) string { return callKey(identity(row), t) }

// identity names an instance for ever. An id that its caller chose, directly or by a key, is used
// again when its instance is deleted and the caller comes again; what others know by the id
// alone (calls, events, children) is not that of the new one.
func identity(row *store.Instance) string {
	before := strings.HasPrefix(row.ID, keyed+idSeparator) && strings.Count(row.ID, idSeparator) == 1 // of a version before
	if !row.Reusable && !before {
		return row.ID
	}
	return lifeOf(row.ID, row.Created)
}

// lifeOf names an instance for ever, whoever chose its id.
func lifeOf(id string, created core.Time) string {
	var room [160]byte
	return string(strconv.AppendInt(append(append(room[:0], id...), '~'), int64(created), 36))
}

// call is a call in one of three phases: queued, in flight, answered but not applied.
type call struct {
	key string
	row store.Call
	n   int64 // order of its decision

	endpoint string // what it reaches, once it was queued

	cancel context.CancelFunc // while in flight
	waits  bool               // it is in flight without a place
	delay  time.Duration      // how long it waited when it could not be made
	parked bool               // it waits for Engine.Answer
	reply  core.Reply         // once answered
	due    core.Time          // when the answer counts

	shelved  bool // its definition is paused
	answered bool // likewise, and reply is set
}

// callTable knows the calls that were decided on and have no applied answer. It is
// rebuilt from the store when the engine starts: at worst a call is made again.
type callTable struct {
	mu        sync.Mutex
	all       map[string]*call
	held      map[string]*call // those of all that are answered
	queue     callQueue
	shelves   map[string][]*call // calls of paused definitions, by definition
	flying    int                // those that have a place
	placeless int                // those in flight that have none
	count     int64
	wg        sync.WaitGroup
}

func (t *callTable) init(perEndpoint int) {
	t.all, t.held = map[string]*call{}, map[string]*call{}
	t.queue.init(perEndpoint)
}

// live reports whether a call is still to be made.
func (t *callTable) live(c *call) bool { return t.all[c.key] == c }

func (t *callTable) enqueue(rows []store.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range rows {
		key := callKey(row.Instance, row.Ticket)
		if old := t.all[key]; old != nil {
			if old.row.Created == row.Created {
				continue
			}
			t.forget(old) // of an instance that is gone, and whose id another has
		}
		t.count++
		c := &call{key: key, row: row, n: t.count}
		t.all[key] = c
		t.queue.push(c)
	}
}

// open reports whether a call waits for its answer.
func (t *callTable) open(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[c.key] == c
}

// drop forgets a call; if it is under way, that is cancelled.
func (t *callTable) drop(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.all[key]; c != nil {
		t.forget(c)
	}
}

// done forgets a call that is over. Another instance that has the id may have one of the
// same key by now, which is not.
func (t *callTable) done(key string, created core.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.all[key]; c != nil && c.row.Created == created {
		t.forget(c)
	}
}

func (t *callTable) forget(c *call) {
	delete(t.all, c.key)
	delete(t.held, c.key)
	if c.cancel != nil {
		c.cancel()
	}
}

// dropAll forgets the calls of an instance.
func (t *callTable) dropAll(instance string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.all {
		if c.row.Instance == instance {
			t.forget(c)
		}
	}
}

// pop takes the next call of the queue, if fewer than limit are in flight.
func (t *callTable) pop(limit int) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flying >= limit {
		return nil
	}
	c := t.queue.pop(t.live)
	if c != nil {
		t.flying++
	}
	return c
}

// maxWaiting is how many calls may wait without their place among those in flight (limit waiting-calls). Others
// keep it.
const maxWaiting = 10_000

// wait gives back the place of a call in flight that goes on for long. It reports false where too many have.
func (t *callTable) wait(c *call, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.placeless >= limit {
		return false
	}
	c.waits = true
	t.placeless++
	t.flying--
	t.queue.landed(c)
	return true
}

// landed notes that a call is not in flight any more; again: it must be made anew.
func (t *callTable) landed(c *call, again bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.waits {
		c.waits = false
		t.placeless--
	} else {
		t.flying--
		t.queue.landed(c)
	}
	c.cancel = nil
	if again && t.live(c) {
		t.queue.push(c)
	}
}

// hold keeps an answer until it is due, unless nobody waits for it any more.
func (t *callTable) hold(c *call, reply core.Reply, due core.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[c.key] == c {
		c.reply, c.due = reply, due
		t.held[c.key] = c
	}
}

// due lists the answers that count by now, by time, then in order of their calls.
func (t *callTable) due(now core.Time) []*call {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*call
	for _, c := range t.held {
		if c.due <= now {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *call) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.n, b.n)) })
	return out
}

// holds reports whether any answer is held.
func (t *callTable) holds() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.held) > 0
}

// answered reports whether an answer for an instance is held that counts by now.
func (t *callTable) answered(instance string, now core.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.held {
		if c.row.Instance == instance && c.due <= now {
			return true
		}
	}
	return false
}

// next is when a call can begin, 0: now, or when after now an answer counts.
func (t *callTable) next(limit int, now core.Time) (core.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flying < limit && t.queue.ready(t.live) {
		return 0, true
	}
	var at core.Time
	found := false
	for _, c := range t.held {
		if c.due > now && (!found || c.due < at) {
			at, found = c.due, true
		}
	}
	return at, found
}

// InFlight is the number of calls that are under way and have a place.
func (e *Engine) InFlight() int {
	e.calls.mu.Lock()
	defer e.calls.mu.Unlock()
	return e.calls.flying
}

// Underway is the number of calls that are under way, with those that wait without a place.
func (e *Engine) Underway() int {
	e.calls.mu.Lock()
	defer e.calls.mu.Unlock()
	return e.calls.flying + e.calls.placeless
}

// nextCall takes the next call that is this node's to make, if fewer than limit are in flight.
func (e *Engine) nextCall(limit int) *call {
	for {
		if e.shared != nil && !e.shared.Leased() {
			return nil // another node may have them
		}
		c := e.calls.pop(limit)
		if c == nil {
			return nil
		}
		if definition, holds := e.holdsCall(c); holds {
			e.calls.shelve(c, definition)
			continue
		}
		if e.hasShard(c.row.Shard) {
			return c
		}
		e.calls.done(c.key, c.row.Created) // the node that holds the shard now finds it
		e.calls.landed(c, false)
	}
}

// callInline makes the calls that are queued, one by one.
func (e *Engine) callInline(ctx context.Context) (bool, error) {
	e.calls.mu.Lock()
	waiting := e.calls.queue.size
	e.calls.mu.Unlock()
	var errs []error
	did := false
	for range waiting {
		if ctx.Err() != nil {
			break
		}
		c := e.nextCall(1)
		if c == nil {
			break
		}
		did = true
		e.calls.mu.Lock()
		c.cancel = func() {} // it is in flight, and its shard stays here
		e.calls.mu.Unlock()
		began := time.Now()
		out, unready := e.invoke(ctx, c.row)
		if unready != nil {
			errs = append(errs, unready)
			wait(ctx, retryAnswer)
		}
		out = awaited(ctx, out)
		if unready == nil {
			e.figures.called(c.row.Function.Name, time.Since(began), &out, ctx.Err() != nil)
		}
		e.calls.landed(c, unready != nil || ctx.Err() != nil)
		if unready == nil && ctx.Err() == nil {
			errs = append(errs, e.land(ctx, c, out))
		}
	}
	return did, errors.Join(errs...)
}

// dispatch begins queued calls in goroutines, as many as may be in flight.
func (e *Engine) dispatch(ctx context.Context) bool {
	did := false
	for {
		c := e.nextCall(e.cfg.MaxCalls)
		if c == nil {
			return did
		}
		did = true
		flight, cancel := context.WithCancel(ctx)
		e.calls.mu.Lock()
		c.cancel = cancel
		if e.calls.all[c.key] != c {
			cancel() // dropped between
		}
		e.calls.mu.Unlock()
		e.calls.wg.Go(func() {
			defer cancel()
			e.fly(ctx, flight, c)
		})
	}
}

// callsBegin is the context that calls begin with; nil while none may begin.
type callsBegin struct {
	mu  sync.RWMutex
	ctx context.Context
}

// set says with which context calls begin from now on.
func (b *callsBegin) set(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ctx = ctx
}

// end says that none may begin any more.
func (b *callsBegin) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ctx = nil
}

// beginCalls begins queued calls while Run runs: they need not wait until it has looked for
// everything else that there is to do.
func (e *Engine) beginCalls() {
	e.begins.mu.RLock()
	defer e.begins.mu.RUnlock()
	if e.begins.ctx != nil {
		e.dispatch(e.begins.ctx)
	}
}

// fly makes one call. Where ctx, which is that of all calls, ends before the answer
// came, the call stays in the store and is made again.
func (e *Engine) fly(ctx, flight context.Context, c *call) {
	began := time.Now()
	out, unready := e.invoke(flight, c.row)
	if unready != nil {
		e.postpone(flight, c, unready)
		return
	}
	if out.Wait != nil && e.calls.wait(c, maxWaiting) {
		e.beginCalls()
	}
	out = awaited(flight, out)
	over := ctx.Err() != nil
	e.figures.called(c.row.Function.Name, time.Since(began), &out, flight.Err() != nil)
	if !over {
		e.report(e.land(context.WithoutCancel(ctx), c, out))
	}
	e.calls.landed(c, over)
	e.beginCalls()
}

// postpone makes a call later that cannot be made now. Until then it keeps no other from being made.
func (e *Engine) postpone(flight context.Context, c *call, why error) {
	if flight.Err() == nil {
		e.report(why)
	}
	if e.calls.wait(c, maxWaiting) {
		e.beginCalls()
	}
	c.delay = min(max(2*c.delay, retryAnswer), retryLatest)
	wait(flight, c.delay)
	e.calls.landed(c, true)
	e.beginCalls()
}

// retryLatest is the longest time that a call which cannot be made waits for the next attempt.
const retryLatest = 30 * time.Second

// retryAnswer is how long an answer waits that could not be committed, and at first a call
// whose documents or secrets could not be read.
const retryAnswer = time.Second

// land takes a call's outcome: at once, or when it is due.
func (e *Engine) land(ctx context.Context, c *call, out effect.Outcome) error {
	reply := replyOf(c.row.Invoke, out)
	now := e.now()
	if out.Parked {
		e.calls.park(c)
		e.changes.tell()
		if e.shared == nil {
			return nil
		}
		if err := e.shared.Park(ctx, c.row.Instance, c.row.Ticket); err != nil { // it can be answered here
			return fmt.Errorf("tell other nodes that a call of %s waits: %w", c.row.Instance, err)
		}
		return nil
	}
	if out.Delay > 0 {
		due := now + core.Time(out.Delay)
		if due < now {
			due = math.MaxInt64 // beyond what time can hold: never
		}
		e.calls.hold(c, reply, due)
		e.wakeUp()
		return nil
	}
	return e.answer(ctx, c, reply, now)
}

// answer applies a reply. The answer is not lost where that fails.
func (e *Engine) answer(ctx context.Context, c *call, reply core.Reply, at core.Time) error {
	if !e.calls.open(c) {
		return nil // what has its key now may be another instance's
	}
	err := e.post(ctx, c.row.Instance, input{in: reply, at: at, call: reply.Ticket, created: c.row.Created})
	switch {
	case errors.Is(err, errHeld):
		e.keepAnswer(c, reply, at)
		return nil
	case errors.Is(err, errExpensive), errors.Is(err, errUnfinished), errors.Is(err, errInterrupted):
		e.calls.hold(c, reply, at) // for the expensive lane
		e.wakeUp()
		return nil
	case err != nil && !isMissing(err):
		e.calls.hold(c, reply, e.now()+core.Time(retryAnswer))
		e.wakeUp()
		return err
	}
	e.calls.done(c.key, c.row.Created)
	return nil
}

func replyOf(in core.Invoke, out effect.Outcome) core.Reply {
	reply := core.Reply{Ticket: in.Ticket, Value: out.Value, None: out.None, Text: exchangeText(out.Exchange)}
	if f := out.Failure; f != nil {
		reply.Fault = &core.Fault{
			Name: f.Name, Code: f.Code, Status: f.Status,
			Title: f.Title, Type: f.Type, Detail: f.Detail, Data: f.Data, Args: in.Args,
		}
		reply.Fault.Name = cmp.Or(reply.Fault.Name, core.FaultUnnamed)
	}
	return reply
}
