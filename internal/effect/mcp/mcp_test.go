package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// counterpart is a server of the protocol's own library.
func counterpart() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "counterpart", Version: "1"}, &sdk.ServerOptions{PageSize: 2})
	type numbers struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	type sum struct {
		Sum int `json:"sum"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "add"}, func(_ context.Context, _ *sdk.CallToolRequest, in numbers) (*sdk.CallToolResult, sum, error) {
		return nil, sum{in.A + in.B}, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("the kettle is empty")
	})
	// ask talks back before it answers.
	sdk.AddTool(s, &sdk.Tool{Name: "ask"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		ping := r.Session.Ping(ctx, nil)
		_, roots := r.Session.ListRoots(ctx, nil) //lint:ignore SA1019 a request that the client refuses
		told := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: "x", Progress: 1})
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(ping, "|", roots, "|", told)}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "who"}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		client := r.Session.InitializeParams()
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s %s key=%v",
			client.ClientInfo.Name, client.ProtocolVersion, r.Params.Meta["idempotencyKey"])}}}, nil, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "greet"}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Description: "for " + r.Params.Arguments["name"]}, nil
	})
	s.AddResource(&sdk.Resource{URI: "file:///a.txt", Name: "a"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "file:///a.txt", Text: "hello"}}}, nil
	})
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "file:///{name}", Name: "any"}, nil)
	return s
}

// seen are the requests that a server got.
type seen struct {
	mu  sync.Mutex
	all []*http.Request
}

// texts are the requests, each as fmt writes what pick chooses of it.
func (s *seen) texts(pick func(*http.Request) string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.all {
		out = append(out, pick(r))
	}
	return out
}

// serve serves the counterpart over HTTP.
func serve(t *testing.T, o sdk.StreamableHTTPOptions) (url string, requests *seen) {
	t.Helper()
	s := counterpart()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &o)
	requests = &seen{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.mu.Lock()
		requests.all = append(requests.all, r)
		requests.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL, requests
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

// called makes a call to its end; SERVER in the arguments stands for the address.
func called(t *testing.T, i *Invoker, operation, url, args string) effect.Outcome {
	t.Helper()
	out := i.Invoke(t.Context(), effect.Call{
		Key: "i1/3.1", Function: "f", Operation: operation, Args: value(t, strings.ReplaceAll(args, "SERVER", url)),
	})
	if out.Wait != nil {
		return out.Wait(t.Context())
	}
	return out
}

const transport = `,"transport":{"http":{"endpoint":"SERVER"}}}`

// methodCases are calls of the counterpart, and what their results contain.
var methodCases = map[string]string{
	`{"method":"tools/call","parameters":{"name":"add","arguments":{"a":2,"b":40}}`:           `"structuredContent":{"sum":42}`,
	`{"method":"tools/call","parameters":{"name":"ask"}`:                                      `"text":"<nil>|`,
	`{"method":"tools/call","parameters":{"name":"who"}`:                                      `"text":"lockstep 2025-06-18 key=i1/3.1"`,
	`{"method":"tools/call","parameters":{"name":"who","_meta":{"idempotencyKey":"mine"}}`:    `key=mine`,
	`{"method":"tools/call","client":{"name":"me","version":"2"},"parameters":{"name":"who"}`: `"text":"me 2025-06-18`,
	`{"method":"tools/call","protocolVersion":"2025-11-25","parameters":{"name":"who"}`:       `"text":"lockstep 2025-11-25`,
	`{"method":"tools/call","protocolVersion":"2024-11-05","parameters":{"name":"who"}`:       `"text":"lockstep 2024-11-05`,
	`{"method":"tools/list"`:   `"nextCursor":`,
	`{"method":"prompts/list"`: `"prompts":[{"name":"greet"}]`,
	`{"method":"prompts/get","parameters":{"name":"greet","arguments":{"name":"Ada"}}`: `"description":"for Ada"`,
	`{"method":"resources/list","parameters":{}`:                                       `"uri":"file:///a.txt"`,
	`{"method":"resources/read","parameters":{"uri":"file:///a.txt"}`:                  `"text":"hello"`,
	`{"method":"resources/templates/list"`:                                             `"uriTemplate":"file:///{name}"`,
}

// TestMethodsOverHTTP: every method, with answers that are streams and answers that are JSON, with and without
// sessions. Every session is ended.
func TestMethodsOverHTTP(t *testing.T) {
	for name, o := range map[string]sdk.StreamableHTTPOptions{"streams": {}, "JSON": {JSONResponse: true}, "stateless": {Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			url, requests := serve(t, o)
			i := New(client(t, effecthttp.Limits{}), false)
			calls := 0
			for args, want := range methodCases {
				if o.JSONResponse && strings.Contains(args, `"ask"`) || o.Stateless && (strings.Contains(args, `"ask"`) || strings.Contains(args, `"who"`)) {
					continue // without a stream a server cannot ask, and without a session it knows nobody
				}
				calls++
				if out := called(t, i, "call:mcp", url, args+transport); out.Failure != nil || !strings.Contains(out.Value.String(), want) {
					t.Errorf("%s:\n got %s %+v\nwant %s", args, out.Value, out.Failure, want)
				}
			}
			begun, ended := 0, 0
			for _, method := range requests.texts(func(r *http.Request) string { return r.Method + r.Header.Get(headerSession) }) {
				switch {
				case method == "POST":
					begun++
				case strings.HasPrefix(method, "DELETE"):
					ended++
				}
			}
			if !o.Stateless && (begun != calls || ended != begun) {
				t.Errorf("%d sessions were begun, %d ended", begun, ended)
			}
		})
	}
}

