package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/event"
)

const (
	// nodeInFlight is how many messages one node works on at a time ("source-in-flight");
	// as many again are on their way to it.
	nodeInFlight = 64
	// ackWait is how long the server waits for an acknowledgement before it gives a
	// message to another consumer.
	ackWait = 30 * time.Second
	// finishTime is how long what is under way may take when the source ends.
	finishTime = 10 * time.Second
	// goodbye bounds the wait for messages that are on their way when the source ends.
	goodbye = 2 * time.Second
	// tellAgain is how often the same trouble is told.
	tellAgain = time.Minute
	// maxReason bounds what is told of a message that is never to come again, in characters:
	// it may quote the message.
	maxReason = 300
)

// Source takes events from a durable consumer. All nodes of a store name the same one,
// and share its messages.
type Source struct {
	set     SourceSettings
	log     *slog.Logger
	ackWait time.Duration
	backOff func(failures int) time.Duration
	most    int // bytes of an event

	mu      sync.Mutex
	figures event.SourceFigures
	failing int       // failures of ingest in a row
	rest    time.Time // until when nothing new is begun
	told    string    // the last trouble, and when
	toldAt  time.Time
}

var _ event.Source = (*Source)(nil)

// NewSource returns a source. It connects when it runs.
func NewSource(set SourceSettings, log *slog.Logger) *Source {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Source{set: set, ackWait: ackWait, backOff: backOff, most: maxEvent}
	s.log = log.With("source", s.String())
	return s
}

func (s *Source) String() string {
	return fmt.Sprintf("%s/%s durable %s", s.set.Servers[0], s.set.Stream, s.set.Durable)
}

// Figures count what came of events.
func (s *Source) Figures() event.SourceFigures {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.figures
}

// backOff is how long to wait after so many failures in a row: a second, and twice as
// long each time, up to a minute.
func backOff(failures int) time.Duration {
	return min(time.Minute, time.Second<<min(max(failures-1, 0), 6))
}

// Run takes events until ctx ends.
func (s *Source) Run(ctx context.Context, ingest event.Ingest) error {
	failures := 0
	for {
		took, err := s.session(ctx, ingest)
		if ctx.Err() != nil {
			return nil
		}
		if failures++; took {
			failures = 1
		}
		s.trouble(err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(s.backOff(failures)):
		}
	}
}

// trouble tells what keeps events from coming, but the same thing only now and then.
func (s *Source) trouble(err error) {
	s.mu.Lock()
	again := err.Error() == s.told && time.Since(s.toldAt) < tellAgain
	if !again {
		s.told, s.toldAt = err.Error(), time.Now()
	}
	s.mu.Unlock()
	if !again {
		s.log.Warn("events do not come; it is tried again", "error", err)
	}
}

// session takes events as long as the connection and the consumer last. took: some came.
func (s *Source) session(ctx context.Context, ingest event.Ingest) (took bool, err error) {
	conn, err := s.set.connect(s.log)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(requestTime))
	if err != nil {
		return false, err
	}
	consumer, err := s.consumer(ctx, js)
	if err != nil {
		return false, err
	}
	most := nodeInFlight
	if bound := consumer.CachedInfo().Config.MaxAckPending; bound > 0 {
		most = min(most, bound)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(most))
	if err != nil {
		return false, s.set.explainRequest(s.set.Stream, err)
	}
	s.log.Info("events come", "server", conn.ConnectedUrlRedacted())
	l := newLanes(ctx, s, ingest, most)
	for err == nil {
		err = s.next(ctx, messages, l, &took)
	}
	giveBack(messages)
	l.finish()
	flush(conn)
	return took, err
}

// next hands on one message, once there is place for it.
func (s *Source) next(ctx context.Context, messages jetstream.MessagesContext, l *lanes, took *bool) error {
	if err := s.resting(ctx); err != nil {
		return err
	}
	if err := l.acquire(ctx); err != nil {
		return err
	}
	m, err := messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		l.release()
		if errors.Is(err, jetstream.ErrConsumerDeleted) {
			err = fmt.Errorf("the consumer %q was deleted; it is made anew: %w", s.set.Durable, err)
		}
		return err
	}
	*took = true
	l.add(m)
	return nil
}

// resting waits while ingest fails.
func (s *Source) resting(ctx context.Context) error {
	s.mu.Lock()
	wait := time.Until(s.rest)
	s.mu.Unlock()
	if wait <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// giveBack ends the taking of messages; what came already goes back at once, so that
// another node need not wait for it.
func giveBack(messages jetstream.MessagesContext) {
	messages.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return
		}
		_ = m.Nak() // else it comes again when its time is up
	}
}

// flush lets acknowledgements go out.
func flush(conn *nats.Conn) {
	if conn.IsConnected() {
		_ = conn.FlushTimeout(goodbye) // else the messages come again, and are recognised
	}
}

// handle takes one message; false: it goes back, and so should those after it.
func (s *Source) handle(ctx context.Context, m jetstream.Msg, ingest event.Ingest) bool {
	delivered := uint64(1)
	if meta, err := m.Metadata(); err == nil {
		delivered = meta.NumDelivered
	}
	e, err := readMessage(m.Headers(), m.Data(), s.most)
	if err != nil {
		err = &event.RefusedError{Err: err}
	} else {
		err = ingest(ctx, e)
	}
	// What an acknowledgement of any kind cannot do now, the next delivery does.
	switch {
	case err == nil:
		s.count(delivered, func(f *event.SourceFigures) { f.Taken++ })
		_ = m.Ack()
	case event.Refused(err):
		s.count(delivered, func(f *event.SourceFigures) { f.Refused++ })
		reason := oneLine(err.Error())
		s.log.Error("a message is refused, and dropped", "subject", m.Subject(), "id", oneLine(e.ID), "error", reason)
		_ = m.TermWithReason(reason)
	case ctx.Err() != nil:
		_ = m.Nak()
		return false
	default:
		pause := s.failed(delivered)
		s.log.Warn("an event cannot be taken now; it comes again", "subject", m.Subject(), "id", oneLine(e.ID), "error", err, "again", pause)
		_ = m.NakWithDelay(pause)
		return false
	}
	return true
}

func (s *Source) count(delivered uint64, add func(*event.SourceFigures)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(&s.figures)
	if delivered > 1 {
		s.figures.Redelivered++
	}
	s.failing, s.rest = 0, time.Time{}
}

// failed notes that ingest fails, and says when the message is to come again: the later
// the more often it came. Nothing else is begun for as long as ingest fails in a row, but
// for a few seconds only: it may be this one message.
func (s *Source) failed(delivered uint64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.Failed++
	if delivered > 1 {
		s.figures.Redelivered++
	}
	s.failing++
	s.rest = time.Now().Add(min(s.backOff(s.failing), 5*time.Second))
	return s.backOff(int(min(delivered, 100)))
}

// pause is how long the rest after failures takes from now on.
func (s *Source) pause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(time.Until(s.rest), time.Millisecond)
}

// oneLine makes a text one for a log, and for a server to take as a reason.
func oneLine(text string) string {
	out := []rune(text)
	for i, r := range out {
		if r < ' ' {
			out[i] = ' '
		}
	}
	if len(out) > maxReason {
		out = append(out[:maxReason], '…')
	}
	return string(out)
}
