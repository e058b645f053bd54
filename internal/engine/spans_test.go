package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// spanBox remembers spans.
type spanBox struct {
	mu  sync.Mutex
	got map[trace.SpanID]trace.Span
}

func (b *spanBox) take(_ context.Context, spans []trace.Span) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range spans {
		if b.got == nil {
			b.got = map[trace.SpanID]trace.Span{}
		}
		b.got[s.Span] = s
	}
	return nil
}

// lines are the spans as name < name of the parent, sorted.
func (b *spanBox) lines() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.got {
		parent := "none"
		if s.Parent != (trace.SpanID{}) {
			parent = "lost"
			if p, ok := b.got[s.Parent]; ok && p.Trace == s.Trace {
				parent = p.Name
			}
		}
		out = append(out, s.Name+" < "+parent)
	}
	slices.Sort(out)
	return out
}

// TestSpansOfBranches: states of branches that run side by side are below their own branch, also when what was in memory is lost
// in the middle.
func TestSpansOfBranches(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		b := &spanBox{}
		h := newHarness(t, nil, func(cfg *Config) {
			cfg.Languages, cfg.Tracing = languages.All(), &Tracing{Export: b.take, Ratio: 1}
		})
		pass := func() {
			t.Helper()
			if forgets {
				h.spans.begun = false // another process goes on
			}
			for more, err := true, error(nil); more; {
				if more, err = h.relayPart(t.Context(), h.spans); err != nil {
					t.Fatal(err)
				}
			}
		}
		pass()
		h.deploy(openWorkflow(t, "w", `- both:
    fork:
      branches:
      - one: {do: [{a: {wait: PT1M}}, {b: {wait: PT2M}}]}
      - two: {do: [{c: {wait: PT90S}}, {d: {wait: PT2M}}]}
- last: {set: {n: 1}}
`))
		h.start("test.w", `{}`)
		for range 8 {
			h.run(30 * time.Second)
			pass()
		}
		want := []string{
			"both < test.w", "both/one < both", "both/one/a < both/one", "both/one/b < both/one",
			"both/two < both", "both/two/c < both/two", "both/two/d < both/two", "last < test.w", "test.w < none",
		}
		wantLines(t, fmt.Sprint("forgets: ", forgets), b.lines(), want...)
		b.mu.Lock()
		for _, s := range b.got {
			if took := s.End - s.Start; strings.HasSuffix(s.Name, "/c") && time.Duration(took) != 90*time.Second {
				t.Errorf("%s took %v", s.Name, time.Duration(took))
			}
		}
		b.mu.Unlock()
	}
}

// TestSpansOfRetries: what a retry does is below the states in which it goes on, which have a span for each try, also when
// what was in memory is lost.
func TestSpansOfRetries(t *testing.T) {
	const kid = "run: {workflow: {namespace: test, name: kid, version: 1.0.0}}"
	for tasks, want := range map[string][]string{
		"- pack: {" + kid + "}\n": {
			"broken < test.kid", "broken < test.kid", "pack < test.w", "pack < test.w", "pack < test.w", "start test.kid < pack", "start test.kid < pack",
			"test.kid < start test.kid", "test.kid < start test.kid", "test.w < none",
		},
		"- outer: {do: [{a: {set: {n: 1}}}, {b: {" + kid + "}}]}\n- last: {set: {n: 2}}\n": {
			"broken < test.kid", "broken < test.kid", "last < test.w", "outer < test.w", "outer < test.w", "outer < test.w", "outer/a < outer", "outer/a < outer",
			"outer/b < outer", "outer/b < outer", "start test.kid < outer/b", "start test.kid < outer/b",
			"test.kid < start test.kid", "test.kid < start test.kid", "test.w < none",
		},
	} {
		for _, forgets := range []bool{false, true} {
			b := &spanBox{}
			h := newHarness(t, nil, func(cfg *Config) {
				cfg.Languages, cfg.Tracing = languages.All(), &Tracing{Export: b.take, Ratio: 1}
			})
			pass := func() {
				t.Helper()
				h.run(time.Second)
				if forgets {
					h.spans.begun = false
				}
				for more, err := true, error(nil); more; {
					if more, err = h.relayPart(t.Context(), h.spans); err != nil {
						t.Fatal(err)
					}
				}
			}
			pass()
			h.deploy(openWorkflow(t, "kid", failing), openWorkflow(t, "w", tasks))
			id := h.start("test.w", `{}`)
			pass()
			for _, c := range []core.Control{{Verb: core.VerbRetry}, {Verb: core.VerbSkip, Data: expr.EmptyObject, HasData: true}} {
				if err := h.Control(t.Context(), id, c); err != nil {
					t.Fatal(err)
				}
				pass()
			}
			wantLines(t, fmt.Sprint(tasks, "forgets: ", forgets), b.lines(), want...)
		}
	}
}

// TestNodesObserved: of two nodes one sends the spans and the notices of both, and when it stops the other goes on. No span
// loses its parent.
func TestNodesObserved(t *testing.T) {
	url, s, b, n := pgtest.Start(t).Database(t), newCallService(), &spanBox{}, &noticeBoard{}
	on := func(cfg *Config) {
		cfg.Languages, cfg.Tracing, cfg.Notify = languages.All(), &Tracing{Export: b.take, Ratio: 1}, []Notify{{Name: "n", Send: n.take}}
	}
	nodes := []*testNode{runNode(t, url, "a", postgres.Options{}, s, on), runNode(t, url, "b", postgres.Options{}, s, on)}
	settle(nodes[0], nodes[1])
	until(func() bool {
		_, spans, err := nodes[0].store.Cursor(t.Context(), "spans")
		_, notices, err2 := nodes[0].store.Cursor(t.Context(), "notify n")
		return err != nil || err2 != nil || spans && notices
	})
	if err := nodes[0].Deploy(t.Context(), openWorkflow(t, "w", "- a: {wait: PT0.05S}\n"+failing)); err != nil {
		t.Fatal(err)
	}
	start := func(on *testNode, i int) { on.begin("test.w", fmt.Sprint("i", i)) }
	for i := range 10 {
		start(nodes[i%2], i)
	}
	sends := 0
	if nodes[1].has("spans") {
		sends = 1
	}
	nodes[sends].stop()
	for i := 10; i < 20; i++ {
		start(nodes[1-sends], i)
	}
	done := func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		failed := map[string]bool{}
		for _, e := range n.got {
			failed[e.Subject] = true
		}
		return len(failed) == 20
	}
	until(func() bool { return done() && len(b.lines()) == 60 })
	for _, line := range b.lines() {
		if !slices.Contains([]string{"test.w < none", "a < test.w", "broken < test.w"}, line) {
			t.Errorf("a span %s", line)
		}
	}
}
