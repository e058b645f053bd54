package server

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// oneToken is a token and its line in a tokens file, with more keys.
func oneToken(name string, role Role, more string) (token, line string) {
	token, hash := NewToken()
	return token, fmt.Sprintf("{name: %s, role: %s, hash: %q%s}\n", name, role, hash, more)
}

func parse(t *testing.T, lines ...string) *Tokens {
	t.Helper()
	tokens, err := ParseTokens([]byte(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func asked(w *world, token, method, path, body string) answered {
	w.t.Helper()
	return w.do(method, path, body, "Authorization", "Bearer "+token)
}

// TestTokenOptions: what a line may say beside name, role and hash, and what is refused.
func TestTokenOptions(t *testing.T) {
	for more, says := range map[string]string{
		", expires: tomorrow":           "expires must be a day",
		", expires: 5":                  "expires must be a day",
		", sources: [/a]":               "only the role event-producer has sources",
		", expires: 2027-01-31, x: 1":   "unknown key",
		", expires: [2027-01-31]":       "expires must be a day",
		", expires: 2027-02-30":         "expires must be a day",
		", expires: 2027-01-31T1:00:00": "expires must be a day",
	} {
		_, line := oneToken("a", Admin, more)
		if _, err := ParseTokens([]byte(line)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", more, err, says)
		}
	}
	for _, sources := range []string{"[]", "/a", "[1]", `[""]`, `["/*/a"]`, "[" + strings.Repeat("a,", maxSources+1) + "]"} {
		_, line := oneToken("a", EventProducer, ", sources: "+sources)
		if _, err := ParseTokens([]byte(line)); err == nil || !strings.Contains(err.Error(), "source") {
			t.Errorf("%.20s: %v", sources, err)
		}
	}
}

// TestTokensExpire: a token is refused from the instant that its line has; a day counts to its end.
func TestTokensExpire(t *testing.T) {
	yesterday := time.Now().UTC().AddDate(0, 0, -1)
	gone, a := oneToken("gone", Viewer, ", expires: "+yesterday.Format(time.DateOnly))
	today, b := oneToken("today", Viewer, ", expires: "+time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly))
	past, c := oneToken("past", Device, `, client: x, expires: "`+yesterday.Format(time.RFC3339)+`"`)
	admin, d := oneToken("root", Admin, "")
	tokens := parse(t, a, b, c, d)
	w := newWorldAtRest(t, newMemory(), func(cfg *Config, _ *engine.Config) {
		cfg.Tokens, cfg.Client = tokens, Devices{Tokens: tokens}.Client
	})
	asked(w, gone, "GET", "/api/v1/stats", "").problem(api.CodeUnauthorized).says(`the token \"gone\" expired on`)
	w.do("POST", "/api/v1/session", `{"token":"`+gone+`"}`).problem(api.CodeUnauthorized).says("expired on")
	asked(w, today, "GET", "/api/v1/stats", "").want(200)
	south := ask(w.server.South(), func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+past) }, "GET", "/api/wfx/v1/jobs")
	if south.Code != 401 || !strings.Contains(south.Body.String(), "expired") {
		t.Errorf("a device: %d %s", south.Code, south.Body)
	}
	list := asked(w, admin, "GET", "/api/v1/tokens", "").want(200)
	list.says(`"name":"gone","role":"viewer"`).says(`"expired":true`)
	if strings.Contains(list.text, "sha256") || strings.Contains(list.text, gone) {
		t.Errorf("it tells too much: %s", list.text)
	}
	asked(w, today, "GET", "/api/v1/tokens", "").problem(api.CodeForbidden)
}

