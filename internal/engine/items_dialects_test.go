package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// compiled compiles documents.
func compiled(t *testing.T, documents ...string) (out []*ir.Program) {
	t.Helper()
	for _, text := range documents {
		c, found := dialects.All().Compile("w.yaml", []byte(text), nil, dialect.Options{})
		if found.HasErrors() {
			t.Fatalf("%s\n%s", found.Error(), text)
		}
		out = append(out, c.Program)
	}
	return out
}

// worker answers calls with {n}, the argument, after a second, and keeps the arguments. Those in bad fail until it is mended.
type worker struct {
	mu     sync.Mutex
	calls  []int64
	bad    []int64
	mended bool
}

func (w *worker) Invoke(_ context.Context, c effect.Call) effect.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, _ := c.Args.Get("n")
	n, ok := v.Int()
	if !ok { // 0.1 to 0.5 make texts of arguments
		_, _ = fmt.Sscan(v.Str(), &n)
	}
	w.calls = append(w.calls, n)
	if slices.Contains(w.bad, n) && !w.mended {
		return effect.Outcome{Failure: &effect.Failure{Name: "BadItem"}, Delay: time.Second}
	}
	return effect.Outcome{Value: expr.Object(expr.Member{Key: "n", Value: v}), Delay: time.Second}
}

// take returns what was called since it was asked last, in order.
func (w *worker) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.calls)
	out := strings.Trim(fmt.Sprint(w.calls), "[]")
	w.calls = nil
	return out
}

const (
	items05 = `
id: map
name: Map
version: "1.0"
functions: [{name: score}]
states:
- name: Each
  type: foreach
  start: {kind: default}
  inputCollection: "{{ $.list }}"
  iterationParam: item
  outputCollection: "{{ $.out }}"
  actions: [{functionRef: {refName: score, parameters: {n: "{{ $.item.n }}"}}}]
  end: {kind: default}
`
	items02 = `
id: map
name: Map
version: "1.0"
functions: [{name: score, resource: score}]
states:
- name: Each
  type: FOREACH
  start: {kind: DEFAULT}
  inputCollection: $.list
  inputParameter: $.item
  states:
  - {name: Score, type: OPERATION, start: {kind: DEFAULT}, actions: [{functionRef: {refName: score, parameters: {n: $.item.n}}}], end: {kind: DEFAULT}}
  end: {kind: DEFAULT}
`
	items08 = `
id: map
specVersion: "VERSION"
name: Map
version: "1"
start: Each
functions: [{name: score, operation: "score.json#score"}]
states:
- {name: Each, type: foreach, inputCollection: "${ .list }", iterationParam: item, outputCollection: "${ .out }", actions: [{functionRef: {refName: score, arguments: {n: "${ .item.n }"}}}], end: true}
`
	items10 = `
document: {dsl: "1.0.0", namespace: default, name: map, version: "1.0.0"}
do:
- each:
    for: {each: item, in: "${ .list }"}
    do:
    - score: {call: score, with: {n: "${ $item.n }"}}
`
)

// TestFailedItemsOfEveryDialect: the retry calls the items that are not done, and no other. Item 3 and item 5 fail.
func TestFailedItemsOfEveryDialect(t *testing.T) {
	for _, c := range []struct {
		name, document string
		first, again   string // what is called
		index          int
	}{
		{"0.2", items02, "0 1 2 3 4 5 6", "3 5", 3},
		{"0.5", items05, "0 1 2 3 4 5 6", "3 5", 3},
		{"0.6", strings.ReplaceAll(items08, "VERSION", "0.6"), "0 1 2 3 4 5 6", "3 5", 3},
		{"0.7", strings.ReplaceAll(items08, "VERSION", "0.7"), "0 1 2 3 4 5 6", "3 5", 3},
		{"0.8", strings.ReplaceAll(items08, "VERSION", "0.8"), "0 1 2 3 4 5 6", "3 5", 3},
		{"0.9", strings.NewReplacer("VERSION", "0.9", "name: Map", "name: map", `version: "1"`, `version: "1.0.0"`, "Each", "each", "actions: [{", "actions: [{name: score, ").Replace(items08), "0 1 2 3 4 5 6", "3 5", 3},
		{"0.8 one after the other", strings.NewReplacer("VERSION", "0.8", "type: foreach,", "type: foreach, mode: sequential,").Replace(items08), "0 1 2 3", "3 4 5 6", 3},
		{"1.0", items10, "0 1 2 3", "3 4 5 6", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &worker{bad: []int64{3, 5}}
			h := newHarness(t, nil, func(cfg *Config) { cfg.Invoker, cfg.Languages = w, languages.All() })
			h.deploy(compiled(t, c.document)...)
			h.retryItems(w, h.start("map", `{"list":[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4},{"n":5},{"n":6}]}`), c.first, c.index, c.again)
		})
	}
}

