package nats

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/event"
)

// TestOrder: events of one subject come as they were published, beside those of others.
func TestOrder(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	const each = 100
	for i := range each {
		for _, subject := range []string{"a", "b"} {
			publish(t, js, "in."+subject, text(fmt.Sprintf("%s%03d", subject, i)))
		}
	}
	var got seen
	var mu sync.Mutex
	busy := map[byte]bool{}
	s := b.source(b.address(), "", nil)
	run(t, s, func(ctx context.Context, e event.Event) error {
		mu.Lock()
		if busy[e.ID[0]] {
			t.Errorf("%s comes beside another of its subject", e.ID)
		}
		busy[e.ID[0]] = true
		mu.Unlock()
		runtime.Gosched()
		mu.Lock()
		busy[e.ID[0]] = false
		mu.Unlock()
		return got.ingest(ctx, e)
	})
	settled(t, js, "lockstep")
	for _, subject := range []string{"a", "b"} {
		ids := slices.DeleteFunc(got.list(), func(id string) bool { return !strings.HasPrefix(id, subject) })
		if len(ids) != each || !slices.IsSorted(ids) {
			t.Errorf("%d events of %s: %v", len(ids), subject, ids)
		}
	}
	if f := s.Figures(); f != (event.SourceFigures{Taken: 2 * each}) {
		t.Errorf("%+v", f)
	}
}

// TestSubjects: only what is asked for comes, and a change of the URL changes the consumer.
func TestSubjects(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	for _, subject := range []string{"in.a", "in.b", "in.c.d"} {
		publish(t, js, subject, text(subject))
	}
	var got seen
	stop := run(t, b.source(b.address(), "?subject=in.b&subject=in.c.>&durable=some&in-flight=7", nil), got.ingest)
	if info := settled(t, js, "some"); info.Config.MaxAckPending != 7 {
		t.Errorf("in-flight is %d", info.Config.MaxAckPending)
	}
	stop()
	if ids := slices.Sorted(slices.Values(got.list())); !slices.Equal(ids, []string{"in.b", "in.c.d"}) {
		t.Errorf("came: %v", ids)
	}
	run(t, b.source(b.address(), "?subject=in.b&durable=some", nil), got.ingest)
	until(t, "the consumer is adapted", func() bool {
		c, err := js.Consumer(t.Context(), "IN", "some")
		return err == nil && c.CachedInfo().Config.FilterSubject == "in.b" && c.CachedInfo().Config.MaxAckPending == 7
	})
}

// TestDeliverNew: what was there before the consumer does not come.
func TestDeliverNew(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	publish(t, js, "in.a", text("old"))
	var got seen
	run(t, b.source(b.address(), "?deliver=new", nil), got.ingest)
	until(t, "the consumer is there", func() bool {
		_, err := js.Consumer(t.Context(), "IN", "lockstep")
		return err == nil
	})
	publish(t, js, "in.a", text("new"))
	settled(t, js, "lockstep")
	if ids := got.list(); !slices.Equal(ids, []string{"new"}) {
		t.Errorf("came: %v", ids)
	}
}

// TestPoison: what is no event, and what is refused, is told and never comes again.
func TestPoison(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	advisories := make(chan string, 16)
	_, err := js.Conn().Subscribe("$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.IN.lockstep", func(m *nats.Msg) { advisories <- string(m.Data) })
	if err != nil {
		t.Fatal(err)
	}
	publish(t, js, "in.a", "not JSON")
	publish(t, js, "in.a", `{"specversion":"1.0","source":"s","type":"t"}`)
	publish(t, js, "in.a", `{"id":"x"}`, "content-type", "application/cloudevents-batch+json")
	publish(t, js, "in.a", "x", "ce-specversion", "0.3", "ce-id", "1", "ce-source", "s", "ce-type", "t")
	publish(t, js, "in.a", text(strings.Repeat("x", maxEvent)))
	publish(t, js, "in.a", text("unwanted"))
	publish(t, js, "in.a", text("good"))
	var got seen
	var log logged
	s := b.source(b.address(), "", log.logger())
	run(t, s, func(ctx context.Context, e event.Event) error {
		if e.ID == "unwanted" {
			return fmt.Errorf("take it: %w", &event.RefusedError{Err: errors.New("another event\nhas this id")})
		}
		return got.ingest(ctx, e)
	})
	info := settled(t, js, "lockstep")
	if ids := got.list(); !slices.Equal(ids, []string{"good"}) || info.NumRedelivered != 0 {
		t.Errorf("came: %v, %d again", ids, info.NumRedelivered)
	}
	if f := s.Figures(); f != (event.SourceFigures{Taken: 1, Refused: 6}) {
		t.Errorf("%+v", f)
	}
	for _, says := range []string{"invalid JSON", "attribute", "application/cloudevents-batch+json", "0.3", "limit event-bytes", "another event has this id"} {
		if a := <-advisories; !strings.Contains(a, says) {
			t.Errorf("the advisory does not say %q: %s", says, a)
		}
	}
	if !log.has("limit event-bytes") {
		t.Error("the log does not tell")
	}
}

