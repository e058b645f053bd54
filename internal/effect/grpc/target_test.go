package grpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

func TestTargets(t *testing.T) {
	for service, want := range map[string]string{
		`{"host":"a.example"}`:                        "a.example:443",
		`{"host":"a.example","port":0}`:               "a.example:443",
		`{"host":"a.example","port":5011}`:            "a.example:5011",
		`{"host":"https://a.example","port":50}`:      "a.example:50",
		`{"host":"grpcs://a.example"}`:                "a.example:443",
		`{"host":"grpc://a.example"}`:                 "a.example:80 plain",
		`{"host":"HTTP://a.example","port":5011}`:     "a.example:5011 plain",
		`{"host":"localhost"}`:                        "localhost:443 local",
		`{"host":"localhost","port":443}`:             "localhost:443 local",
		`{"host":"localhost","port":5011}`:            "localhost:5011 plain local",
		`{"host":"api.localhost.","port":5011}`:       "api.localhost.:5011 plain local",
		`{"host":"https://localhost","port":50}`:      "localhost:50 local",
		`{"host":"127.8.8.8","port":50}`:              "127.8.8.8:50 plain local",
		`{"host":"::1","port":50}`:                    "[::1]:50 plain local",
		`{"host":"[::1]","port":50}`:                  "[::1]:50 plain local",
		`{"host":"::ffff:127.0.0.1","port":50}`:       "127.0.0.1:50 plain local",
		`{"host":"10.0.0.1","port":50}`:               "10.0.0.1:50",
		`{"host":"localhost.evil.example","port":50}`: "localhost.evil.example:50",
		`{}`:                        "error service.host is required",
		`{"host":"https://"}`:       "error service.host is required",
		`{"host":"a:50"}`:           "error must not have a port",
		`{"host":"http://a:50"}`:    "error must not have a port",
		`{"host":"ftp://a"}`:        "error begins with \"ftp://\"",
		`{"host":"a b"}`:            "error must be a name",
		`{"host":"a/b"}`:            "error must be a name",
		`{"host":"u@a"}`:            "error must be a name",
		`{"host":"a","port":70000}`: "error service.port",
		`{"host":"a","port":"50"}`:  "error service.port",
		`{"host":5}`:                "error service.host is required",
	} {
		v, err := expr.ParseJSON([]byte(service))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readTarget(v, false)
		text := got.address
		if got.plain {
			text += " plain"
		}
		if got.local {
			text += " local"
		}
		if part, fails := strings.CutPrefix(want, "error "); fails && err != nil && strings.Contains(err.Error(), part) {
			continue
		}
		if err != nil || text != want {
			t.Errorf("%s is %q %v, want %q", service, text, err, want)
		}
	}
}