// retryItems lets an instance fail at an item, after the first calls, and retries its items: they make the calls again.
func (h *harness) retryItems(w *worker, id, first string, index int, again string) {
	h.t.Helper()
	h.run(time.Minute)
	h.expect("called", w.take(), first)
	if row := h.get(id); row.Status != core.Failed || row.Fault.Item == nil || row.Fault.Item.Index != index {
		h.t.Fatalf("%s, %+v", row.Status, row.Fault)
	}
	w.mended = true
	if err := h.Control(h.t.Context(), id, core.Control{Verb: core.VerbRetry, Items: true}); err != nil {
		h.t.Fatal(err)
	}
	h.run(time.Minute)
	h.expect("called by the retry", w.take(), again)
	if row := h.get(id); row.Status != core.Completed {
		h.t.Errorf("%s, %+v", row.Status, row.Fault)
	}
}

// TestFailedItemsThatAreWorkflows: an item is a sub-workflow that fails. The retry starts those of the items that failed,
// and no other.
func TestFailedItemsThatAreWorkflows(t *testing.T) {
	const child05 = `
id: child
name: Child
version: "1.0"
functions: [{name: score}]
states:
- {name: Score, type: operation, start: {kind: default}, actions: [{functionRef: {refName: score, parameters: {n: "{{ $.item.n }}"}}}], end: {kind: default}}
`
	const child08 = `
id: child
specVersion: "0.8"
name: Child
version: "1"
start: Score
functions: [{name: score, operation: "score.json#score"}]
states:
- {name: Score, type: operation, actions: [{functionRef: {refName: score, arguments: {n: "${ .item.n }"}}}], end: true}
`
	const child10 = `
document: {dsl: "1.0.0", namespace: default, name: child, version: "1.0.0"}
do:
- score: {call: score, with: {n: "${ .n }"}}
`
	for _, c := range []struct {
		name, parent, child string
		first, again        string
		children            int // in the end
	}{
		{"0.5", strings.Replace(items05, `actions: [{functionRef: {refName: score, parameters: {n: "{{ $.item.n }}"}}}]`, "workflowId: child", 1), child05, "0 1 2 3", "1 3", 6},
		{"0.8", strings.NewReplacer("VERSION", "0.8", `functionRef: {refName: score, arguments: {n: "${ .item.n }"}}`, "subFlowRef: child").Replace(items08), child08, "0 1 2 3", "1 3", 6},
		{"1.0", strings.Replace(items10, `score: {call: score, with: {n: "${ $item.n }"}}`, `score: {run: {workflow: {namespace: default, name: child, version: "1.0.0", input: "${ $item }"}}}`, 1), child10, "0 1", "1 2 3", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &worker{bad: []int64{1, 3}}
			h := newHarness(t, nil, func(cfg *Config) { cfg.Invoker, cfg.Languages = w, languages.All() })
			h.deploy(compiled(t, c.child, c.parent)...)
			h.retryItems(w, h.start("map", `{"list":[{"n":0},{"n":1},{"n":2},{"n":3}]}`), c.first, 1, c.again)
			if n := len(h.list()) - 1; n != c.children {
				t.Errorf("%d children, want %d", n, c.children)
			}
		})
	}
}

