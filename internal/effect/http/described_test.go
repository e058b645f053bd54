package http

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"code.dny.dev/ssrf"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// called makes a described call with the arguments, in which SERVER stands for an address.
func called(t *testing.T, c *Client, url, args string) effect.Outcome {
	t.Helper()
	return c.Invoke(context.Background(), effect.Call{
		Key: "i1/3.1", Function: "f", Operation: "call:http", Args: value(t, strings.ReplaceAll(args, "SERVER", url)),
	})
}

// TestDescribedRequests: what is sent.
func TestDescribedRequests(t *testing.T) {
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%s %s type=%s key=%s x=%s body=%s", r.Method, r.URL, r.Header.Get("Content-Type"),
			r.Header.Get("Idempotency-Key"), strings.Join(r.Header.Values("X-A"), "|"), body)
	})
	c := client(t, Limits{})
	for args, want := range map[string]string{
		`{"method":"get","endpoint":"SERVER/p"}`:                                                                                          "GET /p type= key=i1/3.1 x= body=",
		`{"method":"Post","endpoint":{"uri":"SERVER/p"},"body":{"a":[1]}}`:                                                                `POST /p type=application/json key=i1/3.1 x= body={"a":[1]}`,
		`{"method":"PUT","endpoint":"SERVER/p","body":"text"}`:                                                                            `PUT /p type=application/json key=i1/3.1 x= body="text"`,
		`{"method":"put","endpoint":"SERVER/p","headers":{"content-type":"text/plain"},"body":"text"}`:                                    "PUT /p type=text/plain key=i1/3.1 x= body=text",
		`{"method":"post","endpoint":"SERVER/p","headers":{"content-type":"application/json"},"body":"{\"a\":1}"}`:                        `POST /p type=application/json key=i1/3.1 x= body={"a":1}`,
		`{"method":"post","endpoint":"SERVER/p","headers":{"Content-Type":"application/x-www-form-urlencoded"},"body":{"a":"b c","n":1}}`: "POST /p type=application/x-www-form-urlencoded key=i1/3.1 x= body=a=b+c&n=1",
		`{"method":"post","endpoint":"SERVER/p","body":null}`:                                                                             "POST /p type= key=i1/3.1 x= body=",
		`{"method":"post","endpoint":"SERVER/p","body":false}`:                                                                            "POST /p type=application/json key=i1/3.1 x= body=false",
		`{"method":"get","endpoint":"SERVER/p?a=1#f","query":{"q":"x y","n":2,"b":true,"l":[1,"z"],"none":null}}`:                         "GET /p?a=1&b=true&l=1&l=z&n=2&q=x+y type= key=i1/3.1 x= body=",
		`{"method":"get","endpoint":"SERVER/p","headers":{"x-a":["1",2,true,null],"x-b":null,"Accept-Encoding":"br"}}`:                    "GET /p type= key=i1/3.1 x=1|2|true body=",
		`{"method":"get","endpoint":"SERVER/p","headers":{"idempotency-key":"mine"}}`:                                                     "GET /p type= key=mine x= body=",
		`{"method":"delete","endpoint":"SERVER/p","query":{},"headers":{},"output":"content","redirect":false}`:                           "DELETE /p type= key=i1/3.1 x= body=",
	} {
		out := called(t, c, srv.URL, args)
		if out.Failure != nil || out.Value.Str() != want {
			t.Errorf("%s:\n got %s %+v\nwant %s", args, out.Value, out.Failure, want)
		}
	}
	for args, says := range map[string]string{
		`{"endpoint":"SERVER"}`:                                            "method",
		`{"method":"a b","endpoint":"SERVER"}`:                             "method",
		`{"method":"connect","endpoint":"SERVER"}`:                         "method",
		`{"method":"get"}`:                                                 "endpoint must be",
		`{"method":"get","endpoint":{}}`:                                   "endpoint must be",
		`{"method":"get","endpoint":"relative"}`:                           "https://host/path",
		`{"method":"get","endpoint":"ftp://x"}`:                            "https://host/path",
		`{"method":"get","endpoint":"http://u:pa@x"}`:                      "use authentication",
		`{"method":"get","endpoint":"http://x:99999/"}`:                    "no port",
		`{"method":"get","endpoint":"SERVER/a/../b"}`:                      `step ".."`,
		`{"method":"get","endpoint":"SERVER/a/%2e%2E/b"}`:                  `step "%2e%2E"`,
		`{"method":"get","endpoint":"SERVER","query":[1]}`:                 "query must be an object",
		`{"method":"get","endpoint":"SERVER","headers":"x"}`:               "headers must be an object",
		`{"method":"get","endpoint":"SERVER","headers":{"a b":"x"}}`:       "not the name of a header",
		`{"method":"get","endpoint":"SERVER","headers":{"host":"x"}}`:      "set by Lockstep",
		`{"method":"get","endpoint":"SERVER","headers":{"x":{"a":1}}}`:     "not an object",
		`{"method":"get","endpoint":"SERVER","headers":{"x":"a\r\nb: c"}}`: "line break",
		`{"method":"get","endpoint":"SERVER","output":"all"}`:              "output is",
		`{"method":"get","endpoint":"SERVER","redirect":"yes"}`:            "redirect must be",
		`{"method":"post","endpoint":"SERVER","headers":{"Content-Type":"application/x-www-form-urlencoded"},"body":[1]}`: "must be an object",
	} {
		f := called(t, c, srv.URL, args).Failure
		if f == nil || f.Name != effect.Communication || f.Code != CodeArguments || f.Status != "" || !strings.Contains(f.Detail, says) {
			t.Errorf("%s gives %+v, want one that says %q", args, f, says)
		}
	}
}

