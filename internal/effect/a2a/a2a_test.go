package a2a

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// agent answers "echo" with a message that tells what it got, and everything else with a task of three events.
type agent struct{}

func (agent) Execute(ctx context.Context, r *a2asrv.RequestContext, queue eventqueue.Queue) error {
	text := r.Message.Parts[0].(sdk.TextPart).Text
	if text == "echo" {
		return queue.Write(ctx, sdk.NewMessage(sdk.MessageRoleAgent, sdk.TextPart{Text: r.Message.ID + " " + string(r.Message.Role)}))
	}
	// Not a task, which the library changes while it writes it.
	if err := queue.Write(ctx, sdk.NewStatusUpdateEvent(r, sdk.TaskStateWorking, nil)); err != nil {
		return err
	}
	if err := queue.Write(ctx, sdk.NewArtifactEvent(r, sdk.TextPart{Text: text})); err != nil {
		return err
	}
	state := sdk.TaskStateCompleted
	if text == "ask" {
		state = sdk.TaskStateInputRequired
	}
	done := sdk.NewStatusUpdateEvent(r, state, nil)
	done.Final = true
	return queue.Write(ctx, done)
}

func (agent) Cancel(ctx context.Context, r *a2asrv.RequestContext, queue eventqueue.Queue) error {
	done := sdk.NewStatusUpdateEvent(r, sdk.TaskStateCanceled, nil)
	done.Final = true
	return queue.Write(ctx, done)
}

// serve serves the agent with the protocol's own library. It counts requests by key and credentials.
func serve(t *testing.T) (url string, last *atomic.Value) {
	t.Helper()
	handler := a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(agent{}, a2asrv.WithExtendedAgentCard(&sdk.AgentCard{Name: "extended"}),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil))))
	last = &atomic.Value{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last.Store(r.Header.Get("Idempotency-Key") + " " + r.Header.Get("Authorization"))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL, last
}

