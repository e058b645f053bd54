package auth

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
)

// authority is a small authorization server, with discovery.
type authority struct {
	mu        sync.Mutex
	issued    int
	requests  []url.Values // to the token endpoint
	auths     []string     // Authorization of these
	media     []string
	life      string // expires_in as JSON; "": not said
	refresh   bool   // gives refresh tokens
	refuse    func(url.Values) string
	more      string // further members
	discovers int
	arrived   chan struct{}
	wait      chan struct{}
	address   string
}

func (a *authority) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	if a.wait != nil {
		a.arrived <- struct{}{}
		<-a.wait
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, wellKnown) {
		a.discovers++
		fmt.Fprintf(w, `{"issuer":"https://issuer.example","token_endpoint":"%s/found/token"}`, a.address)
		return
	}
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	if r.Header.Get("Content-Type") == "application/json" {
		var members map[string]string
		_ = json.Unmarshal(body, &members)
		form = url.Values{}
		for k, v := range members {
			form.Set(k, v)
		}
	}
	a.requests = append(a.requests, form)
	a.auths = append(a.auths, r.Header.Get("Authorization"))
	a.media = append(a.media, r.URL.Path+" "+r.Header.Get("Content-Type"))
	if a.refuse != nil {
		if text := a.refuse(form); text != "" {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, text)
			return
		}
	}
	a.issued++
	fmt.Fprintf(w, `{"access_token":"t%d","token_type":"bearer"`, a.issued)
	if a.life != "" {
		fmt.Fprintf(w, `,"expires_in":%s`, a.life)
	}
	if a.refresh {
		fmt.Fprintf(w, `,"refresh_token":"r%d"`, a.issued)
	}
	fmt.Fprintf(w, "%s}", a.more)
}

func (a *authority) start(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	a.address = s.URL
	return s.URL
}

// echo answers with the credentials, and with 401 for those that are refused.
func echo(t *testing.T, refused ...string) string {
	return serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		got := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		for _, no := range refused {
			if got == no {
				w.WriteHeader(401)
			}
		}
		fmt.Fprint(w, got+string(body))
	})
}

// TestGrants: what is asked of the authority.
func TestGrants(t *testing.T) {
	const client = `"client":{"id":"me","secret":"s&1"}`
	for _, c := range []struct{ policy, form, auth, media string }{
		{
			`{"oauth2":{"authority":"AT/realm/","grant":"client_credentials",` + client + `,"scopes":["a","b"],"audiences":["x","y"]}}`,
			"audience=x+y&client_id=me&client_secret=s%261&grant_type=client_credentials&scope=a+b", "", "/realm/oauth2/token application/x-www-form-urlencoded",
		},
		{
			`{"oauth2":{"authority":"AT","endpoints":{"token":"protocol/token"},"grant":"password",` + client + `,"username":"u","password":"p"}}`,
			"client_id=me&client_secret=s%261&grant_type=password&password=p&username=u", "", "/protocol/token application/x-www-form-urlencoded",
		},
		{
			`{"oauth2":{"authority":"AT","grant":"refresh_token",` + client + `,"subject":{"token":"old","type":"x"}}}`,
			"client_id=me&client_secret=s%261&grant_type=refresh_token&refresh_token=old", "", "/oauth2/token application/x-www-form-urlencoded",
		},
		{
			`{"oauth2":{"authority":"AT","grant":"urn:ietf:params:oauth:grant-type:token-exchange",` + client + `,"subject":{"token":"st","type":"sk"},"actor":{"token":"at","type":"ak"}}}`,
			"actor_token=at&actor_token_type=ak&client_id=me&client_secret=s%261&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=st&subject_token_type=sk", "", "/oauth2/token application/x-www-form-urlencoded",
		},
		{
			`{"oauth2":{"authority":"AT","grant":"client_credentials","client":{"id":"m:e","secret":"s&1","authentication":"client_secret_basic"},"request":{"encoding":"application/json"}}}`,
			"grant_type=client_credentials", "Basic " + base64.StdEncoding.EncodeToString([]byte("m%3Ae:s%261")), "/oauth2/token application/json",
		},
		{
			`{"oauth2":{"authority":"AT","grant":"client_credentials","client":{"id":"me","assertion":"a.b.c","authentication":"private_key_jwt"}}}`,
			"client_assertion=a.b.c&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_id=me&grant_type=client_credentials", "", "/oauth2/token application/x-www-form-urlencoded",
		},
		{
			`{"oidc":{"authority":"AT","grant":"password","client":{"authentication":"none"},"username":"u"}}`,
			"grant_type=password&username=u", "", "/found/token application/x-www-form-urlencoded",
		},
		{
			`{"oidc":{"authority":"AT/.well-known/openid-configuration","grant":"client_credentials",` + client + `,"issuers":["https://issuer.example"]}}`,
			"client_id=me&client_secret=s%261&grant_type=client_credentials", "", "/found/token application/x-www-form-urlencoded",
		},
	} {
		a := &authority{life: "3600"}
		policy := strings.ReplaceAll(c.policy, "AT", a.start(t))
		k := keeper()
		for range 2 { // the second has the token
			if status, got, err := send(t, k, policy, "PUT", echo(t), "+body"); status != 200 || got != "t1+body" || err != nil {
				t.Errorf("%s gives %d %q %v", policy, status, got, err)
			}
		}
		if len(a.requests) != 1 || a.requests[0].Encode() != c.form || a.auths[0] != c.auth || a.media[0] != c.media {
			t.Errorf("%s asks\n %v %v %v, want\n %v", policy, a.requests, a.auths, a.media, c)
		}
	}
}

