package convert

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// outState is a state of the converted document.
type outState struct {
	name     string
	value    expr.Value
	comments []string
}

// finish is what a branch gives: {key: [D]}.
type finish struct{ key string }

// scope converts the states of a workflow, or those of a branch as a workflow of
// their own.
type scope struct {
	c      *converter
	id     string
	s      *sw01.Scope
	finish *finish

	out     []*outState
	beside  []*outState // what belongs to the chain that is being made, and comes behind it
	last    []*outState // what comes behind all
	names   map[string]bool
	again   map[*sw01.State]string // where ways to a start that waits for events lead
	shapes  map[*sw01.State][]string
	retries []expr.Value
	by      map[string]string // names of retries by what they say
	used    map[string]bool   // triggers
	failing string            // the state that fails
	carried string            // a key that no data of the definition has
}

func newScope(c *converter, id string, s *sw01.Scope, f *finish) *scope {
	sc := &scope{
		c: c, id: id, s: s, finish: f, names: map[string]bool{}, again: map[*sw01.State]string{},
		shapes: map[*sw01.State][]string{}, by: map[string]string{}, used: map[string]bool{}, carried: "carried",
	}
	for _, st := range s.States {
		sc.names[st.Name] = true
	}
	return sc
}

// name returns a name of its own for a state that 0.1 did not have.
func (sc *scope) name(base, suffix string) string {
	name := base + " " + suffix
	for n := 2; sc.names[name]; n++ {
		name = fmt.Sprintf("%s %s %d", base, suffix, n)
	}
	sc.names[name] = true
	return name
}

// emit adds a state.
func (sc *scope) emit(name string, value expr.Value, comments ...string) {
	sc.out = append(sc.out, &outState{name, value.With("name", str(name)), comments})
}

// emitBeside adds a state behind those of the chain that is being made.
func (sc *scope) emitBeside(name string, value expr.Value) {
	sc.beside = append(sc.beside, &outState{name, value.With("name", str(name)), nil})
}

// convert emits all states, the start first.
func (sc *scope) convert() {
	start := sc.s.Start
	if sc.finish == nil && start.Type == eventType && sc.entered(start) {
		sc.again[start] = sc.name(start.Name, "again")
	}
	sc.state(start, true)
	sc.begin()
	for _, st := range sc.s.States {
		if st != start {
			sc.state(st, false)
		}
	}
	if again := sc.again[start]; again != "" {
		copied := *start
		sc.eventState(newChain(sc, &copied, again))
	}
	sc.out = append(sc.out, sc.last...)
	if sc.finish != nil && sc.names[finishName] {
		sc.emit(finishName, obj("type", str("inject"), "data", obj(sc.finish.key, text("$")), "end", obj("kind", str("default"))))
	}
}

const (
	eventType  = "EVENT"
	finishName = "Finish the branch"
	startName  = "Start"
)

// begin makes the first state take what an instance begins with: the input of a
// workflow is an object, which a filter makes the item of an array; that of a branch
// is {data: [D]}.
func (sc *scope) begin() {
	head := sc.out[0]
	from := "$[?(true)]"
	if sc.finish != nil {
		from = "$.data"
	} else if kind, _ := head.value.Get("type"); sc.s.Start.Type == eventType && kind.Str() == "event" {
		head.value = head.value.With("start", obj("kind", str("default")))
		return
	}
	kind, _ := head.value.Get("type")
	_, taken := head.value.Lookup("stateDataFilter", "dataInputPath")
	waits := kind.Str() == "event" || kind.Str() == "subflow"
	if !taken && !waits && (sc.finish == nil || !sc.entered(sc.s.Start)) {
		filter, _ := head.value.Get("stateDataFilter")
		head.value = head.value.With("stateDataFilter", filter.With("dataInputPath", text(from))).With("start", obj("kind", str("default")))
		return
	}
	name := startName
	if sc.names[name] {
		name = sc.name(sc.s.Start.Name, "start")
	}
	sc.names[name] = true
	first := &outState{name: name, value: obj("name", str(name), "type", str("inject"), "data", expr.EmptyObject,
		"stateDataFilter", obj("dataInputPath", text(from)), "start", obj("kind", str("default")),
		"transition", obj("nextState", str(head.name)))}
	sc.out = slices.Insert(sc.out, 0, first)
}