// certified returns the options of a server with TLS, and what a client must trust.
func certified(t *testing.T) (grpc.ServerOption, *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return grpc.Creds(credentials.NewServerTLSFromCert(&s.TLS.Certificates[0])), &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// TestTLS: the certificate must be trusted, and be that of the host.
func TestTLS(t *testing.T) {
	option, trusted := certified(t)
	s, i := newService(t, option), newInvoker(t, effecthttp.Limits{})
	secure := func(host string) string { return strings.ReplaceAll(s.with("Place", `{}`), s.host, host) }
	const operation = "call:grpc:shop.proto#Orders/Place"
	if f := s.invoke(i, operation, secure("https://127.0.0.1")).Failure; f == nil || f.Code != "UNAVAILABLE" || !strings.Contains(f.Detail, "certificate") {
		t.Errorf("an unknown certificate: %+v", f)
	}
	i.pool.tls = trusted
	if out := s.invoke(i, operation, secure("https://127.0.0.1")); out.Failure != nil {
		t.Errorf("%+v", out.Failure)
	}
	// Without TLS the server does not understand a word.
	if f := s.invoke(i, operation, secure("127.0.0.1")).Failure; f == nil || f.Code != "UNAVAILABLE" {
		t.Errorf("%+v", f)
	}
	i.pool.dial = func(ctx context.Context, network, _ string, guarded bool) (net.Conn, error) {
		return i.client.Dial(ctx, network, net.JoinHostPort(s.host, strconv.Itoa(s.port)), guarded)
	}
	if f := s.invoke(i, operation, secure("other.test")).Failure; f == nil || f.Code != "UNAVAILABLE" || !strings.Contains(f.Detail, "other.test") {
		t.Errorf("the certificate of another host: %+v", f)
	}
}

// TestCredentials: as metadata, and never where they could be read on the way.
func TestCredentials(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	with := func(host, authentication string) string {
		return strings.ReplaceAll(s.with("Place", `{}`), `"host":"127.0.0.1"`, `"host":"`+host+`","authentication":`+authentication)
	}
	const operation = "call:grpc:shop.proto#Orders/Place"
	for policy, want := range map[string]string{
		`{"bearer":{"token":"T"}}`: "Bearer T", `{"basic":{"username":"u","password":"p"}}`: "Basic dTpw",
	} {
		out := s.invoke(i, operation, with("127.0.0.1", policy))
		s.mu.Lock()
		if got := s.meta.Get("authorization"); out.Failure != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v %+v", policy, got, out.Failure)
		}
		s.mu.Unlock()
	}
	// The arguments may refer to them.
	args := strings.ReplaceAll(with("127.0.0.1", `{"bearer":{"token":"T"}}`), `"arguments":{}`, `"arguments":{"orderId":"‹authorization parameter›"}`)
	out := s.invoke(i, "call:grpc$:shop.proto#Orders/Place", args)
	if got, _ := out.Value.Get("orderId"); got.Str() != "T" {
		t.Errorf("%s %+v", out.Value, out.Failure)
	}
	for _, c := range []struct{ host, policy, name, want string }{
		{"127.0.0.1", `{"digest":{"username":"u","password":"p"}}`, effect.Authentication, "gRPC has no digest"},
		{"127.0.0.1", `{"bearer":{"use":"nope"}}`, effect.Authorization, `no secret "nope"`},
		{"127.0.0.1", `{"bearer":{"token":"a\nb"}}`, effect.Communication, "a character that metadata cannot have"},
		{"http://other.test", `{"bearer":{"token":"T"}}`, effect.Communication, "not sent without TLS"},
		{"grpc://192.0.2.1", `{"basic":{"username":"u"}}`, effect.Communication, "not sent without TLS"},
	} {
		if f := s.invoke(i, operation, with(c.host, c.policy)).Failure; f == nil || f.Name != c.name || !strings.Contains(f.Detail, c.want) {
			t.Errorf("%s at %s gives %+v", c.policy, c.host, f)
		}
	}
}

// TestRefusedTokens: one that the service does not know any more is asked for again, once.
func TestRefusedTokens(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	tokens := 0
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tokens++
		fmt.Fprintf(w, `{"access_token":"t%d","expires_in":3600}`, tokens)
	}))
	t.Cleanup(issuer.Close)
	good := "Bearer t1"
	s.answer = func(out grpc.ServerStream, _ string, _ *dynamicpb.Message) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.meta.Get("authorization")[0] != good {
			return status.Error(codes.Unauthenticated, "who are you?")
		}
		return out.SendMsg(s.item("x"))
	}
	call := func(method, policy string) effect.Outcome {
		return s.invoke(i, "call:grpc:shop.proto#Orders/"+method, strings.ReplaceAll(s.with(method, `{}`), `"host":`, `"authentication":`+policy+`,"host":`))
	}
	oauth := `{"oauth2":{"authority":"` + issuer.URL + `","grant":"client_credentials","client":{"id":"me","secret":"hush"}}}`
	for _, good = range []string{"Bearer t1", "Bearer t2", "Bearer t2"} {
		if out := call("Watch", oauth); out.Failure != nil {
			t.Errorf("%s: %+v", good, out.Failure)
		}
	}
	good = "nobody"
	if f := call("Place", oauth).Failure; f == nil || f.Code != "UNAUTHENTICATED" || tokens != 3 {
		t.Errorf("after %d tokens: %+v", tokens, f)
	}
	if f := call("Place", `{"bearer":{"token":"T"}}`).Failure; f == nil || f.Code != "UNAUTHENTICATED" || tokens != 3 {
		t.Errorf("after %d tokens: %+v", tokens, f)
	}
	issuer.Close()
	if f := call("Place", oauth).Failure; f == nil || f.Name != effect.Authentication {
		t.Errorf("%+v", f)
	}
}

