package server

import (
	"context"
	"crypto/x509"
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
	"github.com/lockstep-workflows/lockstep/internal/core"
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
	// revocationWait is how long a request waits for the list; after that, the one from before counts.
	revocationWait = 2 * time.Second
)

// revocations are the credentials that the store says are refused, on every server that shares it.
type revocations struct {
	s    *Server
	mu   sync.Mutex // of reading
	keys atomic.Pointer[map[string]bool]
	next atomic.Int64 // when the list is read again, in Unix nanoseconds
}

func tokenKey(digest string) string          { return "token-" + digest }
func certificateKey(serial string) string    { return "certificate-" + serial }
func serialOf(cert *x509.Certificate) string { return strings.ToLower(cert.SerialNumber.Text(16)) }

// has reports whether a credential is revoked, by a list that is at most revocationPause old.
func (v *revocations) has(key string) bool {
	if time.Now().UnixNano() >= v.next.Load() {
		v.refresh()
	}
	keys := v.keys.Load()
	return keys != nil && (*keys)[key]
}

// refresh reads the list, unless somebody else has just done so. While the store does not answer, the last list holds.
func (v *revocations) refresh() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Now().UnixNano() < v.next.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), revocationWait)
	defer cancel()
	list, err := v.s.engine.Notes(ctx, revocationKind, "", maxRevocations)
	defer func() { v.next.Store(time.Now().Add(revocationPause).UnixNano()) }()
	if err != nil {
		v.s.log.Warn("revocations cannot be read; those from before hold", "error", err)
		return
	}
	keys := make(map[string]bool, len(list))
	for _, n := range list {
		keys[n.Key] = true
	}
	v.keys.Store(&keys)
}

// stale has the list read again by the next who asks.
func (v *revocations) stale() { v.next.Store(0) }

// checkCertificate refuses a device whose certificate was revoked.
func (s *Server) checkCertificate(r *http.Request) error {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return nil
	}
	for _, chain := range r.TLS.VerifiedChains {
		if s.cfg.Revoked != nil && s.cfg.Revoked(chain) || s.revocations.has(certificateKey(serialOf(chain[0]))) {
			return &wfx.Refusal{Status: http.StatusUnauthorized, Message: "the certificate was revoked"}
		}
	}
	return nil
}

// revocation is the value of a revocation's note.
type revocation struct {
	Name   string    `json:"name,omitempty"` // of the token
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

func viewRevocation(n store.Note) (v api.Revocation, err error) {
	var value revocation
	if err := json.Unmarshal([]byte(n.Value), &value); err != nil {
		return v, fmt.Errorf("%w: revocation %s: %w", store.ErrDamaged, n.Key, err)
	}
	v = api.Revocation{ID: n.Key, Token: value.Name, By: value.By, At: value.At, Reason: value.Reason}
	v.Certificate, _ = strings.CutPrefix(n.Key, certificateKey(""))
	if v.Certificate == n.Key {
		v.Certificate = ""
	}
	return v, nil
}

func (s *Server) listRevocations(w http.ResponseWriter, r *request) error {
	list, err := s.engine.Notes(r.Context(), revocationKind, "", maxRevocations)
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
	body, err := s.object(r, "token", "certificate", "reason")
	if err != nil {
		return err
	}
	name, serial, reason := body.Str("token"), body.Str("certificate"), body.Str("reason")
	if wrong, ok := errors.AsType[*dialect.MemberError](body.Err()); ok {
		return memberProblemAs(api.CodeUnknownField, wrong)
	}
	if len(reason) > maxReason {
		return tooLarge("reason", maxReason)
	}
	r.deed.reason = reason
	n := store.Note{Kind: revocationKind}
	switch {
	case (name == "") == (serial == ""):
		return problem(api.CodeInput, "name either a token or a certificate")
	case name != "":
		if n.Key, n.Until, err = s.revocable(name); err != nil {
			return err
		}
	default:
		number, ok := parseSerial(serial)
		if !ok {
			return badMember("/certificate", "a serial number has hexadecimal digits, perhaps with colons between them")
		}
		n.Key = certificateKey(number)
	}
	known, err := s.engine.Notes(r.Context(), revocationKind, "", maxRevocations)
	if err != nil {
		return err
	}
	if len(known) >= maxRevocations {
		p := problem(api.CodeNotAllowedNow, fmt.Sprintf("there are %d revocations already (limit revocations)", len(known)))
		p.Limit = "revocations"
		return p.hint("take the tokens out of the files, or use a revocation list of the certificate authority, and restore some")
	}
	value, err := json.Marshal(revocation{Name: name, By: r.who.name, At: s.cfg.Clock.Now().UTC(), Reason: reason})
	if err != nil {
		return err
	}
	n.Value = string(value)
	r.deed.target = r.URL.Path + "/" + n.Key
	if err := s.engine.PutNote(r.Context(), n); err != nil {
		return err
	}
	s.revocations.stale()
	v, err := viewRevocation(n)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, v)
}

// revocable is the key of a token's revocation, and until when it is needed.
func (s *Server) revocable(name string) (key string, until core.Time, err error) {
	if s.cfg.Tokens != nil {
		for _, t := range *s.cfg.Tokens.list.Load() {
			if t.name != name {
				continue
			}
			if !t.expires.IsZero() {
				until = core.TimeOf(t.expires)
			}
			return tokenKey(t.key()), until, nil
		}
	}
	return "", 0, problem(api.CodeNotFound, fmt.Sprintf("there is no token %.100q", name)).hint("lockstep token ls")
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
	had, err := s.engine.DeleteNote(r.Context(), revocationKind, id)
	if err != nil {
		return err
	}
	if !had {
		return problem(api.CodeNotFound, fmt.Sprintf("there is no revocation %.100q", id))
	}
	s.revocations.stale()
	w.WriteHeader(http.StatusNoContent)
	return nil
}
