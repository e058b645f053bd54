package nats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	// dialAgain is how long all senders share the failure of a connection.
	dialAgain = time.Second
	// maxKey is how long the key of a message may be; a longer one is told by its hash.
	maxKey = 512
	// codeHeaders is the server's word for headers that are too large.
	codeHeaders jetstream.ErrorCode = 10097
)

// Sink publishes events to a stream.
type Sink struct {
	set     SinkSettings
	subject template
	log     *slog.Logger

	mu      sync.Mutex
	conn    *nats.Conn
	js      jetstream.JetStream
	failed  error // to connect
	retryAt time.Time
	closed  bool
}

var _ event.Sink = (*Sink)(nil).Send

// NewSink returns a sink. It connects when the first event is sent.
func NewSink(set SinkSettings, log *slog.Logger) (*Sink, error) {
	subject, err := parseTemplate(set.Subject)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Sink{set: set, subject: subject, log: log.With("sink", set.Servers[0])}, nil
}

// Send publishes an event and waits until the stream has it. Its key is made of source
// and id: sent again within the stream's window for duplicates, it is still there once.
func (s *Sink) Send(ctx context.Context, e event.Event) error {
	subject, err := s.subject.of(e)
	if err != nil {
		return &event.RefusedError{Err: err}
	}
	m, err := writeMessage(subject, e, s.set.Binary)
	if err != nil {
		return &event.RefusedError{Err: err}
	}
	js, err := s.connected()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	options := []jetstream.PublishOpt{jetstream.WithMsgID(messageKey(e))}
	if s.set.Stream != "" {
		options = append(options, jetstream.WithExpectStream(s.set.Stream))
	}
	_, err = js.PublishMsg(ctx, m, options...)
	return s.explain(subject, err)
}

// explain says whether an event can be sent again.
func (s *Sink) explain(subject string, err error) error {
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum):
		return &event.RefusedError{Err: fmt.Errorf("the event is larger than %s takes: %w", s.set.Servers[0], err)}
	case errors.As(err, &refused) && refused.ErrorCode == codeHeaders:
		return &event.RefusedError{Err: fmt.Errorf("the attributes of the event are larger than %s takes: %w", s.set.Servers[0], err)}
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("no stream at %s takes the subject %s: %w", s.set.Servers[0], subject, err)
	}
	return fmt.Errorf("publish %s to %s: %w", subject, s.set.Servers[0], err)
}

// connected connects if need be. While a connection is lost, events fail at once and wait
// in the store.
func (s *Sink) connected() (jetstream.JetStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errors.New("the sink is closed")
	case s.conn != nil && s.conn.IsConnected():
		return s.js, nil
	case s.conn != nil && !s.conn.IsClosed():
		return nil, fmt.Errorf("the connection to %s is lost; it is made again", s.set.Servers[0])
	case s.failed != nil && time.Now().Before(s.retryAt):
		return nil, s.failed
	}
	// Without a buffer for the time without a connection: what is in it is not sent.
	conn, err := s.set.connect(s.log, nats.ReconnectBufSize(-1))
	if err == nil {
		s.js, err = jetstream.New(conn)
	}
	if s.failed = err; err != nil {
		s.retryAt = time.Now().Add(dialAgain)
		return nil, err
	}
	s.conn = conn
	return s.js, nil
}

// Close ends the connection.
func (s *Sink) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.conn != nil {
		s.conn.Close()
	}
}

// messageKey tells events apart: source and id with a space between, which neither of
// them has once it is encoded.
func messageKey(e event.Event) string {
	key := event.EncodeHeader(e.Source) + " " + event.EncodeHeader(e.ID)
	if len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}
