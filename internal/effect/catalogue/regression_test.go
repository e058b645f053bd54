package catalogue

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
)

func TestFunctionMissingInTheCatalogue(t *testing.T) {
	c, _, _ := Read(context.Background(), "f.yaml", []byte("functions: {charge: {builtin: echo}}"), options(t))
	at := func(line int) dialect.Place { return dialect.Pos{File: "def.yaml", Line: line, Column: 3} }
	found := c.Check(map[string]dialect.Place{"chrage": at(2), "charge": at(3), "zzz": at(1)})
	want := "def.yaml:1:3 warning FN011 function \"zzz\" has no operation, and the catalogue does not have it\n" +
		"def.yaml:2:3 warning FN011 function \"chrage\" has no operation, and the catalogue does not have it; did you mean \"charge\"?"
	if found.Error() != want {
		t.Errorf("got  %v\nwant %s", found, want)
	}
	var none *Catalogue
	if len(none.Check(map[string]dialect.Place{"x": at(1)})) > 0 || none.Names() != nil {
		t.Error("no catalogue, and a function is missing in it")
	}
}

func TestHeadersAndProgramsAreCheckedWhenRead(t *testing.T) {
	for text, want := range map[string]string{
		"functions: {f: {http: {url: 'https://x', headers: {X-A: a, x-a: b}}}}":                             "1:60 FN005 the header \"x-a\" is given twice, also as \"X-A\"",
		"functions: {f: {openapi: {document: d, operation: o, headers: {X-A: a, x-A: b}}}}":                 "FN005 the header \"x-A\" is given twice",
		"functions: {f: {http: {url: 'https://x', body: {}, headers: {content-type: 'text/{{ $.t }}'}}}}":   "1:76 FN005 Content-Type must be constant",
		"functions: {f: {http: {url: 'https://x', body: {}, headers: {Content-Type: '${env:T}'}}}}":         "1:76 FN005 Content-Type must be constant",
		"functions: {f: {openapi: {document: d, operation: o, headers: {Content-Type: application/json}}}}": "1:64 FN005 the Content-Type of a body is defined",
		"functions: {f: {exec: {command: ['']}}}":                                                           "1:34 FN005 the program is empty",
		"functions: {f: {exec: {command: [' ', x]}}}":                                                       "1:34 FN005 the program is empty",
	} {
		_, _, found := Read(context.Background(), "f.yaml", []byte(text), options(t))
		got := ""
		for _, d := range found {
			got += fmt.Sprintf("%d:%d %s %s\n", d.Line, d.Column, d.Code, d.Message)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %swant %s", text, got, want)
		}
	}
}

// An expression that gives nothing leaves out its header, and never sends half of one.
func TestHeaderOfAMissingValue(t *testing.T) {
	var got nethttp.Header
	s := httptest.NewServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) { got = r.Header }))
	t.Cleanup(s.Close)
	call := func(header, args string) *effect.Failure {
		got = nil
		return invoke(t, options(t), "{http: {url: "+s.URL+", headers: {X-Custom: '"+header+"'}}}", args).Failure
	}
	for _, c := range []struct{ header, args string }{
		{"{{ $.c }}", `{}`}, {" {{ $.c }} ", `{}`}, {"{{ $.c }}", `{"c":null}`}, {"{{ $..c }}", `{}`}, {"{{ $.c }}", `{"c":[]}`},
	} {
		if f := call(c.header, c.args); f != nil || got == nil || got["X-Custom"] != nil {
			t.Errorf("%s %s: %+v %q", c.header, c.args, f, got["X-Custom"])
		}
	}
	for _, c := range []struct{ header, args, source string }{
		{"Bearer {{ $.c }}", `{}`, "{{ $.c }}"},
		{"Bearer {{ $.c }}", `{"c":null}`, "{{ $.c }}"},
		{"{{ $.a }}{{ $.c }}", `{"a":1}`, "{{ $.c }}"},
		{"{{ $.c }}${env:TOKEN}", `{}`, "{{ $.c }}"},
		{"k={{ $..c }}", `{}`, "{{ $..c }}"},
		{`k={{ $.a["}}"] }}`, `{"a":{}}`, `{{ $.a["}}"] }}`},
	} {
		f := call(c.header, c.args)
		if f == nil || f.Name != effect.InvalidArguments || got != nil || !strings.Contains(f.Detail, c.source+` gives nothing, and the header "X-Custom"`) {
			t.Errorf("%s %s: %+v", c.header, c.args, f)
		}
	}
	for _, c := range []struct{ header, args, want string }{
		{"Bearer {{ $.c }}", `{"c":"x"}`, "Bearer x"},
		{`\{{ $.c }}`, `{}`, "{{ $.c }}"},
		{"a={{ $.c }}", `{"c":0}`, "a=0"},
		{"a={{ $.c }}", `{"c":""}`, "a="},
	} {
		if f := call(c.header, c.args); f != nil || got.Get("X-Custom") != c.want {
			t.Errorf("%s %s: %+v %q", c.header, c.args, f, got.Get("X-Custom"))
		}
	}
}

