package request

import (
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// service is a real server that these tests call.
type service struct {
	t    *testing.T
	url  string
	call *Invoker
}

// newService serves with a handler. The client may call loopback unless options say otherwise.
func newService(t *testing.T, o http.Options, h nethttp.HandlerFunc) *service {
	t.Helper()
	if o.Allow == nil {
		o.Allow = []string{"127.0.0.0/8"}
	}
	client, err := http.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &service{t, srv.URL, New(client)}
}

// calls makes a call of a request with arguments, in both of which SERVER stands for the address.
func (s *service) calls(guarded bool, r ir.Request, args string) effect.Outcome {
	s.t.Helper()
	v, err := expr.ParseJSON([]byte(strings.ReplaceAll(args, "SERVER", s.url)))
	if err != nil {
		s.t.Fatalf("%s: %v", args, err)
	}
	r.URI = strings.ReplaceAll(r.URI, "SERVER", s.url)
	return s.call.Invoke(s.t.Context(), effect.Call{Key: "i1/3.1", Function: "f", Operation: r.Operation(guarded), Args: v})
}

// tells answers with what was asked, as text.
func tells(w nethttp.ResponseWriter, r *nethttp.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "%s %s type=%s key=%s a=%s cookie=%s body=%s", r.Method, r.RequestURI, r.Header.Get("Content-Type"),
		r.Header.Get("Idempotency-Key"), r.Header.Get("X-A"), r.Header.Get("Cookie"), body)
}

