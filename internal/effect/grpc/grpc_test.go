package grpc

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// TestUnary: the answer is what the service sent, in the JSON mapping.
func TestUnary(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	defaults := `"at":"1970-01-01T00:00:01Z","byName":{},"count":3,"express":false,"items":[],"orderId":"a","photo":"","size":"SMALL","sizes":[],"stock":{},"totalCents":"0","weight":0`
	for args, want := range map[string]string{
		`{"order_id":"a","count":3,"at":"1970-01-01T00:00:01Z"}`:                 `{` + defaults + `}`,
		`{"orderId":"a","count":"3","at":"1970-01-01T00:00:01Z","express":null}`: `{` + defaults + `}`,
	} {
		if out := s.do(i, "Place", args); out.Failure != nil || out.Value.String() != want {
			t.Errorf("%s gives\n%s %+v, want\n%s", args, out.Value, out.Failure, want)
		}
	}
	out := s.do(i, "Place", `{"totalCents":"9007199254740993","size":"LARGE","photo":"aGk=","items":[{"name":"x","amount":2}],"stock":{"b":1},
		"extra":{"deep":[1,{"x":null}]},"note":"","price":{"units":"-5"},"locker":"L","anything":{"@type":"x/shop.v1.Item","name":"in"},"part":{"count":1},"weight":"NaN"}`)
	if out.Failure != nil {
		t.Fatal(out.Failure)
	}
	for path, want := range map[string]string{
		"totalCents": `"9007199254740993"`, "size": `"LARGE"`, "photo": `"aGk="`, "items": `[{"amount":2,"name":"x"}]`, "stock": `{"b":1}`,
		"extra": `{"deep":[1,{"x":null}]}`, "note": `""`, "price": `{"currency":"","units":"-5"}`, "locker": `"L"`, "weight": `"NaN"`,
		"anything": `{"@type":"x/shop.v1.Item","amount":0,"name":"in"}`,
	} {
		if got, _ := out.Value.Get(path); got.String() != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if _, ok := out.Value.Get("street"); ok {
		t.Error("a field with presence that is not set is there")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.meta.Get("idempotency-key")[0] != "k1" || s.meta.Get("traceparent")[0] != traceparent || s.meta.Get("tracestate")[0] != "a=b" || !strings.HasPrefix(s.meta.Get("user-agent")[0], "lockstep/9 ") || !s.late {
		t.Errorf("%v, with a deadline: %v", s.meta, s.late)
	}
}

// TestServerStreaming: the messages in order, as an array, and how it ends.
func TestServerStreaming(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{ResponseBytes: 1 << 10})
	n, end := 3, error(nil)
	s.answer = func(out grpc.ServerStream, _ string, _ *dynamicpb.Message) error {
		for k := range n {
			if err := out.SendMsg(s.item(strconv.Itoa(k))); err != nil {
				return err
			}
		}
		return end
	}
	if out := s.do(i, "Watch", `{}`); out.Failure != nil || out.Value.String() != `[{"amount":0,"name":"0"},{"amount":0,"name":"1"},{"amount":0,"name":"2"}]` {
		t.Errorf("%s %+v", out.Value, out.Failure)
	}
	n = 0
	if out := s.do(i, "Watch", `{}`); out.Failure != nil || out.Value.String() != `[]` {
		t.Errorf("%s %+v", out.Value, out.Failure)
	}
	n, end = 2, status.Error(codes.Aborted, "enough")
	if f := s.do(i, "Watch", `{}`).Failure; f == nil || f.Code != "ABORTED" || f.Status != "409" || f.Detail != "enough" {
		t.Errorf("%+v", f)
	}
	s.answer = func(out grpc.ServerStream, _ string, _ *dynamicpb.Message) error {
		m := s.message("Item") // of a newer document
		m.SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 99, protowire.BytesType), make([]byte, 100)))
		for {
			if err := out.SendMsg(m); err != nil {
				return err
			}
		}
	}
	if f := s.do(i, "Watch", `{}`).Failure; f == nil || f.Code != effecthttp.CodeTooLarge || !strings.Contains(f.Detail, "limit response-bytes") {
		t.Errorf("%+v", f)
	}
	s.answer = func(out grpc.ServerStream, _ string, _ *dynamicpb.Message) error {
		for {
			if err := out.SendMsg(s.item("a")); err != nil {
				return err
			}
		}
	}
	if f := s.do(i, "Watch", `{}`).Failure; f == nil || f.Code != effecthttp.CodeTooLarge || !strings.Contains(f.Detail, "limit response-bytes") {
		t.Errorf("%+v", f)
	}
}