func client(t *testing.T, l effecthttp.Limits) *effecthttp.Client {
	t.Helper()
	c, err := effecthttp.New(effecthttp.Options{Allow: []string{"127.0.0.0/8"}, Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func value(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	return v
}

// called makes a call to its end; SERVER in the arguments stands for the address. A card is the pinned document.
func called(t *testing.T, i *Invoker, url, card, args string) effect.Outcome {
	t.Helper()
	c := effect.Call{Key: "i1/3.1", Function: "f", Operation: "call:a2a", Args: value(t, strings.ReplaceAll(args, "SERVER", url))}
	if card != "" {
		c.Operation += ":card.json"
		c.Documents = effect.Documents{Root: 1, All: []effect.Document{{Ref: "card.json", Text: strings.ReplaceAll(card, "SERVER", url)}}}
	}
	out := i.Invoke(t.Context(), c)
	if out.Wait != nil {
		return out.Wait(t.Context())
	}
	return out
}

func message(method, text string) string {
	return fmt.Sprintf(`{"method":%q,"server":"SERVER","parameters":{"message":{"parts":[{"kind":"text","text":%q}]}}}`, method, text)
}

// TestMethods: every method of the library's server.
func TestMethods(t *testing.T) {
	url, last := serve(t)
	i := New(client(t, effecthttp.Limits{}))
	out := called(t, i, url, "", message("message/send", "ask"))
	if out.Failure != nil {
		t.Fatal(out.Failure)
	}
	task := effect.Name(out.Value, "id")
	if last.Load() != "i1/3.1 " {
		t.Errorf("the request has %s", last.Load())
	}
	push := `"taskId":"TASK","pushNotificationConfig":{"id":"p1","url":"https://example.com/push"}`
	for _, c := range []struct{ args, want string }{
		{message("message/send", "echo"), `"text":"` + messageID("i1/3.1") + ` user"`},
		{`{"method":"message/send","server":{"uri":"SERVER"},"parameters":{"message":{"messageId":"m1","role":"agent","kind":"message","parts":[{"kind":"text","text":"echo"}]}}}`, `"text":"m1 agent"`},
		{`{"method":"tasks/get","server":"SERVER","parameters":{"id":"TASK"}}`, `"state":"input-required"`},
		{`{"method":"tasks/pushNotificationConfig/set","server":"SERVER","parameters":{` + push + `}}`, `"taskId":"TASK"`},
		{`{"method":"tasks/pushNotificationConfig/get","server":"SERVER","parameters":{"id":"TASK","pushNotificationConfigId":"p1"}}`, `"url":"https://example.com/push"`},
		{`{"method":"tasks/pushNotificationConfig/list","server":"SERVER","parameters":{"id":"TASK"}}`, `[{"pushNotificationConfig":`},
		{`{"method":"tasks/pushNotificationConfig/delete","server":"SERVER","parameters":{"id":"TASK","pushNotificationConfigId":"p1"}}`, `null`},
		{`{"method":"agent/getAuthenticatedExtendedCard","server":"SERVER"}`, `"name":"extended"`},
		{`{"method":"tasks/cancel","server":"SERVER","parameters":{"id":"TASK"}}`, `"state":"canceled"`},
	} {
		out := called(t, i, url, "", strings.ReplaceAll(c.args, "TASK", task))
		if want := strings.ReplaceAll(c.want, "TASK", task); out.Failure != nil || !strings.Contains(out.Value.String(), want) {
			t.Errorf("%s:\n got %s %+v\nwant %s", c.args, out.Value, out.Failure, want)
		}
	}
	for args, want := range map[string]string{
		`{"method":"tasks/get","server":"SERVER","parameters":{"id":"none"}}`:                          "runtime -32001 task not found",
		`{"method":"tasks/list","server":"SERVER"}`:                                                    "runtime -32601 method not found",
		`{"method":"tasks/get","server":"SERVER"}`:                                                     `runtime invalid-arguments call "f": tasks/get needs parameters.id`,
		`{"method":"message/send","server":"SERVER","parameters":{"message":{}}}`:                      `runtime invalid-arguments call "f": message/send needs parameters.message.parts`,
		`{"method":"message/send","server":"SERVER","parameters":"x"}`:                                 `runtime invalid-arguments call "f": parameters must be an object`,
		`{"method":"message/sent","server":"SERVER"}`:                                                  `runtime invalid-arguments call "f": method is "message/sent"`,
		`{"method":"tasks/list","server":"nowhere"}`:                                                   `runtime invalid-arguments call "f": endpoint must be an address`,
		`{"method":"tasks/list","server":"http://10.1.2.3"}`:                                           `runtime outbound-refused POST http://10.1.2.3: the outbound policy refuses`,
		`{"method":"tasks/list","server":{"uri":"SERVER","authentication":{"bearer":{"use":"none"}}}}`: `authorization authentication`,
		`{"method":"tasks/resubscribe","server":"SERVER","parameters":{"id":"none"}}`:                  "runtime -32001 task not found",
	} {
		f := called(t, i, url, "", args).Failure
		if f == nil || !strings.HasPrefix(f.Name+" "+f.Code+" "+f.Detail, want) {
			t.Errorf("%s:\n got %+v\nwant %s", args, f, want)
		}
	}
}

// TestStream: the output is the array of all results, in order.
func TestStream(t *testing.T) {
	url, _ := serve(t)
	i := New(client(t, effecthttp.Limits{}))
	out := called(t, i, url, "", message("message/stream", "report"))
	var kinds []string
	for _, result := range out.Value.Items() {
		kinds = append(kinds, effect.Name(result, "kind"))
	}
	if got := strings.Join(kinds, " "); out.Failure != nil || got != "status-update artifact-update status-update" {
		t.Errorf("%s %+v", got, out.Failure)
	}
	out = called(t, i, url, "", message("message/stream", "echo"))
	if out.Value.Len() != 1 || effect.Name(out.Value.Items()[0], "kind") != "message" {
		t.Errorf("%s %+v", out.Value, out.Failure)
	}
}

// TestMessageID: it is a UUID, the same for the same key.
func TestMessageID(t *testing.T) {
	if id := messageID("a"); !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) ||
		id != messageID("a") || id == messageID("b") {
		t.Error(id)
	}
}

// TestCards: where a call goes, and with which credentials.
func TestCards(t *testing.T) {
	url, last := serve(t)
	i := New(client(t, effecthttp.Limits{}))
	const get = `{"method":"agent/getAuthenticatedExtendedCard"}`
	for card, want := range map[string]string{
		`{"url":"SERVER"}`: "",
		`{"url":"SERVER","preferredTransport":"JSONRPC"}`:                                                                   "",
		`{"url":"grpc://x","preferredTransport":"GRPC","additionalInterfaces":[{"transport":"JSONRPC","url":"SERVER"}]}`:    "",
		`{"url":"https://x","preferredTransport":"HTTP+JSON","additionalInterfaces":[{"transport":"GRPC","url":"SERVER"}]}`: "CALL001 the agent speaks HTTP+JSON, and has no interface for JSONRPC",
		`{"url":"grpc://x"}`: "CALL001 the url of the agent card: endpoint must be an address",
		`{"name":"x"}`:       "CALL001 the agent card has no url",
		`[]`:                 "CALL001 the agent card has no url",
		`{`:                  "CALL001 the agent card is not JSON",
	} {
		out := called(t, i, url, card, get)
		switch f := out.Failure; {
		case want == "" && f != nil:
			t.Errorf("%s: %+v", card, f)
		case want != "" && (f == nil || f.Name != effect.Runtime || !strings.HasPrefix(f.Code+strings.TrimPrefix(f.Detail, `call "f":`), want)):
			t.Errorf("%s:\n got %+v\nwant %s", card, f, want)
		}
	}
	const withServer = `{"method":"agent/getAuthenticatedExtendedCard","server":{"uri":"%s","authentication":{"bearer":{"token":"t0"}}}}`
	out := called(t, i, url, `{"url":"SERVER/agent"}`, fmt.Sprintf(withServer, "SERVER/other"))
	if out.Failure != nil || last.Load() != "i1/3.1 Bearer t0" {
		t.Errorf("%+v %s", out.Failure, last.Load())
	}
	last.Store("")
	out = called(t, i, url, `{"url":"SERVER/agent"}`, fmt.Sprintf(withServer, "https://example.com"))
	if f := out.Failure; f == nil || !strings.Contains(f.Detail, "the authentication is for https://example.com") || last.Load() != "" {
		t.Errorf("%+v %s", f, last.Load())
	}
	out = i.Invoke(t.Context(), effect.Call{Operation: "call:a2a:card.json", Args: value(t, get)})
	if f := out.Failure; f == nil || f.Code != "CALL001" {
		t.Errorf("%+v", f)
	}
}
