package http

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestDescribedAuthentication: credentials come from a token endpoint and from secrets, under the
// same rules as all calls.
func TestDescribedAuthentication(t *testing.T) {
	tokens := 0
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch r.URL.Path {
		case "/oauth2/token":
			tokens++
			fmt.Fprintf(w, `{"access_token":"t%d","expires_in":3600}`, tokens)
		case "/broken/oauth2/token":
			w.WriteHeader(401)
			io.WriteString(w, `{"error":"invalid_client"}`)
		default:
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, strings.TrimSuffix(r.Header.Get("Authorization")+"|"+r.Header.Get("Own"), "|"))
		}
	})
	c, err := New(Options{Allow: []string{strings.TrimPrefix(srv.URL, "http://")}, Secrets: func(name string) (expr.Value, bool) {
		return value(t, `{"username":"ada","password":"pw"}`), name == "login"
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	oauth := func(authority string) string {
		return `{"oauth2":{"authority":"` + authority + `","grant":"client_credentials","client":{"id":"me","secret":"hush-hush"}}}`
	}
	own := ""
	call := func(operation, policy string) effect.Outcome {
		return c.Invoke(context.Background(), effect.Call{
			Operation: operation, Args: value(t, `{"method":"get","endpoint":{"uri":"`+srv.URL+`/me","authentication":`+policy+`},"headers":{"Own":"`+own+`"}}`),
		})
	}
	own = ir.AuthorizationScheme + " " + ir.AuthorizationParameter
	for policy, want := range map[string]string{
		oauth(srv.URL):                `"Bearer t1|Bearer t1"`,
		`{"basic":{"use":"login"}}`:   `"Basic YWRhOnB3|Basic YWRhOnB3"`,
		`{"bearer":{"token":"open"}}`: `"Bearer open|Bearer open"`,
		`null`:                        `null`,
	} {
		if out := call("call:http$", policy); out.Failure != nil || out.Value.String() != want {
			t.Errorf("%s gives %s %+v, want %s", policy, out.Value, out.Failure, want)
		}
	}
	own = ""
	for policy, want := range map[string]effect.Failure{
		oauth(srv.URL + "/broken"):         {Name: effect.Authentication, Status: "401", Code: CodeAuthentication, Detail: "invalid_client"},
		oauth("http://169.254.169.254"):    {Name: effect.Authentication, Status: "401", Code: CodeAuthentication, Detail: "refuses 169.254.169.254"},
		`{"basic":{"use":"other"}}`:        {Name: effect.Authorization, Status: "403", Code: CodeAuthentication, Detail: `no secret "other"`},
		`{"bearer":{}}`:                    {Name: effect.Authentication, Status: "401", Code: CodeAuthentication, Detail: "token is required"},
		`{"bearer":{"token":"a\r\nb: c"}}`: {Name: effect.Communication, Code: CodeUnreachable, Detail: "invalid header"},
	} {
		f := call("call:http", policy).Failure
		if f == nil || f.Name != want.Name || f.Status != want.Status || f.Code != want.Code || !strings.Contains(f.Detail, want.Detail) || strings.Contains(f.Detail, "hush") {
			t.Errorf("%s gives %+v", policy, f)
		}
	}
	// Who redirects a request for a token does not get it sent elsewhere.
	asked := false
	thief := server(t, func(nethttp.ResponseWriter, *nethttp.Request) { asked = true })
	moved := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.Redirect(w, r, thief.URL, nethttp.StatusTemporaryRedirect)
	})
	f := called(t, client(t, Limits{}), srv.URL, `{"method":"get","endpoint":{"uri":"SERVER","authentication":`+oauth(moved.URL)+`},"redirect":true}`).Failure
	if f == nil || f.Name != effect.Authentication || !strings.Contains(f.Detail, "307") || asked {
		t.Errorf("%+v, and elsewhere was asked: %t", f, asked)
	}
	slow := server(t, func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	})
	short := client(t, Limits{Timeout: 20 * time.Millisecond})
	f = called(t, short, srv.URL, `{"method":"get","endpoint":{"uri":"SERVER","authentication":`+oauth(slow.URL)+`}}`).Failure
	if f == nil || f.Name != effect.Authentication || f.Status != "401" || !strings.Contains(f.Detail, "no token") {
		t.Errorf("an authority that does not answer gives %+v", f)
	}
	// A guarded call asks for tokens under the guard.
	if out := call("call:http!", oauth(srv.URL)); out.Failure != nil || out.Value.Str() != "Bearer t2" {
		t.Errorf("%s %+v", out.Value, out.Failure)
	}
	if f := call("call:http!", oauth("http://192.0.2.1")).Failure; f == nil || f.Name != effect.Authentication || !strings.Contains(f.Detail, "allow-list") {
		t.Errorf("%+v", f)
	}
}