// TestRequestsOverHTTP: the headers of each request of a session.
func TestRequestsOverHTTP(t *testing.T) {
	url, requests := serve(t, sdk.StreamableHTTPOptions{})
	i := New(client(t, effecthttp.Limits{}), false)
	out := called(t, i, "call:mcp", url, `{"method":"tools/list","transport":{"http":{
		"endpoint":{"uri":"SERVER","authentication":{"bearer":{"token":"t0"}}},"headers":{"X-A":"1","mcp-session-id":"mine"}}}}`)
	if out.Failure != nil {
		t.Fatal(out.Failure)
	}
	got := strings.Join(requests.texts(func(r *http.Request) string {
		return fmt.Sprintf("%s session=%t version=%s key=%s auth=%s x=%s", r.Method, r.Header.Get(headerSession) != "", r.Header.Get(headerVersion),
			r.Header.Get(headerKey), r.Header.Get("Authorization"), r.Header.Get("X-A"))
	}), "\n")
	const want = `POST session=false version= key= auth=Bearer t0 x=1
POST session=true version=2025-06-18 key= auth=Bearer t0 x=1
POST session=true version=2025-06-18 key=i1/3.1 auth=Bearer t0 x=1
DELETE session=true version=2025-06-18 key= auth=Bearer t0 x=1`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestPages: the output is the page that the server gave, and a cursor asks for the next one.
func TestPages(t *testing.T) {
	url, _ := serve(t, sdk.StreamableHTTPOptions{})
	i := New(client(t, effecthttp.Limits{}), false)
	first := called(t, i, "call:mcp", url, `{"method":"tools/list"`+transport).Value
	cursor := effect.Name(first, "nextCursor")
	second := called(t, i, "call:mcp", url, `{"method":"tools/list","parameters":{"cursor":"`+cursor+`"}`+transport).Value
	for page, want := range map[string]expr.Value{"add ask": first, "fail who": second} {
		tools, _ := want.Get("tools")
		var names []string
		for _, tool := range tools.Items() {
			names = append(names, effect.Name(tool, "name"))
		}
		if got := strings.Join(names, " "); got != page {
			t.Errorf("got %s, want %s", got, page)
		}
	}
}

// TestFailures: what the server says went wrong.
func TestFailures(t *testing.T) {
	url, _ := serve(t, sdk.StreamableHTTPOptions{})
	i := New(client(t, effecthttp.Limits{}), false)
	for args, want := range map[string]string{
		`{"method":"tools/call","parameters":{"name":"fail"}` + transport:                                                       "runtime tool-error 500? the kettle is empty",
		`{"method":"tools/call","parameters":{"name":"none"}` + transport:                                                       `runtime -32602 500? unknown tool "none"`,
		`{"method":"resources/read","parameters":{"uri":"file:///nope/b"}` + transport:                                          "runtime -32602 500? Resource not found",
		`{"method":"tools/call"` + transport:                                                                                    `runtime invalid-arguments 500? call "f": tools/call needs parameters.name`,
		`{"method":"tools/call","parameters":{"name":1}` + transport:                                                            `runtime invalid-arguments 500? call "f": parameters.name must be a text, not a number`,
		`{"method":"tools/list","parameters":"x"` + transport:                                                                   `runtime invalid-arguments 500? call "f": parameters must be an object, not a string`,
		`{"method":"tools/drop"` + transport:                                                                                    `runtime invalid-arguments 500? call "f": method is "tools/drop"`,
		`{"method":"tools/list","protocolVersion":"1999-01-01"` + transport:                                                     `runtime invalid-arguments 500? call "f": protocolVersion is "1999-01-01", and must be one of 2024-11-05`,
		`{"method":"tools/list","timeout":"soon"` + transport:                                                                   `runtime invalid-arguments 500? call "f": timeout:`,
		`{"method":"tools/list","timeout":{"seconds":0}` + transport:                                                            `runtime invalid-arguments 500? call "f": timeout must be positive`,
		`{"method":"tools/list","timeout":{"years":1}` + transport:                                                              `runtime invalid-arguments 500? call "f": timeout.years`,
		`{"method":"tools/list","transport":{"http":{"endpoint":"ftp://x"}}}`:                                                   `runtime invalid-arguments 500? call "f": endpoint must be an address`,
		`{"method":"tools/list","transport":{"http":{"endpoint":"SERVER","headers":{"Host":"x"}}}}`:                             `runtime invalid-arguments 500? call "f": the header "Host"`,
		`{"method":"tools/list","transport":{"stdio":{"command":"true"}}}`:                                                      `runtime outbound-refused 500? call "f": this server does not run programs`,
		`{"method":"tools/list","transport":{"http":{"endpoint":{"uri":"SERVER","authentication":{"bearer":{"use":"none"}}}}}}`: `authorization authentication 403`,
		`{"method":"tools/list","transport":{"http":{"endpoint":"http://10.1.2.3/"}}}`:                                          `runtime outbound-refused 500? POST http://10.1.2.3/: the outbound policy refuses`,
	} {
		f := called(t, i, "call:mcp", url, args).Failure
		if f == nil {
			t.Errorf("%s: no failure", args)
			continue
		}
		status := f.Status
		if status == "" {
			status = "500?"
		}
		if got := fmt.Sprintf("%s %s %s %s", f.Name, f.Code, status, f.Detail); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", args, got, want)
		}
	}
	f := called(t, i, "call:mcp", url, `{"method":"tools/call","parameters":{"name":"fail"}`+transport).Failure
	if isError, _ := f.Data.Get("isError"); !isError.Bool() {
		t.Errorf("the data of the failure of a tool is %s", f.Data)
	}
	f = called(t, i, "call:mcp!*", url, `{"method":"tools/list","transport":{"http":{"endpoint":{"uri":"SERVER","authentication":{"bearer":{"token":"x"}}}}}}`).Failure
	if f == nil || !strings.Contains(f.Detail, "cannot have an authentication") {
		t.Errorf("%+v", f)
	}
}

// TestGuarded: an address that data chose must be on the allow-list.
func TestGuarded(t *testing.T) {
	c, err := effecthttp.New(effecthttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := called(t, New(c, false), "call:mcp!", "http://192.0.2.1", `{"method":"tools/list"`+transport).Failure
	if f == nil || f.Code != effecthttp.CodeRefused {
		t.Errorf("%+v", f)
	}
}

// TestTimeoutWaits: a call that may take longer than call-timeout gives its place back.
func TestTimeoutWaits(t *testing.T) {
	url, _ := serve(t, sdk.StreamableHTTPOptions{})
	i := New(client(t, effecthttp.Limits{Timeout: time.Minute}), false)
	for timeout, waits := range map[string]bool{`"PT2M"`: true, `{"minutes":1,"milliseconds":1}`: true, `"PT60S"`: false} {
		args := value(t, strings.ReplaceAll(`{"method":"tools/list","timeout":`+timeout+transport, "SERVER", url))
		out := i.Invoke(t.Context(), effect.Call{Operation: "call:mcp", Args: args})
		if (out.Wait != nil) != waits {
			t.Errorf("%s: waits: %t", timeout, out.Wait != nil)
		}
	}
}