// TestSignedAssertion: of client_secret_jwt.
func TestSignedAssertion(t *testing.T) {
	a := &authority{life: "3600"}
	at := a.start(t)
	if _, _, err := send(t, keeper(), `{"oauth2":{"authority":"`+at+`","grant":"client_credentials","client":{"id":"me","secret":"key","authentication":"client_secret_jwt"}}}`, "GET", echo(t), ""); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(a.requests[0].Get("client_assertion"), ".")
	if len(parts) != 3 || a.requests[0].Get("client_secret") != "" {
		t.Fatal(a.requests[0])
	}
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	if base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) != parts[2] {
		t.Error("the signature does not hold")
	}
	claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
	v := value(t, string(claims))
	if effect.Name(v, "iss") != "me" || effect.Name(v, "sub") != "me" || effect.Name(v, "aud") != at+"/oauth2/token" || effect.Name(v, "jti") == "" {
		t.Errorf("%s", v)
	}
}

func clientPolicy(at string) string {
	return `{"oauth2":{"authority":"` + at + `","grant":"client_credentials","client":{"id":"me","secret":"hush-hush"}}}`
}

// TestRenewal: a token is renewed before it expires, with the refresh token where there is one, and
// the old one serves while the authority does not answer.
func TestRenewal(t *testing.T) {
	a := &authority{life: "100", refresh: true}
	policy, service, k := clientPolicy(a.start(t)), echo(t), keeper()
	now := time.Unix(1_000_000, 0)
	k.now = func() time.Time { return now }
	get := func() string {
		_, got, err := send(t, k, policy, "GET", service, "")
		if err != nil {
			return err.Error()
		}
		return got
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "t1"}, {89 * time.Second, "t1"}, {time.Second, "t2"}, {80 * time.Second, "t2"}} {
		now = now.Add(c.after)
		if got := get(); got != c.want {
			t.Errorf("after %s it is %s, want %s", c.after, got, c.want)
		}
	}
	if got := a.requests[1].Get("refresh_token"); got != "r1" {
		t.Errorf("renewed with %q", got)
	}
	a.refuse = func(form url.Values) string {
		if form.Get("grant_type") == "refresh_token" {
			return "too old"
		}
		return ""
	}
	now = now.Add(15 * time.Second)
	if got := get(); got != "t3" || len(a.requests) != 4 {
		t.Errorf("a refused refresh token gives %s after %d requests", got, len(a.requests))
	}
	a.refuse = func(url.Values) string { return "not now" }
	now = now.Add(95 * time.Second)
	if got := get(); got != "t3" {
		t.Errorf("while it lasts: %s", got)
	}
	now = now.Add(5 * time.Second)
	if got := get(); !strings.Contains(got, "invalid_grant: not now") {
		t.Errorf("after its end: %s", got)
	}
}