// TestFailedItemsInItems: a foreach in a foreach. An error in the inner one ends that at once, and the item of the outer
// one that it belongs to; the others of the outer one go on. The retry runs those items again, their inner ones with them.
func TestFailedItemsInItems(t *testing.T) {
	w := &worker{bad: []int64{10, 21, 22}}
	h := newHarness(t, nil, func(cfg *Config) { cfg.Invoker, cfg.Languages = w, languages.All() })
	b := build("map")
	own, one := b.call("score"), b.call("score")
	own.op.(*ir.Call).Args = b.expr(jsonpath.TemplateLang, `{"n":"{{ $.item.n }}"}`)
	one.op.(*ir.Call).Args = b.expr(jsonpath.TemplateLang, `{"n":"{{ $.inner }}"}`)
	inner := b.region(ir.Region{Name: "inner", Collect: true}, one)
	body := b.region(ir.Region{Name: "item", Collect: true}, own, stepOp{"Inner", &ir.Fan{
		Each: &ir.Each{Over: b.expr(jsonpath.Lang, "$.item.list"), Body: inner.op.(*ir.Enter).Region, Var: "inner"}, Join: ir.JoinAppend, Path: []string{"scores"},
	}})
	h.deploy(b.main(stepOp{"Outer", &ir.Fan{
		Each: &ir.Each{Over: b.expr(jsonpath.Lang, "$.items"), Body: body.op.(*ir.Enter).Region, Var: "item"}, Join: ir.JoinAppend, Path: []string{"out"},
	}}))
	id := h.start("map", `{"items":[{"n":0,"list":[1,2]},{"n":10,"list":[11,12]},{"n":20,"list":[21,22]},{"n":30,"list":[31,32]}]}`)
	h.run(time.Minute)
	h.expect("called", w.take(), "0 1 2 10 20 21 22 30 31 32")
	row := h.get(id)
	p := row.Progress
	if row.Status != core.Failed || row.Fault.Item == nil || row.Fault.Item.Index != 1 || len(p) != 1 || p[0].Done != 2 || p[0].Failed != 2 || p[0].Failures[1].Index != 2 {
		t.Fatalf("%s, %+v, %+v", row.Status, row.Fault, p)
	}
	if item := p[0].Failures[1].Fault.Item; item == nil || item.Index != 0 || item.Value.String() != "21" {
		t.Errorf("the inner item is %+v", item)
	}
	w.bad = []int64{22}
	if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbRetry, Items: true}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Minute)
	h.expect("called by the retry", w.take(), "10 11 12 20 21 22")
	w.mended = true
	if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbRetry, Items: true}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Minute)
	h.expect("called by another retry", w.take(), "20 21 22")
	if row := h.get(id); row.Status != core.Completed {
		t.Errorf("%s, %+v", row.Status, row.Fault)
	}
}

// commits counts what is written.
type commits struct {
	store.Store
	n, bytes int
	largest  int
}

func (c *commits) Commit(ctx context.Context, x store.Commit) error {
	size := 0
	for _, p := range x.Pages {
		size += len(p.Data)
	}
	c.n++
	c.bytes += size
	if x.Instance.Rev > 0 {
		c.largest = max(c.largest, size)
	}
	return c.Store.Commit(ctx, x)
}

// TestTenThousandItems: what is written and told of a long foreach does not grow with the square of its length, and
// stays small.
func TestTenThousandItems(t *testing.T) {
	const n = 10_000
	w := &worker{}
	for i := int64(7); i < n; i += 200 {
		w.bad = append(w.bad, i)
	}
	var written *commits
	h := newHarness(t, nil, func(c *Config) {
		written = &commits{Store: memory.New()}
		c.Invoker, c.Store = w, written
	})
	h.deploy(scoring())
	id := h.start("map", numbered(n))
	h.run(20 * time.Second)
	told := func(failed, listed int) {
		t.Helper()
		row := h.get(id)
		if p := row.Progress; len(p) != 1 || p[0].Total != n || p[0].Failed != failed || len(p[0].Failures) != listed {
			t.Errorf("progress %+v", p)
		}
		text, err := json.Marshal(row.Progress)
		if err != nil || len(text) > 256*max(listed, 1) {
			t.Errorf("the progress has %d bytes, %v", len(text), err)
		}
	}
	told(5, 5)
	h.run(time.Hour)
	told(50, 50)
	h.wantFault(id, "BadItem")
	t.Logf("%d commits, %d bytes of state, at most %d at a time", written.n, written.bytes, written.largest)
	if written.n > 2*n || written.bytes > n*2048 || written.largest > 128<<10 {
		t.Errorf("%d commits, %d bytes of state, at most %d at a time", written.n, written.bytes, written.largest)
	}
	w.take()
	w.mended, written.n, written.bytes = true, 0, 0
	if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbRetry, Items: true}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	t.Logf("the retry: %d commits, %d bytes", written.n, written.bytes)
	if calls := len(strings.Fields(w.take())); calls != 50 || h.get(id).Status != core.Completed {
		t.Errorf("%d calls, and it is %s", calls, h.get(id).Status)
	}
}
