package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

func value(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// keeper makes its own requests without any policy.
func keeper() *Keeper {
	return New(func(ctx context.Context, r *nethttp.Request, _ bool) (int, []byte, error) {
		client := nethttp.Client{CheckRedirect: func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }}
		a, err := client.Do(r.WithContext(ctx))
		if err != nil {
			return 0, nil, err
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		return a.StatusCode, body, err
	})
}

// send makes a request of a policy and returns status and body.
func send(t *testing.T, k *Keeper, policy, method, address, body string) (int, string, error) {
	t.Helper()
	p, err := Parse(value(t, policy), nil)
	if err != nil {
		return 0, "", err
	}
	r, err := nethttp.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	a, err := k.Send(p, false, r, nethttp.DefaultTransport.RoundTrip)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return a.StatusCode, string(text), err
}

func serve(t *testing.T, h nethttp.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestBasicAndBearer(t *testing.T) {
	address := serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		user, password, _ := r.BasicAuth()
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s:%s %s %s", user, password, r.Header.Get("Authorization"), body)
	})
	for policy, want := range map[string]string{
		`{"basic":{"username":"ada","password":"p:ä\"1"}}`: `ada:p:ä"1 Basic ` + base64.StdEncoding.EncodeToString([]byte(`ada:p:ä"1`)) + " body",
		`{"basic":{"username":"ada","password":1234}}`:     "ada:1234 Basic YWRhOjEyMzQ= body",
		`{"basic":{"username":"ada"}}`:                     "ada: Basic YWRhOg== body",
		`{"bearer":{"token":"abc.def"}}`:                   ": Bearer abc.def body",
	} {
		if _, got, err := send(t, keeper(), policy, "POST", address, "body"); err != nil || got != want {
			t.Errorf("%s gives %q, %v, want %q", policy, got, err, want)
		}
	}
}

func TestPolicies(t *testing.T) {
	secrets := func(name string) (expr.Value, bool) {
		all := map[string]string{"login": `{"username":"ada","password":"pw"}`, "token": `"abc"`, "number": `7`, "half": `{"password":"pw"}`}
		if all[name] == "" {
			return expr.Null, false
		}
		return value(t, all[name]), true
	}
	for policy, says := range map[string]string{
		`{}`:                                  "one of basic, bearer",
		`"x"`:                                 "one of basic, bearer",
		`{"use":"named"}`:                     "one of basic, bearer",
		`{"basic":{},"bearer":{}}`:            "one of basic, bearer",
		`{"certificate":{}}`:                  "one of basic, bearer",
		`{"basic":7}`:                         "must be an object",
		`{"basic":{}}`:                        "username is required",
		`{"basic":{"username":["a"]}}`:        "username must be a string",
		`{"basic":{"username":"a:b"}}`:        "colon",
		`{"bearer":{}}`:                       "token is required",
		`{"basic":{"use":"number"}}`:          "must be an object",
		`{"basic":{"use":"half"}}`:            `basic (secret "half"): username is required`,
		`{"basic":{"use":"login","x":1}}`:     "members beside use",
		`{"oauth2":{"grant":"password"}}`:     "authority is required",
		`{"oauth2":{"authority":"http://x"}}`: "grant is required",
		`{"oauth2":{"authority":"http://x","grant":"authorization_code"}}`:                                                               "needs a person",
		`{"oauth2":{"authority":"http://x","grant":"implicit"}}`:                                                                         "must be one of",
		`{"oauth2":{"authority":"x","grant":"client_credentials"}}`:                                                                      "authority must be an address",
		`{"oauth2":{"authority":"file:///x","grant":"client_credentials"}}`:                                                              "authority must be an address",
		`{"oauth2":{"authority":"http://x","grant":"client_credentials"}}`:                                                               "client.id is required",
		`{"oauth2":{"authority":"http://x","grant":"client_credentials","client":{"id":"a","authentication":"client_secret_basic"}}}`:    "client.secret is required",
		`{"oauth2":{"authority":"http://x","grant":"client_credentials","client":{"id":"a","authentication":"private_key_jwt"}}}`:        "client.assertion is required",
		`{"oauth2":{"authority":"http://x","grant":"client_credentials","client":{"id":"a","authentication":"magic"}}}`:                  "must be one of",
		`{"oauth2":{"authority":"http://x","grant":"password","client":{"id":"a"}}}`:                                                     "username is required",
		`{"oauth2":{"authority":"http://x","grant":"refresh_token","client":{"id":"a"}}}`:                                                "subject.token is required",
		`{"oauth2":{"authority":"http://x","grant":"urn:ietf:params:oauth:grant-type:token-exchange","client":{"id":"a"}}}`:              "subject must have",
		`{"oauth2":{"authority":"http://x","grant":"client_credentials","client":{"id":"a"},"scopes":[1]}}`:                              "scopes must be",
		`{"oauth2":{"authority":"http://x","grant":"client_credentials","client":{"id":"a"},"request":{"encoding":"text/plain"}}}`:       "must be one of",
		`{"oauth2":{"authority":"http://x","grant":"client_credentials","client":{"id":"a"},"endpoints":{"token":"http://evil/token"}}}`: "below the authority",
	} {
		_, err := Parse(value(t, policy), secrets)
		var e *Error
		if !errors.As(err, &e) || e.Name != effect.Authentication || e.Status() != "401" || !strings.Contains(e.Msg, says) {
			t.Errorf("%s gives %v, want one that says %q", policy, err, says)
		}
	}
	for _, lookup := range []Secret{secrets, nil} {
		_, err := Parse(value(t, `{"digest":{"use":"absent"}}`), lookup)
		var e *Error
		if !errors.As(err, &e) || e.Name != effect.Authorization || e.Status() != "403" || !strings.Contains(e.Msg, `"absent"`) {
			t.Errorf("an absent secret gives %v", err)
		}
	}
	p, err := Parse(value(t, `{"digest":{"use":"login"}}`), secrets)
	if err != nil || p.username != "ada" || p.password != "pw" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = Parse(value(t, `{"bearer":{"use":"token"}}`), secrets); err != nil || p.token != "abc" {
		t.Errorf("%+v, %v", p, err)
	}
}
