package asyncapi

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// patience is more than a busy machine needs.
const patience = 2 * time.Minute

func value(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// invoker may reach this machine. Nothing fails because that is busy, unless limits say so.
func invoker(t *testing.T, limits effecthttp.Limits) *Invoker {
	t.Helper()
	if limits.Timeout == 0 {
		limits.Timeout = patience
	}
	client, err := effecthttp.New(effecthttp.Options{Allow: []string{"127.0.0.1"}, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	i := New(client)
	i.pause = time.Millisecond
	return i
}

// call is one of a document.
func call(t *testing.T, document, with string) effect.Call {
	t.Helper()
	return effect.Call{
		Key: "instance/1.1", Instance: "instance", Function: "task", Args: value(t, with),
		Operation: ir.Builtin{Kind: "asyncapi", Document: "api.yaml#x"}.Operation(),
		Documents: effect.Documents{Key: document, Root: 1, All: []effect.Document{{Ref: "api.yaml", Text: document}}},
	}
}

// invoke makes a call and waits for its end.
func invoke(t *testing.T, i *Invoker, c effect.Call) effect.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out := i.Invoke(ctx, c)
	for out.Wait != nil {
		out = out.Wait(ctx)
	}
	return out
}

// subscription is a run of a task: a loop as programs make it.
type subscription struct {
	t        *testing.T
	document string
	with     string // members of the arguments, with a comma behind
	number   int
	after    string
	since    time.Time
}

func subscribe(t *testing.T, document, with string) *subscription {
	return &subscription{t: t, document: document, with: with, number: 1, after: "null", since: time.Now()}
}

// call is the call for the next message.
func (s *subscription) call() effect.Call {
	s.t.Helper()
	c := call(s.t, s.document, fmt.Sprintf(`{%s"subscription":{"id":"/do/0/task","since":%q,"number":%d,"after":%s}}`,
		s.with, s.since.UTC().Format(time.RFC3339Nano), s.number, s.after))
	c.Key = fmt.Sprintf("instance/1.%d", s.number)
	return c
}

// next gets the next message by an invoker.
func (s *subscription) next(i *Invoker) effect.Outcome {
	s.t.Helper()
	return invoke(s.t, i, s.call())
}

// want expects a message, and goes on to the next one.
func (s *subscription) want(i *Invoker, payload string) expr.Value {
	s.t.Helper()
	out := s.next(i)
	if out.Failure != nil {
		s.t.Fatalf("message %d: %v", s.number, out.Failure)
	}
	if got, _ := out.Value.Get("payload"); got.String() != payload {
		s.t.Fatalf("message %d: %s, want the payload %s", s.number, out.Value, payload)
	}
	s.number++
	if id, ok := out.Value.Get("id"); ok {
		s.after = id.String()
	}
	return out.Value
}

// fails expects a failure.
func fails(t *testing.T, out effect.Outcome, name, says string) *effect.Failure {
	t.Helper()
	f := out.Failure
	if f == nil || f.Name != name || !strings.Contains(f.Detail+" "+f.Code+" "+f.Status, says) {
		t.Fatalf("%+v, want %s: %s", f, name, says)
	}
	return f
}

// newBroker is a real server.
func newBroker(t *testing.T, change func(*natsserver.Options)) (address string, stop func()) {
	t.Helper()
	options := &natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()}
	if change != nil {
		change(options)
	}
	s, err := natsserver.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	stop = func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	t.Cleanup(stop)
	return s.Addr().(*net.TCPAddr).String(), stop
}

// client is a connection of the test's own.
func client(t *testing.T, address string, options ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	conn, err := nats.Connect("nats://"+address, append(options, nats.Timeout(patience))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	return conn, js
}

// natsDocument describes a channel of a server.
func natsDocument(address string) string {
	return fmt.Sprintf(`
asyncapi: 3.0.0
info: {title: T, version: 1.0.0}
servers: {main: {host: %q, protocol: nats}}
channels:
  orders: {address: "orders.{id}", parameters: {id: {location: "$message.payload#/id"}}, messages: {order: {$ref: "#/components/messages/order"}}}
operations:
  send: {action: send, channel: {$ref: "#/channels/orders"}}
  receive: {action: receive, channel: {$ref: "#/channels/orders"}}
components:
  messages:
    order:
      correlationId: {location: "$message.header#/Correlation"}
      payload: {$ref: "#/components/schemas/order"}
  schemas:
    order: {type: object, required: [id], properties: {id: {type: [string, number]}, next: {$ref: "#/components/schemas/order"}}}
`, address)
}
