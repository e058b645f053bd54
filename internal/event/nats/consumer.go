package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// consumer finds the durable consumer, or makes it. One that is there keeps its settings,
// apart from those that the URL gives.
func (s *Source) consumer(ctx context.Context, js jetstream.JetStream) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c, err := js.Consumer(ctx, s.set.Stream, s.set.Durable)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		c, err = js.CreateConsumer(ctx, s.set.Stream, s.fresh())
	case err == nil:
		var changed jetstream.ConsumerConfig
		changed, err = s.adapt(c.CachedInfo().Config)
		if err == nil && !sameConsumer(changed, c.CachedInfo().Config) {
			c, err = js.UpdateConsumer(ctx, s.set.Stream, changed)
		}
	case errors.Is(err, jetstream.ErrNotPullConsumer):
		err = fmt.Errorf("the consumer %q is one that messages are pushed to; give durable=NAME another name: %w", s.set.Durable, err)
	}
	if err != nil {
		return nil, s.set.explainRequest(s.set.Stream, err)
	}
	return c, nil
}

// fresh are the settings of a consumer that is not there yet.
func (s *Source) fresh() jetstream.ConsumerConfig {
	out := jetstream.ConsumerConfig{
		Durable: s.set.Durable, Description: "Lockstep takes events", AckPolicy: jetstream.AckExplicitPolicy, AckWait: s.ackWait,
		MaxDeliver: -1, MaxAckPending: cmp.Or(s.set.InFlight, defaultInFlight), DeliverPolicy: jetstream.DeliverAllPolicy,
	}
	if s.set.New {
		out.DeliverPolicy = jetstream.DeliverNewPolicy
	}
	s.filter(&out)
	return out
}

// adapt gives a consumer the subjects and the bound of the URL, if it has any: where all is
// as it should be, the connection needs no permission to change it.
func (s *Source) adapt(has jetstream.ConsumerConfig) (jetstream.ConsumerConfig, error) {
	if has.AckPolicy != jetstream.AckExplicitPolicy {
		return has, fmt.Errorf("the consumer %q does not want each message acknowledged; give durable=NAME another name", s.set.Durable)
	}
	if len(s.set.Subjects) > 0 {
		s.filter(&has)
	}
	has.MaxAckPending = cmp.Or(s.set.InFlight, has.MaxAckPending)
	return has, nil
}

// filter sets the subjects: one has a field of its own, which older servers know too.
func (s *Source) filter(c *jetstream.ConsumerConfig) {
	c.FilterSubject, c.FilterSubjects = "", nil
	switch len(s.set.Subjects) {
	case 0:
	case 1:
		c.FilterSubject = s.set.Subjects[0]
	default:
		c.FilterSubjects = s.set.Subjects
	}
}

// sameConsumer compares what adapt may change.
func sameConsumer(a, b jetstream.ConsumerConfig) bool {
	return a.FilterSubject == b.FilterSubject && slices.Equal(a.FilterSubjects, b.FilterSubjects) && a.MaxAckPending == b.MaxAckPending
}
