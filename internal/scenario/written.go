package scenario

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Written is a run in the playground: what it was given, and what came of it.
type Written struct {
	Name       string
	Definition string   // the id of the definition
	JSON       bool     // the definition is JSON
	Files      []string // the paths of other definitions
	Job        bool
	Client     string // of a job
	Clock      time.Time
	Input      expr.Value
	HasInput   bool
	Mocks      expr.Value // as they were written, or null
	Programs   []*ir.Program
	Events     []Event
	Takes      []Take

	None     bool         // there is no instance
	Instance api.Instance // the first one
	Records  []api.Record // of that
}

// Text is the run as a scenario file, and the name that the definition has beside it.
func (w Written) Text() (text, definition string) {
	definition = strings.TrimSuffix(FileName(w.Definition), "_test.yaml") + ".yaml"
	if w.JSON {
		definition = strings.TrimSuffix(definition, ".yaml") + ".json"
	}
	if slices.Contains(w.Files, definition) {
		definition = "main-" + definition
	}
	var b recording
	if len(w.Files) == 0 {
		b.line("workflow: %s", compact(definition))
	} else {
		b.line("workflow: %s", compact(append([]string{definition}, w.Files...)))
	}
	b.line("scenarios:")
	b.line("- name: %s", compact(w.Name))
	if !w.Clock.Equal(defaultClock) {
		b.line("  clock: %s", compact(w.Clock))
	}
	if w.Client != "" {
		b.line("  client: %s", compact(w.Client))
	}
	if w.HasInput {
		b.line("  input: %s", w.Input)
	}
	w.answers(&b)
	w.arrivals(&b)
	if w.None {
		b.line("  expect: {status: %s}", StatusNone)
	} else {
		b.expectation(w.Instance, w.Records)
	}
	return b.String(), definition
}

func (w Written) answers(b *recording) {
	mocks := w.Mocks
	if inner, ok := mocks.Get("mocks"); ok {
		mocks = inner
	}
	called := functionsOf(w.Programs)
	head := true
	for _, m := range mocks.Members() {
		if !called[m.Key] && m.Key != mock.Any { // it answers nothing, which is a mistake in a scenario
			continue
		}
		if head {
			b.line("  mocks:")
		}
		head = false
		b.line("    %s: %s", compact(m.Key), m.Value)
	}
}

func (w Written) arrivals(b *recording) {
	for i, e := range w.Events {
		if i == 0 {
			b.line("  events:")
		}
		b.line("  - {at: %s, event: %s}", e.After, e.Value)
	}
	for i, t := range w.Takes {
		if i == 0 {
			b.line("  takes:")
		}
		take := expr.Object(expr.Member{Key: "at", Value: expr.String(t.After.String())}, expr.Member{Key: "actor", Value: expr.String(t.Actor)}, expr.Member{Key: "state", Value: expr.String(t.State)})
		for _, m := range t.Status.Members() {
			take = take.With(m.Key, m.Value)
		}
		b.line("  - %s", take)
	}
}
