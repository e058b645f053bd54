package ctk

import (
	"context"
	"fmt"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/internal/sim/naive10"
)

// Runtime runs a workflow to its end.
type Runtime interface {
	// Run runs the first of the definitions, which are YAML or JSON; the others are there for it.
	// An error means that a definition is refused or cannot run, not that it faulted.
	Run(ctx context.Context, definitions []string, input any) (Outcome, error)
}

// The statuses of workflows and tasks.
const (
	Completed = "completed"
	Faulted   = "faulted"
	Cancelled = "cancelled"
)

// Outcome is what became of a workflow. Values are decoded JSON as naive10 has it.
type Outcome struct {
	Status string
	Output any
	Error  map[string]any
	Tasks  []Task // in order of beginning
}

// Task is one run of a task, at any depth.
type Task struct {
	Name   string
	Status string
	Output any
	Error  map[string]any
}

// runtimes are what the features are run on.
var runtimes = map[string]Runtime{
	"engine": lockstep{},
	"naive":  naive{},
}

// naive runs workflows on the reference interpreter, with calls over HTTP.
type naive struct{}

func (naive) Run(ctx context.Context, definitions []string, input any) (out Outcome, err error) {
	c := &naive10.Case{Start: time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC), Input: input, HasInput: true}
	for _, text := range definitions {
		v, err := decode(text)
		if err != nil {
			return out, err
		}
		def, ok := v.(map[string]any)
		if !ok {
			return out, fmt.Errorf("a definition is no object")
		}
		c.Definitions = append(c.Definitions, def)
	}
	c.Answer = func(call naive10.Call) naive10.Answer { return answer(ctx, call) }
	run := naive10.Run(c)
	statuses := map[string]string{naive10.Completed: Completed, naive10.Failed: Faulted, naive10.Cancelled: Cancelled, naive10.Waiting: "waiting"}
	first := run.Instances[0]
	out = Outcome{Status: statuses[first.Status], Output: first.Output, Error: first.Error}
	for _, t := range run.Tasks {
		out.Tasks = append(out.Tasks, Task{t.Name, statuses[t.Status], t.Output, t.Error})
	}
	return out, nil
}

// decode reads YAML or JSON.
func decode(text string) (any, error) {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return naive10.Normalise(v), nil
}
