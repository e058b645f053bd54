package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// client may call loopback unless allow says otherwise.
func client(t *testing.T, l Limits, allow ...string) *Client {
	t.Helper()
	if allow == nil {
		allow = []string{"127.0.0.0/8"}
	}
	c, err := New(Options{Allow: allow, Version: "1.2.3", Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func server(t *testing.T, h nethttp.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func value(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// says answers every request with one body.
func says(status int, media, body string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		if media != "" {
			w.Header().Set("Content-Type", media)
		} else {
			w.Header()["Content-Type"] = nil // no sniffing
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestRequests(t *testing.T) {
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%s %s %s key=%s agent=%s body=%s", r.Method, r.URL, r.Header.Get("Content-Type"),
			r.Header.Get("Idempotency-Key"), r.Header.Get("User-Agent"), body)
	})
	c := client(t, Limits{})
	args := value(t, `{"order":42,"tags":["a b","c"],"none":null,"deep":{"x":1}}`)
	const tail = " key=i1/3.1 agent=lockstep/1.2.3 body="
	const query = "deep=%7B%22x%22%3A1%7D&order=42&tags=a+b&tags=c"
	for fragment, want := range map[string]string{
		"/p":         "POST /p application/json" + tail + args.String(),
		"/p#put":     "PUT /p application/json" + tail + args.String(),
		"/p#PATCH":   "PATCH /p application/json" + tail + args.String(),
		"/p#GET":     "GET /p?" + query + " " + tail,
		"/p?a=1#GET": "GET /p?a=1&" + query + " " + tail,
		"/p#DELETE":  "DELETE /p?" + query + " " + tail,
	} {
		out := c.Invoke(context.Background(), effect.Call{Key: "i1/3.1", Operation: srv.URL + fragment, Args: args})
		if out.Failure != nil || out.Value.Str() != want {
			t.Errorf("%s:\n got %s %+v\nwant %s", fragment, out.Value, out.Failure, want)
		}
	}
	out := c.Invoke(context.Background(), effect.Call{Operation: srv.URL + "#GET", Args: value(t, `[1]`)})
	if out.Failure == nil || out.Failure.Code != "invalid-arguments" {
		t.Errorf("a GET with an array gives %+v", out)
	}
}

// TestTraceparent: the trace of a call goes out with it, also to another host, unless the author gives one. Its tracestate
// goes only with it.
func TestTraceparent(t *testing.T) {
	const own, given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	end := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "%q", r.Header.Get("traceparent")+r.Header.Get("tracestate"))
	})
	begin := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.Redirect(w, r, strings.Replace(end.URL, "127.0.0.1", "localhost", 1), nethttp.StatusTemporaryRedirect)
	})
	ctx := effect.WithTraceparent(t.Context(), own)
	stateful := effect.WithTracestate(ctx, "a=b")
	for _, c := range []struct {
		ctx           context.Context
		url, set, got string
	}{{ctx, end.URL, "", own}, {ctx, begin.URL, "", own}, {ctx, end.URL, given, given}, {t.Context(), end.URL, "", ""}, {stateful, begin.URL, "", own + "a=b"}, {stateful, end.URL, given, given}} {
		target, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		h := nethttp.Header{}
		if c.set != "" {
			h.Set("traceparent", c.set)
		}
		a, err := client(t, Limits{}).Do(c.ctx, Request{Method: "GET", URL: target, Header: h})
		if err != nil || string(a.Body) != fmt.Sprintf("%q", c.got) {
			t.Errorf("%s with %q: %s, %v", c.url, c.set, a.Body, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct{ media, body, value, code string }{
		{"application/json; charset=utf-8", `{"n":12345678901234567890}`, `{"n":12345678901234567890}`, ""},
		{"application/vnd.x+json", `[1]`, `[1]`, ""},
		{"application/json", `null`, `null`, ""},
		{"text/plain", `hello`, `"hello"`, ""},
		{"application/xml", `<a/>`, `"<a/>"`, ""},
		{"", `{"a":1}`, `{"a":1}`, ""},
		{"application/octet-stream", `3`, `3`, ""},
		{"application/json", `{oops`, "", CodeInvalid},
		{"application/octet-stream", "\x00\x01", "", CodeInvalid},
		{"", "oops", "", CodeInvalid},
		{"application/json", `{"a":"\ud83d\ude00"}`, `{"a":"😀"}`, ""},
		{"application/json", `{"a":"\ud800"}`, "", CodeInvalid}, // half of a surrogate pair is no character
		{"application/json", `{"\udc00":1}`, "", CodeInvalid},
		{"", `["\ud800\ud800"]`, "", CodeInvalid},
	} {
		srv := server(t, says(200, c.media, c.body))
		out := client(t, Limits{}).Invoke(context.Background(), effect.Call{Operation: srv.URL})
		switch {
		case c.code != "":
			if out.Failure == nil || out.Failure.Code != c.code || out.Failure.Name != effect.Unnamed {
				t.Errorf("%s %q gives %+v", c.media, c.body, out)
			}
		case out.Failure != nil || out.Value.String() != c.value || out.None:
			t.Errorf("%s %q gives %+v, %+v", c.media, c.body, out, out.Failure)
		}
	}
	srv := server(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(204) })
	if out := client(t, Limits{}).Invoke(context.Background(), effect.Call{Operation: srv.URL}); !out.None || out.Failure != nil {
		t.Errorf("an empty answer gives %+v", out)
	}
}

// TestFailures: what a status of 300 and above is called.
func TestFailures(t *testing.T) {
	const problemJSON = "application/problem+json"
	for _, c := range []struct {
		status      int
		media, body string
		want        effect.Failure // Data apart
	}{
		{404, "", "", effect.Failure{Name: "Error", Status: "404"}},
		{304, "", "", effect.Failure{Name: "Error", Status: "304"}},
		{500, "text/plain", "oops", effect.Failure{Name: "Error", Status: "500"}},
		{502, "application/json", "{oops", effect.Failure{Name: "Error", Status: "502"}},
		{400, problemJSON, `{"type":"https://x/declined","title":"CardDeclined","detail":"no money","code":17}`, effect.Failure{Name: "CardDeclined", Status: "400", Title: "CardDeclined", Type: "https://x/declined", Detail: "no money", Code: "17"}},
		{400, problemJSON, `{"type":"https://x/declined"}`, effect.Failure{Name: "https://x/declined", Status: "400", Type: "https://x/declined"}},
		{404, problemJSON, `{"type":"about:blank","title":"Not Found"}`, effect.Failure{Name: "Error", Status: "404", Title: "Not Found"}},
		{409, problemJSON, `{"type":"u","title":"T","name":"Own"}`, effect.Failure{Name: "Own", Status: "409", Title: "T", Type: "u"}},
		{402, "application/json", `{"name":"Declined","code":"E7","message":"no"}`, effect.Failure{Name: "Declined", Status: "402", Code: "E7", Detail: "no"}},
		{400, "application/json", `{"error":"invalid_grant","error_description":"old"}`, effect.Failure{Name: "invalid_grant", Status: "400", Detail: "old"}},
		{400, "application/json", `{"error":{"name":"N","code":3,"message":"m"}}`, effect.Failure{Name: "N", Status: "400", Code: "3", Detail: "m"}},
		{400, "application/json", `[1]`, effect.Failure{Name: "Error", Status: "400"}},
	} {
		srv := server(t, says(c.status, c.media, c.body))
		out := client(t, Limits{}).Invoke(context.Background(), effect.Call{Operation: srv.URL})
		if out.Failure == nil {
			t.Errorf("%d %s does not fail", c.status, c.body)
			continue
		}
		got := *out.Failure
		got.Data = expr.Null
		if c.want.Detail == "" {
			if !strings.Contains(got.Detail, fmt.Sprint(c.status)) {
				t.Errorf("%d %s: the detail is %q", c.status, c.body, got.Detail)
			}
			got.Detail = ""
		}
		if got != c.want {
			t.Errorf("%d %s gives\n %+v, want\n %+v", c.status, c.body, got, c.want)
		}
		if c.media == problemJSON && !out.Failure.Data.IsObject() {
			t.Errorf("%s: the body is not kept", c.body)
		}
	}
}

func TestOperations(t *testing.T) {
	c := client(t, Limits{})
	for op, says := range map[string]string{
		"":                                 "has no operation",
		"https://x/petstore.json#getPet":   "not a plain URL",
		"petstore.json#getPet":             "not a plain URL",
		"file:///etc/passwd":               "not a plain URL",
		"ftp://x/y":                        "not a plain URL",
		"http://":                          "no host",
		"https://user:secret@host/path":    "credentials",
		"https://host/%zz":                 "not a URL",
		"https://host/path#TRACE":          "not a plain URL",
		"gopher://127.0.0.1:6379/_command": "not a plain URL",
	} {
		out := c.Invoke(context.Background(), effect.Call{Function: "f", Operation: op})
		if out.Failure == nil || out.Failure.Name != effect.NotFound || !strings.Contains(out.Failure.Detail, says) {
			t.Errorf("%q gives %+v, want one that says %q", op, out.Failure, says)
		}
		if out.Failure != nil && strings.Contains(out.Failure.Detail, "secret") {
			t.Errorf("%q: the failure tells a password", op)
		}
	}
}

func TestRefusedAddress(t *testing.T) {
	srv := server(t, says(200, "text/plain", "reached"))
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	for _, c := range []struct {
		name  string
		allow []string
		host  string // of the URL
		ok    bool
	}{
		{"nothing allowed", []string{}, "127.0.0.1", false},
		{"nothing allowed, by name", []string{}, "localhost", false},
		{"other range", []string{"10.0.0.0/8"}, "127.0.0.1", false},
		{"other port", []string{"127.0.0.1:1"}, "127.0.0.1", false},
		{"other port of the name", []string{"localhost:1"}, "localhost", false},
		{"name allowed, address given", []string{"localhost"}, "127.0.0.1", false},
		{"range", []string{"127.0.0.0/8"}, "127.0.0.1", true},
		{"address", []string{"127.0.0.1"}, "127.0.0.1", true},
		{"address, by name", []string{"127.0.0.1", "::1"}, "localhost", true},
		{"address and port", []string{"127.0.0.1:" + port}, "127.0.0.1", true},
		{"name", []string{"LOCALHOST."}, "localhost", true},
		{"name and port", []string{"localhost:" + port}, "localhost", true},
		{"IPv4 inside IPv6", []string{}, "[::ffff:127.0.0.1]", false},
		{"metadata", []string{}, "169.254.169.254", false},
		{"private", []string{}, "10.1.2.3", false},
		{"this host", []string{}, "0.0.0.0", false},
	} {
		out := client(t, Limits{}, c.allow...).Invoke(context.Background(), effect.Call{Operation: "http://" + c.host + ":" + port})
		if c.ok {
			if out.Failure != nil {
				t.Errorf("%s: %+v", c.name, out.Failure)
			}
			continue
		}
		if out.Failure == nil || out.Failure.Code != CodeRefused || !strings.Contains(out.Failure.Detail, "--outbound-allow") {
			t.Errorf("%s: %+v, want it refused", c.name, out)
		}
	}
}

func TestAllowList(t *testing.T) {
	for _, bad := range []string{"", "http://x", "host:0", "host:x", "*", "a b", "user@host", "10.0.0.0/99"} {
		if _, err := New(Options{Allow: []string{bad}}); err == nil {
			t.Errorf("allow %q is accepted", bad)
		}
	}
}

// TestDialledAddresses: what is checked is what the dialler connects to.
func TestDialledAddresses(t *testing.T) {
	strict, _ := newPolicy(nil)
	loose, _ := newPolicy([]string{"10.0.0.0/8", "fd00::/8"})
	for address, want := range map[string][2]bool{ // without and with the allow-list
		"8.8.8.8:443":                 {true, true},
		"[2606:4700::1111]:443":       {true, true},
		"10.1.2.3:80":                 {false, true},
		"[::ffff:10.1.2.3]:80":        {false, true},
		"[fd00::1]:80":                {false, true},
		"[::ffff:169.254.169.254]:80": {false, false},
		"169.254.169.254:80":          {false, false},
		"100.64.0.1:80":               {false, false},
		"[fe80::1%eth0]:80":           {false, false},
		"[::1]:80":                    {false, false},
		"[::]:80":                     {false, false},
		"[64:ff9b::7f00:1]:80":        {false, false},
		"[2002:7f00:1::]:80":          {false, false},
		"224.0.0.1:80":                {false, false},
		"nonsense":                    {false, false},
	} {
		if got := strict.check(address, address) == nil; got != want[0] {
			t.Errorf("%s: %t without an allow-list", address, got)
		}
		if got := loose.check(address, address) == nil; got != want[1] {
			t.Errorf("%s: %t with an allow-list", address, got)
		}
	}
}

// TestProxyOfTheEnvironmentIsIgnored asks for an address that is not this machine's: of its own ones
// net/http leaves the proxy out by itself.
func TestProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	proxy := server(t, says(200, "text/plain", "by the proxy"))
	t.Setenv("HTTP_PROXY", proxy.URL)
	out := client(t, Limits{}, "127.0.0.1").Invoke(context.Background(), effect.Call{Operation: "http://192.0.2.1"})
	if out.Failure == nil || out.Failure.Code != CodeRefused {
		t.Errorf("%s %+v", out.Value, out.Failure)
	}
}

