package asyncapi

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/expr"
)

const (
	maxBuffered  = 1_024            // messages of a subject without a stream that wait for a call ("subscription-buffer")
	ackWait      = 30 * time.Second // after which a message that was not acknowledged comes again
	consumerIdle = 24 * time.Hour   // after which a server forgets a consumer that nobody uses
)

// openNATS subscribes to a subject: to the stream that captures it, else to what is published from now on.
func (i *Invoker) openNATS(ctx context.Context, t target, at position) (feed, error) {
	subject, err := t.subject(expr.EmptyObject, receives)
	if err != nil {
		return nil, err
	}
	b, d, err := i.connect(ctx, t, maxReconnects)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, i.client.Limits().Timeout)
	defer cancel()
	stream, err := b.stream(limited, subject)
	var out feed
	switch {
	case err != nil:
	case stream == "":
		out, err = i.openSubject(limited, b, d, t, subject)
	default:
		s := &streamFeed{invoker: i, broker: b, dialer: d, target: t, stream: stream, subject: subject, at: at}
		s.after, _ = strconv.ParseUint(at.after, 10, 64)
		out, err = s, s.consume(limited)
	}
	if err != nil {
		b.Close()
		return nil, i.explain(ctx, d.why(err))
	}
	return out, nil
}

// subjectFeed is a subject that no stream captures: what is published while nobody is subscribed is lost.
type subjectFeed struct {
	invoker *Invoker
	broker
	dialer *dialer
	target target
	sub    *nats.Subscription
}

func (i *Invoker) openSubject(ctx context.Context, b broker, d *dialer, t target, subject string) (feed, error) {
	sub, err := b.SubscribeSync(subject)
	if err != nil {
		return nil, err
	}
	if err := sub.SetPendingLimits(maxBuffered, int(i.client.Limits().ResponseBytes)); err != nil {
		return nil, err
	}
	if err := b.FlushWithContext(ctx); err != nil { // the server has it
		return nil, err
	}
	return &subjectFeed{i, b, d, t, sub}, nil
}

func (f *subjectFeed) next(ctx context.Context) (expr.Value, error) {
	for {
		msg, err := f.sub.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, nats.ErrSlowConsumer): // beyond the buffer messages are dropped
			continue
		case err != nil:
			return expr.Null, f.invoker.explain(ctx, f.dialer.why(err))
		}
		return f.target.inbound(decode(msg.Data), headersOf(msg.Header)), nil
	}
}

func (f *subjectFeed) close(bool) { f.broker.Close() }

// streamFeed is a subject that a stream captures. The id of a message is its sequence in the stream, from which
// a later process goes on, so that none is lost and none comes twice.
type streamFeed struct {
	invoker *Invoker
	broker
	dialer          *dialer
	target          target
	stream, subject string
	at              position
	after           uint64 // sequence of the message before
	consumer        jetstream.Consumer
	unacked         jetstream.Msg // the message before
}

// consume makes the consumer. A stream that keeps messages by age or size is read from a sequence or a time on. One
// that drops what was acknowledged needs a consumer that the server remembers, which has the name of the
// task's run.
func (f *streamFeed) consume(ctx context.Context) error {
	stream, err := f.js.Stream(ctx, f.stream)
	if err != nil {
		return err
	}
	// One message at a time, which comes again unless it is acknowledged: a request that ends while its
	// message is on the way loses nothing.
	cfg := jetstream.ConsumerConfig{FilterSubject: f.subject, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 1, InactiveThreshold: idleTime}
	switch retention := stream.CachedInfo().Config.Retention; {
	case retention == jetstream.WorkQueuePolicy: // which allows nothing but all messages
		cfg.Durable, cfg.InactiveThreshold, cfg.DeliverPolicy = f.at.id, consumerIdle, jetstream.DeliverAllPolicy
	case retention == jetstream.InterestPolicy:
		cfg.Durable, cfg.InactiveThreshold, cfg.DeliverPolicy = f.at.id, consumerIdle, jetstream.DeliverNewPolicy
	case f.after > 0:
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, f.after+1
	default:
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &f.at.since
	}
	f.consumer, err = f.js.CreateOrUpdateConsumer(ctx, f.stream, cfg)
	return err
}

func (f *streamFeed) next(ctx context.Context) (expr.Value, error) {
	f.ack()
	for {
		msg, err := f.consumer.Next(jetstream.FetchContext(ctx))
		switch {
		case ctx.Err() != nil:
			return expr.Null, ctx.Err()
		case f.IsClosed():
			return expr.Null, f.invoker.explain(ctx, f.dialer.why(nats.ErrConnectionClosed))
		case errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages) || errors.Is(err, context.DeadlineExceeded):
			continue // the server does not keep a request for ever
		case err != nil:
			if err := f.again(ctx, err); err != nil {
				return expr.Null, f.invoker.explain(ctx, f.dialer.why(err))
			}
			continue
		}
		about, err := msg.Metadata()
		if err != nil {
			return expr.Null, invalid("the server sends a message without its place in the stream")
		}
		f.unacked = msg
		if about.Sequence.Stream <= f.after { // the instance has it
			f.ack()
			continue
		}
		f.after = about.Sequence.Stream
		out := f.target.inbound(decode(msg.Data()), headersOf(msg.Headers()))
		return out.With("id", expr.String(strconv.FormatUint(f.after, 10))), nil
	}
}

// again goes on after an error: most are those of a server that restarts, or that has forgotten the consumer.
func (f *streamFeed) again(ctx context.Context, err error) error {
	if err := wait(ctx, f.invoker.pause); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, f.invoker.client.Limits().Timeout)
	defer cancel()
	switch made := f.consume(limited); {
	case errors.Is(made, jetstream.ErrStreamNotFound):
		return made
	case made != nil && !f.IsClosed() && f.IsConnected():
		return errors.Join(err, made)
	}
	return nil
}

// ack acknowledges the message before: the instance has it, or it would not ask for the next one.
func (f *streamFeed) ack() {
	if f.unacked != nil {
		_ = f.unacked.Ack() // without it the message comes again, and is known by its sequence
		f.unacked = nil
	}
}

// close ends the feed. A message that may not be stored is given back, for a call that is made again.
func (f *streamFeed) close(stored bool) {
	if f.unacked != nil && !stored {
		_ = f.unacked.Nak() // without it the message comes again after ackWait
		f.unacked = nil
	}
	f.ack()
	_ = f.FlushTimeout(time.Second)
	f.broker.Close()
}
