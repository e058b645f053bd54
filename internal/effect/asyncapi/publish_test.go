package asyncapi

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstep-workflows/lockstep/effect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// TestPublishHTTP: a message is a request, with what the document says of it.
func TestPublishHTTP(t *testing.T) {
	var got string
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Foo"), r.Header.Get("Idempotency-Key"), string(body)}, "|")
		if strings.Contains(r.RequestURI, "teapot") {
			w.WriteHeader(nethttp.StatusTeapot)
		}
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	two := fmt.Sprintf(`
asyncapi: 2.6.0
info: {title: T, version: 1.0.0}
defaultContentType: application/vnd.order+json
servers:
  broker: {url: "kafka.example:9092", protocol: kafka}
  main: {url: "{host}/v1/", protocol: http, variables: {host: {default: %q, enum: [%q, other.example]}}}
channels:
  /users/{user}/orders:
    servers: [broker, main]
    parameters: {user: {location: "$message.payload#/user", schema: {type: string, default: nobody}}}
    publish:
      bindings: {http: {type: request, method: PUT, query: {type: object, properties: {v: {default: 2}, w: {type: string}}}}}
      message:
        oneOf:
        - {payload: {type: object, required: [user], properties: {user: {type: string}}}}
        - {payload: {type: number}}
  plain: {publish: {}, subscribe: {}}
  avro: {publish: {message: {schemaFormat: application/vnd.apache.avro, payload: {type: record}}}}
  heard: {subscribe: {}}
  "find?in={in}&of={of}":
    parameters: {in: {location: "$message.payload#/in"}, of: {location: "$message.payload#/of"}}
    publish: {}
`, host, host)
	for _, c := range []struct{ with, want string }{
		{
			`{"channel":"/users/{user}/orders","message":{"payload":{"user":"a/b"},"headers":{"foo":"bar"}}}`,
			`PUT|/v1/users/a%2Fb/orders?v=2|application/vnd.order+json|bar|instance/1.1|{"user":"a/b"}`,
		},
		{`{"channel":"/users/{user}/orders","message":{"payload":7}}`, `PUT|/v1/users/nobody/orders?v=2|application/vnd.order+json||instance/1.1|7`},
		{`{"channel":"plain","protocol":"http","message":{"headers":{"Idempotency-Key":"mine"}}}`, `POST|/v1/plain|||mine|`},
		{ // data adds no parameter to a query, nor is the value of one looked for in that of another
			`{"channel":"find?in={in}&of={of}","server":{"name":"main"},"message":{"payload":{"in":"a+b&of=c#d","of":"{in}"}}}`,
			`POST|/v1/find?in=a%2Bb%26of%3Dc%23d&of=%7Bin%7D|application/vnd.order+json||instance/1.1|{"in":"a+b&of=c#d","of":"{in}"}`,
		},
		{`{"channel":"avro","server":{"name":"main"},"message":{"payload":{}}}`, `POST|/v1/avro|application/vnd.order+json||instance/1.1|{}`},
	} {
		got = ""
		out := invoke(t, invoker(t, effecthttp.Limits{}), call(t, two, c.with))
		if out.Failure != nil || got != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.with, got, c.want, out.Failure)
		}
		if msg, _ := value(t, c.with).Get("message"); out.Value.String() != msg.String() {
			t.Errorf("%s: the output is %s", c.with, out.Value)
		}
	}
	for with, says := range map[string]string{
		`{"channel":"/users/{user}/orders","message":{"payload":{"user":"teapot"}}}`:                    "418",
		`{"channel":"/users/{user}/orders","message":{"payload":{"user":".."}}}`:                        "leave its place",
		`{"channel":"/users/{user}/orders","message":{"payload":{"user":""}}}`:                          "leave its place",
		`{"channel":"/users/{user}/orders","message":{"payload":"x"}}`:                                  "it fits none of the 2 messages",
		`{"channel":"/users/{user}/orders","server":{"name":"broker"},"message":{"payload":1}}`:         "protocol kafka cannot be used by this server",
		`{"channel":"plain","protocol":"amqp","message":{}}`:                                            "protocol amqp cannot be used by this server",
		`{"channel":"plain","protocol":"nats","message":{}}`:                                            "no server of the protocol nats",
		`{"channel":"plain","server":{"name":"man"},"message":{}}`:                                      `did you mean "main"?`,
		`{"channel":"plain","server":{"name":"main","variables":{"host":"evil.example"}},"message":{}}`: "must be one of",
		`{"channel":"plian","message":{}}`:                                                              `did you mean "plain"?`,
		`{"channel":"heard","message":{}}`:                                                              "no operation publish",
		`{"channel":"plain","message":{"headers":{"a":"b\n"}}}`:                                         "line break",
	} {
		f := fails(t, invoke(t, invoker(t, effecthttp.Limits{}), call(t, two, with)), effect.Communication, says)
		if says == "418" && f.Status != "418" {
			t.Errorf("%+v", f)
		}
	}
}