func TestRedirects(t *testing.T) {
	inner := server(t, says(200, "text/plain", "inner"))
	var seen []string
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		seen = append(seen, r.Method+" "+r.Header.Get("Idempotency-Key")+r.Header.Get("Referer"))
		switch r.URL.Path {
		case "/loop":
			nethttp.Redirect(w, r, "/loop", nethttp.StatusTemporaryRedirect)
		case "/private":
			nethttp.Redirect(w, r, inner.URL, nethttp.StatusTemporaryRedirect)
		case "/metadata":
			nethttp.Redirect(w, r, "http://169.254.169.254/latest", nethttp.StatusTemporaryRedirect)
		case "/file":
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(302)
		case "/here":
			nethttp.Redirect(w, r, "/end", nethttp.StatusPermanentRedirect)
		case "/end":
			io.Copy(w, r.Body)
		}
	})
	socket := strings.TrimPrefix(srv.URL, "http://")
	c := client(t, Limits{}, socket) // this very server, nothing else on loopback
	for path, code := range map[string]string{
		"/loop": CodeRedirects, "/private": CodeRefused, "/metadata": CodeRefused, "/file": CodeRefused,
	} {
		seen = nil
		out := c.Invoke(context.Background(), effect.Call{Operation: srv.URL + path})
		if out.Failure == nil || out.Failure.Code != code {
			t.Errorf("%s gives %+v, want %s", path, out.Failure, code)
		}
		if path == "/loop" && len(seen) != 6 {
			t.Errorf("a loop of redirects makes %d requests, want 6", len(seen))
		}
	}
	seen = nil
	out := c.Invoke(context.Background(), effect.Call{Key: "k", Operation: srv.URL + "/here", Args: value(t, `{"a":1}`)})
	if out.Failure != nil || out.Value.Str() != `{"a":1}` {
		t.Errorf("a redirected POST gives %s %+v", out.Value, out.Failure)
	}
	if want := "[POST k POST k]"; fmt.Sprint(seen) != want {
		t.Errorf("saw %v, want %v", seen, want)
	}
}