// TestEventProducersHaveSources: a token that is tied to sources cannot take the id of another's event first.
func TestEventProducersHaveSources(t *testing.T) {
	bank, a := oneToken("bank", EventProducer, `, sources: [/bank, "/branches/*"]`)
	free, b := oneToken("free", EventProducer, "")
	tokens := parse(t, a, b)
	w := newWorldAtRest(t, newMemory(), func(cfg *Config, _ *engine.Config) { cfg.Tokens = tokens })
	send := func(token, source, id string) answered {
		return w.do("POST", "/api/v1/events", fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":%q,"type":"t"}`, id, source),
			"Authorization", "Bearer "+token, "Content-Type", "application/cloudevents+json")
	}
	for i, source := range []string{"/bank", "/branches/", "/branches/7"} {
		send(bank, source, fmt.Sprint(i)).want(202)
	}
	for _, source := range []string{"/bank/", "/ban", "/branche", "/", "/other"} {
		send(bank, source, "x").problem(api.CodeForbidden).says(`the token \"bank\" may not send events of the source`).says("/bank, /branches/*")
	}
	send(free, "/other", "x").want(202)
	batch := `[{"specversion":"1.0","id":"b1","source":"/bank","type":"t"},{"specversion":"1.0","id":"b2","source":"/other","type":"t"}]`
	w.do("POST", "/api/v1/events", batch, "Authorization", "Bearer "+bank, "Content-Type", "application/cloudevents-batch+json").problem(api.CodeForbidden)
	send(free, "/bank", "b1").want(202).says(`"accepted":1`) // nothing of the batch was stored
	for source, want := range map[string]int{"/bank": 202, "/branches/%37": 202, "/other": 403, "/ban%6b/x": 403, "/%62ank": 202} {
		w.do("POST", "/api/v1/events", "{}", "Authorization", "Bearer "+bank, "Ce-Specversion", "1.0", "Ce-Id", "binary"+source, "Ce-Source", source, "Ce-Type", "t").want(want)
	}
	for _, twice := range []string{`{"specversion":"1.0","id":"d","source":"/bank","source":"/other","type":"t"}`, `{"specversion":"1.0","id":"d","source":"/other","SOURCE":"/bank","type":"t"}`} {
		if a := w.do("POST", "/api/v1/events", twice, "Authorization", "Bearer "+bank, "Content-Type", "application/cloudevents+json"); a.status == 202 {
			t.Errorf("%s: %s", twice, a.text)
		}
	}
}

// signIn opens a session and returns its cookie.
func signIn(w *world, token string) string {
	w.t.Helper()
	cookie, _, _ := strings.Cut(w.do("POST", "/api/v1/session", `{"token":"`+token+`"}`).want(200).header.Get("Set-Cookie"), ";")
	return cookie
}

// TestSessionsOfEveryServer: a session that one server opened is valid on another over the same store, until it ends: by
// itself, by its owner, or with its token. The cookie has nothing of the token, and the store neither.
func TestSessionsOfEveryServer(t *testing.T) {
	s := newMemory()
	token, a := oneToken("ada", Operator, "")
	admin, b := oneToken("root", Admin, "")
	servers := make([]*world, 2)
	for i := range servers {
		tokens := parse(t, a, b)
		servers[i] = newWorldAtRest(t, s, func(cfg *Config, _ *engine.Config) { cfg.Tokens = tokens })
		servers[i].server.cfg.Hosts = []string{"h"}
	}
	cookie := func(on *world, cookie string, status int) {
		t.Helper()
		// the cookie's name has the port of its server
		_, value, _ := strings.Cut(cookie, "=")
		on.server.sessions.seen = nil // sessionPause has passed
		on.do("GET", "/api/v1/stats", "", "Host", "h", "Cookie", sessionCookie+"="+value).want(status)
	}
	one := signIn(servers[0], token)
	if strings.Contains(one, token) || strings.Contains(one, strings.TrimPrefix(token, tokenPrefix)) {
		t.Errorf("the cookie has the token: %s", one)
	}
	notes, err := s.Notes(t.Context(), sessionKind, "", 10)
	if _, value, _ := strings.Cut(one, "."); err != nil || len(notes) != 1 || strings.Contains(notes[0].Key+notes[0].Value, value) || strings.Contains(notes[0].Value, token) {
		t.Errorf("the store has %+v, %v", notes, err)
	}
	for _, on := range servers {
		cookie(on, one, 200)
		cookie(on, one+"x", 401)
		cookie(on, strings.Replace(one, ".", ".x", 1), 401)
	}
	_, value, _ := strings.Cut(one, "=")
	servers[1].do("DELETE", "/api/v1/session", "", "Host", "h", "Cookie", sessionCookie+"="+value).want(204)
	for _, on := range servers {
		cookie(on, one, 401)
	}
	two := signIn(servers[0], token)
	cookie(servers[1], two, 200)
	asked(servers[0], admin, "POST", "/api/v1/revocations", `{"token":"ada","reason":"left"}`).want(201).is("token", `"ada"`).is("by", `"root"`)
	servers[1].server.revocations.changed() // revocationPause has passed
	for _, on := range servers {
		cookie(on, two, 401)
		asked(on, token, "GET", "/api/v1/stats", "").problem(api.CodeUnauthorized).says("was revoked")
	}
	servers[0].do("POST", "/api/v1/session", `{"token":"`+token+`"}`).problem(api.CodeUnauthorized)
	asked(servers[1], admin, "GET", "/api/v1/tokens", "").says(`"name":"ada","role":"operator","revoked":true`)
	id := asked(servers[1], admin, "GET", "/api/v1/revocations", "").want(200).str("items.0.id")
	asked(servers[1], admin, "DELETE", "/api/v1/revocations/"+id, "").want(204)
	asked(servers[1], token, "GET", "/api/v1/stats", "").want(200)
	cookie(servers[1], two, 200)
	// A token that is taken out of the file ends its sessions.
	servers[1].server.SetTokens(parse(t, b))
	cookie(servers[1], two, 401)
}

