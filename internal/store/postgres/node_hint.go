package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// Hints tell other nodes that there may be work. They are sent outside transactions, one for many
// changes, and nothing relies on them: a pooler in between may swallow them.
const (
	hintFeed = "feed" // something was committed
	hintWork = "work" // there may be work for others
	hintFree = "free" // a shard was given back
)

// hintPause is how long hints are gathered.
const hintPause = 10 * time.Millisecond

// hints are those that are yet to be sent, and those that came.
type hints struct {
	mu    sync.Mutex
	next  string
	wake  chan struct{}
	heard chan bool
}

func (h *hints) init() { h.wake, h.heard = make(chan struct{}, 1), make(chan bool, 1) }

var hintRank = map[string]int{hintFeed: 1, hintWork: 2, hintFree: 3}

// send has a hint sent soon; of several the weightiest.
func (h *hints) send(hint string) {
	h.mu.Lock()
	if hintRank[hint] > hintRank[h.next] {
		h.next = hint
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hints) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	hint := h.next
	h.next = ""
	return hint
}

// hear passes on what came. One that waits to be heard is as good as several.
func (h *hints) hear(work bool) {
	select {
	case h.heard <- work:
		return
	default:
	}
	if !work {
		return
	}
	select {
	case <-h.heard:
	default:
	}
	select {
	case h.heard <- true:
	default:
	}
}

// Hints gets something when other nodes may have written; true: there may be work.
func (s *Store) Hints() <-chan bool { return s.hints.heard }

// wrote hints at a write that changed these shards.
func (sp *space) wrote(shards ...int16) {
	switch {
	case sp.db.opts.NoHints || !sp.leases.several():
	case sp.leases.foreign(shards...):
		sp.hints.send(hintWork)
	default:
		sp.hints.send(hintFeed)
	}
}

// channel is where the nodes of a namespace hear each other.
func (n *node) channel() string {
	return fmt.Sprintf("lockstep_%x", uint64(codec.SumOf(n.db.opts.Schema, n.name)))
}

// tell sends hints.
func (n *node) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.hints.wake:
		}
		if sleep(ctx, hintPause) != nil {
			return
		}
		hint := n.hints.take()
		if hint == "" {
			continue
		}
		late, cancel := context.WithTimeout(ctx, n.lease())
		_, _ = n.db.pool.Exec(late, "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)", n.channel(), n.id.String()+" "+hint)
		cancel()
	}
}

// listen passes on what other nodes hint at. It has a connection of its own; where that is
// lost or cannot be had, it tries again after a while.
func (n *node) listen(ctx context.Context) {
	l := line{db: n.db}
	defer l.close()
	for ctx.Err() == nil {
		err := n.listenOn(ctx, &l)
		for err == nil {
			var note *pgconn.Notification
			quiet, cancel := context.WithTimeout(ctx, listenQuiet)
			note, err = l.conn.WaitForNotification(quiet)
			cancel()
			switch {
			case err == nil:
				n.hint(note.Payload)
			case quiet.Err() != nil && ctx.Err() == nil: // nobody says anything, or the connection is dead
				err = n.listenOn(ctx, &l)
			}
		}
		l.close()
		l.conn = nil
		if sleep(ctx, listenAgain) != nil {
			return
		}
	}
}

// listenOn listens, or sees whether the connection on which it does is answered.
func (n *node) listenOn(ctx context.Context, l *line) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return l.do(ctx, "LISTEN "+pgx.Identifier{n.channel()}.Sanitize())
}

const (
	// listenAgain is the pause before listening again after the connection was lost.
	listenAgain = time.Second
	// listenQuiet is after how long without a hint the connection is tried.
	listenQuiet = 10 * time.Second
)

func (n *node) hint(payload string) {
	from, hint, _ := strings.Cut(payload, " ")
	if from == n.id.String() {
		return
	}
	n.hints.hear(hint != hintFeed)
	if hint == hintFree {
		n.kick()
	}
}
