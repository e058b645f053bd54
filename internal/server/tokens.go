package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// parseExpiry reads when a token expires: an instant, or a day, at whose end it does.
func parseExpiry(n *dialect.Node) (time.Time, error) {
	if n == nil {
		return time.Time{}, nil
	}
	text := n.Literal()
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	return time.Time{}, fmt.Errorf("expires must be a day such as 2027-01-31, or an instant such as 2027-01-31T12:00:00Z, not %.50q", text)
}

// Expired reports whether all tokens have expired at a time.
func (t *Tokens) Expired(at time.Time) bool {
	return !slices.ContainsFunc(*t.list.Load(), func(k knownToken) bool { return k.expires.IsZero() || at.Before(k.expires) })
}

// maxSources is how many sources a token may have ("token-sources").
const maxSources = 100

// parseSources reads the sources of an event producer.
func parseSources(n *dialect.Node, role Role) (out []string, err error) {
	switch {
	case n == nil:
		return nil, nil
	case role != EventProducer:
		return nil, errors.New("only the role event-producer has sources")
	case !n.Is(expr.KindArray) || len(n.Items) == 0 || len(n.Items) > maxSources:
		return nil, fmt.Errorf("sources must be a list of 1 to %d sources (limit token-sources), such as [/bank, /branches/*]", maxSources)
	}
	for _, item := range n.Items {
		source := item.Literal()
		if !item.Is(expr.KindString) || source == "" || strings.Contains(strings.TrimSuffix(source, "*"), "*") {
			return nil, fmt.Errorf("a source must be a text, with * at its end for all that begin with it, not %.50q", source)
		}
		out = append(out, source)
	}
	return out, nil
}

// maySend refuses an event whose source is not one of the token's.
func (who identity) maySend(e event.Event) error {
	if who.sources == nil || slices.ContainsFunc(who.sources, func(source string) bool {
		prefix, open := strings.CutSuffix(source, "*")
		return e.Source == source || open && strings.HasPrefix(e.Source, prefix)
	}) {
		return nil
	}
	return problem(api.CodeForbidden, fmt.Sprintf("the token %q may not send events of the source %.200q; its sources are %s", who.name, e.Source, strings.Join(who.sources, ", ")))
}

// listTokens lists the tokens that this server accepts, without what they are.
func (s *Server) listTokens(w http.ResponseWriter, _ *request) error {
	out := api.Page[api.Token]{Items: []api.Token{}}
	if s.cfg.Tokens == nil {
		return answer(w, http.StatusOK, out)
	}
	for _, t := range *s.cfg.Tokens.list.Load() {
		revoked, err := s.revocations.has(tokenKey(t.key()))
		if err != nil {
			return err
		}
		v := api.Token{Name: t.name, Role: string(t.role), Client: t.client, Sources: t.sources, Revoked: revoked}
		if !t.expires.IsZero() {
			v.Expires = t.expires.UTC()
			v.Expired = !time.Now().Before(t.expires)
		}
		out.Items = append(out.Items, v)
	}
	return answer(w, http.StatusOK, out)
}

// SetTokens replaces the tokens from now on by those of a file that was read again. The server must have some. The audit
// log has what that changed; nobody is known who did it.
func (s *Server) SetTokens(by *Tokens) {
	before, after := *s.cfg.Tokens.list.Load(), *by.list.Load()
	s.cfg.Tokens.list.Store(&after)
	d := deed{}
	for _, t := range before {
		if i := slices.IndexFunc(after, func(o knownToken) bool { return o.name == t.name }); i < 0 {
			d.changed(t.name, t.summary(), "")
		} else if now := after[i].summary(); now != t.summary() {
			d.changed(t.name, t.summary(), now)
		}
	}
	for _, t := range after {
		if !slices.ContainsFunc(before, func(o knownToken) bool { return o.name == t.name }) {
			d.changed(t.name, "", t.summary())
		}
	}
	if d.before == "" && d.after == "" {
		return
	}
	detail, err := json.Marshal(entryDetail{Before: auditText(d.before), After: auditText(d.after), Status: http.StatusOK})
	if err != nil {
		s.log.Error("an entry of the audit log is not stored", "error", err)
		return
	}
	_ = s.appendEntry(context.Background(), store.Entry{ID: rand.Text(), Who: "-", Operation: "reloadTokens", Target: "/api/v1/tokens", Detail: string(detail)}) // it is logged
}

// summary says what a token may do, in short, and which one it is.
func (k *knownToken) summary() string {
	parts := []string{string(k.role), hashPrefix + k.key()[:8]}
	if !k.expires.IsZero() {
		parts = append(parts, "expires:"+k.expires.UTC().Format(time.RFC3339))
	}
	if k.client != "" {
		parts = append(parts, "client:"+k.client)
	}
	if k.sources != nil {
		parts = append(parts, "sources:"+strings.Join(k.sources, "|"))
	}
	return strings.Join(parts, ",")
}