// TestPublishNATS: without a stream the server has the message, with one the stream has stored it, once.
func TestPublishNATS(t *testing.T) {
	address, _ := newBroker(t, nil)
	conn, js := client(t, address)
	sub, err := conn.SubscribeSync("orders.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	i := invoker(t, effecthttp.Limits{})
	c := call(t, natsDocument(address), `{"operation":"send","message":{"payload":{"id":"17"},"headers":{"foo":"bar","n":1}}}`)
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	if out := i.Invoke(effect.WithTracestate(effect.WithTraceparent(t.Context(), trace), "a=b"), c); out.Failure != nil {
		t.Fatal(out.Failure)
	}
	msg, err := sub.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	if msg.Subject != "orders.17" || string(msg.Data) != `{"id":"17"}` || msg.Header.Get("foo") != "bar" || msg.Header.Get("n") != "1" || msg.Header.Get(nats.MsgIdHdr) != c.Key || msg.Header.Get("traceparent") != trace || msg.Header.Get("tracestate") != "a=b" {
		t.Errorf("%+v", msg)
	}
	stream, err := js.CreateStream(context.Background(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the call is made again
		if out := invoke(t, i, c); out.Failure != nil {
			t.Fatal(out.Failure)
		}
	}
	if info, err := stream.Info(context.Background()); err != nil || info.State.Msgs != 1 {
		t.Errorf("%+v %v", info, err)
	}
	fails(t, invoke(t, i, call(t, natsDocument(address), `{"operation":"send","message":{"payload":{"id":"a.b"}}}`)), effect.Communication, "cannot be a part of a subject")
	fails(t, invoke(t, i, call(t, natsDocument(address), `{"operation":"send","message":{"payload":{}}}`)), effect.Communication, "id")
	fails(t, invoke(t, i, call(t, natsDocument(address), `{"operation":"send","message":{"payload":{"id":"1","next":{}}}}`)), effect.Communication, "payload/next")
}

// TestCredentialsNATS: basic is a user with a password, bearer a token; others are refused.
func TestCredentialsNATS(t *testing.T) {
	user, _ := newBroker(t, func(o *natsserver.Options) { o.Username, o.Password = "ann", "secret" })
	token, _ := newBroker(t, func(o *natsserver.Options) { o.Authorization = "s3cret" })
	for _, c := range []struct{ address, auth, says string }{
		{user, `{"basic":{"username":"ann","password":"secret"}}`, ""},
		{user, `{"basic":{"username":"ann","password":"wrong"}}`, "refuses the credentials"},
		{user, `null`, "refuses the credentials"},
		{user, `{"digest":{"username":"ann","password":"secret"}}`, "NATS has no authentication digest"},
		{token, `{"bearer":{"token":"s3cret"}}`, ""},
	} {
		out := invoke(t, invoker(t, effecthttp.Limits{}), call(t, natsDocument(c.address), `{"operation":"send","authentication":`+c.auth+`,"message":{"payload":{"id":1}}}`))
		if c.says == "" {
			if out.Failure != nil {
				t.Errorf("%s: %v", c.auth, out.Failure)
			}
			continue
		}
		if f := fails(t, out, effect.Authentication, c.says); f.Status != "401" {
			t.Errorf("%+v", f)
		}
	}
}

// TestOutboundPolicy: neither protocol reaches what the policy refuses.
func TestOutboundPolicy(t *testing.T) {
	client, err := effecthttp.New(effecthttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := New(client)
	document := strings.ReplaceAll(natsDocument("127.0.0.1:1"), "nats", "PROTOCOL")
	for _, protocol := range []string{"nats", "http"} {
		text := strings.ReplaceAll(document, "PROTOCOL", protocol)
		fails(t, invoke(t, i, call(t, text, `{"operation":"send","message":{"payload":{"id":1}}}`)), effect.Communication, "outbound policy refuses")
		fails(t, subscribe(t, strings.ReplaceAll(text, ".{id}", ""), `"operation":"receive",`).next(i), effect.Communication, "outbound policy refuses")
	}
}

// TestSubjectOfData: a value is one part of a subject, as it is.
func TestSubjectOfData(t *testing.T) {
	at := func(name string) parameter { return parameter{name: name, location: "$message.payload#/" + name} }
	to := &target{operation: &operation{title: "channel", channel: "a.{x}.{y}", parameters: []parameter{at("x"), at("y")}}}
	for payload, want := range map[string]string{
		`{"x":"{y}","y":"1"}`:    "a.{y}.1",
		`{"x":"ünï","y":"{x}"}`:  "a.ünï.{x}",
		`{"x":">","y":"1"}`:      "",
		`{"x":"*","y":"1"}`:      "",
		`{"x":"b.c","y":"1"}`:    "",
		`{"x":"b c","y":"1"}`:    "",
		`{"x":"b\r\nc","y":"1"}`: "",
		`{"x":"","y":"1"}`:       "",
	} {
		got, err := to.subject(value(t, `{"payload":`+payload+`}`), sends)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v, want %q", payload, got, err, want)
		}
	}
}