func TestLifeOfTokens(t *testing.T) {
	for life, want := range map[string][2]time.Duration{ // still the same, not any more
		"":      {unsaid - margin - time.Second, unsaid},
		`"600"`: {569 * time.Second, 571 * time.Second},
		"1e300": {300 * 24 * time.Hour, longestLife},
		"0":     {-1, 0},
		"-5":    {-1, 0},
	} {
		a := &authority{life: life}
		policy, service, k := clientPolicy(a.start(t)), echo(t), keeper()
		start := time.Unix(1_000_000, 0)
		now := start
		k.now = func() time.Time { return now }
		for i, after := range want {
			_, first, _ := send(t, k, policy, "GET", service, "")
			now = start.Add(after)
			_, second, _ := send(t, k, policy, "GET", service, "")
			if after >= 0 && (first == second) != (i == 0) {
				t.Errorf("expires_in %s: %s, after %s %s", life, first, after, second)
			}
			now = start
		}
	}
}

// TestRefusedTokens: a token that a service refuses is dropped and asked for once more.
func TestRefusedTokens(t *testing.T) {
	a := &authority{life: "3600"}
	policy, k := clientPolicy(a.start(t)), keeper()
	picky := echo(t, "t1")
	if status, got, err := send(t, k, policy, "POST", picky, "+b"); status != 200 || got != "t2+b" || err != nil {
		t.Errorf("%d %s %v", status, got, err)
	}
	if status, got, _ := send(t, k, policy, "GET", picky, ""); status != 200 || got != "t2" {
		t.Errorf("the new one is not kept: %s", got)
	}
	never := echo(t, "t2", "t3", "t4")
	if status, got, err := send(t, k, policy, "GET", never, ""); status != 401 || got != "t3" || err != nil {
		t.Errorf("%d %s %v", status, got, err)
	}
	if a.issued != 3 {
		t.Errorf("%d tokens", a.issued)
	}
}

// TestOneRequestForAll: many callers, one token, also when the first of them leaves.
func TestOneRequestForAll(t *testing.T) {
	a := &authority{life: "3600", arrived: make(chan struct{}, 10), wait: make(chan struct{})}
	policy, k := clientPolicy(a.start(t)), keeper()
	p, err := Parse(value(t, policy), nil)
	if err != nil {
		t.Fatal(err)
	}
	leaving, leave := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		_, err := k.access(leaving, p, false, "")
		left <- err
	}()
	<-a.arrived
	var wg sync.WaitGroup
	var wrong atomic.Int32
	for range 50 {
		wg.Go(func() {
			if got, err := k.access(context.Background(), p, false, ""); got != "t1" || err != nil {
				wrong.Add(1)
			}
		})
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who leaves gets %v", err)
	}
	close(a.wait)
	wg.Wait()
	if wrong.Load() != 0 || len(a.requests) != 1 {
		t.Errorf("%d of 50 without the token, %d requests", wrong.Load(), len(a.requests))
	}
}

