package asyncapi

import (
	"context"
	"fmt"
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

// begin makes the first call of a subscription up to its wait: from then on messages are heard.
func (s *subscription) begin(i *Invoker) func() effect.Outcome {
	s.t.Helper()
	out := i.Invoke(context.Background(), s.call())
	if out.Wait == nil {
		s.t.Fatalf("%+v", out.Failure)
	}
	s.number++
	return func() effect.Outcome {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return out.Wait(ctx)
	}
}

// TestSubscribeSubject: what comes between two calls is not lost while the process lives, and a call that is made
// again gets the same message.
func TestSubscribeSubject(t *testing.T) {
	address, _ := newBroker(t, nil)
	conn, _ := client(t, address)
	i := invoker(t, effecthttp.Limits{})
	s := subscribe(t, natsDocument(address), `"operation":"receive",`)
	first := s.begin(i)
	for n := 1; n <= 5; n++ {
		msg := nats.NewMsg(fmt.Sprintf("orders.%d", n))
		msg.Data, msg.Header = fmt.Appendf(nil, `{"id":%d}`, n), nats.Header{"Correlation": {"c"}}
		if err := conn.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
	}
	if got := first().Value.String(); got != `{"correlationId":"c","headers":{"Correlation":"c"},"payload":{"id":1}}` {
		t.Errorf("%s", got)
	}
	s.number = 1
	s.want(i, `{"id":1}`) // again
	for n := 2; n <= 5; n++ {
		s.want(i, fmt.Sprintf(`{"id":%d}`, n))
	}
	if err := conn.Publish("orders.x", []byte("no JSON")); err != nil {
		t.Fatal(err)
	}
	s.want(i, `"no JSON"`)
}

// TestSubscribeStream: whatever happens to processes, the messages of a stream come in order, each once. A process that
// is killed leaves its session behind.
func TestSubscribeStream(t *testing.T) {
	for _, retention := range []jetstream.RetentionPolicy{jetstream.LimitsPolicy, jetstream.InterestPolicy, jetstream.WorkQueuePolicy} {
		t.Run(retention.String(), func(t *testing.T) {
			address, _ := newBroker(t, nil)
			_, js := client(t, address)
			ctx := context.Background()
			if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}, Retention: retention}); err != nil {
				t.Fatal(err)
			}
			publish := func(n int) {
				t.Helper()
				if _, err := js.Publish(ctx, fmt.Sprintf("orders.%d", n), fmt.Appendf(nil, `{"id":%d}`, n)); err != nil {
					t.Fatal(err)
				}
			}
			if retention == jetstream.LimitsPolicy {
				publish(0) // before the task began
			}
			s := subscribe(t, natsDocument(address), `"operation":"receive",`)
			first := invoker(t, effecthttp.Limits{})
			ctx1, cancel := context.WithCancel(ctx)
			out := first.Invoke(ctx1, s.call())
			if out.Wait == nil {
				t.Fatalf("%+v", out.Failure)
			}
			cancel() // the first process ends before a message comes
			out.Wait(ctx1)
			for n := 1; n <= 6; n++ {
				publish(n)
			}
			second := invoker(t, effecthttp.Limits{})
			s.want(second, `{"id":1}`)
			s.want(second, `{"id":2}`)
			third := invoker(t, effecthttp.Limits{})
			if retention != jetstream.LimitsPolicy {
				// The server gives what the second has to another after ackWait; the test does not wait for that.
				s.want(second, `{"id":3}`)
				return
			}
			s.want(third, `{"id":3}`)
			s.want(third, `{"id":4}`)
			// The third gave the fifth, and was killed before that was stored: it is given again.
			if lost := s.next(third); lost.Failure != nil {
				t.Fatal(lost.Failure)
			}
			fourth := invoker(t, effecthttp.Limits{})
			s.want(fourth, `{"id":5}`)
			msg := s.want(fourth, `{"id":6}`)
			if id, _ := msg.Get("id"); id.Str() != "7" {
				t.Errorf("%s", msg)
			}
		})
	}
}

// TestStreamOfARestartedServer: a connection that is lost comes back.
func TestStreamOfARestartedServer(t *testing.T) {
	dir := t.TempDir()
	address, stop := newBroker(t, func(o *natsserver.Options) { o.StoreDir = dir })
	_, js := client(t, address)
	ctx := context.Background()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}}); err != nil {
		t.Fatal(err)
	}
	s := subscribe(t, natsDocument(address), `"operation":"receive",`)
	for n := 1; n <= 2; n++ {
		if _, err := js.Publish(ctx, "orders.1", fmt.Appendf(nil, `{"id":%d}`, n)); err != nil {
			t.Fatal(err)
		}
	}
	i := invoker(t, effecthttp.Limits{})
	s.want(i, `{"id":1}`)
	stop()
	port := address[strings.LastIndexByte(address, ':')+1:]
	newBroker(t, func(o *natsserver.Options) { o.StoreDir = dir; _, _ = fmt.Sscan(port, &o.Port) })
	// Whether the session is still connecting or has given up: the loop, or a retry of the task, goes on.
	for s.number == 2 {
		if out := s.next(i); out.Failure == nil {
			s.want(i, `{"id":2}`)
		}
	}
}

