package engine

import (
	"context"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// inboxStore lets something happen, once, right before an inbox is read.
type inboxStore struct {
	store.Store
	reading func()
}

func (s *inboxStore) Messages(ctx context.Context, instance string) ([]store.Message, error) {
	happen(&s.reading)
	return s.Store.Messages(ctx, instance)
}

// TestStartTakenElsewhere: whoever reads the row of an instance before another node lets it take its
// start, and its inbox after that, looks again. Else its update finds no job, and its intervention
// breaks an invariant.
func TestStartTakenElsewhere(t *testing.T) {
	for name, do := range map[string]func(h *harness, id string) error{
		"update": func(h *harness, id string) error {
			_, err := h.update(id, "CLIENT", `{"state":"PROGRESS"}`)
			return err
		},
		"control": func(h *harness, id string) error {
			return h.Control(t.Context(), id, core.Control{Verb: core.VerbSuspend})
		},
	} {
		s := &inboxStore{Store: newStore(t)}
		h := campaignHarness(t, func(c *Config) { c.Store = s })
		h.start("campaign", `{"client":"d1"}`)
		id := h.only().ID
		other, err := New(Config{Store: s.Store, Clock: h.clock, Languages: jsonpath.Languages(), Inline: true})
		if err != nil {
			t.Fatal(err)
		}
		h.alone = false
		s.reading = func() {
			if _, err := other.Poll(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := do(h, id); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if why := h.get(id).Quarantine; s.reading != nil || why != "" {
			t.Errorf("%s: nothing came between, or it is set aside: %s", name, why)
		}
	}
}
