package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// mute is a store that takes no commits any more.
type mute struct {
	store.Shared
	off atomic.Bool
}

func (m *mute) Commit(ctx context.Context, c store.Commit) error {
	if m.off.Load() {
		return errors.New("muted")
	}
	return m.Shared.Commit(ctx, c)
}

// TestNodesStuck: a node whose step does not end names the instance and gives up its lease. The
// node that gets its parts pauses the instance before it runs a step of it, and does the rest.
func TestNodesStuck(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	type node struct {
		*Engine
		lang  *blocking
		store *mute
	}
	run := func(name string) node {
		n := node{lang: newBlocking(), store: &mute{Shared: openPostgres(t, url, postgres.Options{}).Namespace("default").(store.Shared)}}
		var err error
		n.Engine, err = New(Config{Store: n.store, Languages: n.lang.languages(), Node: store.Member{Name: name}, OnError: func(err error) { t.Logf("%s: %v", name, err) }})
		if err != nil {
			t.Fatal(err)
		}
		n.watchdog.tick = 20 * time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- n.Run(ctx) }()
		t.Cleanup(func() {
			close(n.lang.release)
			cancel()
			if err := <-over; err != nil {
				t.Error(err)
			}
		})
		return n
	}
	shards := func(n node) (out int) {
		list, err := n.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			if x.Name == n.cfg.Node.Name {
				out = x.Shards
			}
		}
		return out
	}
	a := run("a")
	until(func() bool { return shards(a) == 64 })
	if err := a.Deploy(t.Context(), poisoned("bad", "blocking", delay(time.Millisecond))); err != nil {
		t.Fatal(err)
	}
	if err := a.Deploy(t.Context(), build("brief").main(delay(time.Millisecond))); err != nil {
		t.Fatal(err)
	}
	b := run("b")
	until(func() bool { return shards(a) == 32 && shards(b) == 32 })
	bad := startOne(t, a.Engine, "bad")
	until(func() bool { return a.lang.begun.Load() == 1 })
	a.store.off.Store(true) // so that it cannot pause it itself
	until(func() bool { return a.Stuck() != "" && shards(b) == 64 })
	if a.shared.Leased() {
		t.Error("the stuck node has its lease")
	}
	until(func() bool {
		if n := b.lang.begun.Load(); n != 0 {
			t.Fatalf("the other node began %d steps of it", n)
		}
		row, err := b.Get(t.Context(), bad)
		return err == nil && row.Status == core.Paused && row.Quarantine == ""
	})
	until(func() bool {
		named, err := b.store.Suspects(t.Context())
		return err == nil && len(named) == 0
	})
	for i := range 20 { // in anybody's part
		id, err := b.Start(t.Context(), StartRequest{Definition: "brief", ID: fmt.Sprint("brief", i)})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.Wait(t.Context(), id); err != nil || got.Status != core.Completed {
			t.Errorf("another is %s: %v", got.Status, err)
		}
	}
	if n := b.lang.begun.Load(); n != 0 {
		t.Errorf("the other node began %d steps of it", n)
	}
}
