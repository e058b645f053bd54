package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// Schemes are the kinds of policies.
var Schemes = []string{"basic", "bearer", "digest", "oauth2", "oidc"}

// Error is why a request could not be authenticated.
type Error struct {
	Name string // of the failure: effect.Authentication or effect.Authorization
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// Status is the HTTP status that stands for the error.
func (e *Error) Status() string {
	if e.Name == effect.Authorization {
		return "403"
	}
	return "401"
}

func failf(format string, args ...any) error {
	return &Error{effect.Authentication, fmt.Sprintf(format, args...)}
}

// Secret looks up a secret by its name.
type Secret func(name string) (expr.Value, bool)

// Policy says how requests are authenticated. It holds credentials.
type Policy struct {
	Spread bool // the arguments of the call hold the credentials, too

	scheme             string
	username, password string // of basic and digest
	token              string // of bearer
	grant              *grant // of oauth2 and oidc
	key                [sha256.Size]byte
}

// grant is how a token is asked for.
type grant struct {
	discover     bool
	authority    string
	path         string // of oauth2: the token endpoint, relative to the authority
	kind         string
	clientID     string
	clientSecret string
	assertion    string
	clientAuth   string
	asJSON       bool
	issuers      []string
	scopes       []string
	audiences    []string
	username     string
	password     string
	subject      givenToken
	actor        givenToken
}

// givenToken is a token that the definition has already.
type givenToken struct{ token, kind string }

const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"

var (
	grants      = []string{"client_credentials", "password", "refresh_token", tokenExchange}
	clientAuths = []string{"client_secret_post", "client_secret_basic", "client_secret_jwt", "private_key_jwt", "none"}
	encodings   = []string{"application/x-www-form-urlencoded", "application/json"}
)

// Sent is the form in which the credentials of basic are sent; of others they are sent as they are, or
// not at all. Whoever redacts them looks for it, too.
func (p *Policy) Sent() string {
	if p.scheme != "basic" {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(p.username + ":" + p.password))
}

// Parse reads a policy. secret finds what {use: NAME} names; nil: there are no secrets.
func Parse(v expr.Value, secret Secret) (*Policy, error) {
	if !v.IsObject() || v.Len() != 1 || !slices.Contains(Schemes, v.Members()[0].Key) {
		return nil, failf("an authentication is an object with one of %s", strings.Join(Schemes, ", "))
	}
	p := &Policy{scheme: v.Members()[0].Key}
	m := members{path: p.scheme, v: v.Members()[0].Value}
	if !m.v.IsObject() {
		return nil, failf("authentication: %s must be an object", p.scheme)
	}
	if name := m.text("use"); name != "" {
		if err := m.use(name, p.scheme, secret); err != nil {
			return nil, err
		}
	}
	switch p.scheme {
	case "basic", "digest":
		p.username, p.password = m.need("username"), m.text("password")
		if p.scheme == "basic" && strings.Contains(p.username, ":") {
			m.fail("username", "must not have a colon")
		}
	case "bearer":
		p.token = m.need("token")
	default:
		p.grant = m.grant(p.scheme == "oidc")
	}
	if m.err != nil {
		return nil, m.err
	}
	p.key = sha256.Sum256(append([]byte(p.scheme+"\x00"), m.v.AppendJSON(nil)...))
	return p, nil
}

// members reads the members of a policy. It keeps the first error.
type members struct {
	path string
	v    expr.Value
	err  error
}

// use takes the members from a secret. The secret of a bearer token may be the token itself.
func (m *members) use(name, scheme string, secret Secret) error {
	if m.v.Len() != 1 {
		return failf("authentication: %s has members beside use", m.path)
	}
	var v expr.Value
	ok := false
	if secret != nil {
		v, ok = secret(name)
	}
	if !ok {
		return &Error{effect.Authorization, fmt.Sprintf("authentication: there is no secret %q; give it with --secrets, --secrets-dir or --secrets-env", name)}
	}
	if scheme == "bearer" && v.Kind() == expr.KindString {
		v = expr.Object(expr.Member{Key: "token", Value: v})
	}
	if !v.IsObject() {
		return failf("authentication: the secret %q of %s must be an object with its members", name, scheme)
	}
	m.path, m.v = fmt.Sprintf("%s (secret %q)", scheme, name), v
	return nil
}

func (m *members) fail(name, text string) {
	if m.err == nil {
		m.err = failf("authentication: %s: %s %s", m.path, name, text)
	}
}

// at is the value of a path such as client.id.
func (m *members) at(path string) expr.Value {
	v, _ := m.v.Lookup(strings.Split(path, ".")...)
	return v
}

// text is a member as text: numbers are as good, people write passwords so.
func (m *members) text(path string) string {
	v := m.at(path)
	switch v.Kind() {
	case expr.KindNull:
		return ""
	case expr.KindString, expr.KindNumber, expr.KindBool:
		return v.Text()
	}
	m.fail(path, "must be a string")
	return ""
}

func (m *members) need(path string) string {
	text := m.text(path)
	if text == "" {
		m.fail(path, "is required")
	}
	return text
}

func (m *members) texts(path string) []string {
	v := m.at(path)
	var out []string
	switch v.Kind() {
	case expr.KindNull:
		return nil
	case expr.KindString:
		return []string{v.Str()}
	case expr.KindArray:
		for _, item := range v.Items() {
			if item.Kind() == expr.KindString {
				out = append(out, item.Str())
			}
		}
	}
	if len(out) != v.Len() || !v.IsArray() {
		m.fail(path, "must be an array of strings")
	}
	return out
}

func (m *members) oneOf(path, otherwise string, allowed []string) string {
	text := m.text(path)
	if text == "" {
		return otherwise
	}
	if !slices.Contains(allowed, text) {
		m.fail(path, fmt.Sprintf("is %q, and must be one of %s", text, strings.Join(allowed, ", ")))
	}
	return text
}

func (m *members) given(path string) givenToken {
	return givenToken{m.text(path + ".token"), m.text(path + ".type")}
}

func (m *members) grant(discover bool) *grant {
	g := &grant{
		discover: discover, authority: strings.TrimSuffix(m.need("authority"), "/"), path: m.text("endpoints.token"),
		clientID: m.text("client.id"), clientSecret: m.text("client.secret"), assertion: m.text("client.assertion"),
		clientAuth: m.oneOf("client.authentication", clientAuths[0], clientAuths),
		asJSON:     m.oneOf("request.encoding", encodings[0], encodings) == encodings[1],
		issuers:    m.texts("issuers"), scopes: m.texts("scopes"), audiences: m.texts("audiences"),
		username: m.text("username"), password: m.text("password"), subject: m.given("subject"), actor: m.given("actor"),
	}
	if g.path == "" {
		g.path = "/oauth2/token"
	}
	if m.text("grant") == "authorization_code" {
		m.fail("grant", "is authorization_code, which needs a person; use client_credentials or another grant")
	}
	g.kind = m.oneOf("grant", "", grants)
	switch u, err := url.Parse(g.authority); {
	case g.kind == "":
		m.fail("grant", "is required")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil:
		m.fail("authority", "must be an address such as https://id.example/realm")
	case strings.Contains(g.path, "://"):
		m.fail("endpoints.token", "must be a path below the authority")
	case g.clientID == "" && g.clientAuth != "none":
		m.fail("client.id", "is required")
	case g.clientSecret == "" && (g.clientAuth == "client_secret_basic" || g.clientAuth == "client_secret_jwt" && g.assertion == ""):
		m.fail("client.secret", "is required")
	case g.assertion == "" && g.clientAuth == "private_key_jwt":
		m.fail("client.assertion", "is required")
	case g.kind == "password" && g.username == "":
		m.fail("username", "is required")
	case g.kind == tokenExchange && (g.subject.token == "" || g.subject.kind == ""):
		m.fail("subject", "must have a token and its type")
	case g.kind == "refresh_token" && g.subject.token == "":
		m.fail("subject.token", "is required: it is the refresh token")
	case (g.actor.token == "") != (g.actor.kind == ""):
		m.fail("actor", "must have a token and its type")
	}
	return g
}
