package server

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Role is what the owner of a token may do; routes.go has the roles of each route.
type Role string

// The roles.
const (
	Viewer        Role = "viewer"         // reads
	Operator      Role = "operator"       // reads, starts and intervenes
	Author        Role = "author"         // reads, deploys and starts
	Admin         Role = "admin"          // everything
	Device        Role = "device"         // works on the jobs of its client, on the south
	EventProducer Role = "event-producer" // sends events
)

// Roles lists them all.
var Roles = []Role{Viewer, Operator, Author, Admin, Device, EventProducer}

// tokenPrefix begins every token, so that people and secret scanners recognise one.
const tokenPrefix = "ls_"

// hashPrefix names the hash of a token. Tokens have at least 128 random bits, so a plain hash cannot be
// reversed by guessing.
const hashPrefix = "sha256:"

// NewToken makes a token and its hash for a tokens file.
func NewToken() (token, hash string) {
	token = tokenPrefix + strings.ToLower(rand.Text())
	return token, hashPrefix + hex.EncodeToString(digestOf(token))
}

func digestOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Tokens are the tokens that a server accepts. They can be replaced while it runs, see [Server.SetTokens].
type Tokens struct {
	list    atomic.Pointer[[]knownToken]
	revoked func(digest string) (bool, error) // of the server that uses them; nil: none is
}

type knownToken struct {
	identity
	digest  []byte
	expires time.Time // zero: never
}

// key identifies a token without revealing it.
func (k *knownToken) key() string { return hex.EncodeToString(k.digest) }

// identity is the sender of a request. It is determined once, from the credential.
type identity struct {
	name   string
	role   Role
	client string // the client that a device acts for
	cookie bool   // the credential was a cookie, see Server.identify

	sources []string // of the events that an event producer may send; nil: of all
}

// anonymous is every sender if there are no tokens.
var anonymous = identity{name: "anonymous", role: Admin}

// ParseTokens reads a tokens file: on each line an object with name, role, hash and,
// for devices, client; expires and, for event producers, sources may be added. Empty lines and lines
// that begin with # are ignored.
//
//	{name: ci, role: author, hash: "sha256:9f86d0…", expires: 2027-01-31}
//	{name: bank, role: event-producer, hash: "sha256:9f86d0…", sources: [/bank, /branches/*]}
func ParseTokens(text []byte) (*Tokens, error) {
	var list []knownToken
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		known, err := parseToken(line)
		if err != nil {
			return nil, fmt.Errorf("tokens, line %d: %w", n, err)
		}
		if slices.ContainsFunc(list, func(o knownToken) bool { return o.name == known.name }) {
			return nil, fmt.Errorf("tokens, line %d: duplicate name %q", n, known.name)
		}
		if i := slices.IndexFunc(list, func(o knownToken) bool { return bytes.Equal(o.digest, known.digest) }); i >= 0 {
			return nil, fmt.Errorf("tokens, line %d: %q is the same token as %q: each needs a hash of its own", n, known.name, list[i].name)
		}
		list = append(list, known)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	if len(list) == 0 {
		return nil, errors.New("tokens: the file is empty")
	}
	t := &Tokens{}
	t.list.Store(&list)
	return t, nil
}

func parseToken(line string) (knownToken, error) {
	// As the item of a list it is YAML, of which JSON is one form.
	doc, found := dialect.Read("tokens", []byte("- "+strings.TrimPrefix(line, "- ")))
	if found.HasErrors() || len(doc.Root.Items) != 1 || !doc.Root.Items[0].Is(expr.KindObject) {
		return knownToken{}, errors.New("it is not an object like {name: ci, role: author, hash: \"sha256:…\"}")
	}
	r := dialect.Reader{Reporter: &dialect.Reporter{}, Strict: true}
	f := r.Fields(doc.Root.Items[0], "the token")
	out := knownToken{}
	out.name = f.Name("name").Literal()
	out.role = Role(r.OneOf(f.Need("role"), "role", false, names(Roles)...))
	hash := f.Name("hash").Literal()
	out.client = f.OptionalName("client").Literal()
	if out.role == Device && f.Peek("client") == nil {
		f.Missing("client").WithHint("the client that the device acts for")
	}
	expires := f.Get("expires")
	sources := f.Get("sources")
	f.Done()
	if r.HasErrors() {
		return knownToken{}, errors.New(r.Diagnostics().Sentence())
	}
	digest, err := hex.DecodeString(strings.TrimPrefix(hash, hashPrefix))
	if err != nil || len(digest) != sha256.Size || !strings.HasPrefix(hash, hashPrefix) {
		return knownToken{}, errors.New("hash must be sha256: and 64 hexadecimal digits, the SHA-256 of the token")
	}
	out.digest = digest
	if out.expires, err = parseExpiry(expires); err != nil {
		return knownToken{}, err
	}
	out.sources, err = parseSources(sources, out.role)
	return out, err
}

func names[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// identify returns the sender of a request. Without tokens everyone is anonymous.
func (t *Tokens) identify(r *http.Request) (identity, error) {
	if t == nil {
		return anonymous, nil
	}
	header := r.Header.Values("Authorization")
	if len(header) == 0 {
		return identity{}, problem(api.CodeUnauthorized, "this server requires a token").hint("send Authorization: Bearer TOKEN")
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	token = strings.TrimSpace(token)
	if len(header) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return identity{}, problem(api.CodeUnauthorized, "the Authorization header is not Bearer TOKEN")
	}
	known, err := t.find(digestOf(token))
	return known.identity, err
}

// find returns a token by the digest, with its owner. It must still be valid.
func (t *Tokens) find(digest []byte) (found knownToken, err error) {
	list, ok := *t.list.Load(), false
	for i := range list { // always all of them, so that the time reveals nothing
		if subtle.ConstantTimeCompare(digest, list[i].digest) == 1 {
			found, ok = list[i], true
		}
	}
	switch {
	case !ok:
		return knownToken{}, problem(api.CodeUnauthorized, "unknown token")
	case !found.expires.IsZero() && !time.Now().Before(found.expires):
		return knownToken{}, problem(api.CodeUnauthorized, fmt.Sprintf("the token %q expired on %s", found.name, found.expires.UTC().Format(time.DateTime)))
	case t.revoked == nil:
		return found, nil
	}
	revoked, err := t.revoked(found.key())
	switch {
	case err != nil:
		return knownToken{}, err
	case revoked:
		return knownToken{}, problem(api.CodeUnauthorized, fmt.Sprintf("the token %q was revoked", found.name))
	}
	return found, nil
}

// authorize refuses a role that the route does not allow.
func (rt *route) authorize(who identity) error {
	if slices.Contains(rt.roles, who.role) {
		return nil
	}
	return problem(api.CodeForbidden, fmt.Sprintf("the role %s of %q may not do this; allowed are %s", who.role, who.name, strings.Join(names(rt.roles), ", ")))
}
