package catalogue

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
)

// read tells what is wrong with a function.
func read(t *testing.T, entry string) string {
	t.Helper()
	_, _, found := Read(context.Background(), "f.yaml", []byte("functions: {f: "+entry+"}"), options(t))
	out := ""
	for _, d := range found {
		out += fmt.Sprintf("%s %s %s\n", d.Code, d.Message, d.Hint)
	}
	return out
}

// What no call could do is told when the catalogue is read.
func TestConstantFaultsOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://x/../y":           `FN005 the path of url has the step ".."`,
		"https://x/%2e%2E/y":       `FN005 the path of url has the step "%2e%2E"`,
		"https://x/{{ $.a }}/./y":  `FN005 the path of url has the step "."`,
		"https://x:99999/y":        "FN005 url: there is no port 99999",
		"https://x/%zz":            "FN005 the path of url holds a %",
		"https://x/?q=%z":          "FN005 the query of url holds a %",
		"https://x/a#b":            "FN005 url has a fragment",
		"https://x/.{{ $.a }}/b":   "",
		"https://x/?q=a b":         "",
		"https://x/?q=../{{ $.a}}": "",
		"HTTPS://x/a":              "",
	} {
		if got := read(t, "{http: {url: '"+address+"'}}"); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	for entry, want := range map[string]string{
		"{http: {url: 'https://x', timeout: 5}}":                                                            "write PT5S",
		"{http: {url: 'https://x', headers: {Content-Type: application/x-www-form-urlencoded}, body: [1]}}": "FN005 the body is a form",
		"{http: {url: 'https://x', headers: {Content-Type: text/plain}, body: null}}":                       "FN005 the body gives nothing",
		"{exec: {command: [env, -S, '{{ $.a }}']}}":                                                         "FN009",
		"{exec: {command: [python3, -Ic, '{{ $.a }}']}}":                                                    "FN009",
		"{exec: {command: [perl, -ne, '{{ $.a }}']}}":                                                       "FN009",
	} {
		if got := read(t, entry); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %s", entry, got, want)
		}
	}
	if got := read(t, "{exec: {command: [convert, -size, '{{ $.a }}']}}"); got != "" {
		t.Errorf("a flag that ends with e: %s", got)
	}
	_, _, found := Read(context.Background(), "f.yaml", []byte("functions: {'': {builtin: echo}}"), options(t))
	if len(found) != 1 || found[0].Code != codeValue {
		t.Errorf("an empty name: %v", found)
	}
}

func TestConstantTextOfAnAddress(t *testing.T) {
	s := echo(t)
	for _, c := range []struct{ url, more, args, want string }{
		{"/a?b=2&a=1;c=3", ", query: {z: '1'}", `{}`, "/a?b=2&a=1;c=3&z=1"},
		{"/a?flag", ", query: {z: '1'}", `{}`, "/a?flag&z=1"},
		{"/a?q=a b&r=ü", "", `{}`, "/a?q=a%20b&r=%C3%BC"},
		{`/a/\{{ b`, "", `{}`, "/a/%7B%7B%20b"},
		{`/a/\\{{ $.b }}`, "", `{"b":1}`, `/a/%5C1`},
		{`/a/{{ $["}}"] }}/c`, "", `{"}}":"b"}`, "/a/b/c"},
		{`/a?q={{ $["}}#?"] }}&r=1`, "", `{"}}#?":"b"}`, "/a?q=b&r=1"},
	} {
		out := invoke(t, options(t), "{http: {url: '"+s.URL+c.url+"'"+c.more+"}}", c.args)
		if got := effect.Text(out.Value, "line"); out.Failure != nil || got != "GET "+c.want {
			t.Errorf("%s: %+v %s, want %s", c.url, out.Failure, got, c.want)
		}
	}
}

func TestBodyThatItsContentTypeCannotWrite(t *testing.T) {
	s := echo(t)
	for _, c := range []struct{ media, body, args, want string }{
		{"text/plain", "'{{ $.no }}'", `{}`, ""},
		{"text/plain", "'{{ $.a }}'", `{"a":"x"}`, "x"},
		{"text/plain", "'{{ $.a }}'", `{"a":""}`, ""},
		{"application/x-www-form-urlencoded", "'{{ $.a }}'", `{"a":[1]}`, ""},
		{"application/x-www-form-urlencoded", "'{{ $.a }}'", `{"a":{"b":1}}`, "b=1"},
		{"application/json", "'{{ $.no }}'", `{}`, "null"},
	} {
		out := invoke(t, options(t), "{http: {url: '"+s.URL+"', headers: {Content-Type: "+c.media+"}, body: "+c.body+"}}", c.args)
		refused := c.want == "" && !strings.Contains(c.args, `""`)
		if refused != (out.Failure != nil) || refused && out.Failure.Name != effect.InvalidArguments || effect.Text(out.Value, "body") != c.want {
			t.Errorf("%s %s: %+v %s", c.media, c.args, out.Failure, out.Value)
		}
	}
}

func TestFailureNamesThePath(t *testing.T) {
	s := echo(t)
	s.Close()
	f := invoke(t, options(t), "{http: {url: '"+s.URL+"/a/{{ $.b }}/${env:TOKEN}?q={{ $.b }}'}}", `{"b":"x"}`).Failure
	if want := "GET " + s.URL + "/a/{{ $.b }}/${env:TOKEN}: "; f == nil || !strings.HasPrefix(f.Detail, want) {
		t.Errorf("%+v, want %s", f, want)
	}
}
