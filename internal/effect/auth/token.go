package auth

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

const (
	// margin is how long before its end a token is renewed, unless a tenth of its life is shorter.
	margin = 30 * time.Second
	// unsaid is how long a token counts whose end the authority does not say.
	unsaid = 5 * time.Minute
	// longestLife bounds what an authority says, so that times can be computed with.
	longestLife = 365 * 24 * time.Hour
	// rediscover is how long a discovered endpoint counts.
	rediscover = time.Hour
	wellKnown  = "/.well-known/openid-configuration"
)

// token is an access token, with the token to renew it if there is one.
type token struct {
	access, refresh string
	renew, end      time.Time
}

// flight is one request for a token, for all that need it.
type flight struct {
	done   chan struct{}
	access string
	err    error
}

// access returns an access token other than not, which a service refused.
func (k *Keeper) access(ctx context.Context, p *Policy, guarded bool, not string) (string, error) {
	key := p.key
	if guarded {
		key[0] ^= 1 // what was asked for without a guard does not count for what has one
	}
	k.mu.Lock()
	s := k.slot(key)
	if not != "" && s.token.access == not {
		s.token = token{}
	}
	if s.token.access != "" && k.now().Before(s.token.renew) {
		defer k.mu.Unlock()
		return s.token.access, nil
	}
	f := s.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.flight = f
		// Whoever asked first may leave; the others still wait.
		go k.fly(context.WithoutCancel(ctx), p.grant, guarded, s, f)
	}
	k.mu.Unlock()
	select {
	case <-f.done:
		return f.access, f.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", failf("no token from %s came in time", p.grant.authority)
		}
		return "", ctx.Err()
	}
}

// fly asks for a token. Where that fails, the one that was to be renewed counts while it lasts.
func (k *Keeper) fly(ctx context.Context, g *grant, guarded bool, s *slot, f *flight) {
	k.mu.Lock()
	refresh := s.token.refresh
	k.mu.Unlock()
	var got token
	err := errors.New("not asked yet")
	if refresh != "" {
		got, err = k.request(ctx, g, guarded, refresh)
	}
	if err != nil {
		got, err = k.request(ctx, g, guarded, "")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		s.token = got
	case s.token.access != "" && k.now().Before(s.token.end):
		err = nil
	default:
		s.token = token{}
	}
	f.access, f.err, s.flight = s.token.access, err, nil
	close(f.done)
}

// request asks the token endpoint, with a refresh token if there is one.
func (k *Keeper) request(ctx context.Context, g *grant, guarded bool, refresh string) (token, error) {
	endpoint, err := k.endpoint(ctx, g, guarded)
	if err != nil {
		return token{}, err
	}
	r, err := g.message(endpoint, refresh, k.now())
	if err != nil {
		return token{}, failf("no token from %s: the request cannot be made", endpoint)
	}
	status, body, err := k.exchange(ctx, r, guarded)
	if err != nil {
		return token{}, failf("no token from %s: %v", endpoint, err)
	}
	v, parseErr := expr.ParseJSON(body)
	if status != nethttp.StatusOK {
		said := ""
		for _, name := range []string{"error", "error_description"} {
			if text := effect.Name(v, name); text != "" {
				said += ": " + text
			}
		}
		return token{}, failf("no token from %s: the answer is %d %s%s", endpoint, status, nethttp.StatusText(status), said)
	}
	if parseErr != nil {
		return token{}, failf("no token from %s: the answer is not JSON", endpoint)
	}
	return g.read(v, endpoint, k.now())
}

// read takes a token from an answer.
func (g *grant) read(v expr.Value, endpoint string, now time.Time) (token, error) {
	t := token{access: effect.Name(v, "access_token"), refresh: effect.Name(v, "refresh_token")}
	if t.access == "" {
		return token{}, failf("no token from %s: the answer has no access_token", endpoint)
	}
	if kind := effect.Name(v, "token_type"); kind != "" && !strings.EqualFold(kind, "bearer") && kind != "N_A" {
		return token{}, failf("the token from %s is of type %q, and only bearer tokens can be used", endpoint, kind)
	}
	if issuer, ok := issuerOf(t.access); ok && len(g.issuers) > 0 && !slices.Contains(g.issuers, issuer) {
		return token{}, failf("the token from %s is of the issuer %q, which is not among issuers", endpoint, issuer)
	}
	life := unsaid
	if seconds, err := strconv.ParseFloat(effect.Text(v, "expires_in"), 64); err == nil {
		life = time.Duration(min(max(seconds, 0), longestLife.Seconds()) * float64(time.Second))
	}
	t.end = now.Add(life)
	t.renew = t.end.Add(-min(margin, life/10))
	return t, nil
}

// issuerOf is the issuer of a token that is a JWT. Its signature is for the service to check.
func issuerOf(access string) (string, bool) {
	parts := strings.Split(access, ".")
	if len(parts) != 3 {
		return "", false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", false
	}
	v, err := expr.ParseJSON(text)
	if err != nil || !v.IsObject() {
		return "", false
	}
	return effect.Name(v, "iss"), true
}

