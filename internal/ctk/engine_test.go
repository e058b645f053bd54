package ctk

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/sim/naive10"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// lockstep runs workflows on the engine, under virtual time and with calls over HTTP. What a task did
// is read from the records.
type lockstep struct{}

func (lockstep) Run(ctx context.Context, definitions []string, input any) (out Outcome, err error) {
	client, err := effecthttp.New(effecthttp.Options{Allow: []string{"127.0.0.0/8"}})
	if err != nil {
		return out, err
	}
	defer client.Close()
	tasks := history{}
	const id = "instance-1" // of the first definition
	run, err := trial.New(trial.Config{
		Clock: engine.NewVirtualClock(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)),
		Engine: engine.Config{
			Languages: languages.All(), Invoker: &route.Router{HTTP: client, OpenAPI: openapi.New(client)},
			OnRecord: func(of string, r core.Record) {
				if of == id {
					tasks.add(r)
				}
			},
		},
	})
	if err != nil {
		return out, err
	}
	first := ""
	for i, text := range definitions {
		at := fetched{ctx, client}
		c, found := dialects.All().Compile(fmt.Sprintf("workflow-%d.yaml", i+1), []byte(text), at, dialect.Options{})
		if found.HasErrors() {
			return out, found
		}
		if found := builtin.Kinds.Pin(ctx, at, pin.Definition{Program: c.Program}); len(found) > 0 {
			return out, found
		}
		if err := run.Deploy(ctx, c.Program); err != nil {
			return out, err
		}
		if i == 0 {
			first = c.Program.ID
		}
	}
	v, err := expr.ParseJSON(naive10.Encode(input))
	if err != nil {
		return out, err
	}
	if _, err := run.Engine.Start(ctx, engine.StartRequest{Definition: first, Input: v}); err != nil {
		return out, err
	}
	if err := run.Finish(ctx); err != nil {
		return out, err
	}
	row, err := run.Engine.Get(ctx, id)
	if err != nil {
		return out, err
	}
	return tasks.outcome(row), nil
}

// fetched opens addresses.
type fetched struct {
	ctx    context.Context
	client *effecthttp.Client
}

func (f fetched) Open(ref string) ([]byte, error) { return f.client.Fetch(f.ctx, ref) }

// history is the tasks of an instance, by its records.
type history struct {
	tasks []Task
	paths []string // of the tasks: outer/inner
	open  []int    // the tasks that run
}

func (h *history) add(r core.Record) {
	switch r.Type {
	case core.RecEntered:
		h.open = append(h.open, len(h.tasks))
		h.paths = append(h.paths, r.Node)
		h.tasks = append(h.tasks, Task{Name: r.Node[strings.LastIndex(r.Node, "/")+1:]})
	case core.RecLeft:
		h.end(r.Node, nil) // what a race cut off inside of it
		for i, at := range slices.Backward(h.open) {
			if h.paths[at] == r.Node {
				h.tasks[at].Status, h.tasks[at].Output = Completed, plain(r.Data)
				h.open = slices.Delete(h.open, i, i+1)
				return
			}
		}
	case core.RecCaught:
		h.end(r.Node, r.Fault)
	}
}

// end ends the tasks inside of one, or all: those on the way to the fault by it, the others are cancelled.
func (h *history) end(around string, fault *core.Fault) {
	h.open = slices.DeleteFunc(h.open, func(at int) bool {
		if around != "" && !strings.HasPrefix(h.paths[at], around+"/") {
			return false
		}
		t := &h.tasks[at]
		t.Status = Cancelled
		if fault != nil && strings.HasPrefix(fault.Node+"/", h.paths[at]+"/") {
			t.Status, t.Error = Faulted, errorOf(fault)
		}
		return true
	})
}

func (h *history) outcome(row store.Instance) Outcome {
	h.end("", row.Fault)
	out := Outcome{Status: string(row.Status), Tasks: h.tasks}
	switch row.Status {
	case core.Completed:
		out.Status, out.Output = Completed, plain(row.Output)
	case core.Failed:
		out.Status, out.Error = Faulted, errorOf(row.Fault)
	case core.Cancelled, core.Terminated:
		out.Status = Cancelled
	}
	return out
}

func errorOf(f *core.Fault) map[string]any {
	out := map[string]any{"type": f.Type, "instance": f.Instance}
	if n, err := strconv.Atoi(f.Status); err == nil {
		out["status"] = n
	}
	for key, text := range map[string]string{"title": f.Title, "detail": f.Detail} {
		if text != "" {
			out[key] = text
		}
	}
	return out
}

// plain is a value as naive10 has it.
func plain(v expr.Value) any {
	out, err := naive10.Decode(v.AppendJSON(nil))
	if err != nil {
		panic(err)
	}
	return out
}
