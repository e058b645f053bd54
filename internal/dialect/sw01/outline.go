package sw01

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// Outline is a checked definition in the terms that all forms of 0.1 share, with every
// reference resolved. It is read-only, for tools that translate definitions.
type Outline struct {
	Form                       string // the name of the front-end
	ID                         string
	Name, Version              string
	Description                string
	Metadata, Extensions       expr.Value
	HasMetadata, HasExtensions bool
	Triggers                   []*Trigger
	Scope                      *Scope
}

// Trigger is an event that the workflow waits for.
type Trigger struct {
	Pos                         dialect.Pos
	Name, Source, Type, EventID string
	Token                       string // "": none
	TokenPos                    dialect.Pos
}

// Scope is the states of the workflow, or those of a branch.
type Scope struct {
	Pos    dialect.Pos
	Name   string // of a branch
	Wait   bool   // for the branch
	Start  *State
	States []*State
}

// State is a state; of the fields after Metadata only those of its type are set.
type State struct {
	Pos      dialect.Pos
	Name     string // in its scope
	Label    string // in the workflow
	Type     string // EVENT, OPERATION, …
	End      bool
	Next     *State // nil: the state ends its scope
	Filter   Filter
	Metadata expr.Value

	Actions  Actions
	Entries  []*Entry
	Choices  []*Choice
	Default  *State
	Delay    *Amount
	Branches []*Scope
	Workflow string
	Wait     bool
	Failure  bool
}

// Actions are calls, one after the other or side by side.
type Actions struct {
	List     []*Action
	Parallel bool
}

// Action is one call.
type Action struct {
	Pos            dialect.Pos
	Function, Type string
	Parameters     *expr.Value // nil: the function receives the data
	Timeout        *Amount
	Retries        []*Retry
	Filter         Filter
}

// Retry handles one outcome of a call.
type Retry struct {
	Pos      dialect.Pos
	Match    expr.Value
	Interval calendar.Duration
	Max      int
	Next     *State
}

// Entry is what an EVENT state does on one event expression.
type Entry struct {
	Pos        dialect.Pos
	Text       string
	Expression *EventExpr
	Timeout    *Amount
	Actions    Actions
	Filter     *Path
	Next       *State
}

// EventExpr is an expression over events: Op is "and", "or", "not", or "" for Trigger.
type EventExpr struct {
	Op      string
	Items   []*EventExpr
	Trigger *Trigger
}

// Choice is one way out of a SWITCH.
type Choice struct {
	Pos  dialect.Pos
	When *Condition
	Next *State
}

// Condition is a comparison, or "and", "or", "not" over several.
type Condition struct {
	Pos      dialect.Pos
	Op       string
	Items    []*Condition
	Path     *Path
	Value    expr.Value
	HasValue bool
}

// Filter is the three paths of a data filter.
type Filter struct {
	Input, Output *Path
	Result        []string
	ResultPos     dialect.Pos
}

// Path is a JSONPath with its shape.
type Path struct {
	Pos dialect.Pos
	Src string
	jsonpath.Shape
}

// Amount is an amount of time, or an instant (RFC 3339).
type Amount struct {
	Pos   dialect.Pos
	Value calendar.Duration
	Until string
}

// Outline reads and checks a definition. It is nil if the diagnostics include an error.
func (e FrontEnd) Outline(doc *dialect.Document, opts dialect.Options) (*Outline, dialect.Diagnostics) {
	r := &dialect.Reporter{File: doc.File}
	w := newParser(r, e.form).workflow(doc)
	check(r, w, opts)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	o := outliner{states: map[*state]*State{}, triggers: map[*trigger]*Trigger{}}
	return o.workflow(w), r.Diagnostics()
}

// outliner copies a checked workflow.
type outliner struct {
	states   map[*state]*State
	triggers map[*trigger]*Trigger
}

