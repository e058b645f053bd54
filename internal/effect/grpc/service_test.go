package grpc

import (
	"context"
	"encoding/json"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

const shopProto = `
syntax = "proto3";
package shop.v1;

import "common/money.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/any.proto";

enum Size { SMALL = 0; LARGE = 1; }

message Order {
  string order_id = 1;
  int32 count = 2;
  int64 total_cents = 3;
  bool express = 4;
  Size size = 5;
  bytes photo = 6;
  double weight = 7;
  repeated Item items = 8;
  map<string, int32> stock = 9;
  google.protobuf.Timestamp at = 10;
  google.protobuf.Struct extra = 11;
  optional string note = 12;
  common.Money price = 13;
  oneof way { string street = 14; string locker = 15; }
  google.protobuf.Any anything = 16;
  Order part = 17;
  repeated Size sizes = 18;
  map<string, Item> by_name = 19;
}

message Item { string name = 1; uint32 amount = 2; }

service Orders {
  rpc Place(Order) returns (Order);
  rpc Watch(Order) returns (stream Item);
  rpc Upload(stream Item) returns (Order);
  rpc Chat(stream Item) returns (stream Item);
}
`

const moneyProto = `
syntax = "proto3";
package common;
message Money { string currency = 1; sint64 units = 2; }
`

func shopFiles() dialect.MapBundle {
	return dialect.MapBundle{"shop.proto": []byte(shopProto), "common/money.proto": []byte(moneyProto)}
}

// service is a real gRPC server of the shop.
type service struct {
	*grpc.Server
	t    *testing.T
	host string
	port int

	schema *schema
	answer func(s grpc.ServerStream, method string, in *dynamicpb.Message) error

	mu   sync.Mutex
	meta metadata.MD
	late bool // the last call had a deadline
}

func newService(t *testing.T, options ...grpc.ServerOption) *service {
	t.Helper()
	s := &service{t: t}
	var err error
	if s.schema, err = compile("shop.proto", shopFiles().Open); err != nil {
		t.Fatal(err)
	}
	s.answer = func(out grpc.ServerStream, _ string, in *dynamicpb.Message) error { return out.SendMsg(in) }
	s.Server = grpc.NewServer(append(options, grpc.UnknownServiceHandler(s.handle))...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(s.Stop)
	at := l.Addr().(*net.TCPAddr)
	s.host, s.port = at.IP.String(), at.Port
	return s
}

func (s *service) handle(_ any, stream grpc.ServerStream) error {
	path, _ := grpc.MethodFromServerStream(stream)
	method := path[strings.LastIndexByte(path, '/')+1:]
	in := s.message("Order")
	if err := stream.RecvMsg(in); err != nil {
		return err
	}
	s.mu.Lock()
	s.meta, _ = metadata.FromIncomingContext(stream.Context())
	_, s.late = stream.Context().Deadline()
	s.mu.Unlock()
	return s.answer(stream, method, in)
}

// message is a new message of the shop.
func (s *service) message(name string) *dynamicpb.Message {
	return dynamicpb.NewMessage(s.descriptor(name))
}

func (s *service) descriptor(name string) protoreflect.MessageDescriptor {
	m, err := s.schema.types.FindMessageByName(protoreflect.FullName("shop.v1." + name))
	if err != nil {
		panic(err)
	}
	return m.Descriptor()
}

// item is a message of the shop with a name.
func (s *service) item(name string) *dynamicpb.Message {
	m := s.message("Item")
	m.Set(m.Descriptor().Fields().ByName("name"), protoreflect.ValueOfString(name))
	return m
}

// with are the arguments of a call.
func (s *service) with(method, arguments string) string {
	return `{"proto":{"endpoint":"shop.proto"},"service":{"name":"shop.v1.Orders","host":"` + s.host + `","port":` + strconv.Itoa(s.port) +
		`},"method":"` + method + `","arguments":` + arguments + `}`
}

func newInvoker(t *testing.T, limits effecthttp.Limits, allow ...string) *Invoker {
	t.Helper()
	if allow == nil {
		allow = []string{"127.0.0.1"}
	}
	client, err := effecthttp.New(effecthttp.Options{Allow: allow, Version: "9", Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return New(client)
}

// pinnedCall is a call with its document pinned, and what was found against it.
func pinnedCall(t *testing.T, files dialect.Bundle, operation, args string) (effect.Call, dialect.Diagnostics) {
	t.Helper()
	v, err := expr.ParseJSON([]byte(args))
	if err != nil {
		t.Fatal(err)
	}
	p := &ir.Program{
		Functions: []ir.Function{{Name: "f", Operation: operation, Pos: ir.Pos{Line: 1, Column: 1}}},
		Exprs:     []ir.Expr{{}, {Lang: jq.TemplateLang, Src: args}},
		Nodes:     []ir.Node{{Op: &ir.Call{Function: 0, Args: 1}}},
	}
	found := pin.Kinds{"grpc": Kind{}}.Pin(context.Background(), files, pin.Definition{File: "w.yaml", Program: p})
	// Programs are stored as JSON.
	text, err := json.Marshal(p.Resources)
	if err != nil {
		t.Fatal(err)
	}
	var stored []ir.Resource
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	c := effect.Call{Key: "k1", Function: "f", Operation: operation, Args: v, Documents: effect.Documents{Key: p.Digest, Root: p.Functions[0].Resource}}
	for _, r := range stored {
		c.Documents.All = append(c.Documents.All, effect.Document{Ref: r.Ref, Text: r.Text})
	}
	return c, found
}

// do makes a call of the shop to its end.
func (s *service) do(i *Invoker, method, arguments string) effect.Outcome {
	s.t.Helper()
	return s.invoke(i, "call:grpc:shop.proto#shop.v1.Orders/"+method, s.with(method, arguments))
}

func (s *service) invoke(i *Invoker, operation, args string) effect.Outcome {
	s.t.Helper()
	c, _ := pinnedCall(s.t, shopFiles(), operation, args)
	return finish(effect.WithTracestate(effect.WithTraceparent(context.Background(), traceparent), "a=b"), i, c)
}

// traceparent is the place of all calls in a trace.
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func finish(ctx context.Context, i *Invoker, c effect.Call) effect.Outcome {
	out := i.Invoke(ctx, c)
	for out.Wait != nil {
		out = out.Wait(ctx)
	}
	return out
}

func texts(found dialect.Diagnostics) string {
	var b strings.Builder
	for _, d := range found {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}
