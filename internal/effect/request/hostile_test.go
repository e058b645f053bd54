package request

import (
	"fmt"
	nethttp "net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestGuardedHosts: a host that data chooses is only called if the operator lists it, also in a redirect.
func TestGuardedHosts(t *testing.T) {
	asked := 0
	h := func(w nethttp.ResponseWriter, r *nethttp.Request) { asked++; tells(w, r) }
	listed := newService(t, http.Options{}, h)
	at, _ := url.Parse(listed.url)
	any := ir.Request{Protocol: ir.RequestREST, Method: "GET", URI: "http://{host}:{port}/p"}
	args := fmt.Sprintf(`{"host":%q,"port":%s}`, at.Hostname(), at.Port())
	if out := listed.calls(true, any, args); out.Failure != nil || asked != 1 {
		t.Errorf("%+v, asked %d times", out.Failure, asked)
	}
	if f := listed.calls(false, any, args).Failure; f == nil || f.Name != effect.NotFound || asked != 1 {
		t.Errorf("unguarded: %+v, asked %d times", f, asked)
	}
	unlisted := newService(t, http.Options{Allow: []string{"10.0.0.0/8"}}, h)
	at, _ = url.Parse(unlisted.url)
	args = fmt.Sprintf(`{"host":%q,"port":%s}`, at.Hostname(), at.Port())
	if f := unlisted.calls(true, any, args).Failure; f == nil || f.Code != http.CodeRefused || !strings.Contains(f.Detail, "an expression chose the address") || asked != 1 {
		t.Errorf("%+v, asked %d times", f, asked)
	}
	for _, host := range []string{"127.0.0.1:1/x?", "u:p@127.0.0.1", "a b", "[::1", "x#", ""} {
		out := listed.calls(true, any, fmt.Sprintf(`{"host":%q,"port":1}`, host))
		if f := out.Failure; f == nil || f.Name != effect.InvalidArguments {
			t.Errorf("%q gives %+v", host, f)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// TestSecretsStayWithTheirHost: no redirect takes a secret, a header or a cookie to another host.
func TestSecretsStayWithTheirHost(t *testing.T) {
	var got []string
	elsewhere := newService(t, http.Options{}, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		got = append(got, r.Header.Get("X-Token")+r.Header.Get("Cookie"))
	})
	s := newService(t, http.Options{Holds: func(v expr.Value) bool { return strings.Contains(v.String(), "open sesame") }},
		func(w nethttp.ResponseWriter, r *nethttp.Request) {
			nethttp.Redirect(w, r, elsewhere.url+"/", nethttp.StatusTemporaryRedirect)
		})
	post := ir.Request{Protocol: ir.RequestHTTP, Method: "POST", URI: "SERVER/p"}
	graph := ir.Request{Protocol: ir.RequestGraphQL, URI: "SERVER/p", Kind: "query", Field: "pet"}
	rest := ir.Request{Protocol: ir.RequestREST, Method: "PUT", URI: "SERVER/p"}
	for args, r := range map[string]ir.Request{`{"body":{"p":"open sesame"}}`: post, `{"arguments":{"p":"open sesame"}}`: graph, `{"p":"open sesame"}`: rest} {
		if f := s.calls(false, r, args).Failure; f == nil || f.Code != http.CodeRefused || !strings.Contains(f.Detail, "holds a secret") {
			t.Errorf("%s gives %+v", args, f)
		}
	}
	if out := s.calls(false, post, `{"headers":{"X-Token":"t"},"cookies":{"c":"1"}}`); out.Failure != nil {
		t.Errorf("%+v", out.Failure)
	}
	if len(got) != 1 || got[0] != "" {
		t.Errorf("another host got %q", got)
	}
}

// FuzzData: whatever an argument is, the host, the path before it and the number of steps are the definition's.
func FuzzData(f *testing.F) {
	f.Add("x/../y", "a=1&b")
	f.Add("\\..", "\r\n")
	f.Fuzz(func(t *testing.T, id, q string) {
		args := expr.Object(
			expr.Member{Key: "id", Value: expr.String(id)}, expr.Member{Key: "q", Value: expr.String(q)}, expr.Member{Key: "more", Value: expr.String(q)},
		)
		c, err := httpCall(described{Request: ir.Request{Protocol: ir.RequestHTTP, Method: "GET", URI: "https://x.example/a/{id}/b?q={q}"}}, args)
		if err != nil {
			return
		}
		path := c.URL.EscapedPath()
		if c.URL.Host != "x.example" || !strings.HasPrefix(path, "/a/") || !strings.HasSuffix(path, "/b") || strings.Count(path, "/") != 3 {
			t.Errorf("%q makes %s", id, c.URL)
		}
		if query := c.URL.Query(); len(query) != 2 || query.Get("q") != q || query.Get("more") != q {
			t.Errorf("%q makes the query %s", q, c.URL.RawQuery)
		}
	})
}
