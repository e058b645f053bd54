package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/event"
)

const madeDefinition = `id: onmade
name: On made
version: "1"
events:
- {name: Made, type: made, source: shop}
- {name: Done, type: done, source: hall, kind: produced}
states:
- name: Take
  type: event
  start: {kind: default}
  onEvents: [{eventRefs: [Made], actions: []}]
  end: {kind: event, produceEvents: [{eventRef: Done, data: "{{ $ }}"}]}
`

// newBroker is a real NATS server with the streams IN and OUT, and a consumer of IN that
// does not wait long for who was killed.
func newBroker(t *testing.T) (address string, js jetstream.JetStream) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), SyncAlways: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the broker does not start")
	}
	address = s.Addr().(*net.TCPAddr).String()
	conn, err := nats.Connect("nats://"+address, nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if js, err = jetstream.New(conn); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"IN", "OUT"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{strings.ToLower(name) + ".>"}}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = js.CreateConsumer(t.Context(), "IN", jetstream.ConsumerConfig{Durable: "shop", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return address, js
}

// awaitMessages waits until a stream has so many messages.
func awaitMessages(t *testing.T, js jetstream.JetStream, name string, n uint64) jetstream.Stream {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if s.CachedInfo().State.Msgs >= n {
			return s
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("%d messages", s.CachedInfo().State.Msgs)
		}
	}
}

// TestEventsOverNATS: events come from a stream and others go to one, each once, although
// the server is killed in the middle.
func TestEventsOverNATS(t *testing.T) {
	address, js := newBroker(t)
	const all = 200
	for i := range all {
		text := fmt.Sprintf(`{"specversion":"1.0","id":"%d","source":"shop","type":"made","data":{"n":%d}}`, i, i)
		if _, err := js.Publish(t.Context(), fmt.Sprintf("in.%d", i%3), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	begin := func(more ...string) (*process, *client.Client) {
		p, err := launch(dir, os.Environ(), append([]string{"serve", "--north", "127.0.0.1:0", "--event-sink", "nats://" + address + "/OUT?subject=out.{type}"}, more...)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.kill)
		c, err := client.New(client.Options{URL: p.url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return p, c
	}
	p, c := begin() // events may begin to come once the definition is there
	if _, _, err := c.DeployDefinition(t.Context(), []byte(madeDefinition), client.Deploy{}); err != nil {
		t.Fatal(err)
	}
	p.kill()
	source := []string{"--event-source", "nats://" + address + "/IN?durable=shop&subject=in.>"}
	p, _ = begin(source...)
	awaitMessages(t, js, "OUT", 20)
	p.kill()
	p, c = begin(source...)
	out := awaitMessages(t, js, "OUT", all)
	seen := map[string]bool{}
	for seq := uint64(1); seq <= out.CachedInfo().State.LastSeq; seq++ {
		m, err := out.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.Parse(m.Data)
		if err != nil || m.Subject != "out.done" || seen[e.Data.String()] {
			t.Errorf("%s: %v, %s", m.Subject, err, m.Data)
		}
		seen[e.Data.String()] = true
	}
	if len(seen) != all {
		t.Errorf("%d events of %d came out", len(seen), all)
	}
	text, err := c.Metrics(t.Context())
	if err != nil || !strings.Contains(string(text), `lockstep_source_events_total{source="nats://`+address+`/IN durable shop",result="taken"}`) {
		t.Errorf("%v\n%s", err, text)
	}
	if code, err := p.stop(); code != 0 || err != nil || !strings.Contains(p.stderr(), "the source ends") {
		t.Errorf("exit code %d, %v\n%s", code, err, p.stderr())
	}
}
