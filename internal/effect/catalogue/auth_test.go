package catalogue

import (
	"context"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// TestAuthentication: functions of both kinds, with secrets of both kinds, which never come back.
func TestAuthentication(t *testing.T) {
	s := echo(t)
	tokens := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.FormValue("client_secret") != "s3cret-value" {
			w.WriteHeader(401)
			return
		}
		fmt.Fprint(w, `{"access_token":"granted","expires_in":60}`)
	}))
	t.Cleanup(tokens.Close)
	o := options(t)
	o.Bundle = dialect.MapBundle{"api.yaml": []byte("openapi: 3.1.0\nservers: [{url: " + s.URL + "}]\npaths: {'/p': {get: {operationId: get}}}")}
	o.Secrets = func(name string) (expr.Value, bool) {
		all := map[string]string{"login": `{"username":"ada","password":"open sesame"}`, "token": `"shared-token"`, "deep": `{"a":{"b":"s3cret-value"},"n":7}`}
		if all[name] == "" {
			return expr.Null, false
		}
		return value(t, all[name]), true
	}
	const document = "openapi: {document: api.yaml, operation: get"
	for entry, want := range map[string]string{
		"{http: {url: SERVER/a, authentication: {basic: {username: ada, password: '${env:TOKEN}'}}}}":                                                       "Basic [secret]",
		"{http: {url: SERVER/a, authentication: {bearer: {use: token}}}}":                                                                                   "Bearer [secret]",
		"{http: {url: SERVER/a, authentication: {basic: {use: login}}}}":                                                                                    "Basic [secret]",
		"{http: {url: SERVER/a, authentication: {oauth2: {authority: TOKENS, grant: client_credentials, client: {id: me, secret: '${secret:deep/a/b}'}}}}}": "Bearer granted",
		"{" + document + ", authentication: {bearer: {token: '${secret:token}'}}}}":                                                                         "Bearer [secret]",
		"{http: {url: SERVER/a, headers: {Authorization: 'Key ${secret:token}'}}}":                                                                          "Key [secret]",
		"{http: {url: SERVER/a, headers: {Authorization: 'Key ${secret:token}'}, authentication: {bearer: {token: '${env:TOKEN}'}}}}":                       "Bearer [secret]",
	} {
		out := invoke(t, o, strings.NewReplacer("SERVER", s.URL, "TOKENS", tokens.URL).Replace(entry), `{}`)
		if got, _ := out.Value.Get("auth"); out.Failure != nil || got.Str() != want {
			t.Errorf("%s gives %s %+v, want %s", entry, out.Value, out.Failure, want)
		}
	}
	for entry, want := range map[string]effect.Failure{
		"{http: {url: SERVER/a, authentication: {bearer: {use: none}}}}":            {Name: effect.Authorization, Status: "403", Detail: `no secret "none"`},
		"{" + document + ", authentication: {bearer: {use: none}}}}":                {Name: effect.Authorization, Status: "403", Detail: `no secret "none"`},
		"{http: {url: SERVER/a, authentication: {basic: {use: token}}}}":            {Name: effect.Authentication, Status: "401", Detail: "must be an object"},
		"{http: {url: SERVER/a, authentication: {bearer: {token: '${env:NONE}'}}}}": {Name: effect.Unnamed, Detail: "variable NONE"},
		"{http: {url: 'SERVER/${secret:none}'}}":                                    {Name: effect.Unnamed, Detail: "no secret none"},
		"{http: {url: 'SERVER/${secret:deep}'}}":                                    {Name: effect.Unnamed, Detail: "no secret deep"},
		"{http: {url: 'SERVER/${secret:deep/n}'}}":                                  {Name: effect.Unnamed, Detail: "no secret deep/n"},
		"{http: {url: SERVER/a, authentication: {oauth2: {authority: TOKENS, grant: client_credentials, client: {id: me, secret: '${secret:token}'}}}}}": {Name: effect.Authentication, Status: "401", Detail: "401 Unauthorized"},
	} {
		f := invoke(t, o, strings.NewReplacer("SERVER", s.URL, "TOKENS", tokens.URL).Replace(entry), `{}`).Failure
		if f == nil || f.Name != want.Name || f.Status != want.Status || !strings.Contains(f.Detail, want.Detail) {
			t.Errorf("%s gives %+v", entry, f)
		}
	}
}

func TestWrongAuthentication(t *testing.T) {
	for entry, want := range map[string]string{
		"http: {url: 'https://x/', authentication: abc}":                                                 "FN001",
		"http: {url: 'https://x/', authentication: {}}":                                                  "FN005",
		"http: {url: 'https://x/', authentication: {magic: {}}}":                                         "FN005 an authentication is an object with one of",
		"http: {url: 'https://x/', authentication: {basic: {password: x}}}":                              "FN005 authentication: basic: username is required",
		"http: {url: 'https://x/', authentication: {bearer: {token: '{{ $.t }}'}}}":                      "FN005 authentication must be constant",
		"http: {url: 'https://x/', authentication: {bearer: {token: '${secret:}'}}}":                     "FN010",
		"openapi: {document: api.yaml, operation: get, authentication: {bearer: {}}}":                    "FN005 authentication: bearer: token is required",
		"http: {url: 'https://x/', authentication: {oauth2: {authority: 'ftp://x', grant: password}}}":   "FN005 authentication: oauth2: authority must be",
		"http: {url: 'https://x/', authentication: {oauth2: {authority: '${env:AT}', grant: password}}}": "FN005 authentication: oauth2: client.id is required",
		"http: {url: 'https://${secret:host}/'}":                                                         "FN007",
		"exec: {command: [a, '${secret:token}']}":                                                        "FN009",
	} {
		_, _, found := Read(context.Background(), "f.yaml", []byte("functions: {f: {"+entry+"}}"), options(t))
		got := ""
		for _, d := range found {
			got += d.Code + " " + d.Message + "\n"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %swant %s", entry, got, want)
		}
	}
	for _, entry := range []string{
		"http: {url: 'https://x/', authentication: {digest: {use: login}}}",
		"http: {url: 'https://x/', authentication: {oauth2: {authority: '${env:AT}/realm', grant: client_credentials, client: {id: '${env:ID}'}}}}",
		"http: {url: 'https://x/', authentication: {oidc: {authority: '${secret:at/url}', grant: client_credentials, client: {id: a, secret: '${secret:at/s}'}}}}",
	} {
		if _, _, found := Read(context.Background(), "f.yaml", []byte("functions: {f: {"+entry+"}}"), options(t)); len(found) > 0 {
			t.Errorf("%s: %v", entry, found)
		}
	}
}
