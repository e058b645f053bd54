package asyncapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// A subscription is a loop of calls, each of which gets one message. Between two of them a process keeps what is
// connected: a session.
const (
	maxIdle  = 1_000           // sessions that no call uses ("idle-subscriptions")
	idleTime = 5 * time.Minute // how long they stay ("subscription-idle")
)

// position says which message of a subscription a call is for.
type position struct {
	id     string    // of the run of the task
	since  time.Time // when that began
	number int64     // from 1
	after  string    // id of the message before; "": it had none
}

// readPosition reads the member subscription of a call: {id, since, number, after}.
func readPosition(c effect.Call, v expr.Value) (position, error) {
	p := position{after: effect.Text(v, "after")}
	number, _ := v.Get("number")
	p.number, _ = number.Int()
	var err error
	if p.since, err = time.Parse(time.RFC3339Nano, effect.Name(v, "since")); err != nil || p.number < 1 {
		return p, errors.New("its subscription does not say which message it is for")
	}
	// The key is the identity of the instance, which no later one has, and the call.
	instance := c.Key[:max(strings.LastIndexByte(c.Key, '/'), 0)]
	sum := sha256.Sum256([]byte(strings.Join([]string{instance, effect.Name(v, "id"), effect.Name(v, "since"), c.Documents.Key}, "\x00")))
	p.id = "lockstep-" + hex.EncodeToString(sum[:12])
	return p, nil
}

// feed is where messages come from.
type feed interface {
	// next blocks until there is a message, or ctx ends. A feed that fails is closed and not used again.
	next(ctx context.Context) (expr.Value, error)
	// close ends the feed. Stored: the instance has the message that was given last.
	close(stored bool)
}

// session is a feed between two calls.
type session struct {
	feed   feed
	number int64      // of the message that was given last
	last   expr.Value // that message, for a call that is made again
	timer  *time.Timer
}

// sessions are those that no call uses now.
type sessions struct {
	mu   sync.Mutex
	all  map[string]*session
	idle time.Duration
}

func (s *sessions) init() { s.all, s.idle = map[string]*session{}, idleTime }

// take takes a session for a call; nil: there is none.
func (s *sessions) take(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.all[id]
	if found != nil {
		delete(s.all, id)
		found.timer.Stop()
	}
	return found
}

// put keeps a session for the next call. Where there are too many, or one is there already, it is closed: what
// can be resumed is resumed by the next call.
func (s *sessions) put(id string, one *session) {
	s.mu.Lock()
	kept := s.all[id] == nil && len(s.all) < maxIdle
	if kept {
		s.all[id] = one
		one.timer = time.AfterFunc(s.idle, func() { s.expire(id, one) })
	}
	s.mu.Unlock()
	if !kept {
		one.feed.close(false)
	}
}

// expire closes a session that was not used for long.
func (s *sessions) expire(id string, one *session) {
	s.mu.Lock()
	there := s.all[id] == one
	if there {
		delete(s.all, id)
	}
	s.mu.Unlock()
	if there {
		one.feed.close(true) // minutes ago
	}
}

// empty closes all, when the process ends. What was given last may not be stored.
func (s *sessions) empty() {
	s.mu.Lock()
	all := s.all
	s.all = map[string]*session{}
	s.mu.Unlock()
	for _, one := range all {
		one.timer.Stop()
		one.feed.close(false)
	}
}

// receive gets the next message of a subscription: it connects, and then waits without a place among the calls
// in flight.
func (i *Invoker) receive(ctx context.Context, c effect.Call, t target, subscription expr.Value) effect.Outcome {
	at, err := readPosition(c, subscription)
	if err != nil {
		return refused(t.where, err)
	}
	one := i.sessions.take(at.id)
	switch {
	case one != nil && one.number == at.number: // it was given, and is asked for again
		i.sessions.put(at.id, one)
		return effect.Outcome{Value: one.last}
	case one != nil && one.number != at.number-1: // another process was asked meanwhile
		one.feed.close(one.number < at.number)
		one = nil
	}
	if one == nil {
		one = &session{}
		if one.feed, err = i.open(ctx, t, at); err != nil {
			return refused(t.where, err)
		}
	}
	return effect.Outcome{Wait: func(ctx context.Context) effect.Outcome {
		msg, err := one.feed.next(ctx)
		if err != nil {
			one.feed.close(true) // or it would not have been asked for the next one
			if _, ok := errors.AsType[*status](err); !ok {
				err = i.client.Explain(ctx, err, i.client.Limits().Timeout)
			}
			return refused(t.where, err)
		}
		one.number, one.last = at.number, msg
		i.sessions.put(at.id, one)
		return effect.Outcome{Value: msg}
	}}
}

// open connects a feed within call-timeout.
func (i *Invoker) open(ctx context.Context, t target, at position) (feed, error) {
	if t.server.kind() == protocolNATS {
		return i.openNATS(ctx, t, at)
	}
	return i.openHTTP(ctx, t, at)
}

// wait waits, unless ctx ends before.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func invalid(msg string) error { return &effecthttp.Error{Code: effecthttp.CodeInvalid, Msg: msg} }