// TestFailuresComeAgain: an error that is not a refusal brings the event again; with
// in-flight=1 nothing overtakes it, on whatever node.
func TestFailuresComeAgain(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	var want []string
	for i := range 20 {
		id := fmt.Sprintf("%02d", i)
		want = append(want, id)
		publish(t, js, fmt.Sprintf("in.%d", i), text(id))
	}
	var got seen
	var mu sync.Mutex
	attempts := map[string]int{}
	ingest := func(ctx context.Context, e event.Event) error {
		mu.Lock()
		attempts[e.ID]++
		n := attempts[e.ID]
		mu.Unlock()
		if e.ID[1] == '5' && n < 3 {
			return errors.New("the store is away")
		}
		return got.ingest(ctx, e)
	}
	first, second := b.source(b.address(), "?in-flight=1", nil), b.source(b.address(), "?in-flight=1", nil)
	run(t, first, ingest)
	run(t, second, ingest)
	settled(t, js, "lockstep")
	if ids := got.list(); !slices.Equal(ids, want) {
		t.Errorf("came: %v", ids)
	}
	f, g := first.Figures(), second.Figures()
	if f.Failed+g.Failed != 4 || f.Taken+g.Taken != 20 || f.Redelivered+g.Redelivered != 4 {
		t.Errorf("%+v %+v", f, g)
	}
}

// TestFailuresTakeNeighboursBack: what waits behind a failed event goes back with it
// untried, and comes again, once.
func TestFailuresTakeNeighboursBack(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	const all = 40
	for i := range all {
		publish(t, js, "in.a", text(fmt.Sprintf("%02d", i)))
	}
	publish(t, js, "in.b", text("last"))
	var got seen
	last := make(chan struct{})
	failed := false
	s := b.source(b.address(), "", nil)
	run(t, s, func(ctx context.Context, e event.Event) error {
		switch {
		case e.ID == "last":
			close(last) // the others came before, and wait
		case e.ID == "00" && !failed: // those of one subject come one by one
			failed = true
			<-last
			return errors.New("the store is away")
		}
		return got.ingest(ctx, e)
	})
	settled(t, js, "lockstep")
	ids := got.list()
	if slices.Sort(ids); len(ids) != all+1 || len(slices.Compact(ids)) != all+1 {
		t.Errorf("came: %v", ids)
	}
	if f := s.Figures(); f != (event.SourceFigures{Taken: all + 1, Failed: 1, Redelivered: all}) {
		t.Errorf("%+v", f)
	}
}

// TestNodesShare: two nodes take each event once between them.
func TestNodesShare(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	var got seen
	var both sync.WaitGroup
	both.Add(2)
	share := func() func(context.Context, event.Event) error {
		one := sync.OnceFunc(both.Done)
		return func(ctx context.Context, e event.Event) error {
			one()
			both.Wait() // no node takes everything before the other one is there
			return got.ingest(ctx, e)
		}
	}
	first, second := b.source(b.address(), "", nil), b.source(b.address(), "", nil)
	first.ackWait, second.ackWait = time.Hour, time.Hour // nobody gets a message because its time is up
	run(t, first, share())
	run(t, second, share())
	const all = 300
	for i := range all {
		publish(t, js, fmt.Sprintf("in.%d", i%10), text(fmt.Sprint(i)))
	}
	settled(t, js, "lockstep")
	ids := got.list()
	if slices.Sort(ids); len(ids) != all || len(slices.Compact(ids)) != all {
		t.Errorf("%d events came", len(ids))
	}
	if f, g := first.Figures(), second.Figures(); f.Taken+g.Taken != all || f.Taken == 0 || g.Taken == 0 {
		t.Errorf("%+v %+v", f, g)
	}
}

