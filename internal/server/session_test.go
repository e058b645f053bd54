package server

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// countingStore counts what the store is asked about sessions.
type countingStore struct {
	store.Store
	asked atomic.Int64
}

func (s *countingStore) Note(ctx context.Context, kind, key string) (store.Note, error) {
	s.asked.Add(1)
	return s.Store.Note(ctx, kind, key)
}

func (s *countingStore) DeleteNote(ctx context.Context, kind, key string) (bool, error) {
	s.asked.Add(1)
	return s.Store.DeleteNote(ctx, kind, key)
}

// TestStrangersDoNotReachTheStore: cookies that nobody handed out cost no question to the store, and no write.
func TestStrangersDoNotReachTheStore(t *testing.T) {
	token, line := oneToken("ada", Viewer, "")
	s := &countingStore{Store: newMemory()}
	w := newWorldAtRest(t, s, func(cfg *Config, _ *engine.Config) { cfg.Tokens = parse(t, line) })
	name, value, _ := strings.Cut(signIn(w, token), "=")
	before := s.asked.Load()
	for _, cookie := range []string{"0123456789abcdef." + strings.Repeat("a", 26), "x", "", ".", value[:16], value[:17], strings.Repeat("x", 1<<15)} {
		w.do("GET", "/api/v1/stats", "", "Cookie", name+"="+cookie).want(401)
		w.do("GET", "/api/v1/session", "", "Cookie", name+"="+cookie).want(200).is("name", "null")
		w.do("DELETE", "/api/v1/session", "", "Cookie", name+"="+cookie).want(204)
	}
	if n := s.asked.Load() - before; n != 0 {
		t.Errorf("the store was asked %d times", n)
	}
	w.do("GET", "/api/v1/stats", "", "Cookie", name+"="+value).want(200)
}
