package grpc

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

const shopping = `
document: {dsl: 1.0.3, namespace: default, name: shopping, version: 1.0.0}
do:
- place:
    call: grpc
    with:
      proto: {endpoint: shop.proto}
      service: {name: Orders, host: "${ .host }", port: PORT}
      method: Place
      arguments: {order_id: "${ .id }", count: 2, items: "${ .items }"}
    output: {as: "$input + {placed: (.orderId + \" \" + .items[0].name)}"}
- watch:
    call: grpc
    with:
      proto: {endpoint: shop.proto}
      service: {name: shop.v1.Orders, host: 127.0.0.1, port: PORT}
      method: Watch
    output: {as: "$input + {watched: map(.name)}"}
- refused:
    try:
    - again:
        call: grpc
        with:
          proto: {endpoint: shop.proto}
          service: {name: Orders, host: 127.0.0.1, port: PORT}
          method: Place
          arguments: {order_id: refuse}
    catch:
      errors: {with: {type: https://open-workflow-specification.org/spec/1.0.0/errors/communication, status: 409}}
      as: e
      do:
      - told: {set: {placed: "${ .placed }", watched: "${ .watched }", error: "${ $e.detail }"}}
`

// TestDefinition: a definition of Open Workflow 1.0 from its text to its end, with a real service.
func TestDefinition(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	s.answer = func(out grpc.ServerStream, method string, in *dynamicpb.Message) error {
		if id := in.Get(in.Descriptor().Fields().ByName("order_id")).String(); id == "refuse" {
			return status.Error(codes.AlreadyExists, "it is there")
		}
		if method == "Place" {
			return out.SendMsg(in)
		}
		for _, name := range []string{"packed", "sent"} {
			if err := out.SendMsg(s.item(name)); err != nil {
				return err
			}
		}
		return nil
	}
	ctx := context.Background()
	clock := engine.NewVirtualClock(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	e, err := engine.New(engine.Config{
		Store: memory.New(), Clock: clock, Inline: true, Languages: languages.All(),
		Invoker: &route.Router{Others: map[string]effect.Invoker{"grpc": i}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(shopping, "PORT", strconv.Itoa(s.port))
	c, found := dialect.NewRegistry(sw10.FrontEnd{}).Compile("w.yaml", []byte(text), shopFiles(), dialect.Options{})
	if len(found) == 0 {
		found = pin.Kinds{"grpc": Kind{}}.Pin(ctx, shopFiles(), pin.Definition{File: "w.yaml", Program: c.Program, Operations: c.Operations})
	}
	if len(found) > 0 {
		t.Fatal(texts(found))
	}
	if err := e.Deploy(ctx, c.Program); err != nil {
		t.Fatal(err)
	}
	input, _ := expr.ParseJSON([]byte(`{"host":"127.0.0.1","id":"o-1","items":[{"name":"lamp"}]}`))
	if _, err := e.Start(ctx, engine.StartRequest{Definition: "shopping", ID: "i", Input: input}); err != nil {
		t.Fatal(err)
	}
	run := trial.Run{Engine: e, Clock: clock}
	if err := run.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	in, err := e.Get(ctx, "i")
	if err != nil || in.Status != core.Completed || in.Output.String() != `{"error":"it is there","placed":"o-1 lamp","watched":["packed","sent"]}` {
		t.Errorf("%s %+v %v", in.Output, in.Fault, err)
	}
}

// TestLooseArguments: where every text may be an expression, none is a constant.
func TestLooseArguments(t *testing.T) {
	const loose = `
document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0}
evaluate: {mode: loose}
do:
- place:
    call: grpc
    with:
      proto: {endpoint: shop.proto}
      service: {name: Orders, host: .host}
      method: Place
      arguments: {count: .n, express: true, wrong: 1}
`
	c, found := dialect.NewRegistry(sw10.FrontEnd{}).Compile("w.yaml", []byte(loose), shopFiles(), dialect.Options{})
	if len(found) > 0 {
		t.Fatal(texts(found))
	}
	found = pin.Kinds{"grpc": Kind{}}.Pin(t.Context(), shopFiles(), pin.Definition{File: "w.yaml", Program: c.Program})
	if len(found) != 1 || !strings.Contains(texts(found), `no field "wrong"`) {
		t.Errorf("%s", texts(found))
	}
}
