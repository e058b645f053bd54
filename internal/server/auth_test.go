package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// tokensOf makes a token for each role.
func tokensOf(t *testing.T) (map[Role]string, *Tokens) {
	t.Helper()
	byRole := map[Role]string{}
	var file strings.Builder
	file.WriteString("# who may do what\n\n")
	for _, role := range Roles {
		token, hash := NewToken()
		byRole[role] = token
		file.WriteString(`{name: t-` + string(role) + `, role: ` + string(role) + `, hash: "` + hash + `", client: c}` + "\n")
	}
	tokens, err := ParseTokens([]byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	return byRole, tokens
}

// TestRoutesByRole walks every route × role, and no token: exactly those that the table
// lets through get past the door.
func TestRoutesByRole(t *testing.T) {
	byRole, tokens := tokensOf(t)
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) { c.Tokens = tokens })
	answers := 0
	path := strings.NewReplacer("{definition}", "none", "{instance}", "none", "{ticket}", "1.1", "{code}", "not-found", "{schema}", "0.5.json")
	for _, rt := range routes {
		ask := func(token string) int {
			answers++
			w.token = token
			defer func() { w.token = "" }()
			if rt.operation == "stream" { // it would not end
				return w.do("GET", rt.path+"?q=wrong:", "").status
			}
			return w.do(rt.method, path.Replace(rt.path), "").status
		}
		for _, bad := range []string{"", "ls_wrong", byRole[Admin] + "x", strings.ToUpper(byRole[Admin])} {
			if status := ask(bad); (status == http.StatusUnauthorized) != (rt.roles != nil) {
				t.Errorf("%s with the token %q gives %d", rt.operation, bad, status)
			}
		}
		for _, role := range Roles {
			status := ask(byRole[role])
			may := rt.roles == nil || slices.Contains(rt.roles, role)
			if (status == http.StatusForbidden) == may || status == http.StatusUnauthorized {
				t.Errorf("%s as %s gives %d", rt.operation, role, status)
			}
		}
	}
	t.Logf("%d routes × (%d roles and 4 wrong tokens): %d answers as the table says", len(routes), len(Roles), answers)
}

// TestRolesMeanWhatTheySay is the table in words: what must never be.
func TestRolesMeanWhatTheySay(t *testing.T) {
	for _, rt := range routes {
		writes := rt.method != "GET" && rt.path != "/api/v1/session" // which only sets a cookie
		switch {
		case slices.Contains(rt.roles, Device):
			t.Errorf("%s is open to devices", rt.operation)
		case writes && (rt.roles == nil || slices.Contains(rt.roles, Viewer)):
			t.Errorf("%s changes something, and viewers may", rt.operation)
		case rt.roles != nil && !slices.Contains(rt.roles, Admin):
			t.Errorf("%s is closed to admins", rt.operation)
		case slices.Contains(rt.roles, EventProducer) && rt.operation != "sendEvents":
			t.Errorf("%s is open to event producers", rt.operation)
		}
	}
}

func TestAuthorizationHeader(t *testing.T) {
	byRole, tokens := tokensOf(t)
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) { c.Tokens = tokens })
	a := w.do("GET", "/api/v1/stats", "").problem(api.CodeUnauthorized)
	if a.header.Get("WWW-Authenticate") == "" {
		t.Error("no WWW-Authenticate")
	}
	w.do("GET", "/api/v1/stats", "", "Authorization", "Basic "+byRole[Admin]).problem(api.CodeUnauthorized)
	w.do("GET", "/api/v1/stats", "", "Authorization", byRole[Admin]).problem(api.CodeUnauthorized)
	w.do("GET", "/api/v1/stats", "", "Authorization", "bearer "+byRole[Viewer]).want(200)
	w.do("GET", "/api/v1/stats?token="+byRole[Viewer], "").problem(api.CodeUnauthorized)
	w.token = byRole[Viewer]
	w.do("POST", "/api/v1/events", "{}").problem(api.CodeForbidden).says("event-producer, operator, admin")
	w.do("GET", "/api/v1/stats", "", "Host", "any.example").want(200) // tokens protect it
}