// TestDescribedOutputs: what an answer is, as content and raw.
func TestDescribedOutputs(t *testing.T) {
	for _, c := range []struct {
		status              int
		media, body         string
		content, raw, fault string
	}{
		{200, "application/json; charset=utf-8", `{"n":1}`, `{"n":1}`, `"eyJuIjoxfQ=="`, ""},
		{201, "application/vnd.x+json", `[1]`, `[1]`, `"WzFd"`, ""},
		{200, "application/json", `null`, `null`, `"bnVsbA=="`, ""},
		{200, "text/html", `<p>`, `"<p>"`, `"PHA+"`, ""},
		{200, "text/csv", "1", `"1"`, `"MQ=="`, ""},
		{200, "application/yaml", "a: 1", `"a: 1"`, `"YTogMQ=="`, ""},
		{200, "application/octet-stream", "3", `"Mw=="`, `"Mw=="`, ""},
		{200, "image/png", "\x89P", `"iVA="`, `"iVA="`, ""},
		{200, "", `{"a":1}`, `{"a":1}`, `"eyJhIjoxfQ=="`, ""},
		{200, "", `hello`, `"hello"`, `"aGVsbG8="`, ""},
		{200, "", "\xff", `"/w=="`, `"/w=="`, ""},
		{204, "", "", `null`, `null`, ""},
		{200, "application/json", "", `null`, `null`, ""},
		{200, "application/json", `{oops`, "", `"e29vcHM="`, "200"},
	} {
		srv := server(t, says(c.status, c.media, c.body))
		cl := client(t, Limits{})
		for output, want := range map[string]string{"content": c.content, "raw": c.raw} {
			out := called(t, cl, srv.URL, `{"method":"get","endpoint":"SERVER","output":"`+output+`"}`)
			switch {
			case want == "":
				if f := out.Failure; f == nil || f.Name != effect.Communication || f.Code != CodeInvalid || f.Status != c.fault {
					t.Errorf("%s %q as %s gives %+v", c.media, c.body, output, f)
				}
			case out.Failure != nil || out.None || out.Value.String() != want:
				t.Errorf("%s %q as %s gives %s %+v, want %s", c.media, c.body, output, out.Value, out.Failure, want)
			}
		}
	}
}

func TestDescribedResponse(t *testing.T) {
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("X-Many", "1")
		w.Header().Add("X-Many", "2")
		w.WriteHeader(202)
		io.WriteString(w, `{"ok":true}`)
	})
	out := called(t, client(t, Limits{}), srv.URL,
		`{"method":"post","endpoint":{"uri":"SERVER/p","authentication":{"bearer":{"token":"hush-hush"}}},"query":{"a":1},"headers":{"X-A":"v"},"body":1,"output":"response"}`)
	if out.Failure != nil {
		t.Fatal(out.Failure)
	}
	for path, want := range map[string]string{
		"request.method": `"POST"`, "request.uri": `"` + srv.URL + `/p?a=1"`, "request.headers.X-A": `"v"`,
		"request.headers.Content-Type": `"application/json"`, "statusCode": "202", "headers.X-Many": `"1, 2"`, "content": `{"ok":true}`,
	} {
		if got, ok := out.Value.Lookup(strings.Split(path, ".")...); !ok || got.String() != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if strings.Contains(out.Value.String(), "hush") {
		t.Errorf("the response shows credentials: %s", out.Value)
	}
}

