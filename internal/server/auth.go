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

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Role says what the bearer of a token may do; routes.go says it for each route.
type Role string

// The roles.
const (
	Viewer        Role = "viewer"         // reads
	Operator      Role = "operator"       // reads, starts and intervenes
	Author        Role = "author"         // reads, deploys and starts
	Admin         Role = "admin"          // everything
	Device        Role = "device"         // nothing here: the devices' port knows it
	EventProducer Role = "event-producer" // sends events
)

// Roles lists them all.
var Roles = []Role{Viewer, Operator, Author, Admin, Device, EventProducer}

// tokenPrefix is how tokens begin, so that people and scanners know one when they see it.
const tokenPrefix = "ls_"

// hashPrefix names how a token is hashed. Tokens have 128 random bits or more, so that a
// plain hash cannot be guessed backwards.
const hashPrefix = "sha256:"

// NewToken makes a token and the hash that a tokens file has of it.
func NewToken() (token, hash string) {
	token = tokenPrefix + strings.ToLower(rand.Text())
	return token, hashPrefix + hex.EncodeToString(digestOf(token))
}

func digestOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Tokens are those that a server accepts.
type Tokens struct{ list []knownToken }

type knownToken struct {
	identity
	digest []byte
}

// identity is who sends a request. It is decided once, from the credential.
type identity struct {
	name   string
	role   Role
	client string // of a device: for whom it acts
	cookie bool   // the credential was a cookie, see identify of Server
}

// anonymous is everybody where there are no tokens.
var anonymous = identity{name: "anonymous", role: Admin}

// ParseTokens reads a tokens file: on each line an object with name, role, hash and,
// for devices, client. Empty lines and those that begin with # are passed over.
//
//	{name: ci, role: author, hash: "sha256:9f86d0…"}
func ParseTokens(text []byte) (*Tokens, error) {
	t := &Tokens{}
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
		if slices.ContainsFunc(t.list, func(o knownToken) bool { return o.name == known.name }) {
			return nil, fmt.Errorf("tokens, line %d: the name %q is there twice", n, known.name)
		}
		t.list = append(t.list, known)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	if len(t.list) == 0 {
		return nil, errors.New("tokens: the file has none")
	}
	return t, nil
}

func parseToken(line string) (knownToken, error) {
	// As the item of a list it is YAML, of which JSON is one form.
	doc, found := dialect.Read("tokens", []byte("- "+strings.TrimPrefix(line, "- ")))
	if found.HasErrors() || len(doc.Root.Value().Items()) != 1 || !doc.Root.Value().Items()[0].IsObject() {
		return knownToken{}, errors.New("it is not an object like {name: ci, role: author, hash: \"sha256:…\"}")
	}
	var out knownToken
	var hash, role string
	fields := map[string]*string{"name": &out.name, "role": &role, "hash": &hash, "client": &out.client}
	for _, m := range doc.Root.Value().Items()[0].Members() {
		field := fields[m.Key]
		if field == nil {
			return knownToken{}, fmt.Errorf("unknown key %q%s", m.Key, didYouMean(m.Key, []string{"name", "role", "hash", "client"}))
		}
		if m.Value.Kind() != expr.KindString {
			return knownToken{}, fmt.Errorf("%s must be text", m.Key)
		}
		*field = m.Value.Str()
	}
	out.role = Role(role)
	switch {
	case out.name == "":
		return knownToken{}, errors.New("it lacks a name")
	case !slices.Contains(Roles, out.role):
		return knownToken{}, fmt.Errorf("%q is not a role%s; they are %s", role, didYouMean(role, names(Roles)), strings.Join(names(Roles), ", "))
	case out.role == Device && out.client == "":
		return knownToken{}, errors.New("a device needs the client that it acts for")
	}
	digest, err := hex.DecodeString(strings.TrimPrefix(hash, hashPrefix))
	if err != nil || len(digest) != sha256.Size || !strings.HasPrefix(hash, hashPrefix) {
		return knownToken{}, errors.New("hash must be sha256: and 64 hexadecimal digits, the SHA-256 of the token")
	}
	out.digest = digest
	return out, nil
}

func names[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// identify says who sends a request. Without tokens everybody is anonymous.
func (t *Tokens) identify(r *http.Request) (identity, error) {
	if t == nil {
		return anonymous, nil
	}
	header := r.Header.Values("Authorization")
	if len(header) == 0 {
		return identity{}, problem(CodeUnauthorized, "this server needs a token").hint("send Authorization: Bearer TOKEN")
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	token = strings.TrimSpace(token)
	if len(header) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return identity{}, problem(CodeUnauthorized, "the Authorization header is not Bearer TOKEN")
	}
	who, ok := t.find(token)
	if !ok {
		return identity{}, problem(CodeUnauthorized, "the token is not known")
	}
	return who, nil
}

// find says whose a token is.
func (t *Tokens) find(token string) (who identity, ok bool) {
	digest := digestOf(token)
	for i := range t.list { // all of them, whichever it is: time tells nothing
		if subtle.ConstantTimeCompare(digest, t.list[i].digest) == 1 {
			who, ok = t.list[i].identity, true
		}
	}
	return who, ok
}

// authorize denies what a route does not allow to the role.
func (rt *route) authorize(who identity) error {
	if slices.Contains(rt.roles, who.role) {
		return nil
	}
	return problem(CodeForbidden, fmt.Sprintf("the role %s of %q may not do this; it takes %s", who.role, who.name, strings.Join(names(rt.roles), ", ")))
}