// entered reports whether a way leads to a state.
func (sc *scope) entered(st *sw01.State) bool {
	for _, from := range sc.s.States {
		for _, to := range targets(from) {
			if to == st {
				return true
			}
		}
	}
	return false
}

// targets are all states that a state leads to.
func targets(st *sw01.State) []*sw01.State {
	var out []*sw01.State
	add := func(to *sw01.State) {
		if to != nil {
			out = append(out, to)
		}
	}
	if !st.End {
		add(st.Next)
	}
	add(st.Default)
	for _, c := range st.Choices {
		add(c.Next)
	}
	for _, a := range allActions(st) {
		for _, r := range a.Retries {
			add(r.Next)
		}
	}
	for _, e := range st.Entries {
		add(e.Next)
	}
	return out
}

func allActions(st *sw01.State) []*sw01.Action {
	out := slices.Clone(st.Actions.List)
	for _, e := range st.Entries {
		out = append(out, e.Actions.List...)
	}
	return out
}

// target is the name of the state that a way leads to.
func (sc *scope) target(st *sw01.State) string {
	if name := sc.again[st]; name != "" {
		return name
	}
	return st.Name
}

// fail returns the state that fails the workflow: 0.5 has no other way to fail than
// a transition whose expression never holds.
func (sc *scope) fail() string {
	if sc.failing == "" {
		sc.failing = "Fail"
		if sc.names[sc.failing] {
			sc.failing = sc.name("Fail", "now")
		}
		sc.names[sc.failing] = true
		value := failing(obj("name", str(sc.failing), "type", str("inject"), "data", expr.EmptyObject), sc.failing)
		sc.last = append(sc.last, &outState{sc.failing, value, []string{failComment}})
	}
	return sc.failing
}

const failComment = "Fails: the expression of its transition never holds."

func failing(state expr.Value, self string) expr.Value {
	return state.With("transition", obj("nextState", str(self), "expression", text("$[?(false)]")))
}

// end is where a way out leads that ends the scope, nil where the state itself ends it.
func (sc *scope) end() string {
	if sc.finish == nil {
		return ""
	}
	sc.names[finishName] = true
	return finishName
}

// retry returns the name of a retry.
func (sc *scope) retry(delay string, most int) string {
	key := fmt.Sprintf("%d/%s", most, delay)
	if name, ok := sc.by[key]; ok {
		return name
	}
	name := fmt.Sprintf("after-%s-%d-times", delay, most)
	sc.by[key] = name
	sc.retries = append(sc.retries, obj("name", str(name), "delay", str(delay), "maxAttempts", expr.Int(int64(most))))
	return name
}

// shape is the keys of the data that a state begins with, nil if they are unknown: a
// resultPath is the only thing that tells.
func (sc *scope) shape(st *sw01.State) []string {
	if keys, ok := sc.shapes[st]; ok {
		return keys
	}
	sc.shapes[st] = nil // in a cycle, nothing is known
	if st == sc.s.Start {
		return nil
	}
	var keys []string
	found := false
	for _, from := range sc.s.States {
		for _, to := range targets(from) {
			if to != st {
				continue
			}
			one := sc.leaves(from, st)
			if one == nil || found && !slices.Equal(keys, one) {
				return nil
			}
			keys, found = one, true
		}
	}
	sc.shapes[st] = keys
	return keys
}

// leaves is the keys of the data with which a state goes on.
func (sc *scope) leaves(from, to *sw01.State) []string {
	for _, a := range allActions(from) {
		for _, r := range a.Retries {
			if r.Next == to {
				return nil
			}
		}
	}
	keys := []string(nil)
	if result := from.Filter.Result; len(result) > 0 {
		keys = result
		if out := from.Filter.Output; out != nil && !out.Root {
			if out.Keys == nil || len(out.Keys) >= len(result) || !slices.Equal(out.Keys, result[:len(out.Keys)]) {
				return nil
			}
			keys = result[len(out.Keys):]
		}
		return keys[:1]
	}
	plain := from.Filter.Output == nil && from.Filter.Input == nil
	switch from.Type {
	case "DELAY", "SWITCH":
		if plain {
			return sc.shape(from)
		}
	case "OPERATION":
		if plain && len(from.Actions.List) == 0 {
			return sc.shape(from)
		}
	}
	return nil
}