// TestDescribedFailures: every problem is communication, with the status where there is one.
func TestDescribedFailures(t *testing.T) {
	for _, c := range []struct {
		status      int
		media, body string
		title       string
		detail      string
	}{
		{404, "", "", "", "answered 404 Not Found"},
		{500, "text/plain", "oops", "", "answered 500"},
		{400, "application/problem+json", `{"type":"https://x/declined","title":"Declined","detail":"no money","status":999}`, "Declined", "no money"},
		{409, "application/json", `{"name":"Timeout","message":"taken"}`, "", "taken"},
		{304, "", "", "", "answered 304"},
		{401, "", "", "", "answered 401"},
	} {
		srv := server(t, says(c.status, c.media, c.body))
		f := called(t, client(t, Limits{}), srv.URL, `{"method":"get","endpoint":"SERVER"}`).Failure
		if f == nil {
			t.Errorf("%d does not fail", c.status)
			continue
		}
		if f.Name != effect.Communication || f.Type != "" || f.Status != fmt.Sprint(c.status) || f.Title != c.title || !strings.Contains(f.Detail, c.detail) {
			t.Errorf("%d %s gives %+v", c.status, c.body, f)
		}
	}
	gone := server(t, says(200, "", ""))
	gone.Close()
	for args, code := range map[string]string{
		`{"method":"get","endpoint":"SERVER"}`:                        CodeUnreachable,
		`{"method":"get","endpoint":"http://169.254.169.254/latest"}`: CodeRefused,
	} {
		f := called(t, client(t, Limits{}), gone.URL, args).Failure
		if f == nil || f.Name != effect.Communication || f.Code != code || f.Status != "" {
			t.Errorf("%s gives %+v", args, f)
		}
	}
}

// TestDescribedRedirects: not followed unless the call says so, and then by the rules of each hop.
func TestDescribedRedirects(t *testing.T) {
	var seen []string
	note := func(r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, fmt.Sprintf("%s %s %s%s", r.Method, r.URL.Path, r.Header.Get("Authorization"), body))
	}
	other := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		note(r)
		io.WriteString(w, "other")
	})
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		note(r)
		switch r.URL.Path {
		case "/loop":
			nethttp.Redirect(w, r, "/loop", nethttp.StatusFound)
		case "/other":
			nethttp.Redirect(w, r, other.URL+"/there", nethttp.StatusTemporaryRedirect)
		case "/seen":
			nethttp.Redirect(w, r, "/end", nethttp.StatusSeeOther)
		case "/same":
			nethttp.Redirect(w, r, "/end", nethttp.StatusPermanentRedirect)
		case "/metadata":
			nethttp.Redirect(w, r, "http://169.254.169.254/latest", nethttp.StatusFound)
		case "/nowhere":
			w.WriteHeader(304)
		case "/choices":
			w.WriteHeader(300)
		case "/end":
			io.WriteString(w, "end")
		}
	})
	c := client(t, Limits{})
	call := func(path, redirect string) effect.Outcome {
		seen = nil
		return called(t, c, srv.URL, `{"method":"post","endpoint":{"uri":"SERVER`+path+`","authentication":{"bearer":{"token":"T"}}},"body":1,"redirect":`+redirect+`}`)
	}
	for path, status := range map[string]string{"/loop": "302", "/other": "307", "/seen": "303", "/same": "308", "/nowhere": "304", "/choices": "300"} {
		f := call(path, "false").Failure
		if f == nil || f.Status != status || f.Name != effect.Communication || len(seen) != 1 {
			t.Errorf("%s without redirect gives %+v after %v", path, f, seen)
		}
	}
	for path, want := range map[string]string{
		"/other":   "[POST /other Bearer T1 POST /there 1]", // no credentials for another host
		"/seen":    "[POST /seen Bearer T1 GET /end Bearer T]",
		"/same":    "[POST /same Bearer T1 POST /end Bearer T1]",
		"/nowhere": "[POST /nowhere Bearer T1]",
		"/choices": "[POST /choices Bearer T1]",
	} {
		if out := call(path, "true"); out.Failure != nil || fmt.Sprint(seen) != want {
			t.Errorf("%s gives %+v after %v, want %v", path, out.Failure, seen, want)
		}
	}
	for path, code := range map[string]string{"/loop": CodeRedirects, "/metadata": CodeRefused} {
		if f := call(path, "true").Failure; f == nil || f.Name != effect.Communication || f.Code != code {
			t.Errorf("%s gives %+v, want %s", path, f, code)
		}
	}
	// What a body holds of secrets stays with the host.
	c.holds = func(v expr.Value) bool { return v.Str() == "hush-hush" }
	seen = nil
	secret := `{"method":"post","endpoint":"SERVER/PATH","body":"hush-hush","redirect":true}`
	if f := called(t, c, srv.URL, strings.Replace(secret, "PATH", "other", 1)).Failure; f == nil || f.Code != CodeRefused || len(seen) != 1 {
		t.Errorf("%+v after %v", f, seen)
	}
	if out := called(t, c, srv.URL, strings.Replace(secret, "PATH", "same", 1)); out.Failure != nil {
		t.Errorf("%+v", out.Failure)
	}
	// An author's own headers may be credentials, too.
	seen = nil
	out := called(t, c, srv.URL, `{"method":"get","endpoint":"SERVER/other","headers":{"Authorization":"Basic x","X-Key":"y"},"redirect":true}`)
	if out.Failure != nil || fmt.Sprint(seen) != "[GET /other Basic x GET /there ]" {
		t.Errorf("%+v after %v", out.Failure, seen)
	}
}