func TestCredentialsNeverCrossHosts(t *testing.T) {
	c := client(t, Limits{})
	first, _ := nethttp.NewRequest("GET", "https://a.example/x", nil)
	for target, kept := range map[string]bool{"https://a.example/y": true, "https://sub.a.example/": false, "https://a.example:8443/": false} {
		next, _ := nethttp.NewRequest("GET", target, nil)
		next.Header.Set("Authorization", "Bearer x")
		next.Header.Set("Referer", "https://a.example/x?secret=1")
		if err := c.redirect(next, []*nethttp.Request{first}); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if got := next.Header.Get("Authorization") != ""; got != kept {
			t.Errorf("%s: authorization kept: %t", target, got)
		}
		if next.Header.Get("Referer") != "" {
			t.Errorf("%s is told the referer", target)
		}
	}
	next, _ := nethttp.NewRequest("GET", "http://a.example/", nil)
	if err := c.redirect(next, []*nethttp.Request{first}); err == nil {
		t.Error("a redirect from https to http is followed")
	}
}

func TestTooLarge(t *testing.T) {
	limits := Limits{ResponseBytes: 1000, HeaderBytes: 8 << 10}
	plain := server(t, says(200, "text/plain", strings.Repeat("x", 1001)))
	fits := server(t, says(200, "text/plain", strings.Repeat("x", 1000)))
	endless := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})
	bomb := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("gzip is not asked for")
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(make([]byte, 10<<20))
		z.Close()
		w.Write(packed.Bytes())
	})
	headers := server(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("X-Large", strings.Repeat("x", 64<<10))
	})
	c := client(t, limits)
	for name, srv := range map[string]*httptest.Server{"plain": plain, "endless": endless, "gzip bomb": bomb, "headers": headers} {
		out := c.Invoke(context.Background(), effect.Call{Operation: srv.URL})
		if out.Failure == nil || out.Failure.Code != CodeTooLarge || !strings.Contains(out.Failure.Detail, "(limit response-") {
			t.Errorf("%s: %+v", name, out.Failure)
		}
	}
	if out := c.Invoke(context.Background(), effect.Call{Operation: fits.URL}); out.Failure != nil {
		t.Errorf("an answer at the limit: %+v", out.Failure)
	}
}