func TestEmptyListInAQueryIsLeftOut(t *testing.T) {
	s := echo(t)
	for _, c := range []struct{ entry, args, want string }{
		{"{url: SERVER/a, query: {q: '{{ $.l }}'}}", `{"l":[]}`, "/a"},
		{"{url: SERVER/a, query: {q: '{{ $..l }}'}}", `{}`, "/a"},
		{"{url: SERVER/a, query: {q: '{{ $..l }}'}}", `{"l":[]}`, "/a"},
		{"{url: SERVER/a, query: {q: [x, '{{ $.l }}']}}", `{"l":[]}`, "/a?q=x"},
		{"{url: 'SERVER/a?q={{ $.l }}'}", `{"l":[]}`, "/a"},
		{"{url: 'SERVER/a?q={{ $..l }}'}", `{}`, "/a"},
		{"{url: 'SERVER/a?q={{ $.l }}'}", `{}`, "/a"},
		{"{url: 'SERVER/a?q={{ $.l }}&r=1'}", `{"l":[]}`, "/a?r=1"},
		{"{url: 'SERVER/a?r=1&q={{ $.l }}'}", `{"l":[]}`, "/a?r=1"},
		{"{url: 'SERVER/a?r=1&q={{ $.l }}&s=2'}", `{"l":[]}`, "/a?r=1&s=2"},
		{"{url: 'SERVER/a?q={{ $.l }}&p={{ $.l }}'}", `{"l":[]}`, "/a"},
		{"{url: 'SERVER/a?q={{ $.l }}x'}", `{"l":[]}`, "/a?q=x"},
		{"{url: 'SERVER/a?q={{ $.l }}'}", `{"l":""}`, "/a?q="},
		{"{url: 'SERVER/a?q={{ $.l }}'}", `{"l":[1]}`, "/a?q=%5B1%5D"},
	} {
		out := invoke(t, options(t), "{http: "+strings.ReplaceAll(c.entry, "SERVER", s.URL)+"}", c.args)
		if got := effect.Text(out.Value, "line"); out.Failure != nil || got != "GET "+c.want {
			t.Errorf("%s %s: %+v %s, want %s", c.entry, c.args, out.Failure, got, c.want)
		}
	}
	f := invoke(t, options(t), "{http: {url: '"+s.URL+"/{{ $..l }}/x'}}", `{}`).Failure
	if f == nil || !strings.Contains(f.Detail, "{{ $..l }} gives nothing") {
		t.Errorf("%+v", f)
	}
}

func TestEscapedDotsInAnAddress(t *testing.T) {
	s := echo(t)
	f := invoke(t, options(t), "{http: {url: '"+s.URL+"/a/%2e{{ $.p }}/x'}}", `{"p":"."}`).Failure
	if f == nil || f.Name != effect.InvalidArguments || !strings.Contains(f.Detail, `the step "%2e."`) {
		t.Errorf("%+v", f)
	}
}

func TestCookiesOfAnOperationJoin(t *testing.T) {
	var cookie string
	s := httptest.NewServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		cookie = r.Header.Get("Cookie")
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	t.Cleanup(s.Close)
	o := options(t)
	o.Bundle = dialect.MapBundle{"api.yaml": []byte("openapi: 3.1.0\nservers: [{url: " + s.URL + "}]\npaths: {/p: {get: {operationId: get, parameters: [{name: theme, in: cookie}]}}}")}
	out := invoke(t, o, "{openapi: {document: api.yaml, operation: get, headers: {cookie: 'session=${env:TOKEN}'}}}", `{"theme":"dark"}`)
	if out.Failure != nil || cookie != "theme=dark; session=s3cret-value" {
		t.Errorf("%+v %q", out.Failure, cookie)
	}
}

func TestSignalIsToldByName(t *testing.T) {
	f := outcomeOf("f", exec.Result{Code: -1, Signal: "SIGKILL", Stdout: []byte(`{"name":"Half","message":"half"}`), Stderr: "oops\n"}).Failure
	if f == nil || f.Name != effect.Unnamed || f.Code != "SIGKILL" || f.Detail != `function "f": the command was killed by signal SIGKILL: oops` || !f.Data.IsObject() {
		t.Errorf("%+v", f)
	}
}

func TestMissingDirectoryOfACommand(t *testing.T) {
	o := options(t)
	o.Dir = t.TempDir()
	f := invoke(t, o, fmt.Sprintf("{exec: {command: [%q], directory: none}}", os.Args[0]), `{}`).Failure
	if f == nil || f.Code != "command" || !strings.Contains(f.Detail, fmt.Sprintf("the directory %q", filepath.Join(o.Dir, "none"))) {
		t.Errorf("%+v", f)
	}
}
