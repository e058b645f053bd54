package openapi

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// TestDescribedCalls: operations whose arguments are {parameters, authentication, output, redirect}.
func TestDescribedCalls(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	document := strings.ReplaceAll(api("/p/{id}", "post", "parameters: [{name: id, in: path, required: true}]\nrequestBody: {content: {application/json: {schema: {type: object}}}}\nresponses: {'200': {content: {application/json: {schema: {type: object, required: [ok]}}}}}"), "SERVER", s.URL)
	call := func(operation, args string) effect.Outcome {
		t.Helper()
		c, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(document)}, operation, args)
		if len(found) > 0 {
			t.Fatal(found)
		}
		return i.Invoke(context.Background(), c)
	}
	answer := func(status int, media, body string) {
		s.answer = func(w http.ResponseWriter, _ *http.Request) {
			if media != "" {
				w.Header().Set("Content-Type", media)
			}
			if status == 302 {
				w.Header().Set("Location", "/moved")
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	answer(200, "application/json", `{"ok":1}`)
	const operation = "call:openapi:api.yaml#op"
	out := call(operation, `{"parameters":{"id":"a b","body":{"x":1}},"authentication":{"bearer":{"token":"T"}}}`)
	if out.Failure != nil || out.Value.String() != `{"ok":1}` || s.seen.URL.String() != "/p/a%20b" || s.body != `{"x":1}` ||
		s.seen.Header.Get("Authorization") != "Bearer T" || s.seen.Header.Get("Idempotency-Key") != "k1" {
		t.Errorf("%s %+v after %s %s", out.Value, out.Failure, s.seen.URL, s.body)
	}
	if out = call(operation, `{"parameters":{"id":1},"output":"raw"}`); out.Value.String() != `"eyJvayI6MX0="` {
		t.Errorf("%s %+v", out.Value, out.Failure)
	}
	if out = call(operation, `{"parameters":{"id":1},"output":"response"}`); out.Failure != nil {
		t.Errorf("%+v", out.Failure)
	} else if got, _ := out.Value.Lookup("content", "ok"); got.String() != "1" {
		t.Errorf("%s", out.Value)
	}
	for _, c := range []struct {
		operation, args, media, body string
		status                       int
		want                         effect.Failure
	}{
		{operation, `{"parameters":{"id":1}}`, "application/json", `{}`, 200, effect.Failure{Name: effect.Communication, Code: "response-schema"}},
		{operation, `{"parameters":{"id":1}}`, "application/problem+json", `{"type":"u","title":"T","detail":"d"}`, 409, effect.Failure{Name: effect.Communication, Status: "409", Title: "T", Detail: "d"}},
		{operation, `{"parameters":{"id":1}}`, "", ``, 302, effect.Failure{Name: effect.Communication, Status: "302"}},
		{operation, `{"parameters":{}}`, "", ``, 200, effect.Failure{Name: effect.Communication, Code: "invalid-arguments"}},
		{operation, `{"parameters":[1]}`, "", ``, 200, effect.Failure{Name: effect.Communication, Code: "invalid-arguments"}},
		{operation, `{"parameters":{"id":1},"output":"x"}`, "", ``, 200, effect.Failure{Name: effect.Communication, Code: "invalid-arguments"}},
		{operation, `{"parameters":{"id":1},"authentication":{"basic":{"use":"s"}}}`, "", ``, 200, effect.Failure{Name: effect.Authorization, Status: "403", Code: "authentication"}},
	} {
		answer(c.status, c.media, c.body)
		f := call(c.operation, c.args).Failure
		if f == nil || f.Name != c.want.Name || f.Type != "" || f.Code != c.want.Code || f.Status != c.want.Status || f.Title != c.want.Title || !strings.Contains(f.Detail, c.want.Detail) {
			t.Errorf("%s answered %d %s gives %+v", c.args, c.status, c.body, f)
		}
	}
	// Without the guard it would be reached.
	answer(200, "application/json", `{"ok":1}`)
	if out := call("call:openapi!:api.yaml#op", `{"parameters":{"id":1}}`); out.Failure != nil {
		t.Errorf("a listed address: %+v", out.Failure)
	}
	c, _ := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(strings.ReplaceAll(document, s.URL, "http://192.0.2.1"))}, "call:openapi!:api.yaml#op", `{"parameters":{"id":1}}`)
	if f := i.Invoke(context.Background(), c).Failure; f == nil || f.Code != "outbound-refused" || !strings.Contains(f.Detail, "allow-list") || f.Name != effect.Communication {
		t.Errorf("%+v", f)
	}
}