// TestDifferentPolicies: whatever differs in a policy makes another token, and a guarded call does not
// take what another one asked for.
func TestDifferentPolicies(t *testing.T) {
	a := &authority{life: "3600"}
	at, k := a.start(t), keeper()
	seen := map[string]bool{}
	for _, more := range []string{
		"", `,"scopes":["a"]`, `,"scopes":["b"]`, `,"audiences":["a"]`, `,"client":{"id":"me","secret":"other"}`, `,"issuers":["a"]`,
	} {
		policy := `{"oauth2":{"authority":"` + at + `","grant":"client_credentials","client":{"id":"me","secret":"s"}` + more + `}}`
		policy = strings.Replace(policy, `"client":{"id":"me","secret":"s"},"client"`, `"client"`, 1)
		p, err := Parse(value(t, policy), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, guarded := range []bool{false, true} {
			got, err := k.access(context.Background(), p, guarded, "")
			if err != nil || seen[got] {
				t.Errorf("%s guarded %t gives %s, %v", more, guarded, got, err)
			}
			seen[got] = true
		}
	}
}

// TestKeptIsBounded: the limit auth-cache.
func TestKeptIsBounded(t *testing.T) {
	k := keeper()
	for i := range MaxKept + 100 {
		k.mu.Lock()
		k.slot(sha256.Sum256(fmt.Append(nil, i)))
		k.mu.Unlock()
	}
	if len(k.byKey) != MaxKept || k.used.Len() != MaxKept {
		t.Errorf("%d and %d are kept", len(k.byKey), k.used.Len())
	}
	if k.byKey[sha256.Sum256(fmt.Append(nil, MaxKept))] == nil {
		t.Error("the last used ones are not kept")
	}
}

// TestNoToken: whatever the authority does, the error is authentication and tells no credentials.
func TestNoToken(t *testing.T) {
	jwt := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://evil.example"}`)) + ".x"
	for name, c := range map[string]struct {
		serve nethttp.HandlerFunc
		kind  string
		says  string
	}{
		"500": {func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(500); io.WriteString(w, "hush-hush") }, "oauth2", "500 Internal"},
		"redirect": {func(w nethttp.ResponseWriter, r *nethttp.Request) {
			nethttp.Redirect(w, r, "/elsewhere", nethttp.StatusTemporaryRedirect)
		}, "oauth2", "307"},
		"no JSON":  {func(w nethttp.ResponseWriter, _ *nethttp.Request) { io.WriteString(w, "<html>hush-hush") }, "oauth2", "not JSON"},
		"no token": {func(w nethttp.ResponseWriter, _ *nethttp.Request) { io.WriteString(w, `{"token":"hush-hush"}`) }, "oauth2", "no access_token"},
		"mac": {func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			io.WriteString(w, `{"access_token":"hush-hush","token_type":"mac"}`)
		}, "oauth2", "only bearer"},
		"issuer":      {func(w nethttp.ResponseWriter, _ *nethttp.Request) { io.WriteString(w, `{"access_token":"`+jwt+`"}`) }, "oauth2", "not among issuers"},
		"discovery":   {func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(404) }, "oidc", "404"},
		"no endpoint": {func(w nethttp.ResponseWriter, _ *nethttp.Request) { io.WriteString(w, `{}`) }, "oidc", "no token_endpoint"},
		"bad endpoint": {func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			io.WriteString(w, `{"token_endpoint":"file:///etc/passwd"}`)
		}, "oidc", "not an address"},
		"bad issuer": {func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			io.WriteString(w, `{"issuer":"x","token_endpoint":"http://x/t"}`)
		}, "oidc", "not among issuers"},
	} {
		policy := `{"` + c.kind + `":{"authority":"` + serve(t, c.serve) + `","grant":"client_credentials","client":{"id":"me","secret":"hush-hush"},"issuers":["https://id.example"]}}`
		_, _, err := send(t, keeper(), policy, "GET", echo(t), "")
		var e *Error
		if !errors.As(err, &e) || e.Name != effect.Authentication || !strings.Contains(e.Msg, c.says) || strings.Contains(e.Msg, "hush") {
			t.Errorf("%s gives %v", name, err)
		}
	}
	// A discovery over TLS never leads to an endpoint without.
	k := New(func(context.Context, *nethttp.Request, bool) (int, []byte, error) {
		return 200, []byte(`{"token_endpoint":"http://id.example/token"}`), nil
	})
	if _, _, err := send(t, k, `{"oidc":{"authority":"https://id.example","grant":"client_credentials","client":{"id":"me"}}}`, "GET", echo(t), ""); err == nil || !strings.Contains(err.Error(), "without TLS") {
		t.Errorf("%v", err)
	}
}

// TestDiscoveryIsKept: it is asked for once an hour.
func TestDiscoveryIsKept(t *testing.T) {
	a := &authority{life: "10"}
	policy := `{"oidc":{"authority":"` + a.start(t) + `","grant":"client_credentials","client":{"id":"me"}}}`
	service, k := echo(t), keeper()
	now := time.Unix(1_000_000, 0)
	k.now = func() time.Time { return now }
	for range 5 {
		if _, _, err := send(t, k, policy, "GET", service, ""); err != nil {
			t.Fatal(err)
		}
		now = now.Add(20 * time.Minute)
	}
	if a.issued != 5 || a.discovers != 2 {
		t.Errorf("%d tokens, %d discoveries", a.issued, a.discovers)
	}
}

// TestBodyThatIsGone: a request that cannot be repeated is not.
func TestBodyThatIsGone(t *testing.T) {
	a := &authority{life: "3600"}
	p, err := Parse(value(t, clientPolicy(a.start(t))), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := nethttp.NewRequest("POST", echo(t, "t1"), io.NopCloser(bytes.NewReader([]byte("x"))))
	answer, err := keeper().Send(p, false, r, nethttp.DefaultTransport.RoundTrip)
	if err != nil || answer.StatusCode != 401 {
		t.Errorf("%+v %v", answer, err)
	}
	answer.Body.Close()
}