// TestSessionsEnd: after their time, and the first of too many.
func TestSessionsEnd(t *testing.T) {
	s, clock := newMemory(), engine.NewVirtualClock(time.Now())
	token, line := oneToken("ada", Operator, "")
	w := newWorldAtRest(t, s, func(cfg *Config, e *engine.Config) { cfg.Tokens, cfg.Clock, e.Clock = parse(t, line), clock, clock })
	status := func(cookie string) int {
		w.server.sessions.seen = nil // sessionPause has passed
		return w.do("GET", "/api/v1/stats", "", "Cookie", cookie).status
	}
	first := signIn(w, token)
	clock.Advance(clock.Now().Add(DefaultLimits.Session - time.Minute))
	if got := status(first); got != 200 {
		t.Errorf("shortly before its end: %d", got)
	}
	clock.Advance(clock.Now().Add(2 * time.Minute))
	if got := status(first); got != 401 {
		t.Errorf("after its end: %d", got)
	}
	var all []string
	for range maxSessions + 2 {
		all = append(all, signIn(w, token))
		clock.Advance(clock.Now().Add(time.Second))
	}
	notes, err := s.Notes(t.Context(), sessionKind, "", 2*maxSessions)
	if err != nil || len(notes) != maxSessions {
		t.Errorf("%d sessions, %v", len(notes), err)
	}
	if a, b := status(all[0]), status(all[2]); a != 401 || b != 200 {
		t.Errorf("the first session gives %d, the third %d", a, b)
	}
}

// TestSessionCookieOverTLS: only over TLS, and only of this host.
func TestSessionCookieOverTLS(t *testing.T) {
	token, line := oneToken("ada", Operator, "")
	for _, behind := range []bool{false, true} {
		w := newWorldAtRest(t, newMemory(), func(cfg *Config, _ *engine.Config) { cfg.Tokens, cfg.BehindTLS = parse(t, line), behind })
		set := ask(w.server.Handler(), func(r *http.Request) {
			*r = *postJSON("/api/v1/session", `{"token":"`+token+`"}`)
			if !behind {
				r.TLS = &tls.ConnectionState{}
			}
		}, "POST", "/api/v1/session").Header().Get("Set-Cookie")
		for _, part := range []string{"__Host-" + sessionCookie + "=", "; Secure", "; HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"} {
			if !strings.Contains(set, part) || strings.Contains(set, "Domain") {
				t.Errorf("behind a proxy %v: the cookie %q has no %s", behind, set, part)
			}
		}
	}
}

// TestRevocationsAreChecked: bad names and numbers are told.
func TestRevocationsAreChecked(t *testing.T) {
	admin, line := oneToken("root", Admin, "")
	viewer, other := oneToken("v", Viewer, "")
	w := newWorldAtRest(t, newMemory(), func(cfg *Config, _ *engine.Config) { cfg.Tokens = parse(t, line, other) })
	for _, body := range []string{`{}`, `{"token":"v","certificate":"1"}`} {
		asked(w, admin, "POST", "/api/v1/revocations", body).problem(api.CodeInput)
	}
	asked(w, admin, "POST", "/api/v1/revocations", `{"token":"none"}`).problem(api.CodeNotFound)
	for _, serial := range []string{"x", "-1", "0x10", " 1", strings.Repeat("1", 41)} {
		asked(w, admin, "POST", "/api/v1/revocations", `{"certificate":"`+serial+`"}`).want(422)
	}
	asked(w, admin, "POST", "/api/v1/revocations", `{"certificate":"1","reason":"`+strings.Repeat("x", maxReason+1)+`"}`).problem(api.CodeTooLarge)
	asked(w, viewer, "POST", "/api/v1/revocations", `{"token":"root"}`).problem(api.CodeForbidden)
	asked(w, admin, "POST", "/api/v1/revocations", `{"certificate":"00:3A:5f"}`).want(201).is("certificate", `"3a5f"`)
	asked(w, admin, "DELETE", "/api/v1/revocations/certificate-3a5f", "").want(204)
	asked(w, admin, "DELETE", "/api/v1/revocations/certificate-3a5f", "").problem(api.CodeNotFound)
}