// TestLocalhostThatLeadsElsewhere: it is trusted for its name.
func TestLocalhostThatLeadsElsewhere(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	i.pool.dial = func(ctx context.Context, network, address string, guarded bool) (net.Conn, error) {
		conn, err := i.client.Dial(ctx, network, net.JoinHostPort(s.host, strconv.Itoa(s.port)), guarded)
		return elsewhere{conn}, err
	}
	if f := s.do(i, "Place", `{}`).Failure; f == nil || f.Code != effecthttp.CodeRefused || !strings.Contains(f.Detail, "192.0.2.7, which is not this machine") {
		t.Errorf("%+v", f)
	}
}

type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 1} }

// TestPolicy: what is dialled is what the operator allows, more so where data chose it.
func TestPolicy(t *testing.T) {
	s := newService(t)
	const operation = "call:grpc:shop.proto#Orders/Place"
	i := newInvoker(t, effecthttp.Limits{}, "10.0.0.0/8")
	for range 2 { // nor the second time
		if f := s.invoke(i, operation, s.with("Place", `{}`)).Failure; f == nil || f.Name != effect.Communication || f.Code != effecthttp.CodeRefused || f.Status != "" || !strings.Contains(f.Detail, "--outbound-allow") {
			t.Errorf("%+v", f)
		}
	}
	i = newInvoker(t, effecthttp.Limits{})
	if f := s.invoke(i, "call:grpc!:shop.proto#Orders/Place", strings.ReplaceAll(s.with("Place", `{}`), s.host, "192.0.2.1")).Failure; f == nil || f.Code != effecthttp.CodeRefused || !strings.Contains(f.Detail, "an expression chose") {
		t.Errorf("%+v", f)
	}
	if out := s.invoke(i, "call:grpc!:shop.proto#Orders/Place", s.with("Place", `{}`)); out.Failure != nil {
		t.Errorf("%+v", out.Failure)
	}
	t.Setenv("HTTPS_PROXY", "http://192.0.2.1:1")
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1")
	if out := s.invoke(newInvoker(t, effecthttp.Limits{}), operation, s.with("Place", `{}`)); out.Failure != nil {
		t.Errorf("with a proxy in the environment: %+v", out.Failure)
	}
}

// TestConnections: few are kept, none of them in vain, and one that cannot be made is tried again by the next call.
func TestConnections(t *testing.T) {
	s, i := newService(t), newInvoker(t, effecthttp.Limits{})
	broken, dialled := true, 0
	i.pool.dial = func(ctx context.Context, network, address string, guarded bool) (net.Conn, error) {
		dialled++
		if broken {
			return nil, errors.New("no route")
		}
		return i.client.Dial(ctx, network, address, guarded)
	}
	for n := 1; n <= 3; n++ {
		if f := s.do(i, "Place", `{}`).Failure; f == nil || f.Code != "UNAVAILABLE" || f.Status != "503" || !strings.Contains(f.Detail, "no route") || dialled != n {
			t.Errorf("after %d calls it was dialled %d times: %+v", n, dialled, f)
		}
	}
	broken = false
	for range 3 {
		if out := s.do(i, "Place", `{}`); out.Failure != nil {
			t.Errorf("%+v", out.Failure)
		}
	}
	if dialled != 4 {
		t.Errorf("dialled %d times", dialled)
	}
	first, err := i.pool.get(target{address: "h:0"})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 * maxConnections {
		c, err := i.pool.get(target{address: "h:" + strconv.Itoa(n+1)})
		if err != nil {
			t.Fatal(err)
		}
		i.pool.put(c)
	}
	if n := i.pool.kept.used.Len(); n != maxConnections || !first.gone || first.GetState().String() == "SHUTDOWN" {
		t.Errorf("%d are kept; the one in use is %s", n, first.GetState())
	}
	i.pool.put(first)
	if first.GetState().String() != "SHUTDOWN" {
		t.Error("what is not kept is not closed when it is given back")
	}
	i.client.Close()
	if n := i.pool.kept.used.Len(); n != 0 {
		t.Errorf("%d are kept after Close", n)
	}
}