// says answers every request with one body.
func says(status int, media, body string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// sent reports what of a call reached the server.
func (s *service) sent(r ir.Request, args, want string) {
	s.t.Helper()
	if out := s.calls(false, r, args); out.Failure != nil || out.Value.Str() != want {
		s.t.Errorf("%s %s:\n got %s %+v\nwant %s", r.URI, args, out.Value, out.Failure, want)
	}
}

// refused reports a call that is not the failure it must be.
func (s *service) refused(r ir.Request, args, name, text string) {
	s.t.Helper()
	f := s.calls(false, r, args).Failure
	code := map[string]string{effect.InvalidArguments: http.CodeArguments}[name]
	if f == nil || f.Name != name || f.Code != code || f.Status != "" || !strings.Contains(f.Detail, text) {
		s.t.Errorf("%s %s gives %+v, want %s that says %q", r.URI, args, f, name, text)
	}
}

// TestHTTP: 0.9 §Using functions for HTTP Service Invocations.
func TestHTTP(t *testing.T) {
	s := newService(t, http.Options{}, tells)
	get := ir.Request{Protocol: ir.RequestHTTP, Method: "get", URI: "SERVER/pet/{id}?v={v}"}
	own := get
	own.Headers, own.Cookies = []byte(`{"x-a":"own","Content-Type":"text/csv"}`), []byte(`{"s":"own","t":"1"}`)
	own.Method, own.URI = "POST", "SERVER/p"
	const tail = " key=i1/3.1 a= cookie= body="
	for _, c := range []struct {
		r          ir.Request
		args, want string
	}{
		{get, `{"id":7,"v":true}`, "GET /pet/7?v=true type=" + tail},
		{get, `{"id":"a b/ü?#&","v":"x&y=1"}`, "GET /pet/a%20b%2F%C3%BC%3F%23%26?v=x%26y%3D1 type=" + tail},
		{get, `{"id":1,"v":"","tag":["a","b c"],"none":null,"n":0.5}`, "GET /pet/1?v=&n=0.5&tag=a&tag=b+c type=" + tail},
		{own, `{"body":{"a":1}}`, `POST /p type=text/csv key=i1/3.1 a=own cookie=s=own; t=1 body={"a":1}`},
		{
			own, `{"headers":{"X-A":2,"content-type":"application/json"},"cookies":{"s":"mine","u":true},"body":[1]}`,
			`POST /p type=application/json key=i1/3.1 a=2 cookie=s=mine; t=1; u=true body=[1]`,
		},
		{own, `{"headers":{"X-a":null,"Cookie":"z=0"},"cookies":{"t":null},"body":"text"}`, `POST /p type=text/csv key=i1/3.1 a= cookie=z=0; s=own body=text`},
		{own, `null`, `POST /p type=text/csv key=i1/3.1 a=own cookie=s=own; t=1 body=`},
		{own, `{"headers":{"Idempotency-Key":"k"}}`, `POST /p type=text/csv key=k a=own cookie=s=own; t=1 body=`},
		{ir.Request{Protocol: ir.RequestHTTP, Method: "PUT", URI: "SERVER/p#x"}, `{"body":"plain"}`, "PUT /p type=text/plain; charset=utf-8" + tail + "plain"},
		{
			ir.Request{Protocol: ir.RequestHTTP, Method: "PUT", URI: "SERVER/p"},
			`{"headers":{"Content-Type":"application/x-www-form-urlencoded"},"body":{"a":"b c"}}`,
			"PUT /p type=application/x-www-form-urlencoded" + tail + "a=b+c",
		},
		{ir.Request{Protocol: ir.RequestHTTP, Method: "DELETE", URI: "SERVER/p"}, `{"body":false}`, "DELETE /p type=application/json" + tail + "false"},
	} {
		s.sent(c.r, c.args, c.want)
	}
}

// TestHTTPRefusals: what makes no request, and data that would leave its place.
func TestHTTPRefusals(t *testing.T) {
	s := newService(t, http.Options{}, tells)
	get := ir.Request{Protocol: ir.RequestHTTP, Method: "GET", URI: "SERVER/pet/{id}/x"}
	for args, text := range map[string]string{
		`{}`:                     `the argument "id" is missing`,
		`{"id":null}`:            `the argument "id" is missing`,
		`{"id":""}`:              `the argument "id" is empty`,
		`[1]`:                    "must be an object, not an array",
		`{"id":{}}`:              "{id} is an object",
		`{"id":".."}`:            `the step ".."`,
		`{"id":"."}`:             `the step "."`,
		`{"id":"../../admin"}`:   "the step",
		`{"id":"a/../b"}`:        "the step",
		`{"id":"a\\..\\b"}`:      "the step",
		`{"id":1,"headers":[1]}`: "headers must be an object",
		`{"id":1,"headers":{"Host":"evil.example"}}`:                 `"Host" is set by Lockstep`,
		`{"id":1,"headers":{"X-A":"1\r\nX-B: 2"}}`:                   "line break",
		`{"id":1,"headers":{"X-A\r\nX-B":"1"}}`:                      "not the name of a header",
		`{"id":1,"cookies":"a=1"}`:                                   "cookies must be an object",
		`{"id":1,"cookies":{"a":"1; admin=true"}}`:                   `the cookie "a"`,
		`{"id":1,"cookies":{"a":"1\r\nX-B: 2"}}`:                     `the cookie "a"`,
		`{"id":1,"cookies":{"a=1; b":"2"}}`:                          "not the name of a cookie",
		`{"id":1,"cookies":{"a":{}}}`:                                `the cookie "a"`,
		`{"id":1,"body":[],"headers":{"Content-Type":"text/plain"}}`: "the body gives nothing",
	} {
		s.refused(get, args, effect.InvalidArguments, text)
	}
	for _, c := range []struct{ method, uri, text string }{
		{"TRACE", "SERVER", "its method"},
		{"", "SERVER", "its method"},
		{"GET", "/pets", "no host"},
		{"GET", "/{a}", "no host"},
		{"GET", "https://{a}/", "lets data choose the host"},
		{"GET", "{a}://x.example/", "lets data choose the host"},
		{"GET", "https://x.example:{a}/", "lets data choose the host"},
		{"GET", "ftp://x.example/", "https://host/path"},
		{"GET", "http://u:p@x.example/", "credentials"},
		{"GET", "http://x.example:99999/", "no port"},
		{"GET", "http://x.example/{", "no }"},
		{"GET", "SERVER/{body}", "another meaning"},
	} {
		s.refused(ir.Request{Protocol: ir.RequestHTTP, Method: c.method, URI: c.uri}, `{"a":"evil.example","body":1}`, effect.NotFound, c.text)
	}
	s.refused(ir.Request{Protocol: "smtp", URI: "SERVER"}, `{}`, effect.NotFound, "nothing here can call")
	s.refused(ir.Request{Protocol: ir.RequestHTTP, Method: "GET", URI: "SERVER", Headers: []byte(`[1]`)}, `{}`, effect.InvalidArguments, "headers must be an object")
}

// TestREST: rest:METHOD:URL of SonataFlow.
func TestREST(t *testing.T) {
	s := newService(t, http.Options{}, tells)
	for _, c := range []struct{ method, uri, args, want string }{
		{"get", "/p/{id}", `{"id":"x","q":[1,2]}`, "GET /p/x?q=1&q=2 type= key=i1/3.1 a= cookie= body="},
		{"DELETE", "/p", `{"body":"b","headers":"h"}`, "DELETE /p?body=b&headers=h type= key=i1/3.1 a= cookie= body="},
		{"post", "/p/{id}?k={k}", `{"id":"x","k":"y","a":{"b":[null]}}`, `POST /p/x?k=y type=application/json key=i1/3.1 a= cookie= body={"a":{"b":[null]}}`},
		{"PUT", "/p/{id}", `{"id":1}`, `PUT /p/1 type=application/json key=i1/3.1 a= cookie= body={}`},
		{"PATCH", "/p", `[1,"x"]`, `PATCH /p type=application/json key=i1/3.1 a= cookie= body=[1,"x"]`},
		{"POST", "/p", `null`, `POST /p type=application/json key=i1/3.1 a= cookie= body={}`},
	} {
		s.sent(ir.Request{Protocol: ir.RequestREST, Method: c.method, URI: "SERVER" + c.uri}, c.args, c.want)
	}
	s.refused(ir.Request{Protocol: ir.RequestREST, Method: "GET", URI: "SERVER/p"}, `[1]`, effect.InvalidArguments, "must be an object")
	s.refused(ir.Request{Protocol: ir.RequestREST, Method: "POST", URI: "SERVER/{id}"}, `"x"`, effect.InvalidArguments, `"id" is missing`)
	s.refused(ir.Request{Protocol: ir.RequestREST, Method: "POST", URI: "SERVER/{id}"}, `{"id":".."}`, effect.InvalidArguments, `".."`)
	s.refused(ir.Request{Protocol: ir.RequestREST, Method: "CONNECT", URI: "SERVER"}, `{}`, effect.NotFound, "its method")
}

// TestAnswers: values and failures are those of plain URLs, so that handlers match both.
func TestAnswers(t *testing.T) {
	get := ir.Request{Protocol: ir.RequestHTTP, Method: "GET", URI: "SERVER/{id}"}
	for _, c := range []struct {
		status      int
		media, body string
		want        string // the value, or name, status and code of the failure
	}{
		{200, "application/json", `{"n":1}`, `{"n":1}`},
		{200, "text/plain", "x", `"x"`},
		{204, "application/json", "", "none"},
		{404, "application/json", `{"error":"NoPet","code":"P7","message":"no such pet"}`, "NoPet 404 P7 no such pet"},
		{404, "text/html", "<p>", "Error 404  GET SERVER/7 answered 404 Not Found"},
		{302, "text/html", "", "Error 302  GET SERVER/7 answered 302 Found"},
		{503, "application/problem+json", `{"type":"https://x.example/busy","title":"Busy","detail":"later"}`, "Busy 503  later"},
		{200, "application/json", `{oops`, "Error  invalid-response GET SERVER/7: the answer says it is application/json, but: "},
		{200, "application/json", `"` + strings.Repeat("x", 2000) + `"`, "Error  response-too-large GET SERVER/7: the answer is larger than 1000 bytes (limit response-bytes)"},
	} {
		s := newService(t, http.Options{Limits: http.Limits{ResponseBytes: 1000}}, says(c.status, c.media, c.body))
		out := s.calls(false, get, `{"id":7,"secret":"hush"}`)
		got := out.Value.String()
		if out.None {
			got = "none"
		}
		if f := out.Failure; f != nil {
			got = strings.Join([]string{f.Name, f.Status, f.Code, f.Detail}, " ")
		}
		want := strings.ReplaceAll(c.want, "SERVER", s.url)
		if !strings.HasPrefix(got, want) || strings.Contains(got, "hush") {
			t.Errorf("%d %s %.40s gives %s, want %s", c.status, c.media, c.body, got, want)
		}
	}
}
