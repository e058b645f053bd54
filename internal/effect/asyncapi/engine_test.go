package asyncapi_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/api"
)

const workflow = `
document: {dsl: 1.0.3, namespace: default, name: orders, version: 1.0.0}
do:
- consume:
    call: asyncapi
    with:
      document: {endpoint: asyncapi.yaml}
      operation: receive
      subscription:
        filter: .payload != "skip"
        consume: {until: .payload == 15}
        foreach:
          item: order
          do:
          - double: {set: "${ $order.payload * 2 }"}
- send:
    call: asyncapi
    with:
      document: {endpoint: asyncapi.yaml}
      operation: send
      message: {payload: "${ map(.payload) }"}
`

// TestStopsAndStarts: a subscription to a stream goes on where it was, in whatever step its engine was stopped: nothing
// is lost, nothing comes twice, and the order stays.
func TestStopsAndStarts(t *testing.T) {
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(2 * time.Minute) {
		t.Fatal("the server does not start")
	}
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders"}}); err != nil {
		t.Fatal(err)
	}
	done, err := conn.SubscribeSync("done")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"orders.yaml": {Data: []byte(workflow)},
		"asyncapi.yaml": {Data: fmt.Appendf(nil, `
asyncapi: 3.0.0
info: {title: Orders, version: 1.0.0}
servers: {main: {host: %q, protocol: nats}}
channels: {orders: {address: orders}, done: {address: done}}
operations:
  receive: {action: receive, channel: {$ref: "#/channels/orders"}}
  send: {action: send, channel: {$ref: "#/channels/done"}}
`, strings.TrimPrefix(s.ClientURL(), "nats://"))},
	}
	address := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	var id string
	for round := range 4 {
		records := make(chan api.Record, 10_000)
		e, err := lockstep.Open(t.Context(), address, lockstep.OutboundAllow("127.0.0.1"), lockstep.OnRecord(func(_ string, r api.Record) { records <- r }))
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if _, err := e.Deploy(t.Context(), lockstep.File(files, "orders.yaml")); err != nil {
				t.Fatal(err)
			}
			if id, err = e.Start(t.Context(), "orders", nil); err != nil {
				t.Fatal(err)
			}
			for r := range records { // the call is stored: from its task on messages count
				if r.Type == "called" {
					break
				}
			}
		}
		if round == 3 {
			in, err := e.Wait(t.Context(), id)
			if err != nil || in.Status != "completed" {
				t.Fatalf("%+v %v", in, err)
			}
			msg, err := done.NextMsg(2 * time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(msg.Data); got != "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]" {
				t.Error(got)
			}
			_ = e.Close()
			return
		}
		for n := round*5 + 1; n <= round*5+5; n++ {
			for _, text := range []string{`"skip"`, fmt.Sprint(n)} {
				if _, err := js.Publish(t.Context(), "orders", []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
		}
		returned := 0
		for r := range records {
			if r.Type == "returned" {
				if returned++; returned == 3+2*round { // somewhere among them
					break
				}
			}
		}
		now, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Shutdown(now); err != nil {
			t.Fatal(err)
		}
	}
}
