package run

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// slowReader is a store whose answer to who asks with asks set is old when it comes.
type slowReader struct {
	store.Store
	meanwhile func()
}

type asks struct{}

func (s *slowReader) Instance(ctx context.Context, id string) (store.Instance, error) {
	row, err := s.Store.Instance(ctx, id)
	if ctx.Value(asks{}) != nil {
		s.meanwhile()
	}
	return row, err
}

// TestRunReportsACompletedWorkflowAsWaiting: it ends after the run has asked whether it
// is over, and before it asks whether anything can still happen.
func TestRunReportsACompletedWorkflowAsWaiting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "call.yaml")
	definition := `
id: call
name: Call
functions:
- {name: f, operation: "https://example.com/f"}
states:
- {name: Call, type: operation, start: {kind: default}, actions: [{functionRef: {refName: f}}], end: {kind: default}}
`
	if err := os.WriteFile(file, []byte(definition), 0o644); err != nil {
		t.Fatal(err)
	}
	a := &cli.App{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Problems: true}
	s, err := newSession(a, context.Background(), []string{file}, runFlags{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		slow := &slowReader{memory.New(), sync.OnceFunc(func() {
			close(answer)
			synctest.Wait()
		})}
		s.engine.Engine, err = engine.New(engine.Config{
			Store: slow, Languages: languages.All(), OnRecord: s.record,
			Invoker: effect.Func(func(context.Context, effect.Call) effect.Outcome {
				<-answer
				return effect.Outcome{Value: expr.EmptyObject}
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range s.definitions {
			if err := s.engine.Deploy(t.Context(), d.Program); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.run(context.WithValue(t.Context(), asks{}, true)); err != nil {
			t.Errorf("the run ends with: %v", err)
		}
	})
}
