package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestRevocationOutlivesTheExpiry: a token that was revoked stays so when a tokens file extends its life.
func TestRevocationOutlivesTheExpiry(t *testing.T) {
	clock := engine.NewVirtualClock(time.Now())
	admin, a := oneToken("root", Admin, "")
	token, line := oneToken("ada", Viewer, "")
	of := func(expires time.Time) *Tokens {
		return parse(t, a, strings.TrimSuffix(line, "}\n")+fmt.Sprintf(", expires: %q}\n", expires.Format(time.RFC3339)))
	}
	w := newWorldAtRest(t, newMemory(), func(cfg *Config, e *engine.Config) {
		cfg.Tokens, cfg.Clock, e.Clock = of(time.Now().Add(time.Hour)), clock, clock
	})
	asked(w, admin, "POST", "/api/v1/revocations", `{"token":"ada"}`).want(201)
	clock.Advance(clock.Now().Add(2 * time.Hour))
	w.server.revocations.changed() // revocationPause has passed
	w.server.SetTokens(of(time.Now().AddDate(1, 0, 0)))
	asked(w, token, "GET", "/api/v1/stats", "").problem(api.CodeUnauthorized).says("was revoked")
}

// deafStore does not answer questions about notes for a while.
type deafStore struct {
	store.Store
	deaf atomic.Bool
}

func (s *deafStore) Notes(ctx context.Context, kind, after string, limit int) ([]store.Note, error) {
	if s.deaf.Load() {
		return nil, errors.New("no connection")
	}
	return s.Store.Notes(ctx, kind, after, limit)
}

// TestUnknownRevocations: until a server knows what is revoked, it lets nobody in; afterwards what it knows holds.
func TestUnknownRevocations(t *testing.T) {
	admin, a := oneToken("root", Admin, "")
	token, b := oneToken("ada", Viewer, "")
	device, c := oneToken("dana-1", Device, ", client: dana")
	s := &deafStore{Store: newMemory()}
	servers := make([]*world, 2)
	for i := range servers {
		tokens := parse(t, a, b, c)
		servers[i] = newWorldAtRest(t, s, func(cfg *Config, _ *engine.Config) { cfg.Tokens, cfg.Client = tokens, Devices{Tokens: tokens}.Client })
	}
	asked(servers[0], admin, "POST", "/api/v1/revocations", `{"token":"ada"}`).want(201)
	asked(servers[0], token, "GET", "/api/v1/stats", "").problem(api.CodeUnauthorized)
	s.deaf.Store(true)
	asked(servers[1], token, "GET", "/api/v1/stats", "").problem(api.CodeStore).says("revoked")
	servers[1].do("POST", "/api/v1/session", `{"token":"`+token+`"}`).problem(api.CodeStore)
	south := func() int {
		return ask(servers[1].server.South(), func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+device) }, "GET", "/api/wfx/v1/jobs").Code
	}
	if got := south(); got != 503 {
		t.Errorf("a device: %d", got)
	}
	servers[0].server.revocations.changed() // revocationPause has passed
	asked(servers[0], token, "GET", "/api/v1/stats", "").problem(api.CodeUnauthorized)
	asked(servers[0], admin, "GET", "/api/v1/stats", "").want(200)
	s.deaf.Store(false)
	servers[1].server.revocations.changed() // revocationRetry has passed
	asked(servers[1], token, "GET", "/api/v1/stats", "").problem(api.CodeUnauthorized).says("was revoked")
	if got := south(); got != 200 {
		t.Errorf("a device afterwards: %d", got)
	}
}

// TestManyRevocations: all of them count, whatever their keys, also if several servers went beyond the limit at once.
func TestManyRevocations(t *testing.T) {
	s := newMemory()
	admin, a := oneToken("root", Admin, "")
	w := newWorldAtRest(t, s, func(cfg *Config, _ *engine.Config) { cfg.Tokens = parse(t, a) })
	for i := range maxRevocations + 5 {
		if err := s.PutNote(t.Context(), store.Note{Kind: revocationKind, Key: fmt.Sprintf("certificate-%05x", i), Value: "{}"}, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"certificate-00000", fmt.Sprintf("certificate-%05x", maxRevocations+4)} {
		if revoked, err := w.server.revocations.has(key); !revoked || err != nil {
			t.Errorf("%s: %v %v", key, revoked, err)
		}
	}
	asked(w, admin, "POST", "/api/v1/revocations", `{"certificate":"ffffff"}`).problem(api.CodeNotAllowedNow)
}

// TestStreamEndsWithItsCredential: within a heartbeat, however busy or idle the stream is.
func TestStreamEndsWithItsCredential(t *testing.T) {
	admin, a := oneToken("root", Admin, "")
	token, b := oneToken("ada", Viewer, "")
	device, c := oneToken("dana-1", Device, ", client: dana")
	for name, end := range map[string]func(w *world){
		"revoked": func(w *world) {
			asked(w, admin, "POST", "/api/v1/revocations", `{"token":"ada"}`).want(201)
			asked(w, admin, "POST", "/api/v1/revocations", `{"token":"dana-1"}`).want(201)
		},
		"taken out of the file": func(w *world) { w.server.SetTokens(parse(t, a)) },
	} {
		tokens := parse(t, a, b, c)
		w := newWorld(t, newMemory(), func(cfg *Config, _ *engine.Config) {
			cfg.Tokens, cfg.Limits.Heartbeat, cfg.Client = tokens, 10*time.Millisecond, Devices{Tokens: tokens}.Client
		})
		south := httptest.NewServer(w.server.South())
		cookie := signIn(w, token)
		var open []*http.Response
		for url, credential := range map[string][]string{
			w.url + "/api/v1/stream":              {"Authorization", "Bearer " + token},
			w.url + "/api/v1/stream?instance=x":   {"Cookie", cookie},
			w.url + "/api/wfx/v1/jobs/events":     {"Authorization", "Bearer " + token},
			south.URL + "/api/wfx/v1/jobs/events": {"Authorization", "Bearer " + device},
		} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set(credential[0], credential[1])
			a, err := http.DefaultClient.Do(r)
			if err != nil || a.StatusCode != 200 {
				t.Fatalf("%s: %s: %v %v", name, url, a, err)
			}
			open = append(open, a)
		}
		end(w)
		for _, a := range open {
			if _, err := io.Copy(io.Discard, a.Body); err != nil { // it has an end
				t.Errorf("%s: %v", name, err)
			}
			_ = a.Body.Close()
		}
		south.Close()
	}
}
