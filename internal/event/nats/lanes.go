package nats

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/event"
)

// lanes process messages: those of one subject in the order of their arrival, those of
// different subjects concurrently. The number of messages at a time is bounded.
type lanes struct {
	source *Source
	ingest event.Ingest
	ctx    context.Context // of messages in progress; outlives the source for a while
	cancel context.CancelFunc
	ending <-chan struct{} // closed when no more messages may begin
	places chan struct{}
	wg     sync.WaitGroup

	mu     sync.Mutex
	queues map[string][]jetstream.Msg // by subject; an entry exists while it has a worker
}

func newLanes(ctx context.Context, s *Source, ingest event.Ingest, most int) *lanes {
	l := &lanes{
		source: s, ingest: ingest, ending: ctx.Done(),
		places: make(chan struct{}, most), queues: map[string][]jetstream.Msg{},
	}
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

// acquire reserves a place for the next message.
func (l *lanes) acquire(ctx context.Context) error {
	select {
	case l.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lanes) release() { <-l.places }

// add queues a message, whose place was acquired, behind the others of its subject.
func (l *lanes) add(m jetstream.Msg) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, busy := l.queues[m.Subject()]
	l.queues[m.Subject()] = append(queue, m)
	if !busy {
		l.wg.Go(func() { l.work(m.Subject()) })
	}
}

// work processes the messages of one lane. When a message is returned to the server, so are those
// behind it, with the same delay: most likely they would fail as well. Only a consumer with one
// message in flight keeps the order across failures.
func (l *lanes) work(subject string) {
	for m := l.take(subject); m != nil; m = l.take(subject) {
		if l.ended() {
			_ = m.Nak()
		} else if !l.source.handle(l.ctx, m, l.ingest) {
			l.returnAll(subject)
		}
		l.release()
	}
}

// take removes the first message of a lane. It returns nil, and removes the lane, if it is empty.
func (l *lanes) take(subject string) jetstream.Msg {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[subject]
	if len(queue) == 0 {
		delete(l.queues, subject)
		return nil
	}
	l.queues[subject] = queue[1:]
	return queue[0]
}

// returnAll returns the waiting messages of a lane to the server.
func (l *lanes) returnAll(subject string) {
	l.mu.Lock()
	queue := l.queues[subject]
	l.queues[subject] = nil
	l.mu.Unlock()
	for _, m := range queue {
		_ = m.NakWithDelay(l.source.pause())
		l.release()
	}
}

func (l *lanes) ended() bool {
	select {
	case <-l.ending:
		return true
	default:
		return false
	}
}

// finish waits for the messages in progress, and cancels them after finishTime.
func (l *lanes) finish() {
	late := time.AfterFunc(finishTime, l.cancel)
	defer late.Stop()
	l.wg.Wait()
	l.cancel()
}
