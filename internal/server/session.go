package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// A session lets a page act with a token that the browser does not keep. Its cookie has a random text, of which the
// store has the hash and the token's: every server that shares the store knows it, and it ends with its token.

const (
	sessionCookie = "lockstep-session"
	sessionKind   = "session" // of notes

	// maxSessions is how many sessions a token may have at a time ("sessions"); the first to end makes room.
	maxSessions = 100
	// sessionPause is for how long a server relies on having seen a session ("session-delay").
	sessionPause = 5 * time.Second
	// maxSeen is how many it remembers.
	maxSeen = 10_000
)

// openedSession is the value of a session's note.
type openedSession struct {
	Token string `json:"token"` // its digest
}

// sessions remembers which sessions were in the store a moment ago.
type sessions struct {
	mu   sync.Mutex
	seen map[string]seenSession // by key
}

type seenSession struct {
	token string
	at    time.Time
}

func (s *sessions) get(key string) (token string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen[key]
	return seen.token, seen.token != "" && time.Since(seen.at) < sessionPause
}

func (s *sessions) put(key, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || len(s.seen) >= maxSeen {
		s.seen = map[string]seenSession{}
	}
	s.seen[key] = seenSession{token, time.Now()}
}

func (s *sessions) drop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key)
}

// sessionsOf is how the keys of a token's sessions begin.
func sessionsOf(tokenKey string) string { return tokenKey[:16] + "." }

// sessionKey is the key of the note of the session that a cookie names: the cookie begins as the key does. A cookie
// that begins as that of no token is none, so that strangers cannot make the server ask its store.
func (t *Tokens) sessionKey(cookie string) (key string, ok bool) {
	of, secret, ok := strings.Cut(cookie, ".")
	if !ok || len(of) != 16 || len(secret) < 26 || !t.begins(of) {
		return "", false
	}
	sum := sha256.Sum256([]byte(secret))
	return of + "." + hex.EncodeToString(sum[:]), true
}

// begins reports whether the key of a token begins so.
func (t *Tokens) begins(prefix string) bool {
	if t == nil {
		return false
	}
	return slices.ContainsFunc(*t.list.Load(), func(k knownToken) bool { return strings.HasPrefix(k.key(), prefix) })
}

// cookieName differs by port, which cookies ignore: there may be several servers on one machine. Over TLS the name
// makes browsers refuse a cookie that another host set.
func (s *Server) cookieName(r *http.Request) string {
	name := sessionCookie
	if s.secure(r) {
		name = "__Host-" + name
	}
	at := url.URL{Host: r.Host}
	if port := at.Port(); port != "" {
		return name + "-" + port
	}
	return name
}

// identify returns the sender of a request: by its token, or by the session in its cookie.
func (s *Server) identify(r *http.Request) (identity, error) {
	if s.cfg.Tokens == nil || len(r.Header.Values("Authorization")) > 0 {
		return s.cfg.Tokens.identify(r)
	}
	cookie, err := r.Cookie(s.cookieName(r))
	if err != nil {
		return s.cfg.Tokens.identify(r)
	}
	return s.bySession(r.Context(), cookie.Value)
}

func noSession() error {
	return problem(api.CodeUnauthorized, "the session has ended").hint("enter the token again")
}

// bySession returns the owner of a session's token, which must still be valid.
func (s *Server) bySession(ctx context.Context, cookie string) (identity, error) {
	key, ok := s.cfg.Tokens.sessionKey(cookie)
	if !ok {
		return identity{}, noSession()
	}
	token, known := s.sessions.get(key)
	if !known {
		note, err := s.engine.Note(ctx, sessionKind, key)
		if errors.Is(err, store.ErrNotFound) {
			return identity{}, noSession()
		}
		var opened openedSession
		if err == nil {
			err = json.Unmarshal([]byte(note.Value), &opened)
		}
		if err != nil {
			return identity{}, err
		}
		token = opened.Token
		s.sessions.put(key, token)
	}
	digest, err := hex.DecodeString(token)
	if err != nil {
		return identity{}, noSession()
	}
	found, err := s.cfg.Tokens.find(digest)
	if err != nil {
		return identity{}, err
	}
	found.cookie = true
	return found.identity, nil
}

