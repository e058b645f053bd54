package lockstep_test

import (
	"context"
	"errors"
	"iter"
	"net"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/event"
)

// TestClosed: what waits when an engine is closed ends, and what is asked of it afterwards is refused.
func TestClosed(t *testing.T) {
	for _, address := range []string{"memory:", "sqlite:" + filepath.Join(t.TempDir(), "test.db")} {
		e, err := lockstep.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		deploy(e, lockstep.Text(waits))
		ctx := context.Background() // never ends
		id, err := e.Start(ctx, "waits", nil)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		wait := func() error { _, err := e.Wait(ctx, id); return err }
		watch := func() error { return last(e.Watch(ctx, id)) }
		waiting, watching, serving := make(chan error), make(chan error), make(chan error)
		go func() { waiting <- wait() }()
		go func() { watching <- watch() }()
		go func() { serving <- e.Serve(ctx, lockstep.Listeners{Handler: []net.Listener{l}}) }()
		for range 2 {
			if err := e.Close(); err != nil {
				t.Error(address, err)
			}
		}
		if err := <-serving; err != nil {
			t.Error(address, err)
		}
		for what, do := range map[string]func() error{
			"wait before":  func() error { return <-waiting },
			"watch before": func() error { return <-watching },
			"wait":         wait,
			"watch":        watch,
			"get":          func() error { _, err := e.Get(ctx, id); return err },
			"start":        func() error { _, err := e.Start(ctx, "waits", nil); return err },
			"deploy":       func() error { _, err := e.Deploy(ctx, lockstep.Text(hello)); return err },
			"send":         func() error { _, err := e.Send(ctx, event.Event{ID: "1", Source: "src", Type: "go"}); return err },
			"pause":        func() error { _, err := e.Pause(ctx, id, ""); return err },
			"answer":       func() error { return e.Answer(ctx, id, "1", nil) },
			"list":         func() error { return last(e.List(ctx, "")) },
			"history":      func() error { return last(e.History(ctx, id)) },
		} {
			var refused *lockstep.Error
			err := do()
			if !errors.Is(err, lockstep.ErrClosed) || !errors.As(err, &refused) || refused.Code != api.CodeStopping {
				t.Errorf("%s: %s: %v", address, what, err)
			}
		}
		if _, err := e.Client().ListInstances(ctx, client.InstanceQuery{}); !errors.Is(err, lockstep.ErrClosed) {
			t.Error(address, err)
		}
	}
}

// last is the last error of a sequence.
func last[T any](list iter.Seq2[T, error]) (out error) {
	for _, err := range list {
		out = err
	}
	return out
}