// TestRevokedCertificates: a device whose certificate its authority, or an administrator, revoked is refused with its
// next request, on a connection that is open, too.
func TestRevokedCertificates(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	leaf := func(a *authority, serial int64) *x509.Certificate {
		file, _ := a.issue(func(c *x509.Certificate) { named("dana")(c); c.SerialNumber = big.NewInt(serial) })
		block, _ := pem.Decode([]byte(read(t, file)))
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	due := time.Now().Add(time.Hour)
	lists := func(a *authority, kind string, serials ...int64) string {
		template := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().AddDate(0, 0, -1), NextUpdate: due}
		for _, serial := range serials {
			template.RevokedCertificateEntries = append(template.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: big.NewInt(serial), RevocationTime: time.Now()})
		}
		der, err := x509.CreateRevocationList(rand.Reader, template, a.cert, a.key)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "list.crl")
		if kind == "PEM" {
			a.write(file, "X509 CRL", der)
		} else if err := os.WriteFile(file, der, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	crl, err := NewCRL(lists(ca, "PEM", 7), ca.file)
	if err != nil {
		t.Fatal(err)
	}
	admin, line := oneToken("root", Admin, "")
	var told bytes.Buffer
	w := newWorldAtRest(t, newMemory(), func(cfg *Config, _ *engine.Config) {
		cfg.Log = slog.New(slog.NewTextHandler(&told, nil))
		cfg.Tokens, cfg.Client, cfg.CRL = parse(t, line), Devices{Certificates: CommonName}.Client, crl
	})
	status := func(cert *x509.Certificate, a *authority) int {
		return ask(w.server.South(), func(r *http.Request) {
			r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{cert, a.cert}}}
		}, "GET", "/api/wfx/v1/jobs").Code
	}
	if a, b := status(leaf(ca, 7), ca), status(leaf(ca, 8), ca); a != 401 || b != 200 {
		t.Errorf("on the list: %d, not on it: %d", a, b)
	}
	crl.file = lists(ca, "DER", 8)
	use, err := crl.Read()
	if err != nil {
		t.Fatal(err)
	}
	use()
	if a, b := status(leaf(ca, 7), ca), status(leaf(ca, 8), ca); a != 200 || b != 401 {
		t.Errorf("after reading it again: %d and %d", a, b)
	}
	asked(w, admin, "POST", "/api/v1/revocations", `{"certificate":"07"}`).want(201)
	if a := status(leaf(ca, 7), ca); a != 401 {
		t.Errorf("revoked by an administrator: %d", a)
	}
	// One that names the issuer leaves the certificates of other authorities with the same number alone.
	elsewhere := leaf(ca, 9)
	elsewhere.Issuer.CommonName = "elsewhere"
	body := fmt.Sprintf(`{"certificate":"9","issuer":%q}`, elsewhere.Issuer.String())
	revocation := asked(w, admin, "POST", "/api/v1/revocations", body).want(201).is("certificate", `"9"`).t2("id")
	if a, b := status(leaf(ca, 9), ca), status(elsewhere, stranger); a != 200 || b != 401 {
		t.Errorf("of the issuer: %d, of another: %d", b, a)
	}
	asked(w, admin, "POST", "/api/v1/revocations", `{"token":"root","issuer":"CN=x"}`).problem(api.CodeInput)
	asked(w, admin, "DELETE", "/api/v1/revocations/"+revocation, "").want(204)
	if a := status(elsewhere, stranger); a != 200 {
		t.Errorf("restored: %d", a)
	}
	// A list that should have been renewed stays in force, and people are told.
	if strings.Contains(told.String(), "out of date") {
		t.Error("a list is out of date that is not")
	}
	due = time.Now().Add(-time.Hour)
	crl.file = lists(ca, "PEM", 8)
	if use, err = crl.Read(); err != nil {
		t.Fatal(err)
	}
	use()
	for range 3 {
		if a, b := status(leaf(ca, 8), ca), status(leaf(ca, 9), ca); a != 401 || b != 200 {
			t.Errorf("out of date: on the list %d, not on it %d", a, b)
		}
	}
	if n := strings.Count(told.String(), "out of date"); n != 1 {
		t.Errorf("told %d times: %s", n, told.String())
	}
	asked(w, admin, "GET", "/metrics", "").says(fmt.Sprint("lockstep_crl_next_update_seconds ", due.Unix()))
	for _, file := range []string{lists(stranger, "PEM", 9), ca.file, filepath.Join(t.TempDir(), "none")} {
		if _, err := NewCRL(file, ca.file); err == nil || !strings.Contains(err.Error(), "revocation list") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