// TestStreamWaitsUntilItsTaskIsCancelled: beyond call-timeout, and no longer.
func TestStreamWaitsUntilItsTaskIsCancelled(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	s.answer = func(out grpc.ServerStream, _ string, _ *dynamicpb.Message) error {
		if err := out.SendMsg(s.item("first")); err != nil {
			t.Error(err)
		}
		cancel()
		<-out.Context().Done()
		close(ended)
		return nil
	}
	c, _ := pinnedCall(t, shopFiles(), "call:grpc:shop.proto#Orders/Watch", s.with("Watch", `{}`))
	out := i.Invoke(ctx, c)
	if out.Wait == nil {
		t.Fatalf("it does not say how to wait: %+v", out)
	}
	if f := out.Wait(ctx).Failure; f == nil || f.Code != "CANCELLED" || f.Status != "499" {
		t.Errorf("%+v", f)
	}
	<-ended
}

// TestStatuses: what a service says is wrong.
func TestStatuses(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	for code, want := range map[codes.Code]string{
		codes.InvalidArgument: "INVALID_ARGUMENT 400", codes.Unauthenticated: "UNAUTHENTICATED 401", codes.PermissionDenied: "PERMISSION_DENIED 403",
		codes.NotFound: "NOT_FOUND 404", codes.AlreadyExists: "ALREADY_EXISTS 409", codes.Aborted: "ABORTED 409",
		codes.ResourceExhausted: "RESOURCE_EXHAUSTED 429", codes.Canceled: "CANCELLED 499", codes.Unimplemented: "UNIMPLEMENTED 501",
		codes.Unavailable: "UNAVAILABLE 503", codes.DeadlineExceeded: "DEADLINE_EXCEEDED 504", codes.Internal: "INTERNAL 500",
		codes.DataLoss: "DATA_LOSS 500", codes.Unknown: "UNKNOWN 500", codes.FailedPrecondition: "FAILED_PRECONDITION 400",
		codes.OutOfRange: "OUT_OF_RANGE 400", codes.Code(77): "77 500",
	} {
		s.answer = func(grpc.ServerStream, string, *dynamicpb.Message) error { return status.Error(code, "because") }
		f := s.do(i, "Place", `{}`).Failure
		if f == nil || f.Name != effect.Communication || f.Code+" "+f.Status != want || f.Detail != "because" || f.Type != "" {
			t.Errorf("%s gives %+v, want %s", code, f, want)
		} else if name, _, _ := strings.Cut(want, " "); f.Data.String() != `{"code":"`+name+`"}` {
			t.Errorf("%s", f.Data)
		}
	}
	s.answer = func(grpc.ServerStream, string, *dynamicpb.Message) error {
		st, err := status.New(codes.NotFound, "").WithDetails(s.item("a"), wrapperspb.String("b"))
		if err != nil {
			t.Error(err)
		}
		return st.Err()
	}
	f := s.do(i, "Place", `{}`).Failure
	if f == nil || !strings.Contains(f.Detail, "Orders/Place") || !strings.Contains(f.Detail, "NOT_FOUND") ||
		f.Data.String() != `{"code":"NOT_FOUND","details":[{"@type":"type.googleapis.com/shop.v1.Item","amount":0,"name":"a"},{"@type":"type.googleapis.com/google.protobuf.StringValue","value":"CgFi"}]}` {
		t.Errorf("%+v %s", f, f.Data)
	}
}

