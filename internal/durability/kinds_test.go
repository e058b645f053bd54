package durability

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/structpb"
)

// kinds calls and runs in every way that Open Workflow 1.0 has, one after the other, with real counterparts: a gRPC
// service, a server of MCP, an agent, a broker, and programs. Containers are not among them: they need an engine.
var kinds = &story{
	name: "kinds", definitions: []string{kindsDefinition},
	states: []string{"grpc", "mcp", "a2a", "publish", "receive", "shell", "js", "python"},
	input:  `{"name":"Ada"}`,
	events: []message{
		{state: "receive", subject: "heard", text: `{"n":1}`},
		{state: "receive", subject: "heard", text: `{"n":2}`},
		{state: "receive", subject: "heard", text: `{"n":3}`},
	},
	output: `{"name":"Ada","greeting":"Hello, Ada","length":3,"agent":"done","published":"Ada","received":[1,2,3],
		"shell":"sh Ada","js":"js Ada","python":"py Ada"}`,
	calls: []string{
		`GRPC /greet.Greeter/Greet {"name":"Ada"}`, `MCP length {"text":"Ada"}`, `POST /agent message/send`,
	},
	records: map[string]int{"called": 10, "returned": 10, "finished": 1},
	commits: 10,
	beside:  counterparts,
}

const kindsDefinition = `document: {dsl: 1.0.3, namespace: default, name: kinds, version: 1.0.0}
do:
- grpc:
    call: grpc
    with:
      proto: {endpoint: SERVICE/greet.proto}
      service: {name: greet.Greeter, host: 127.0.0.1, port: GRPCPORT}
      method: Greet
      arguments: {name: "${ .name }"}
    output: {as: "$input + {greeting: .greeting}"}
- mcp:
    call: mcp
    with:
      method: tools/call
      parameters: {name: length, arguments: {text: "${ .name }"}}
      transport: {http: {endpoint: SERVICE/mcp}}
    output: {as: "$input + {length: .structuredContent.length}"}
- a2a:
    call: a2a
    with:
      method: message/send
      server: SERVICE/agent
      parameters: {message: {parts: [{kind: text, text: "${ .name }"}]}}
    output: {as: "$input + {agent: .status.state}"}
- publish:
    call: asyncapi
    with: {document: {endpoint: SERVICE/messages.yaml}, operation: told, message: {payload: {name: "${ .name }"}}}
    output: {as: "$input + {published: .payload.name}"}
- receive:
    call: asyncapi
    with: {document: {endpoint: SERVICE/messages.yaml}, operation: heard, subscription: {consume: {amount: 3}}}
    output: {as: "$input + {received: map(.payload.n)}"}
- shell:
    run:
      shell:
        command: 'echo "$LOCKSTEP_IDEMPOTENCY_KEY" >> "$2"; echo "sh $1"'
        arguments: ["${ .name }", "FOLDER/shell"]
    output: {as: '$input + {shell: rtrimstr("\n")}'}
- js:
    run: {script: {language: js, arguments: ["${ .name }"], code: "console.log('js ' + process.argv[2])"}}
    output: {as: '$input + {js: rtrimstr("\n")}'}
- python:
    run:
      script:
        language: python
        arguments: ["${ .name }", "FOLDER/python"]
        code: |
          import os, sys
          with open(sys.argv[2], "a") as f: print(os.environ["LOCKSTEP_IDEMPOTENCY_KEY"], file=f)
          print("py " + sys.argv[1])
    output: {as: '$input + {python: rtrimstr("\n")}'}
`

const greetProto = `syntax = "proto3";
package greet;
import "google/protobuf/struct.proto";
service Greeter { rpc Greet(google.protobuf.Struct) returns (google.protobuf.Struct); }
`

const messagesDocument = `asyncapi: 3.0.0
info: {title: Messages, version: 1.0.0}
servers: {main: {host: BROKER, protocol: nats}}
channels: {told: {address: told, messages: {any: {}}}, heard: {address: heard, messages: {any: {}}}}
operations:
  told: {action: send, channel: {$ref: "#/channels/told"}}
  heard: {action: receive, channel: {$ref: "#/channels/heard"}}
`

// counterparts starts everything that the kinds reach.
func counterparts(t *testing.T, s *service) beside {
	broker, js := newBroker(t)
	for _, subject := range []string{"told", "heard"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: subject, Subjects: []string{subject}}); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	s.document("/greet.proto", greetProto)
	s.document("/messages.yaml", strings.ReplaceAll(messagesDocument, "BROKER", strconv.Quote(broker)))
	s.handle("/mcp", s.tools())
	s.handle("/agent", http.HandlerFunc(s.agent))
	names := map[string]string{"GRPCPORT": s.greeter(t), "BROKER": broker, "FOLDER": folder}
	publish := func(subject, text string) error {
		_, err := js.Publish(context.Background(), subject, []byte(text))
		return err
	}
	return beside{names, publish, func() {
		told, err := js.Stream(context.Background(), "told")
		if err != nil {
			t.Fatal(err)
		}
		if n := told.CachedInfo().State.Msgs; n != 1 {
			t.Errorf("%d messages were published", n)
		}
		for _, name := range []string{"shell", "python"} {
			keys, err := os.ReadFile(filepath.Join(folder, name))
			if all := slices.Compact(strings.Fields(string(keys))); err != nil || len(all) != 1 {
				t.Errorf("%s ran with the keys %q, %v", name, all, err)
			}
		}
	}}
}

// greeter is a gRPC service. It returns its port.
func (s *service) greeter(t *testing.T) string {
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		in := &structpb.Struct{}
		if err := stream.RecvMsg(in); err != nil {
			return err
		}
		method, _ := grpc.MethodFromServerStream(stream)
		text, _ := json.Marshal(in.AsMap())
		key := metadata.ValueFromIncomingContext(stream.Context(), "idempotency-key")
		s.note(strings.Join(key, " "), fmt.Sprintf("GRPC %s %s", method, text))
		out, err := structpb.NewStruct(map[string]any{"greeting": "Hello, " + in.Fields["name"].GetStringValue()})
		if err != nil {
			return err
		}
		return stream.SendMsg(out)
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(l)
	t.Cleanup(server.Stop)
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// tools is a server of MCP, by the protocol's own library.
func (s *service) tools() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	type text struct {
		Text string `json:"text"`
	}
	type length struct {
		Length int `json:"length"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "length"}, func(_ context.Context, r *mcp.CallToolRequest, in text) (*mcp.CallToolResult, length, error) {
		given, _ := json.Marshal(in)
		s.note(fmt.Sprint(r.Params.Meta["idempotencyKey"]), "MCP length "+string(given))
		return nil, length{len(in.Text)}, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// agent answers messages as A2A says.
func (s *service) agent(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID     any
		Method string
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return // whoever called is dead
	}
	s.note(r.Header.Get("Idempotency-Key"), "POST /agent "+in.Method)
	id, _ := json.Marshal(in.ID)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"kind":"task","id":"1","contextId":"1","status":{"state":"done"}}}`, id)
}

// newBroker is a NATS server.
func newBroker(t *testing.T) (address string, js jetstream.JetStream) {
	s, err := natsserver.NewServer(&natsserver.Options{
		Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the broker does not start")
	}
	address = s.Addr().String()
	conn, err := nats.Connect("nats://"+address, nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return address, js
}