// endpoint is where tokens are.
func (k *Keeper) endpoint(ctx context.Context, g *grant, guarded bool) (string, error) {
	if !g.discover {
		return g.authority + "/" + strings.TrimPrefix(g.path, "/"), nil
	}
	address := g.authority
	if !strings.HasSuffix(address, wellKnown) {
		address += wellKnown
	}
	key := sha256.Sum256(fmt.Appendf(nil, "discovery\x00%t\x00%s\x00%q", guarded, address, g.issuers))
	k.mu.Lock()
	s := k.slot(key)
	known := s.endpoint
	if !k.now().Before(s.until) {
		known = ""
	}
	k.mu.Unlock()
	if known != "" {
		return known, nil
	}
	found, err := k.discover(ctx, g, address, guarded)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	s.endpoint, s.until = found, k.now().Add(rediscover)
	k.mu.Unlock()
	return found, nil
}

func (k *Keeper) discover(ctx context.Context, g *grant, address string, guarded bool) (string, error) {
	r, err := nethttp.NewRequest(nethttp.MethodGet, address, nil)
	if err != nil {
		return "", failf("discover %s: it is not an address", address)
	}
	status, body, err := k.exchange(ctx, r, guarded)
	if err != nil {
		return "", failf("discover %s: %v", address, err)
	}
	v, err := expr.ParseJSON(body)
	found := effect.Name(v, "token_endpoint")
	u, bad := url.Parse(found)
	switch issuer := effect.Name(v, "issuer"); {
	case status != nethttp.StatusOK:
		return "", failf("discover %s: the answer is %d %s", address, status, nethttp.StatusText(status))
	case err != nil || found == "":
		return "", failf("discover %s: the answer has no token_endpoint", address)
	case bad != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil:
		return "", failf("discover %s: the token_endpoint is not an address", address)
	case u.Scheme == "http" && strings.HasPrefix(strings.ToLower(address), "https:"):
		return "", failf("discover %s: the token_endpoint is without TLS", address)
	case len(g.issuers) > 0 && !slices.Contains(g.issuers, issuer):
		return "", failf("discover %s: the issuer is %q, which is not among issuers", address, issuer)
	}
	return found, nil
}

// message is the request for a token.
func (g *grant) message(endpoint, refresh string, now time.Time) (*nethttp.Request, error) {
	var form []expr.Member
	add := func(name, value string) {
		if value != "" {
			form = append(form, expr.Member{Key: name, Value: expr.String(value)})
		}
	}
	kind := g.kind
	if refresh != "" {
		kind = "refresh_token"
	} else if kind == "refresh_token" {
		refresh = g.subject.token
	}
	add("grant_type", kind)
	add("scope", strings.Join(g.scopes, " "))
	switch kind {
	case "refresh_token":
		add("refresh_token", refresh)
	case "password":
		add("username", g.username)
		add("password", g.password)
	case tokenExchange:
		add("subject_token", g.subject.token)
		add("subject_token_type", g.subject.kind)
		add("actor_token", g.actor.token)
		add("actor_token_type", g.actor.kind)
	}
	if kind != "refresh_token" {
		add("audience", strings.Join(g.audiences, " "))
	}
	basic := ""
	switch g.clientAuth {
	case "client_secret_basic":
		basic = base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(g.clientID) + ":" + url.QueryEscape(g.clientSecret)))
	case "client_secret_jwt", "private_key_jwt":
		assertion := g.assertion
		if assertion == "" {
			assertion = g.signed(endpoint, now)
		}
		add("client_id", g.clientID)
		add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		add("client_assertion", assertion)
	case "none":
		add("client_id", g.clientID)
	default:
		add("client_id", g.clientID)
		add("client_secret", g.clientSecret)
	}
	r, err := nethttp.NewRequest(nethttp.MethodPost, endpoint, bytes.NewReader(g.encode(form)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", encodings[0])
	if g.asJSON {
		r.Header.Set("Content-Type", encodings[1])
	}
	r.Header.Set("Accept", "application/json")
	if basic != "" {
		r.Header.Set("Authorization", "Basic "+basic)
	}
	return r, nil
}

func (g *grant) encode(form []expr.Member) []byte {
	if g.asJSON {
		return expr.Object(form...).AppendJSON(nil)
	}
	out := url.Values{}
	for _, m := range form {
		out.Set(m.Key, m.Value.Str())
	}
	return []byte(out.Encode())
}

// signed is an assertion of the client, signed with its secret (RFC 7523, OpenID Connect Core §9).
func (g *grant) signed(endpoint string, now time.Time) string {
	claims, _ := json.Marshal(map[string]any{ // texts and numbers
		"iss": g.clientID, "sub": g.clientID, "aud": endpoint, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	mac := hmac.New(sha256.New, []byte(g.clientSecret))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