func (o *outliner) workflow(w *workflow) *Outline {
	out := &Outline{
		Form: w.form.name(), ID: w.identity(),
		Name: w.name.Literal(), Version: w.version.Literal(), Description: w.description.Literal(),
		Metadata: w.metadata.Value(), HasMetadata: w.metadata != nil,
		Extensions: w.extensions.Value(), HasExtensions: w.extensions != nil,
	}
	for _, t := range w.triggers {
		one := &Trigger{
			Pos: t.node.Pos(), Name: t.name.Literal(), Source: t.source.Literal(),
			Type: t.typ.Literal(), EventID: t.eventID.Literal(),
		}
		if t.token != nil {
			one.Token, one.TokenPos = t.token.from, t.token.node.Pos()
		}
		o.triggers[t] = one
		out.Triggers = append(out.Triggers, one)
	}
	for _, s := range w.states { // create all of them before filling any: they refer to each other
		o.states[s] = &State{
			Pos: s.node.Pos(), Name: s.name.Literal(), Label: s.label, Type: s.typ, End: s.end != nil,
			Filter: o.filter(s.filter), Metadata: s.metadata.Value(),
		}
	}
	for _, s := range w.states {
		o.fill(s, o.states[s])
	}
	out.Scope = o.scope(w.scope)
	return out
}

func (o *outliner) scope(s *scope) *Scope {
	out := &Scope{Pos: s.node.Pos(), Start: o.states[s.start]}
	if s.branch != nil {
		out.Name, out.Wait = s.branch.label(), s.branch.wait
	}
	for _, one := range s.states {
		out.States = append(out.States, o.states[one])
	}
	return out
}

func (o *outliner) fill(s *state, out *State) {
	out.Next = o.to(s.next)
	switch b := s.body.(type) {
	case *operationState:
		out.Actions = o.actions(b.actions)
	case *eventState:
		for _, e := range b.entries {
			out.Entries = append(out.Entries, &Entry{
				Pos: e.node.Pos(), Text: e.text.Literal(), Expression: o.expression(e.expression), Timeout: o.amount(e.timeout),
				Actions: o.actions(e.actions), Filter: o.path(e.filter), Next: o.to(e.next),
			})
		}
	case *switchState:
		out.Default = o.to(b.otherwise)
		for _, k := range b.choices {
			out.Choices = append(out.Choices, &Choice{Pos: k.node.Pos(), When: o.condition(k.when), Next: o.to(k.next)})
		}
	case *delayState:
		out.Delay = o.amount(b.delay)
	case *parallelState:
		for _, br := range b.branches {
			out.Branches = append(out.Branches, o.scope(br.scope))
		}
	case *subflowState:
		out.Workflow, out.Wait = b.workflow.Literal(), b.wait
	case *endState:
		out.Failure = b.failure
	}
}

func (o *outliner) to(r *reference) *State {
	if r == nil {
		return nil
	}
	return o.states[r.to]
}

func (o *outliner) actions(a actions) Actions {
	out := Actions{Parallel: a.parallel}
	for _, one := range a.list {
		act := &Action{
			Pos: one.node.Pos(), Function: one.function.name.Literal(), Type: one.function.typ.Literal(),
			Timeout: o.amount(one.timeout), Filter: o.filter(one.filter),
		}
		if p := one.function.parameters; p != nil {
			v := p.Value()
			act.Parameters = &v
		}
		for _, r := range one.retries {
			if r.unused {
				continue
			}
			n := &Retry{Pos: r.node.Pos(), Match: r.match.Value(), Max: r.max, Next: o.to(r.next)}
			if r.interval != nil {
				n.Interval = r.interval.value
			}
			act.Retries = append(act.Retries, n)
		}
		out.List = append(out.List, act)
	}
	return out
}

func (o *outliner) expression(e *eventExpr) *EventExpr {
	out := &EventExpr{Op: e.op, Trigger: o.triggers[e.trigger]}
	for _, item := range e.items {
		out.Items = append(out.Items, o.expression(item))
	}
	return out
}

func (o *outliner) condition(c *condition) *Condition {
	out := &Condition{Pos: c.node.Pos(), Op: c.op, Path: o.path(c.path), HasValue: c.value != nil, Value: c.tree().Value}
	for _, item := range c.items {
		out.Items = append(out.Items, o.condition(item))
	}
	return out
}

func (o *outliner) filter(f filter) Filter {
	return Filter{Input: o.path(f.input), Output: o.path(f.output), Result: f.result, ResultPos: f.resultNode.Pos()}
}

func (o *outliner) path(p *path) *Path {
	if p == nil {
		return nil
	}
	return &Path{p.node.Pos(), p.src, p.Shape}
}

func (o *outliner) amount(a *amount) *Amount {
	if a == nil {
		return nil
	}
	return &Amount{a.node.Pos(), a.value, a.until}
}
