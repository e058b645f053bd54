package server

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	revocationKind = "revocation" // of notes

	// maxRevocations is how many there may be ("revocations"): every server has all of them in memory.
	maxRevocations = 10_000
	// revocationPause is how old a server's list may be ("revocation-delay").
	revocationPause = 5 * time.Second
	// revocationWait is how long a request waits for the list; after that, the one from before counts. Where there is
	// none yet, requests with a credential are refused, and the list is read again after revocationRetry.
	revocationWait  = 2 * time.Second
	revocationRetry = time.Second
)

// revocations are the credentials that the store says are refused, on every server that shares it.
type revocations struct {
	s       *Server
	mu      sync.Mutex // of reading
	keys    atomic.Pointer[map[string]bool]
	next    atomic.Int64 // when the list is read again, in Unix nanoseconds
	changes atomic.Int64 // counts what this server changed of it
}

func tokenKey(digest string) string          { return "token-" + digest }
func certificateKey(serial string) string    { return "certificate-" + serial }
func serialOf(cert *x509.Certificate) string { return strings.ToLower(cert.SerialNumber.Text(16)) }

// has reports whether a credential is revoked, by a list that is at most revocationPause old. Before the first list was
// read, nobody knows.
func (v *revocations) has(key string) (bool, error) {
	if time.Now().UnixNano() >= v.next.Load() {
		v.refresh()
	}
	keys := v.keys.Load()
	if keys == nil {
		p := problem(api.CodeStore, "it is not known which credentials are revoked: the store does not respond")
		p.retry = 1
		return false, p
	}
	return (*keys)[key], nil
}

// refresh reads the list, unless somebody else has just done so. While the store does not answer, the last list holds.
func (v *revocations) refresh() {
	v.mu.Lock()
	defer v.mu.Unlock()
	begun, changes := time.Now(), v.changes.Load()
	if begun.UnixNano() < v.next.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), revocationWait)
	defer cancel()
	list, err := v.all(ctx)
	if err == nil {
		keys := make(map[string]bool, len(list))
		for _, n := range list {
			keys[n.Key] = true
		}
		v.keys.Store(&keys)
	} else {
		v.s.log.Warn("revocations cannot be read; those from before hold", "error", err)
	}
	next := begun.Add(revocationPause)
	if v.keys.Load() == nil {
		next = time.Now().Add(revocationRetry)
	}
	v.next.Store(next.UnixNano())
	if v.changes.Load() != changes { // what changed meanwhile may be missing
		v.next.Store(0)
	}
}

// revocationPage is how many are read at a time.
const revocationPage = 1000

// all reads all revocations. They never expire, so a page that is not full is the last one.
func (v *revocations) all(ctx context.Context) (out []store.Note, err error) {
	for after := ""; ; after = out[len(out)-1].Key {
		page, err := v.s.engine.Notes(ctx, revocationKind, after, revocationPage)
		out = append(out, page...)
		if err != nil || len(page) < revocationPage {
			return out, err
		}
	}
}

// changed has the list read again by the next who asks.
func (v *revocations) changed() {
	v.changes.Add(1)
	v.next.Store(0)
}

// checkCertificate refuses a device whose certificate was revoked.
func (s *Server) checkCertificate(r *http.Request) error {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return nil
	}
	for _, chain := range r.TLS.VerifiedChains {
		revoked := s.cfg.CRL != nil && s.cfg.CRL.Revokes(chain)
		for _, key := range keysOf(chain[0]) {
			found, err := s.revocations.has(key)
			if err != nil {
				p := problemOf(err)
				return &wfx.Refusal{Status: p.Status, Message: p.Detail}
			}
			revoked = revoked || found
		}
		if revoked {
			return &wfx.Refusal{Status: http.StatusUnauthorized, Message: "the certificate was revoked"}
		}
	}
	s.warnOfCRL()
	return nil
}

// keysOf are the keys of revocations that refuse a certificate: by its number alone, and by that of its issuer.
func keysOf(cert *x509.Certificate) []string {
	serial := serialOf(cert)
	return []string{certificateKey(serial), issuedKey(serial, cert.Issuer.String())}
}

// issuedKey is the key of a certificate's revocation that names its issuer.
func issuedKey(serial, issuer string) string {
	sum := sha256.Sum256([]byte(issuer))
	return certificateKey(serial) + "-" + hex.EncodeToString(sum[:8])
}