// TestDescribedHostileServers: answers without end, late ones, and headers that are too large.
func TestDescribedHostileServers(t *testing.T) {
	for name, c := range map[string]struct {
		code  string
		serve nethttp.HandlerFunc
	}{
		"endless body": {CodeTooLarge, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		}},
		"no answer": {CodeTimeout, func(_ nethttp.ResponseWriter, r *nethttp.Request) { <-r.Context().Done() }},
		"headers": {CodeTooLarge, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("X-Large", strings.Repeat("x", 64<<10))
		}},
		"no HTTP": {CodeUnreachable, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			conn, _, err := w.(nethttp.Hijacker).Hijack()
			if err == nil {
				io.WriteString(conn, "hello\r\n\r\n")
				conn.Close()
			}
		}},
	} {
		srv := server(t, c.serve)
		limits := Limits{ResponseBytes: 1000, HeaderBytes: 8 << 10}
		if c.code == CodeTimeout {
			limits.Timeout = 20 * time.Millisecond
		}
		f := called(t, client(t, limits), srv.URL, `{"method":"get","endpoint":"SERVER","output":"raw"}`).Failure
		if f == nil || f.Name != effect.Communication || f.Code != c.code || f.Status != "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestGuarded: an address that data chose must be on the allow-list, also when it is public, by
// name, behind a redirect, or connected already.
func TestGuarded(t *testing.T) {
	other := server(t, says(200, "text/plain", "other"))
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/other" {
			nethttp.Redirect(w, r, other.URL, nethttp.StatusFound)
		}
	})
	listed := strings.TrimPrefix(srv.URL, "http://")
	call := func(c *Client, operation, url string) *effect.Failure {
		return c.Invoke(context.Background(), effect.Call{Operation: operation, Args: expr.Object(
			expr.Member{Key: "method", Value: expr.String("get")}, expr.Member{Key: "endpoint", Value: expr.String(url)}, expr.Member{Key: "redirect", Value: expr.Bool(true)},
		)}).Failure
	}
	c := client(t, Limits{}, listed)
	if f := call(c, "call:http!", srv.URL); f != nil {
		t.Errorf("a listed address: %+v", f)
	}
	for _, url := range []string{other.URL, srv.URL + "/other", "http://192.0.2.1/", "http://8.8.8.8:9/"} {
		if f := call(c, "call:http!", url); f == nil || f.Code != CodeRefused || f.Name != effect.Communication {
			t.Errorf("%s: %+v", url, f)
		}
	}
	strict, _ := newPolicy([]string{"10.0.0.0/8", "10.1.2.3:80"})
	for address, want := range map[string]bool{"10.1.2.3:443": true, "[::ffff:10.1.2.3]:80": true, "8.8.8.8:443": false, "127.0.0.1:80": false, "nonsense": false} {
		if got := strict.checkListed(address, address) == nil; got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
	// A connection that another call made must not serve this one. Here loopback is as good as public.
	public := &policy{guard: ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix("127.0.0.0/8")))}
	c.http, c.guarded = c.over(public.dial), c.over(public.dialListed)
	if f := call(c, "call:http", srv.URL); f != nil {
		t.Fatalf("%+v", f)
	}
	if f := call(c, "call:http!", srv.URL); f == nil || f.Code != CodeRefused || !strings.Contains(f.Detail, "allow-list") {
		t.Errorf("%+v", f)
	}
}
