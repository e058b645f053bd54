package lockstep_test

import (
	"context"
	"fmt"
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

// TestCallsWithoutTheirSecretsHoldUpNobody: while a call waits for its secret others are made, and it is when the secret
// is back.
func TestCallsWithoutTheirSecretsHoldUpNobody(t *testing.T) {
	var asked atomic.Int32
	var back atomic.Bool
	log := newSyncBuffer()
	e, err := lockstep.Open(t.Context(), "memory:", lockstep.MaxCalls(1),
		lockstep.Logger(slog.New(slog.NewJSONHandler(log, nil))),
		lockstep.Secrets(func(string) (expr.Value, bool) { return expr.String(canary), asked.Add(1) == 1 || back.Load() }),
		lockstep.Func("named", func(_ context.Context, in map[string]string) (map[string]string, error) {
			return map[string]string{"got": fmt.Sprint(len(in["token"]))}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	deploy(e, lockstep.Text(callsNamed))
	deploy(e, lockstep.Text(`
document: {dsl: 1.0.3, namespace: default, name: other, version: 1.0.0}
do: [{ask: {call: named, with: {token: none}}}]
`))
	id, err := e.Start(t.Context(), "calls", nil)
	if err != nil {
		t.Fatal(err)
	}
	log.waitFor("there is no secret")
	if in, err := e.Run(t.Context(), "other", nil); err != nil || in.Status != "completed" {
		t.Errorf("the other: %+v %v", in, err)
	}
	back.Store(true)
	if in, err := e.Wait(t.Context(), id); err != nil || string(in.Output) != fmt.Sprintf(`{"got":"%d"}`, len(canary)) {
		t.Errorf("%+v %v", in, err)
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