// getSession returns the identity of the page's user, or that a token is needed.
func (s *Server) getSession(w http.ResponseWriter, r *request) error {
	v := api.Session{Needed: s.cfg.Tokens != nil}
	if who, err := s.identify(r.Request); err == nil {
		v.Name, v.Role = who.name, string(who.role)
	}
	return answer(w, http.StatusOK, v)
}

func (s *Server) openSession(w http.ResponseWriter, r *request) error {
	if s.cfg.Tokens != nil {
		r.deed.who = "-" // not the anonymous of a server without tokens
	}
	body, err := s.object(r, "token")
	if err != nil {
		return err
	}
	token := body.Name("token")
	if wrong, ok := errors.AsType[*dialect.MemberError](body.Err()); ok {
		return memberProblemAs(api.CodeUnknownField, wrong)
	}
	if s.cfg.Tokens == nil {
		return answer(w, http.StatusOK, api.Session{Name: anonymous.name, Role: string(anonymous.role)})
	}
	who, err := s.cfg.Tokens.find(digestOf(token))
	if err != nil {
		return problemOf(err).hint("the administrator of the server makes tokens: lockstep token new")
	}
	r.deed.who = who.name
	if err := s.makeRoom(r.Context(), who.key()); err != nil {
		return err
	}
	cookie := sessionsOf(who.key()) + strings.ToLower(rand.Text())
	key, _ := s.cfg.Tokens.sessionKey(cookie)
	value, err := json.Marshal(openedSession{Token: who.key()})
	if err != nil {
		return err
	}
	until := s.cfg.Clock.Now().Add(s.limits.Session)
	if err := s.engine.PutNote(r.Context(), store.Note{Kind: sessionKind, Key: key, Value: string(value), Until: core.TimeOf(until)}); err != nil {
		return err
	}
	s.setSession(w, r, cookie, int(s.limits.Session/time.Second))
	return answer(w, http.StatusOK, api.Session{Needed: true, Name: who.name, Role: string(who.role)})
}

// makeRoom ends the first of a token's sessions to end, if there are too many.
func (s *Server) makeRoom(ctx context.Context, tokenKey string) error {
	prefix := sessionsOf(tokenKey)
	list, err := s.engine.Notes(ctx, sessionKind, prefix, maxSessions)
	if err != nil {
		return err
	}
	var first store.Note
	for i, n := range list {
		if !strings.HasPrefix(n.Key, prefix) {
			return nil
		}
		if i == 0 || n.Until < first.Until {
			first = n
		}
	}
	if len(list) < maxSessions {
		return nil
	}
	s.sessions.drop(first.Key)
	_, err = s.engine.DeleteNote(ctx, sessionKind, first.Key)
	return err
}

// closeSession ends the session for every server; within sessionPause, those that have just seen it know.
func (s *Server) closeSession(w http.ResponseWriter, r *request) error {
	r.deed.none = true
	who, unknown := s.identify(r.Request)
	if cookie, err := r.Cookie(s.cookieName(r.Request)); err == nil {
		if key, ok := s.cfg.Tokens.sessionKey(cookie.Value); ok {
			s.sessions.drop(key)
			had, err := s.engine.DeleteNote(r.Context(), sessionKind, key)
			if err != nil {
				return err
			}
			r.deed.none, r.deed.who = !had, "-"
			if unknown == nil {
				r.deed.who = who.name
			}
		}
	}
	s.setSession(w, r, "", -1)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) setSession(w http.ResponseWriter, r *request, cookie string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(r.Request), Value: cookie, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.secure(r.Request),
	})
}