func TestUnexpectedEncoding(t *testing.T) {
	srv := server(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Encoding", "br")
		w.Write([]byte("x"))
	})
	out := client(t, Limits{}).Invoke(context.Background(), effect.Call{Operation: srv.URL})
	if out.Failure == nil || out.Failure.Code != CodeInvalid {
		t.Errorf("%+v", out)
	}
}

func TestTrickle(t *testing.T) {
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		io.Copy(io.Discard, r.Body) // only then does the server notice that the client left
		w.Write([]byte("x"))
		w.(nethttp.Flusher).Flush()
		<-r.Context().Done() // the rest never comes
	})
	c := client(t, Limits{Timeout: 20 * time.Millisecond})
	out := c.Invoke(context.Background(), effect.Call{Operation: srv.URL})
	if out.Failure == nil || out.Failure.Name != effect.Timeout || !strings.Contains(out.Failure.Detail, "limit call-timeout") {
		t.Errorf("%+v", out.Failure)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	out = client(t, Limits{}).Invoke(ctx, effect.Call{Operation: srv.URL})
	if out.Failure == nil || out.Failure.Name != effect.Timeout {
		t.Errorf("%+v", out.Failure)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	srv := server(t, func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	out := client(t, Limits{}).Invoke(ctx, effect.Call{Operation: srv.URL})
	if out.Failure == nil || out.Failure.Code != CodeCancelled {
		t.Errorf("%+v", out.Failure)
	}
}

func TestUnreachable(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	out := client(t, Limits{}).Invoke(context.Background(), effect.Call{Operation: srv.URL + "/p?token=secret#GET", Args: expr.EmptyObject})
	if out.Failure == nil || out.Failure.Code != CodeUnreachable {
		t.Fatalf("%+v", out.Failure)
	}
	if strings.Contains(out.Failure.Detail, "secret") {
		t.Errorf("the detail tells the query: %s", out.Failure.Detail)
	}
}

func TestFetch(t *testing.T) {
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path != "/doc" {
			w.WriteHeader(404)
			return
		}
		io.WriteString(w, "functions: []")
	})
	c := client(t, Limits{})
	if body, err := c.Fetch(context.Background(), srv.URL+"/doc#/functions"); err != nil || string(body) != "functions: []" {
		t.Errorf("%q, %v", body, err)
	}
	if _, err := c.Fetch(context.Background(), srv.URL); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a missing document: %v", err)
	}
	if _, err := c.Fetch(context.Background(), "file:///etc/passwd"); err == nil {
		t.Error("a file is fetched")
	}
	var refused *Error
	strict, _ := New(Options{})
	if _, err := strict.Fetch(context.Background(), srv.URL); !errors.As(err, &refused) || refused.Code != CodeRefused {
		t.Errorf("loopback: %v", err)
	}
}

// TestFailuresTellNoAddresses: what a name resolves to inside of a network, and who said so, is not told.
func TestFailuresTellNoAddresses(t *testing.T) {
	addr := &net.TCPAddr{IP: net.IPv4(10, 9, 8, 7), Port: 80}
	for _, c := range []struct {
		err  error
		says string
	}{
		{&net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "connect: connection refused"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "db.internal", Server: "10.9.8.7:53", IsNotFound: true}}, `the name "db.internal" has no address`},
		{&net.DNSError{Err: "server misbehaving", Name: "db.internal", Server: "10.9.8.7:53"}, `the address of "db.internal" cannot be found out`},
	} {
		if got := unreachable(&url.Error{Op: "Get", URL: "http://db.internal/?q=1", Err: c.err}); got != c.says {
			t.Errorf("%v gives %q, want %q", c.err, got, c.says)
		}
	}
	p, _ := newPolicy(nil)
	_, err := p.dial(t.Context(), "tcp", "localhost:1")
	if err == nil || !strings.Contains(unreachable(err), "refuses localhost:1,") || strings.Contains(unreachable(err), "127.0.0.1") {
		t.Errorf("%v", err)
	}
}
