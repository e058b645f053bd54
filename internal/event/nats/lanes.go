package nats

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/event"
)

// lanes hand messages on: those of one subject one after the other, as they came, those
// of different subjects side by side. How many there are at a time is bounded.
type lanes struct {
	source *Source
	ingest event.Ingest
	ctx    context.Context // of what is under way: outlives the source for a while
	cancel context.CancelFunc
	ending <-chan struct{} // closed when nothing more is to begin
	places chan struct{}
	wg     sync.WaitGroup

	mu     sync.Mutex
	queues map[string][]jetstream.Msg // by subject; there while somebody works on it
}

func newLanes(ctx context.Context, s *Source, ingest event.Ingest, most int) *lanes {
	l := &lanes{source: s, ingest: ingest, ending: ctx.Done(), places: make(chan struct{}, most), queues: map[string][]jetstream.Msg{}}
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

// acquire takes a place for a message that is to come.
func (l *lanes) acquire(ctx context.Context) error {
	select {
	case l.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lanes) release() { <-l.places }

// add puts a message, whose place was acquired, behind those of its subject.
func (l *lanes) add(m jetstream.Msg) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, busy := l.queues[m.Subject()]
	l.queues[m.Subject()] = append(queue, m)
	if !busy {
		l.wg.Go(func() { l.work(m.Subject()) })
	}
}

// work hands on what one lane has. When a message goes back, those that wait behind it do
// too, for as long as the source rests: most likely they would fail as well. Only a
// consumer with one message in flight keeps the order over failures.
func (l *lanes) work(subject string) {
	for m := l.take(subject); m != nil; m = l.take(subject) {
		if l.ended() {
			_ = m.Nak()
		} else if !l.source.handle(l.ctx, m, l.ingest) {
			l.back(subject)
		}
		l.release()
	}
}

// take is the first message of a lane; nil: it is empty, and gone.
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

// back sends back what waits in a lane.
func (l *lanes) back(subject string) {
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

// finish waits for what is under way, for a while; what takes longer is given up.
func (l *lanes) finish() {
	late := time.AfterFunc(finishTime, l.cancel)
	defer late.Stop()
	l.wg.Wait()
	l.cancel()
}
