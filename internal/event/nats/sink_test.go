package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

func (b *broker) sink(address, rest string) *Sink {
	b.t.Helper()
	set, err := ParseSink("nats://" + address + rest)
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := NewSink(set, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(s.Close)
	return s
}

func sample(source, id string) event.Event {
	return event.Event{Source: source, ID: id, Type: "made", HasData: true, Data: expr.Object(expr.Member{Key: "n", Value: expr.Int(1)})}
}

func count(t *testing.T, js jetstream.JetStream, stream string) uint64 {
	t.Helper()
	s, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().State.Msgs
}

// TestSendOnce: what is sent again is there once; what only looks alike is there twice.
func TestSendOnce(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("OUT")
	s := b.sink(b.address(), "/OUT?subject=out.{type}")
	for range 3 {
		for _, e := range []event.Event{sample("a/b", "c"), sample("a", "b/c"), sample("a b", "c"), sample("a", "b c"), sample("a", strings.Repeat("long", 1000))} {
			if err := s.Send(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := count(t, js, "OUT"); n != 5 {
		t.Errorf("%d messages", n)
	}
	m, err := func() (*jetstream.RawStreamMsg, error) {
		stream, err := js.Stream(t.Context(), "OUT")
		if err != nil {
			return nil, err
		}
		return stream.GetMsg(t.Context(), 1)
	}()
	if err != nil || m.Subject != "out.made" || m.Header.Get("Nats-Msg-Id") != "a/b c" || m.Header.Get("content-type") != structuredMedia ||
		string(m.Data) != `{"data":{"n":1},"id":"c","source":"a/b","specversion":"1.0","type":"made"}` {
		t.Errorf("%v, %+v", err, m)
	}
}

// TestAckLost: the stream has an event, and who sent it does not know; sent again it is
// still there once.
func TestAckLost(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("OUT")
	p := b.proxy()
	s := b.sink(p.address(), "/OUT?subject=out.{type}")
	if err := s.Send(t.Context(), sample("s", "1")); err != nil {
		t.Fatal(err)
	}
	p.deafen()
	sent := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { sent <- s.Send(ctx, sample("s", "2")) }()
	until(t, "the stream has it", func() bool { return count(t, js, "OUT") == 2 })
	p.cut()
	cancel() // rather than wait for an answer
	if err := <-sent; err == nil || event.Refused(err) {
		t.Fatalf("an event without an acknowledgement: %v", err)
	}
	until(t, "the loss is noticed", func() bool { return !s.conn.IsConnected() })
	if err := s.Send(t.Context(), sample("s", "2")); err == nil || event.Refused(err) {
		t.Errorf("without a connection: %v", err)
	}
	if err := b.sink(b.address(), "/OUT?subject=out.{type}").Send(t.Context(), sample("s", "2")); err != nil {
		t.Fatal(err)
	}
	if n := count(t, js, "OUT"); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// TestRefused: an event that the broker will never take is refused; a stream that is not
// there is not the event's fault.
func TestRefused(t *testing.T) {
	b := newBroker(t, func(o *server.Options) { o.MaxPayload = 4096 })
	js := b.stream("OUT")
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "SMALL", Subjects: []string{"small.>"}, MaxMsgSize: 200}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "FULL", Subjects: []string{"full.>"}, MaxMsgs: 1, Discard: jetstream.DiscardNew}); err != nil {
		t.Fatal(err)
	}
	publish(t, js, "full.x", "x")
	large := sample("s", "1")
	large.Data = expr.String(strings.Repeat("x", 5000))
	middle := sample("s", "2")
	middle.Data = expr.String(strings.Repeat("x", 500))
	long := sample("s", "3")
	long.Type = strings.Repeat("t", 2000)
	for _, c := range []struct {
		url     string
		e       event.Event
		refused bool
		says    string
	}{
		{"/OUT?subject=out.x", large, true, "larger than"},
		{"/SMALL?subject=small.x", middle, true, "larger than"},
		{"?subject=out.{type}", long, true, "limit nats-subject-bytes"},
		{"/FULL?subject=full.x", middle, false, "publish full.x"},
		{"?subject=nowhere.{type}", middle, false, "no stream at"},
		{"/IN?subject=out.x", middle, false, "publish out.x"},
	} {
		err := b.sink(b.address(), c.url).Send(t.Context(), c.e)
		if err == nil || event.Refused(err) != c.refused || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: refused %v: %v", c.url, event.Refused(err), err)
		}
	}
	s := b.sink(b.address(), "/OUT?subject=out.x")
	s.Close()
	if err := s.Send(t.Context(), middle); err == nil || event.Refused(err) {
		t.Errorf("a closed sink says %v", err)
	}
}

// TestSubjectOf: attributes become parts of a subject, whatever they hold.
func TestSubjectOf(t *testing.T) {
	e := sample("/shop 1", "7")
	e.Type = "com..exam ple.*.>paid."
	e.Put("orderid", expr.Int(42))
	for text, want := range map[string]string{
		"events":                    "events",
		"lockstep.events.{type}":    "lockstep.events.com._.exam_ple._._paid._",
		"e.{source}.{id}.{orderid}": "e./shop_1.7.42",
		"e.x{subject}y":             "e.x_y",
	} {
		tpl, err := parseTemplate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := tpl.of(e); err != nil || got != want || !validSubject(got, false) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "{type}", "{type}.x", "$JS.{type}", "_INBOX.x", "e{type}", "e.{", "e.}", "e.{}", "e.{a b}", "e..x", ".e", "e.", "e.*", "e.>", "e .x", "e.{data}", "e.{a{b}}"} {
		if _, err := parseTemplate(text); err == nil {
			t.Errorf("%q is a template", text)
		}
	}
}

func FuzzSubject(f *testing.F) {
	f.Add("com.example")
	f.Add("..*>\x00 ")
	f.Fuzz(func(t *testing.T, value string) {
		tpl, err := parseTemplate("lockstep.{type}")
		if err != nil {
			t.Fatal(err)
		}
		got, err := tpl.of(event.Event{Type: value})
		if errors.Is(err, errSubject) {
			return
		}
		if err != nil || !validSubject(got, false) || !strings.HasPrefix(got, "lockstep.") {
			t.Errorf("%q becomes %q, %v", value, got, err)
		}
	})
}

func ExampleParseSink() {
	set, err := ParseSink("nats://broker.example.com/EVENTS?subject=shop.{type}")
	fmt.Println(set.Servers, set.Stream, set.Subject, err)
	// Output: [nats://broker.example.com:4222] EVENTS shop.{type} <nil>
}