// streamer answers requests with the answers in order; the last one never ends.
func streamer(t *testing.T, answers ...string) (document string, asked chan string) {
	t.Helper()
	asked = make(chan string, 100)
	next := make(chan string, len(answers))
	for _, a := range answers {
		next <- a
	}
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		asked <- r.Method + " " + r.RequestURI + " " + r.Header.Get("Last-Event-ID")
		text := <-next
		media, body, _ := strings.Cut(text, "\n")
		switch media {
		case "status":
			w.WriteHeader(503)
			return
		case "none":
			w.WriteHeader(204)
			return
		}
		w.Header().Set("Content-Type", media)
		_, _ = w.Write([]byte(body))
		w.(nethttp.Flusher).Flush()
		if len(next) == 0 {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return fmt.Sprintf(`
asyncapi: 2.6.0
info: {title: T, version: 1.0.0}
servers: {main: {url: %q, protocol: http}}
channels: {prices: {subscribe: {bindings: {http: {type: request, method: GET, query: {type: object, properties: {of: {const: all}}}}}}}}
`, s.URL+"/v1"), asked
}

// TestSubscribeHTTP: streams in all their forms, over as many answers as it takes.
func TestSubscribeHTTP(t *testing.T) {
	const sse = "text/event-stream; charset=utf-8\n"
	document, asked := streamer(t,
		sse+": hello\n\nretry: 1\nid: 1\ndata: {\"n\":1}\n\nevent: price\nid: 2\ndata: a\ndata: b\n\nid: 3\ndata: half",
		"none\n",
		"application/x-ndjson\n{\"n\":3}\n\n{\"n\":4}\n",
		"application/json\n[{\"n\":5},{\"n\":6}]",
		"application/json\n{\"n\":7}",
		sse+"data: 8\n\n",
	)
	i := invoker(t, effecthttp.Limits{})
	s := subscribe(t, document, `"channel":"prices",`)
	s.want(i, `{"n":1}`)
	msg := s.want(i, `"a\nb"`)
	if msg.String() != `{"headers":{"event":"price"},"id":"2","payload":"a\nb"}` {
		t.Errorf("%s", msg)
	}
	for n := 3; n <= 7; n++ {
		s.want(i, fmt.Sprintf(`{"n":%d}`, n))
	}
	s.want(i, "8")
	for n, want := range []string{"", "2", "2", "2", "2", "2"} {
		if got := <-asked; got != "GET /v1/prices?of=all "+want {
			t.Errorf("request %d: %s", n, got)
		}
	}
}

// TestResumeHTTP: another process goes on after the last message, by its id.
func TestResumeHTTP(t *testing.T) {
	document, asked := streamer(t, "text/event-stream\nid: a\ndata: 1\n\n", "text/event-stream\nid: b\ndata: 2\n\n")
	s := subscribe(t, document, `"channel":"prices",`)
	s.want(invoker(t, effecthttp.Limits{}), "1")
	s.want(invoker(t, effecthttp.Limits{}), "2")
	if first, second := <-asked, <-asked; !strings.HasSuffix(first, " ") || !strings.HasSuffix(second, " a") {
		t.Errorf("%q, %q", first, second)
	}
}

// TestStatusOfAStream: the first answer says what is wrong.
func TestStatusOfAStream(t *testing.T) {
	document, _ := streamer(t, "status\n", "")
	if f := fails(t, subscribe(t, document, `"channel":"prices",`).next(invoker(t, effecthttp.Limits{})), effect.Communication, "503"); f.Status != "503" {
		t.Errorf("%+v", f)
	}
}

// TestListOfMessages: what waits for its turn takes no more memory than the list did.
func TestListOfMessages(t *testing.T) {
	document, _ := streamer(t, "application/json\n[1,2,3]", "")
	i := invoker(t, effecthttp.Limits{})
	s := subscribe(t, document, `"channel":"prices",`)
	s.want(i, "1")
	for _, one := range i.sessions.all {
		if got := fmt.Sprint(one.feed.(*httpFeed).pending); got != "[2 3]" {
			t.Errorf("kept: %s", got)
		}
	}
	s.want(i, "2")
	s.want(i, "3")
}

// TestQueueOfAProcessThatEnds: a message of a work queue that was given, but may not be stored, is given again to the call
// that is made again; what is stored is not.
func TestQueueOfAProcessThatEnds(t *testing.T) {
	address, _ := newBroker(t, nil)
	_, js := client(t, address)
	ctx := context.Background()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}, Retention: jetstream.WorkQueuePolicy}); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if _, err := js.Publish(ctx, "orders.1", fmt.Appendf(nil, `{"id":%d}`, n)); err != nil {
			t.Fatal(err)
		}
	}
	s := subscribe(t, natsDocument(address), `"operation":"receive",`)
	first := invoker(t, effecthttp.Limits{})
	s.want(first, `{"id":0}`)
	if out := s.next(first); out.Failure != nil { // and it is not stored
		t.Fatal(out.Failure)
	}
	first.client.Close()
	if n := len(first.sessions.all); n > 0 {
		t.Errorf("%d sessions are left", n)
	}
	second := invoker(t, effecthttp.Limits{})
	s.want(second, `{"id":1}`)
	second.client.Close()
	s.want(invoker(t, effecthttp.Limits{}), `{"id":2}`)
}