// revocation is the value of a revocation's note.
type revocation struct {
	Name   string    `json:"name,omitempty"` // of the token
	Serial string    `json:"serial,omitempty"`
	Issuer string    `json:"issuer,omitempty"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

func viewRevocation(n store.Note) (v api.Revocation, err error) {
	var value revocation
	if err := json.Unmarshal([]byte(n.Value), &value); err != nil {
		return v, fmt.Errorf("%w: revocation %s: %w", store.ErrDamaged, n.Key, err)
	}
	return api.Revocation{ID: n.Key, Token: value.Name, Certificate: value.Serial, Issuer: value.Issuer, By: value.By, At: value.At, Reason: value.Reason}, nil
}

func (s *Server) listRevocations(w http.ResponseWriter, r *request) error {
	list, err := s.revocations.all(r.Context())
	if err != nil {
		return err
	}
	out := api.Page[api.Revocation]{Items: []api.Revocation{}}
	for _, n := range list {
		v, err := viewRevocation(n)
		if err != nil {
			return err
		}
		out.Items = append(out.Items, v)
	}
	return answer(w, http.StatusOK, out)
}

// revoke refuses a token or a certificate from now on.
func (s *Server) revoke(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "token", "certificate", "issuer", "reason")
	if err != nil {
		return err
	}
	name, serial, issuer, reason := body.Str("token"), body.Str("certificate"), body.Str("issuer"), body.Str("reason")
	if wrong, ok := errors.AsType[*dialect.MemberError](body.Err()); ok {
		return memberProblemAs(api.CodeUnknownField, wrong)
	}
	r.deed.reason = reason
	if max(len(reason), len(issuer)) > maxReason {
		return tooLarge("reason", maxReason)
	}
	n, value := store.Note{Kind: revocationKind}, revocation{Name: name, By: r.who.name, At: s.cfg.Clock.Now().UTC(), Reason: reason}
	switch {
	case (name == "") == (serial == ""):
		return problem(api.CodeInput, "name either a token or a certificate")
	case name != "" && issuer != "":
		return badMember("/issuer", "issuer is for certificates only")
	case name != "":
		if n.Key, err = s.revocable(name); err != nil {
			return err
		}
	default:
		number, ok := parseSerial(serial)
		if !ok {
			return badMember("/certificate", "a serial number has hexadecimal digits, perhaps with colons between them")
		}
		value.Serial, value.Issuer, n.Key = number, issuer, certificateKey(number)
		if issuer != "" {
			n.Key = issuedKey(number, issuer)
		}
	}
	known, err := s.revocations.all(r.Context())
	if err != nil {
		return err
	}
	if len(known) >= maxRevocations {
		p := problem(api.CodeNotAllowedNow, fmt.Sprintf("there are %d revocations already (limit revocations)", len(known)))
		p.Limit = "revocations"
		return p.hint("take the tokens out of the files, or use a revocation list of the certificate authority, and restore some")
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	n.Value = string(text)
	r.deed.target = r.URL.Path + "/" + n.Key
	if name != "" {
		r.deed.after = "token=" + name
	}
	if err := s.engine.PutNote(r.Context(), n); err != nil {
		return err
	}
	s.revocations.changed()
	v, err := viewRevocation(n)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, v)
}

// revocable is the key of a token's revocation, which never lapses: a tokens file could extend the life of the token.
func (s *Server) revocable(name string) (key string, err error) {
	if s.cfg.Tokens != nil {
		for _, t := range *s.cfg.Tokens.list.Load() {
			if t.name == name {
				return tokenKey(t.key()), nil
			}
		}
	}
	return "", problem(api.CodeNotFound, fmt.Sprintf("there is no token %.100q", name)).hint("lockstep token ls")
}

var serialDigits = regexp.MustCompile(`^[0-9a-fA-F]{1,40}$`)

// parseSerial reads a serial number as programs print it.
func parseSerial(text string) (string, bool) {
	text = strings.ReplaceAll(text, ":", "")
	number, ok := new(big.Int).SetString(text, 16)
	if !ok || !serialDigits.MatchString(text) {
		return "", false
	}
	return number.Text(16), true
}

// restore takes a revocation back.
func (s *Server) restore(w http.ResponseWriter, r *request) error {
	id := r.PathValue("revocation")
	r.deed.reason = r.URL.Query().Get("reason")
	if len(r.deed.reason) > maxReason {
		return tooLarge("reason", maxReason)
	}
	if n, err := s.engine.Note(r.Context(), revocationKind, id); err == nil {
		if v, err := viewRevocation(n); err == nil && v.Token != "" {
			r.deed.before = "token=" + v.Token
		}
	}
	had, err := s.engine.DeleteNote(r.Context(), revocationKind, id)
	if err != nil {
		return err
	}
	if !had {
		return problem(api.CodeNotFound, fmt.Sprintf("there is no revocation %.100q", id))
	}
	s.revocations.changed()
	w.WriteHeader(http.StatusNoContent)
	return nil
}
