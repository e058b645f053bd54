package openapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// FuzzStyles: whatever the arguments are, the request goes to the host and below the
// path of the document, headers hold one line, and a text in the query comes back as
// it was.
func FuzzStyles(f *testing.F) {
	for _, seed := range []string{`"x"`, `""`, `".."`, `"a/../b"`, `"a b&c=d#e?f%2e"`, `["a","b"]`, `{"k":"v"}`, `[[1]]`, `"\r\n"`, `null`, `"\u0000é"`} {
		for i := range 12 {
			f.Add(seed, uint8(i), i%2 == 0)
		}
	}
	base, _ := url.Parse("https://host.example/v1")
	all := []struct {
		in string
		s  style
	}{
		{inPath, simple},
		{inPath, label},
		{inPath, matrix},
		{inPath, spaced},
		{inQuery, form},
		{inQuery, spaced},
		{inQuery, piped},
		{inQuery, deep},
		{inQuery, tabbed},
		{inHeader, simple},
		{inCookie, form},
	}
	f.Fuzz(func(t *testing.T, text string, which uint8, explode bool) {
		v, err := expr.ParseJSON([]byte(text))
		if err != nil {
			return
		}
		k := all[int(which)%len(all)]
		o := &operation{id: "op", method: "GET", base: base, path: "/x/{p}/y", parameters: []*parameter{{name: "p", in: k.in, style: k.s, explode: explode, required: true, reserved: which > 100}}}
		if k.in != inPath {
			o.path = "/x/y"
		}
		r, bad := o.request(expr.Object(expr.Member{Key: "p", Value: v}), nil)
		if bad != nil {
			return
		}
		u, err := url.Parse(r.URL.String())
		if err != nil {
			t.Fatalf("%s: %v", r.URL, err)
		}
		if u.Scheme != "https" || u.Host != base.Host || u.Fragment != "" || !strings.HasPrefix(u.EscapedPath(), "/v1/x/") || !strings.HasSuffix(u.EscapedPath(), "y") {
			t.Fatalf("%s goes to %s", text, u)
		}
		for _, step := range strings.Split(u.EscapedPath(), "/") {
			if step == "." || step == ".." {
				t.Fatalf("%s goes to %s", text, u)
			}
		}
		if k.in != inPath && u.Path != "/v1/x/y" || k.in == inPath && strings.Count(u.EscapedPath(), "/") != 4 {
			t.Fatalf("%s goes to %s", text, u)
		}
		if _, err := http.NewRequest("GET", u.String(), nil); err != nil {
			t.Fatal(err)
		}
		for _, values := range r.Header {
			if strings.ContainsAny(values[0], "\r\n\x00") {
				t.Fatalf("%s gives the header %q", text, values[0])
			}
		}
		if k.in == inQuery && k.s != deep && v.Kind() == expr.KindString {
			if got := u.Query().Get("p"); got != v.Str() && !strings.Contains(u.RawQuery, ";") {
				t.Fatalf("%q comes as %q in %s", v.Str(), got, u.RawQuery)
			}
		}
	})
}

// FuzzDocument: no document makes reading or compiling panic.
func FuzzDocument(f *testing.F) {
	f.Add("openapi: 3.1.0\nservers: [{url: https://x}]\npaths: {/p: {post: {operationId: op, parameters: [{name: a, in: query}], requestBody: {content: {application/json: {schema: {type: object, properties: {a: {$ref: '#/x'}}}}}}}}}\nx: {type: string}")
	f.Add("swagger: '2.0'\nhost: h\npaths: {/p/{i}: {post: {operationId: op, parameters: [{name: i, in: path, type: string}, {name: b, in: formData, type: file}]}}}")
	f.Add("openapi: 3.0.0\npaths: {/: {$ref: '#/paths/~1'}}")
	f.Fuzz(func(t *testing.T, text string) {
		lib := newLibrary(func(string) ([]byte, error) { return []byte(text), nil })
		o, _, err := lib.compile(context.Background(), "api.yaml", "op")
		if err != nil {
			return
		}
		for _, args := range []string{`{}`, `{"a":1,"i":"x","b":"y"}`, `{"body":[1]}`} {
			v, _ := expr.ParseJSON([]byte(args))
			o.request(v, nil)
		}
	})
}