// TestArguments: what cannot become the message is named, with what was meant.
func TestArguments(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	for args, want := range map[string]string{
		`{"ordrId":"a"}`:               `arguments: shop.v1.Order has no field "ordrId"; did you mean "orderId"?`,
		`{"items":[{},{"nam":"a"}]}`:   `arguments.items[1]: shop.v1.Item has no field "nam"; did you mean "name"?`,
		`{"part":{"part":{"zzz":1}}}`:  `arguments.part.part: shop.v1.Order has no field "zzz"`,
		`{"byName":{"k":{"zzz":1}}}`:   `arguments.byName.k: shop.v1.Item has no field "zzz"; it has name, amount`,
		`{"count":"many"}`:             `arguments.count: invalid value for int32 field count: "many"`,
		`{"count":2147483648}`:         `arguments.count: invalid value for int32 field count: 2147483648`,
		`{"express":"yes"}`:            `arguments.express: invalid value for bool field express: "yes"`,
		`{"size":"HUGE"}`:              `arguments.size: invalid value for enum field size: "HUGE"`,
		`{"items":{}}`:                 `arguments.items must be an array, not an object`,
		`{"part":[]}`:                  `arguments.part must be an object (shop.v1.Order), not an array`,
		`{"at":"yesterday"}`:           `arguments.at: invalid google.protobuf.Timestamp value "yesterday"`,
		`{"orderId":"a","order_id":1}`: `the field order_id is given twice`,
		`{"street":"a","locker":"b"}`:  `oneof`,
		`[]`:                           `arguments must be an object (shop.v1.Order), not an array`,
	} {
		f := s.do(i, "Place", args).Failure
		if f == nil || f.Name != effect.Communication || f.Code != effecthttp.CodeArguments || !strings.Contains(f.Detail, want) || strings.Contains(f.Detail, "proto:") || strings.Contains(f.Detail, "(line") {
			t.Errorf("%s gives %+v, want %q", args, f, want)
		}
	}
}

// TestDeployment: what is wrong is told when a definition is checked or deployed, and expressions are not constants.
func TestDeployment(t *testing.T) {
	s := newService(t)
	proto2 := dialect.MapBundle{"two.proto": []byte(`syntax = "proto2"; message In { required string id = 1; optional In in = 2; } service Two { rpc Get(In) returns (In); }`)}
	ok := s.with("Place", `{"orderId":"${ .id }","count":"${ .n }","items":"${ .items }","part":{"count":1,"sizes":["LARGE","${ .s }"],"stock":{"a":"${ .a }"}},"at":"${ now }","extra":{"a":"${ .b }"}}`)
	const at = "call:grpc:shop.proto#"
	for _, c := range []struct {
		files           dialect.MapBundle
		operation, with string
		want            []string
	}{
		{shopFiles(), at + "shop.v1.Orders/Place", ok, nil},
		{shopFiles(), at + "Orders/Place", ok, nil},
		{shopFiles(), at + "v1.Orders/Watch", ok, nil},
		{shopFiles(), at + "Ordres/Place", ok, []string{`CALL003 call "f": the document has no service "Ordres"; did you mean "Orders"?`}},
		{shopFiles(), at + "X/Place", ok, []string{`no service "X"; it has shop.v1.Orders`}},
		{shopFiles(), at + "Orders/Plaice", ok, []string{`the service shop.v1.Orders has no method "Plaice"; did you mean "Place"?`}},
		{shopFiles(), at + "Orders/Upload", ok, []string{`CALL003 call "f": the method shop.v1.Orders.Upload takes a stream of messages`}},
		{shopFiles(), at + "Orders/Chat", ok, []string{`takes a stream`}},
		{shopFiles(), at + "Orders/Place", s.with("Place", `{"ordr_id":"a","part":{"count":"x"},"sizes":["${ .s }","HUGE"],"stock":{"a":"${ . }","b":"c"},"extra":1}`), []string{
			`has no field "ordr_id"; did you mean "order_id"?`, `arguments.part.count: invalid value for int32`, `arguments.sizes: invalid value for enum`, `arguments.stock: invalid value for int32`, `arguments.extra: unexpected token 1`,
		}},
		{shopFiles(), at + "Orders/Place", strings.ReplaceAll(ok, `"host":"127.0.0.1"`, `"host":"a:5"`), []string{`CALL003 call "f": service.host must not have a port`}},
		{shopFiles(), at + "Orders/Place", strings.ReplaceAll(ok, `"host":"127.0.0.1"`, `"host":"a","authentication":{"digest":{"username":"u"}}`), []string{`gRPC has no digest`}},
		{dialect.MapBundle{}, at + "Orders/Place", ok, []string{`CALL001 call "f": the document "shop.proto" cannot be used`}},
		{dialect.MapBundle{"shop.proto": []byte(shopProto)}, at + "Orders/Place", ok, []string{`CALL001 call "f": the document "shop.proto" cannot be used: shop.proto imports "common/money.proto", which cannot be opened`}},
		{dialect.MapBundle{"shop.proto": []byte("syntax = \"proto3\";\nmessage {}")}, at + "Orders/Place", ok, []string{`CALL001`, `shop.proto:2:9: syntax error`}},
		{dialect.MapBundle{"shop.proto": []byte("import \"../up.proto\";")}, at + "Orders/Place", ok, []string{`without .. in it`}},
		{proto2, "call:grpc:two.proto#Two/Get", `{"arguments":{"in":{"id":"${ .x }"}},"service":{"host":"h"}}`, []string{`arguments needs "id", which In requires`}},
		{proto2, "call:grpc:two.proto#Two/Get", `{"service":{"host":"${ .h }"},"arguments":"${ .all }"}`, nil},
	} {
		_, found := pinnedCall(t, c.files, c.operation, c.with)
		text := texts(found)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s %s: %q has no %q", c.operation, c.with, text, want)
			}
		}
		if len(c.want) == 0 && len(found) > 0 {
			t.Errorf("%s %s: %s", c.operation, c.with, text)
		}
	}
}