func TestParseTokens(t *testing.T) {
	_, hash := NewToken()
	for _, c := range []struct{ text, says string }{
		{"", "is empty"},
		{"# nothing\n", "is empty"},
		{"{name: a, role: admin, hash: x}", "64 hexadecimal digits"},
		{"\n{name: a, role: admn, hash: \"" + hash + "\"}", `line 2: role cannot be "admn"; did you mean "admin"?`},
		{"{name: a, role: admin, hash: \"" + hash + "\"}\n{name: b, role: viewer, hash: \"" + hash + "\"}", `line 2: "b" is the same token as "a"`},
		{"{name: a, rle: admin, hash: \"" + hash + "\"}", `unknown key "rle" in the token; did you mean "role"?`},
		{"{role: admin, hash: \"" + hash + "\"}", `the token needs "name"`},
		{"{name: a, role: device, hash: \"" + hash + "\"}", "client"},
		{"{name: 1, role: admin}", "name must be a string, not a number"},
		{"name", "not an object"},
		{"[", "not an object"},
		{strings.Repeat("{\"name\": \"a\", \"role\": \"admin\", \"hash\": \""+hash+"\"}\n", 2), "duplicate name"},
	} {
		if _, err := ParseTokens([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.text, err, c.says)
		}
	}
	token, _ := NewToken()
	if !strings.HasPrefix(token, tokenPrefix) || len(token) < 26 {
		t.Errorf("the token %s", token)
	}
}

// TestOtherSites: a browser's page of another site cannot change anything, and a name
// that somebody lets lead here reads nothing.
func TestOtherSites(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) {
		c.Hosts, c.Origins = []string{"lockstep.internal"}, []string{"https://board.example"}
	})
	post := func(headers ...string) answered {
		return w.do("POST", "/api/v1/events", `{"specversion":"1.0","id":"1","source":"s","type":"t"}`, append(headers, "Content-Type", "application/cloudevents+json")...)
	}
	post().want(202)
	post("Origin", w.url).want(202)
	post("Origin", "https://evil.example").problem(api.CodeCrossOrigin)
	post("Origin", "null").problem(api.CodeCrossOrigin)
	post("Sec-Fetch-Site", "cross-site").problem(api.CodeCrossOrigin)
	post("Sec-Fetch-Site", "same-origin").want(202)
	post("Origin", "https://board.example", "Sec-Fetch-Site", "cross-site").want(202)
	w.do("GET", "/api/v1/stats", "", "Origin", "https://evil.example").want(200) // without CORS headers no page can read it
	for host, status := range map[string]int{"evil.example": 421, "evil.example:80": 421, "localhost": 200, "localhost:1": 200, "[::1]:7": 200, "10.0.0.7": 200, "Lockstep.Internal:80": 200} {
		w.do("GET", "/api/v1/stats", "", "Host", host).want(status)
	}
	if h := w.get("/api/v1/stats").header; h.Get("Access-Control-Allow-Origin") != "" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers %v", h)
	}
}

// TestListen: beyond loopback it takes tokens and TLS, or a word.
func TestListen(t *testing.T) {
	for _, c := range []struct {
		l    Listening
		safe bool
	}{
		{Listening{Address: "127.0.0.1:0"}, true},
		{Listening{Address: "localhost:0"}, true},
		{Listening{Address: "0.0.0.0:0"}, false},
		{Listening{Address: ":0"}, false},
		{Listening{Address: "[::]:0", Tokens: true}, false},
		{Listening{Address: "0.0.0.0:0", Insecure: true}, true},
	} {
		l, err := Listen(c.l)
		if err == nil {
			_ = l.Close()
		}
		if _, unsafe := errors.AsType[*UnsafeError](err); unsafe == c.safe {
			t.Errorf("%+v: %v", c.l, err)
		}
	}
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	for _, f := range []string{cert, key} {
		if err := os.WriteFile(f, []byte("no key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Listen(Listening{Address: "127.0.0.1:0", CertFile: cert, KeyFile: key}); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("a broken certificate gives %v", err)
	}
	writeCertificate(t, cert, key)
	l, err := Listen(Listening{Address: "0.0.0.0:0", CertFile: cert, KeyFile: key, Tokens: true})
	if err != nil {
		t.Fatal(err)
	}
	byRole, tokens := tokensOf(t)
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) { c.Tokens = tokens })
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, l) }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	w.url, w.token = "https://127.0.0.1:"+port, byRole[Viewer]
	w.client.Transport = witness(t, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool(t, cert)}})
	w.get("/api/v1/stats").want(200)
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := Listen(Listening{Address: "127.0.0.1:0", CertFile: cert}); err == nil {
		t.Error("a certificate without a key is taken")
	}
	if _, err := Listen(Listening{Address: "nonsense"}); err == nil {
		t.Error("nonsense is an address")
	}
}

// writeCertificate makes a certificate of 127.0.0.1 that vouches for itself.
func writeCertificate(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// pool trusts a certificate.
func pool(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	out := x509.NewCertPool()
	if !out.AppendCertsFromPEM([]byte(read(t, file))) {
		t.Fatal("no certificate")
	}
	return out
}
