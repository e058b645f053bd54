package openapi

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// TestRunningInstanceKeepsItsDocument: the document changes, and is deployed again,
// while an instance waits before its call.
func TestRunningInstanceKeepsItsDocument(t *testing.T) {
	ctx := context.Background()
	s := newService(t)
	var paths []string
	clock := engine.NewVirtualClock(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	e, err := engine.New(engine.Config{
		Store: memory.New(), Clock: clock, Inline: true, Redeploy: true, Languages: jsonpath.Languages(),
		Invoker: effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome {
			out := newInvoker(t).Invoke(ctx, c)
			paths = append(paths, s.seen.URL.Path)
			return out
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	const definition = `
id: w
name: W
functions: [{name: f, operation: api.yaml#op}]
states:
- {name: Wait, type: delay, start: {kind: default}, timeDelay: PT1H, transition: {nextState: Call}}
- {name: Call, type: operation, actions: [{functionRef: {refName: f}}], end: {kind: default}}
`
	for _, path := range []string{"/first", "/second"} {
		files := dialect.MapBundle{"api.yaml": []byte(strings.ReplaceAll(api(path, "get", "responses: {}"), "SERVER", s.URL))}
		c, found := dialect.NewRegistry(sw05.FrontEnd{}).Compile("w.yaml", []byte(definition), files, dialect.Options{})
		found = append(found, Pin(ctx, c.Program, files, Definition{File: "w.yaml", Operations: c.Operations})...)
		if len(found) > 0 {
			t.Fatal(found)
		}
		if err := e.Deploy(ctx, c.Program); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Start(ctx, engine.StartRequest{Definition: "w", ID: path[1:]}); err != nil {
			t.Fatal(err)
		}
	}
	run := trial.Run{Engine: e, Clock: clock}
	if err := run.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"first", "second"} {
		if in, err := e.Get(ctx, id); err != nil || in.Status != core.Completed {
			t.Errorf("%s: %+v %v", id, in.Fault, err)
		}
	}
	if got := strings.Join(paths, " "); got != "/first /second" {
		t.Errorf("called %s", got)
	}
}