// TestWhatWasWarnedOfFails: what was deployed with a warning fails.
func TestWhatWasWarnedOfFails(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	for operation, code := range map[string]string{
		"call:grpc:shop.proto#Orders/Upload": "CALL003", "call:grpc:shop.proto#Orders/Nope": "CALL003", "call:grpc:nope.proto#Orders/Place": "CALL001",
	} {
		if f := s.invoke(i, operation, s.with("Place", `{}`)).Failure; f == nil || f.Name != effect.Communication || f.Code != code {
			t.Errorf("%s gives %+v", operation, f)
		}
	}
}

// TestDocuments: where they may stand, and that a descriptor set is as good.
func TestDocuments(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	set := &descriptorpb.FileDescriptorSet{}
	file := s.descriptor("Order").ParentFile()
	set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	for k := range file.Imports().Len() {
		if f := file.Imports().Get(k); strings.HasPrefix(f.Path(), "common/") {
			set.File = append(set.File, protodesc.ToFileDescriptorProto(f.FileDescriptor))
		}
	}
	binary, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(binary)
	for ref, files := range map[string]dialect.MapBundle{
		"protos/shop.proto":     {"protos/shop.proto": []byte(shopProto), "protos/common/money.proto": []byte(moneyProto)},
		"a/shop/v1/shop.proto":  {"a/shop/v1/shop.proto": []byte(shopProto), "a/common/money.proto": []byte(moneyProto)},
		"file://app/shop.proto": {"app/shop.proto": []byte(shopProto), "app/common/money.proto": []byte(moneyProto)},
		"file:app/shop.proto":   {"app/shop.proto": []byte(shopProto), "common/money.proto": []byte(moneyProto)},
		"shop.binpb":            {"shop.binpb": binary},
		"shop.txt":              {"shop.txt": []byte(text[:40] + "\n" + text[40:] + "\n")},
	} {
		c, found := pinnedCall(t, files, "call:grpc:"+ref+"#Orders/Place", s.with("Place", `{"orderId":"x"}`))
		if len(found) > 0 {
			t.Errorf("%s: %s", ref, found)
		}
		out := finish(t.Context(), i, c)
		if got, _ := out.Value.Get("orderId"); out.Failure != nil || got.Str() != "x" {
			t.Errorf("%s: %+v", ref, out.Failure)
		}
	}
	set.File = set.File[:1]
	lacking, _ := proto.Marshal(set)
	if _, found := pinnedCall(t, dialect.MapBundle{"s.binpb": lacking}, "call:grpc:s.binpb#Orders/Place", `{}`); !strings.Contains(texts(found), `imports "common/money.proto", which is not in the descriptor set`) {
		t.Errorf("%s", found)
	}
}

func TestFolders(t *testing.T) {
	for ref, want := range map[string]string{
		"a.proto": "[]", "x/y/a.proto": "[x/y/ x/ ]", "file:///x/a.proto": "[file:///x/ file:///]", "file://app/a.proto": "[file://app/ file://]",
		"../a.proto": "[../]", "https://h/a/b.proto?q": "[https://h/a/ https://h/]", "/x/a.proto": "[/x/ /]",
	} {
		if got := foldersOf(ref); "["+strings.Join(got, " ")+"]" != want {
			t.Errorf("%s: %q, want %s", ref, got, want)
		}
	}
}
