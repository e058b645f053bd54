package lockstep_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/expr"
)

const callsNamed = `
document: {dsl: 1.0.3, namespace: default, name: calls, version: 1.0.0}
use: {secrets: [token]}
do: [{ask: {call: named, with: {token: '${ $secrets.token }'}}}]
`

// TestCallsAreMadeWithTheirSecrets: a call whose secret is gone is not made without it, also not when the
// engine ends meanwhile.
func TestCallsAreMadeWithTheirSecrets(t *testing.T) {
	var found, made atomic.Int32
	log := newSyncBuffer()
	e, err := lockstep.Open(t.Context(), "memory:",
		lockstep.Logger(slog.New(slog.NewJSONHandler(log, nil))),
		lockstep.Secrets(func(string) (expr.Value, bool) { return expr.String(canary), found.Add(1) == 1 }), // for the step alone
		lockstep.Func("named", func(_ context.Context, in map[string]string) (map[string]string, error) {
			made.Add(1)
			return in, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	deploy(e, lockstep.Text(callsNamed))
	if _, err := e.Start(t.Context(), "calls", nil); err != nil {
		t.Fatal(err)
	}
	log.waitFor("there is no secret")
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Shutdown(now); err != nil {
		t.Fatal(err)
	}
	if made.Load() > 0 {
		t.Error("the call was made with a reference in the place of its secret")
	}
}

// TestPanicsTellNoSecrets: what a function panics with is logged, and is the error of its call.
func TestPanicsTellNoSecrets(t *testing.T) {
	log := newSyncBuffer()
	e, err := lockstep.Open(t.Context(), "memory:",
		lockstep.Logger(slog.New(slog.NewJSONHandler(log, nil))),
		lockstep.Secrets(func(string) (expr.Value, bool) { return expr.String(canary), true }),
		lockstep.Func("named", func(_ context.Context, in map[string]string) (map[string]string, error) {
			panic("what is " + in["token"] + "?")
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	deploy(e, lockstep.Text(callsNamed))
	if in, err := e.Run(t.Context(), "calls", nil); err != nil || in.Status != "failed" || in.Error == nil || !strings.Contains(in.Error.Detail, "what is ‹secret token›?") {
		t.Errorf("%+v %v", in, err)
	}
	log.waitFor("what is")
	hasNone(t, "the log", []byte(log.String()))
}

// TestAnswersWithFormerSecrets: what a secret was when a call was made is not told when its answer comes.
func TestAnswersWithFormerSecrets(t *testing.T) {
	for _, now := range []expr.Value{expr.String(rotated), expr.EmptyObject, expr.Null} {
		var changed atomic.Bool
		path := filepath.Join(t.TempDir(), "test.db")
		e, err := lockstep.Open(t.Context(), "sqlite:"+path,
			lockstep.Secrets(func(string) (expr.Value, bool) {
				if changed.Load() {
					return now, !now.IsNull()
				}
				return expr.String(canary), true
			}),
			lockstep.Func("named", func(_ context.Context, in map[string]string) (map[string]string, error) {
				changed.Store(true)
				in["marker"] = untouched
				return in, nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		deploy(e, lockstep.Text(callsNamed))
		in, err := e.Run(t.Context(), "calls", nil)
		if err != nil || in.Status != "completed" || !strings.Contains(string(in.Output), "‹secret token›") {
			t.Errorf("%+v %v", in, err)
		}
		hasNone(t, "the output", in.Output)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		onDisk(t, path)
	}
}
