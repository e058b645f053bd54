package catalogue

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
)

// The test binary is the command of exec functions too.
func TestMain(m *testing.M) {
	switch os.Getenv("CATALOGUE_TEST") {
	case "":
		os.Exit(m.Run())
	case "tell":
		in, _ := io.ReadAll(os.Stdin)
		fmt.Printf(`{"args":%s,"stdin":%s,"key":%q,"token":%q,"home":%q}`, jsonOf(os.Args[1:]), strings.TrimSpace(string(in)),
			os.Getenv("LOCKSTEP_IDEMPOTENCY_KEY"), os.Getenv("TOKEN"), os.Getenv("HOME"))
	case "fail":
		fmt.Print(`{"name":"NoDisk","message":"the disk is gone"}`)
		os.Exit(4)
	case "mute":
		fmt.Fprintln(os.Stderr, "first\nlast with s3cret-value")
		os.Exit(9)
	case "text":
		fmt.Print("not json")
	}
}

func jsonOf(texts []string) string {
	var items []expr.Value
	for _, t := range texts {
		items = append(items, expr.String(t))
	}
	return expr.Array(items...).String()
}

func value(t testing.TB, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func options(t testing.TB) Options {
	t.Helper()
	client, err := http.New(http.Options{Allow: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return Options{AllowExec: true, Client: client, OpenAPI: openapi.New(client), Env: func(name string) (string, bool) {
		v, ok := map[string]string{"TOKEN": "s3cret-value", "SHORT": "abc", "SPECIAL": "a/b?c+d", "EMPTY": ""}[name]
		return v, ok
	}}
}

// invoke calls the function f of a catalogue.
func invoke(t testing.TB, o Options, text, args string) effect.Outcome {
	t.Helper()
	c, _, found := Read(context.Background(), "functions.yaml", []byte("functions:\n  f: "+text), o)
	if c == nil || len(found) > 0 {
		t.Fatalf("%s\n%v", text, found)
	}
	return c.Invoke(context.Background(), effect.Call{Key: "k1", Function: "f", Args: value(t, args)})
}

// echo tells what it was asked.
func echo(t testing.TB) *httptest.Server {
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"line":%q,"auth":%q,"media":%q,"key":%q,"body":%q,"custom":%q}`, r.Method+" "+r.RequestURI,
			r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Header.Get("Idempotency-Key"), body, r.Header.Get("X-Custom"))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestExplanations(t *testing.T) {
	codes := func(text string, allow bool) []string {
		o := options(t)
		o.AllowExec = allow
		_, _, found := Read(context.Background(), "functions.yaml", []byte(text), o)
		var out []string
		for _, d := range found {
			out = append(out, d.Code)
		}
		return slices.Compact(out)
	}
	for _, e := range Codes() {
		if got := codes(e.Bad, e.Code != codeNoExec); e.Code == codeUnknown {
			continue // of a definition: TestFunctionMissingInTheCatalogue
		} else if len(got) != 1 || got[0] != e.Code {
			t.Errorf("%s: Bad leads to %v", e.Code, got)
		}
		if got := codes(e.Good, true); len(got) > 0 {
			t.Errorf("%s: Good leads to %v", e.Code, got)
		}
	}
}

func TestDiagnostics(t *testing.T) {
	for text, want := range map[string]string{
		"- a":                      "1:1 FN001",
		"fuctions: {}":             `1:1 FN002 unknown key "fuctions" in a catalogue; did you mean "functions"?`,
		"functions: {f: [1]}":      "1:16 FN001",
		"functions: {f: {}}":       "1:13 FN003",
		"functions: {f: {http: x}": "1:2",
		"functions: {f: {http: {url: 'ftp://x'}}}":                              "1:29 FN005 url must begin",
		"functions: {f: {http: {url: '{{ $.u }}'}}}":                            "1:29 FN007",
		"functions: {f: {http: {url: '{{ $.s }}://x'}}}":                        "1:29 FN007",
		"functions: {f: {http: {url: 'https://a.{{ $.u }}/x'}}}":                "1:38 FN007",
		"functions: {f: {http: {url: 'https://x:{{ $.p }}/x'}}}":                "1:38 FN007",
		"functions: {f: {http: {url: 'https://${env:H}/x'}}}":                   "1:38 FN007",
		"functions: {f: {http: {url: 'https://{{ $[\"/\"] }}'}}}":               "1:38 FN007",
		"functions: {f: {http: {url: 'https://u:p@x/y'}}}":                      "1:29 FN005 url holds a user",
		"functions: {f: {http: {url: 'https://x/y#z'}}}":                        "1:29 FN005",
		"functions: {f: {http: {url: 'https://x/{{ $.a'}}}":                     "1:40 FN006",
		"functions: {f: {http: {url: 'https://x', headers: {Host: y}}}}":        "1:52 FN005",
		"functions: {f: {http: {url: 'https://x', headers: {'a b': y}}}}":       "1:52 FN005",
		"functions: {f: {http: {url: 'https://x', headers: {a: 1}}}}":           "1:55 FN001",
		"functions: {f: {http: {url: 'https://x', timeout: P1M}}}":              "1:51 FN005",
		"functions: {f: {http: {url: 'https://x', result: '${env:A}'}}}":        "1:50 FN010",
		"functions: {f: {http: {url: 'https://x', body: {a: ['{{ $.b[ }}']}}}}": "FN006",
		"functions: {f: {exec: {command: 'rm -rf x'}}}":                         "1:33 FN001",
		"functions: {f: {exec: {command: []}}}":                                 "1:33 FN005",
		"functions: {f: {exec: {command: ['{{ $.c }}']}}}":                      "1:34 FN009",
		"functions: {f: {exec: {command: [sh, -c, '{{ $.c }}']}}}":              "1:42 FN009",
		"functions: {f: {exec: {command: [/bin/bash, -c, '{{ $.c }}']}}}":       "1:49 FN009",
		"functions: {f: {exec: {command: [a, 'x{{ $.c }}']}}}":                  "1:37 FN009",
		"functions: {f: {exec: {command: [a, '{{ $.a }}{{ $.b }}']}}}":          "1:37 FN009",
		"functions: {f: {exec: {command: [a, '${env:TOKEN}']}}}":                "1:37 FN009",
		"functions: {f: {exec: {command: [a], env: {B: '{{ $.c }}'}}}}":         "1:47 FN009",
		"functions: {f: {exec: {command: [a], stdin: yaml}}}":                   "1:45 FN005",
		"functions: {f: {openapi: {document: api.yaml}}}":                       "1:17 FN004",
		"functions: {f: {openapi: {document: none.yaml, operation: x}}}":        "1:37 OA001",
		"functions: {f: {http: {url: 'https://x/', body: {a: 1}, body: 2}}}":    "DOC002",
		"functions: {f: {http: {url: 'https://x/${env:A-B}'}}}":                 "1:29 FN010",
	} {
		_, _, found := Read(context.Background(), "f.yaml", []byte(text), options(t))
		got := ""
		for _, d := range found {
			got += fmt.Sprintf("%d:%d %s %s; %s\n", d.Line, d.Column, d.Code, d.Message, d.Hint)
		}
		if !strings.Contains(got, want) || len(found) == 0 {
			t.Errorf("%s\ngot  %swant %s", text, got, want)
		}
	}
}

func TestHTTP(t *testing.T) {
	s := echo(t)
	o := options(t)
	for _, c := range []struct{ entry, args, want string }{
		{"{http: {url: SERVER/a}}", `{}`, `"line":"GET /a"`},
		{"{http: {url: SERVER}}", `{}`, `"line":"GET /"`},
		{"{http: {url: SERVER/a, body: {x: '{{ $.n }}', y: [1, 'n={{ $.n }}']}}}", `{"n":5}`, `"body":"{\"x\":5,\"y\":[1,\"n=5\"]}"`},
		{"{http: {method: PUT, url: SERVER/a, body: '{{ $ }}'}}", `{"n":5}`, `"line":"PUT /a"`},
		{"{http: {url: 'SERVER/a/{{ $.id }}/b?q={{ $.q }}&r=1'}}", `{"id":"x/../y","q":"a&b c"}`, `"line":"GET /a/x%2F..%2Fy/b?q=a%26b%20c\u0026r=1"`},
		{"{http: {url: 'SERVER/a', query: {l: [a, '{{ $.x }}'], n: '{{ $.none }}'}}}", `{"x":"b c"}`, `"line":"GET /a?l=a\u0026l=b+c"`},
		{"{http: {url: 'SERVER/${env:SPECIAL}?t=${env:TOKEN}'}}", `{}`, `"line":"GET /[secret]?t=[secret]"`},
		{"{http: {url: SERVER/a, headers: {Authorization: 'Bearer ${env:TOKEN}', X-Custom: '{{ $.c }}'}}}", `{"c":"v"}`, `"auth":"Bearer [secret]"`},
		{"{http: {url: SERVER/a, headers: {Content-Type: text/plain}, body: 'hi {{ $.c }}'}}", `{"c":"v"}`, `"body":"hi v"`},
		{"{http: {url: SERVER/a, headers: {Content-Type: application/x-www-form-urlencoded}, body: {a: 'x y', b: [1, 2]}}}", `{}`, `"body":"a=x+y\u0026b=1\u0026b=2"`},
		{"{http: {url: SERVER/a, result: '{{ $.key }}'}}", `{}`, `"k1"`},
		{"{http: {url: SERVER/a, result: {k: '{{ $.key }}'}}}", `{}`, `{"k":"k1"}`},
		// What data says is never taken for a secret.
		{"{http: {url: SERVER/a, headers: {X-Custom: '{{ $.c }}'}}}", `{"c":"${env:TOKEN}"}`, `"custom":"${env:TOKEN}"`},
		{"{http: {url: SERVER/a, headers: {X-Custom: '{{ $.c }}${env:SHORT}'}}}", `{"c":"{{ $.d }}"}`, `"custom":"{{ $.d }}abc"`},
	} {
		out := invoke(t, o, strings.ReplaceAll(c.entry, "SERVER", s.URL), c.args)
		if out.Failure != nil {
			t.Errorf("%s: %+v", c.entry, out.Failure)
		} else if got := strings.ReplaceAll(out.Value.String(), "&", `\u0026`); !strings.Contains(got, c.want) && !strings.Contains(out.Value.String(), c.want) {
			t.Errorf("%s: %s, want %s", c.entry, got, c.want)
		} else if strings.Contains(got, "s3cret") {
			t.Errorf("%s tells the secret: %s", c.entry, got)
		}
	}
	for _, c := range []struct{ entry, args, name, says string }{
		{"{http: {url: 'SERVER/{{ $.id }}'}}", `{}`, effect.InvalidArguments, "{{ $.id }} gives nothing"},
		{"{http: {url: 'SERVER/{{ $.id }}/x'}}", `{"id":".."}`, effect.InvalidArguments, `the step ".."`},
		{"{http: {url: SERVER/a, headers: {X-Custom: '{{ $.c }}'}}}", `{"c":"a\nb"}`, effect.InvalidArguments, "line break"},
		{"{http: {url: 'SERVER/${env:EMPTY}'}}", `{}`, effect.Unnamed, "variable EMPTY"},
		{"{http: {url: 'SERVER/${env:NONE}'}}", `{}`, effect.Unnamed, "variable NONE"},
	} {
		f := invoke(t, o, strings.ReplaceAll(c.entry, "SERVER", s.URL), c.args).Failure
		if f == nil || f.Name != c.name || !strings.Contains(f.Detail, c.says) {
			t.Errorf("%s: %+v", c.entry, f)
		}
	}
}

// A secret does not follow a redirect to another host, and failures do not tell it.
func TestSecretsStay(t *testing.T) {
	other := echo(t)
	var got string
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		got = r.Header.Get("X-Api-Key")
		switch r.URL.Path {
		case "/away":
			nethttp.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), nethttp.StatusTemporaryRedirect)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(nethttp.StatusForbidden)
			fmt.Fprintf(w, `{"name":"No %s","code":"%s","message":"key %s","keys":{"%s":[1]}}`, got, got, got, got)
		}
	}))
	t.Cleanup(s.Close)
	const entry = "{http: {url: 'SERVER', headers: {X-Api-Key: '${env:TOKEN}'}}}"
	f := invoke(t, options(t), strings.ReplaceAll(entry, "SERVER", s.URL+"/away"), `{}`).Failure
	if f == nil || f.Code != http.CodeRefused || got != "s3cret-value" {
		t.Errorf("%+v %q", f, got)
	}
	f = invoke(t, options(t), strings.ReplaceAll(entry, "SERVER", s.URL+"/x"), `{}`).Failure
	if f == nil || f.Status != "403" || strings.Contains(fmt.Sprintf("%+v", *f), "s3cret") || !strings.Contains(f.Data.String(), blot) {
		t.Errorf("%+v", f)
	}
}

func TestOpenAPI(t *testing.T) {
	s := echo(t)
	o := options(t)
	o.Bundle = dialect.MapBundle{"api.yaml": []byte("openapi: 3.1.0\nservers: [{url: " + s.URL + "}]\npaths: {'/p/{id}': {get: {operationId: get, parameters: [{name: id, in: path}]}}}")}
	out := invoke(t, o, "{openapi: {document: api.yaml, operation: get, headers: {Authorization: 'Bearer ${env:TOKEN}'}}}", `{"id":7}`)
	if out.Failure != nil || !strings.Contains(out.Value.String(), `"auth":"Bearer [secret]"`) || !strings.Contains(out.Value.String(), "GET /p/7") {
		t.Errorf("%+v", out)
	}
}

func TestBuiltins(t *testing.T) {
	var logged string
	o := options(t)
	o.Log = func(f string, v expr.Value) { logged = f + " " + v.String() }
	if out := invoke(t, o, "{builtin: echo}", `{"a":1}`); out.Value.String() != `{"a":1}` {
		t.Errorf("%+v", out)
	}
	if out := invoke(t, o, "{builtin: log}", `{"a":1}`); !out.None || logged != `f {"a":1}` {
		t.Errorf("%+v %s", out, logged)
	}
	if out := invoke(t, o, "{builtin: sleep}", `{"duration":"PT2S"}`); !out.None || out.Delay != 2*time.Second {
		t.Errorf("%+v", out)
	}
	if f := invoke(t, o, "{builtin: sleep}", `{"duration":"soon"}`).Failure; f == nil || f.Name != effect.InvalidArguments {
		t.Errorf("%+v", f)
	}
	f := invoke(t, o, "{builtin: fail}", `{"name":"Declined","code":402,"status":"500","message":"no","data":[1]}`).Failure
	if f == nil || f.Name != "Declined" || f.Code != "402" || f.Status != "500" || f.Detail != "no" || f.Data.String() != "[1]" {
		t.Errorf("%+v", f)
	}
	if f := invoke(t, o, "{builtin: fail}", `{}`).Failure; f == nil || f.Name != effect.Unnamed || f.Detail == "" {
		t.Errorf("%+v", f)
	}
}

func TestExec(t *testing.T) {
	o := options(t)
	o.Dir = t.TempDir()
	entry := func(mode, args, rest string) string {
		return fmt.Sprintf("{exec: {command: [%q, %s], env: {CATALOGUE_TEST: %s, TOKEN: '${env:TOKEN}'}%s}}", os.Args[0], args, mode, rest)
	}
	out := invoke(t, o, entry("tell", "a, '{{ $.x }}', '{{ $.n }}', '{{ $.o }}'", ""), `{"x":"; rm -rf $HOME","n":5,"o":{"k":1}}`)
	want := `{"args":["a","; rm -rf $HOME","5","{\"k\":1}"],"home":"","key":"k1","stdin":{"n":5,"o":{"k":1},"x":"; rm -rf $HOME"},"token":"[secret]"}`
	if out.Failure != nil || out.Value.String() != want {
		t.Errorf("%+v\ngot  %s\nwant %s", out.Failure, out.Value, want)
	}
	if f := invoke(t, o, entry("tell", "'{{ $.x }}'", ""), `{"x":"--delete"}`).Failure; f == nil || f.Name != effect.InvalidArguments || !strings.Contains(f.Detail, "begins with -") {
		t.Errorf("%+v", f)
	}
	if out := invoke(t, o, entry("tell", "--, '{{ $.x }}'", ""), `{"x":"--delete"}`); out.Failure != nil {
		t.Errorf("%+v", out.Failure)
	}
	if f := invoke(t, o, entry("tell", "'{{ $.x }}'", ""), `{}`).Failure; f == nil || !strings.Contains(f.Detail, "gives nothing") {
		t.Errorf("%+v", f)
	}
	if f := invoke(t, o, entry("fail", "a", ""), `{}`).Failure; f == nil || f.Name != "NoDisk" || f.Code != "4" || f.Detail != "the disk is gone" {
		t.Errorf("%+v", f)
	}
	if f := invoke(t, o, entry("mute", "a", ", stdin: none"), `{}`).Failure; f == nil || f.Name != effect.Unnamed || f.Code != "9" || !strings.HasSuffix(f.Detail, "exited with 9: last with [secret]") {
		t.Errorf("%+v", f)
	}
	if f := invoke(t, o, entry("text", "a", ""), `{}`).Failure; f == nil || f.Code != http.CodeInvalid {
		t.Errorf("%+v", f)
	}
}

func TestKnows(t *testing.T) {
	c, _, _ := Read(context.Background(), "f.yaml", []byte("functions: {charge: {builtin: echo}, ship: {builtin: echo}}"), options(t))
	if known, _ := c.Knows("charge"); !known || strings.Join(c.Names(), " ") != "charge ship" {
		t.Error(c.Names())
	}
	if known, near := c.Knows("chrage"); known || near != "charge" {
		t.Error(near)
	}
	if f := c.Invoke(context.Background(), effect.Call{Function: "x"}).Failure; f == nil || f.Name != effect.NotFound {
		t.Errorf("%+v", f)
	}
}

// FuzzRead: no file makes reading panic, and a url that is accepted goes to its own host
// whatever the arguments are.
func FuzzRead(f *testing.F) {
	for _, e := range Codes() {
		f.Add(e.Bad, "x")
		f.Add(e.Good, "../x")
	}
	f.Add("functions: {f: {http: {url: 'https://h/{{ $.a }}?x={{ $.a }}', headers: {A: '{{ $.a }}'}, body: ['${env:T}']}}}", "a@b:c/d")
	f.Fuzz(func(t *testing.T, text, arg string) {
		c, _, found := Read(context.Background(), "f.yaml", []byte(text), Options{AllowExec: true})
		if c == nil {
			if !found.HasErrors() {
				t.Fatal("no catalogue, and no error")
			}
			return
		}
		args := expr.Object(expr.Member{Key: "a", Value: expr.String(strings.ToValidUTF8(arg, ""))})
		s := &secrets{lookup: func(string) (string, bool) { return "secret", true }}
		for _, e := range c.entries {
			h, ok := e.(*httpCall)
			if !ok {
				continue
			}
			u, err := h.target(args, s)
			if err == nil && (u.Host != h.base.Host || u.Scheme != h.base.Scheme || u.User != nil) {
				t.Fatalf("%s goes to %s", h.base, u)
			}
		}
	})
}
