package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// TestLargeDataIsWrittenOnce: an instance that does not change the large data that it was started with
// writes it once, however many steps it has. The limits are bytes to the log of the database.
func TestLargeDataIsWrittenOnce(t *testing.T) {
	const size = 1 << 20
	for _, on := range []string{"sqlite", "postgres"} {
		for _, x := range []struct {
			name  string
			steps int
			echo  bool // the function answers with what it was given, decoded anew
			most  float64
		}{
			{"W1", 1, false, 1.2e6},
			{"W10", 10, false, 1.4e6},
			{"W1 echo", 1, true, 1.2e6},
			{"W10 echo", 10, true, 1.4e6},
		} {
			t.Run(on+"/"+x.name, func(t *testing.T) {
				got, parts := costOfLarge(t, on, x.steps, size, x.echo)
				t.Logf("%.2f MB to the log; values of %s", got/1e6, parts)
				if got > x.most {
					t.Errorf("%.2f MB to the log for %.2f MB of input, at most %.2f are allowed", got/1e6, float64(size)/1e6, x.most/1e6)
				}
			})
		}
	}
}

// costOfLarge is how many bytes an instance with a large input writes to the log, and how many its values have by kind.
func costOfLarge(t *testing.T, on string, steps, size int, echo bool) (bytes float64, parts string) {
	s, read := openMetered(t, on)
	defer s.close()
	weighed := &weighing{Store: s.Store}
	function := effect.Func(constant)
	if echo {
		function = func(_ context.Context, c effect.Call) effect.Outcome {
			v, _, err := expr.DecodeBinary(c.Args.AppendBinary(nil))
			if err != nil {
				return effect.Outcome{Failure: &effect.Failure{Detail: err.Error()}}
			}
			return effect.Outcome{Value: v}
		}
	}
	definition := calling("large", steps)
	if echo {
		definition = strings.ReplaceAll(definition, "{refName: f}", `{refName: f, arguments: {payload: "{{ $.payload }}"}}`)
	}
	e, err := deployed(t.Context(), weighed, engine.Config{Invoker: function}, definition)
	if err != nil {
		t.Fatal(err)
	}
	defer started(t.Context(), e)()
	one := func(size int) {
		input := expr.Object(expr.Member{Key: "payload", Value: expr.String(noise(size))})
		id, err := e.Start(t.Context(), engine.StartRequest{Definition: "large", Input: input})
		if err != nil {
			t.Fatal(err)
		}
		row, err := e.Wait(t.Context(), id)
		if err != nil || row.Output.IsNull() {
			t.Fatal(row.Status, row.Fault, err)
		}
		if got, _ := row.Output.Get("payload"); got.Len() != size {
			t.Fatalf("the output has a payload of %d bytes", got.Len())
		}
	}
	one(1) // caches and prepared statements
	weighed.reset()
	_, _, before := read()
	one(size)
	_, _, after := read()
	return float64(after - before), weighed.String()
}

// weighing is a store that sums up how large the values are that it is given.
type weighing struct {
	store.Store
	mu                                           sync.Mutex
	records, pages, calls, others, rest, commits int
}

func (w *weighing) Commit(ctx context.Context, c store.Commit) error {
	data, rest := codec.EncodeCommit(nil, &c), codec.AppendRest(nil, &c.Instance, c.Instance.Rev+1, c.Chunks)
	sum := func(list [][]byte) (n int) {
		for _, b := range list {
			n += len(b)
		}
		return n
	}
	w.mu.Lock()
	w.commits++
	w.records += len(data.Records)
	for i := range c.Pages {
		w.pages += len(c.Pages[i].Data)
	}
	w.calls += sum(data.Calls)
	w.others += data.Bytes - len(data.Records) - sum(data.Calls)
	w.rest += len(rest)
	w.mu.Unlock()
	return w.Store.Commit(ctx, c)
}

func (w *weighing) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records, w.pages, w.calls, w.others, w.rest, w.commits = 0, 0, 0, 0, 0, 0
}

func (w *weighing) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	mb := func(n int) string { return fmt.Sprintf("%.2f MB", float64(n)/1e6) }
	return fmt.Sprintf("%d commits: history %s, state %s, calls %s, row %s, others %s", w.commits, mb(w.records), mb(w.pages), mb(w.calls), mb(w.rest), mb(w.others))
}
