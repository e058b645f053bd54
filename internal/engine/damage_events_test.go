package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestDamageHoldsUpNoEvent: a subscription or a kept event that is damaged is left out of what events and waits are
// compared with. Its instance is set aside; events are taken, and everybody else gets theirs.
func TestDamageHoldsUpNoEvent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	h, end := onFile(t, file, &receiver{})
	h.deploy(waiter("s", time.Second, "go", "key="+mark), waiter("w", time.Second, "go", "key=1"), waiter("late", time.Hour, "go"))
	sick, well, late := h.start("s", `{}`), h.start("w", `{}`), h.start("late", `{}`)
	h.run(time.Minute)
	h.send(`go kept key=2 {"mark":"` + mark + `"}`)
	now := h.clock.Now()
	end()
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	subscriptions, events := 0, 0
	for _, at := range marks(sound) {
		bad := bytes.Clone(sound)
		bad[at+3] ^= 1
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		h, end := onFile(t, file, &receiver{})
		h.clock.Advance(now)
		h.send(`go nobodys key=3`)
		h.send(`go e key=1 {"for":"well"}`)
		h.poll()
		h.want(well, core.Completed, `{"for":"well"}`)
		if in, err := h.store.Instance(t.Context(), sick); err == nil && strings.Contains(in.Quarantine, "subscription") {
			subscriptions++
			if _, err := h.Waiting(t.Context(), sick); err != nil {
				t.Errorf("at %d: what it waits for: %v", at, err)
			}
		}
		if _, err := h.store.Events(t.Context(), store.EventQuery{}); errors.Is(err, store.ErrDamaged) {
			events++
			if kept := h.events(t); len(kept) != 2 {
				t.Errorf("at %d: of the other events there are %v", at, kept)
			}
		}
		h.run(2 * time.Hour)
		h.want(late, core.Completed, "")
		end()
	}
	if subscriptions == 0 || events == 0 {
		t.Errorf("%d subscriptions and %d events were damaged", subscriptions, events)
	}
}

// TestDamageOfEventsThatAreRoutedAgain: an event that must be routed again, and is damaged, stays in that list until its time is
// up. It does not keep the engine busy, and several of them are not taken for a store that fails.
func TestDamageOfEventsThatAreRoutedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	h, end := onFile(t, file, &receiver{})
	h.deploy(build("w").main(delay(time.Minute)))
	seqs := []int64{}
	for _, id := range []string{"1", "2"} {
		h.send(`go ` + id + ` {"mark":"` + mark + `"}`)
	}
	for _, e := range h.events(t) {
		seqs = append(seqs, e.Seq)
	}
	if err := h.store.Route(t.Context(), func(store.View) (store.Routing, error) { return store.Routing{Again: seqs}, nil }); err != nil {
		t.Fatal(err)
	}
	now := h.clock.Now()
	end()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range marks(data) {
		data[at+3] ^= 1
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	h, end = onFile(t, file, &receiver{})
	defer end()
	h.clock.Advance(now)
	_, err = h.Poll(t.Context())
	if !errors.Is(err, store.ErrDamaged) || strings.Contains(err.Error(), "things to do fail") {
		t.Errorf("poll says %v", err)
	}
	if list, err := h.store.Again(t.Context(), 10); err != nil || len(list) != 2 {
		t.Errorf("to be routed again are %v %v", list, err)
	}
	if next, ok := h.Next(); !ok || !next.After(h.clock.Now()) {
		t.Errorf("there is something to do at once: %v %v", next, ok)
	}
	h.clock.Advance(now.Add(1000 * time.Hour))
	h.poll()
	if list, err := h.store.Again(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("when their time is up, there are %v %v", list, err)
	}
}