// TestBounded: while nothing is taken, no more than the bound leaves the broker.
func TestBounded(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	for i := range 400 {
		publish(t, js, fmt.Sprintf("in.%d", i), text(fmt.Sprint(i)))
	}
	var mu sync.Mutex
	busy, most := 0, 0
	enter, leave := make(chan struct{}, 400), make(chan struct{})
	run(t, b.source(b.address(), "", nil), func(context.Context, event.Event) error {
		mu.Lock()
		busy++
		most = max(most, busy)
		mu.Unlock()
		enter <- struct{}{}
		<-leave
		mu.Lock()
		busy--
		mu.Unlock()
		return nil
	})
	for range nodeInFlight {
		<-enter
	}
	c, err := js.Consumer(t.Context(), "IN", "lockstep")
	if err != nil {
		t.Fatal(err)
	}
	if n := c.CachedInfo().NumAckPending; n < nodeInFlight || n > 2*nodeInFlight {
		t.Errorf("%d messages are without an acknowledgement", n)
	}
	close(leave)
	settled(t, js, "lockstep")
	if most != nodeInFlight {
		t.Errorf("%d at a time", most)
	}
}

// TestStop: what is under way is finished and acknowledged; what is not begun goes back
// at once, so that the next one need not wait.
func TestStop(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	const all = 3 * nodeInFlight // under way, on their way, and in the stream
	for i := range all {
		publish(t, js, "in.a", text(fmt.Sprint(i)))
	}
	var got seen
	ctx, cancel := context.WithCancel(t.Context())
	s := b.source(b.address(), "", nil)
	s.ackWait = time.Hour // nobody gets a message because its time is up
	err := s.Run(ctx, func(inner context.Context, e event.Event) error {
		if e.ID == "10" {
			until(t, "more came than can be under way", func() bool {
				c, err := js.Consumer(t.Context(), "IN", "lockstep")
				return err == nil && c.CachedInfo().NumAckPending > nodeInFlight+10
			})
			cancel()
			if inner.Err() != nil {
				t.Error("what is under way is broken off")
			}
		}
		return got.ingest(inner, e)
	})
	if ids := got.list(); err != nil || len(ids) != 11 {
		t.Errorf("%v, came: %v", err, ids)
	}
	run(t, b.source(b.address(), "", nil), got.ingest)
	settled(t, js, "lockstep")
	if ids := got.list(); len(ids) != all || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != all {
		t.Errorf("came: %v", ids)
	}
}

// TestConsumerDeleted: a consumer that somebody deletes is made again.
func TestConsumerDeleted(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	publish(t, js, "in.a", text("1"))
	var got seen
	var log logged
	run(t, b.source(b.address(), "", log.logger()), got.ingest)
	settled(t, js, "lockstep")
	if err := js.DeleteConsumer(t.Context(), "IN", "lockstep"); err != nil {
		t.Fatal(err)
	}
	until(t, "it is told", func() bool { return log.has("was deleted") })
	publish(t, js, "in.a", text("2"))
	until(t, "the events come again", func() bool { return slices.Contains(got.list(), "2") })
}

// TestForeignConsumer: a consumer that does not fit is told, not changed.
func TestForeignConsumer(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	for name, config := range map[string]jetstream.ConsumerConfig{
		"none": {Durable: "none", AckPolicy: jetstream.AckNonePolicy},
		"push": {Durable: "push", AckPolicy: jetstream.AckExplicitPolicy, DeliverSubject: "elsewhere"},
	} {
		var err error
		if config.DeliverSubject != "" {
			_, err = js.CreatePushConsumer(t.Context(), "IN", config)
		} else {
			_, err = js.CreateConsumer(t.Context(), "IN", config)
		}
		if err != nil {
			t.Fatal(err)
		}
		var log logged
		run(t, b.source(b.address(), "?durable="+name, log.logger()), nil)
		until(t, name+" is told", func() bool { return log.has("another name") })
	}
}

// TestNoJetStream: a server without it, and one without the stream, are told.
func TestNoJetStream(t *testing.T) {
	plain := newBroker(t, func(o *server.Options) { o.JetStream = false })
	var log logged
	run(t, plain.source(plain.address(), "", log.logger()), nil)
	until(t, "it is told", func() bool { return log.has("JetStream is not there") })

	empty := newBroker(t, nil)
	var other logged
	var got seen
	run(t, empty.source(empty.address(), "", other.logger()), got.ingest)
	until(t, "it is told", func() bool { return other.has(`there is no stream \"IN\"`) })
	publish(t, empty.stream("IN"), "in.a", text("1"))
	until(t, "the event comes", func() bool { return len(got.list()) == 1 })
}
