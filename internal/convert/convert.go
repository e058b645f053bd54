package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The versions that definitions can be converted to.
const (
	To05 = "0.5"
	To10 = "1.0"
)

// Options is what the definition itself does not say.
type Options struct {
	// Exact asks for expressions that assume nothing about the data, where there is a choice.
	Exact bool

	// Parameters are the parameter names of functions, by function. 0.5 names each
	// parameter; 0.1 passes the data.
	Parameters map[string][]string

	// Errors are the retry matches that are names of errors. A match in 0.1 may also be
	// the result of a function, which 0.5 does not retry.
	Errors []string

	// Head are the lines of the comment at the head of the source, and Comments returns
	// those right above a position in it. Without #.
	Head     []string
	Comments func(dialect.Pos) []string
}

// Result is a converted definition.
type Result struct {
	To          string
	Definitions []Definition // the first is the workflow, the others are its branches
	Lost        []Loss       // what could not be converted, in order of position
	Useful      bool         // at least one state is not broken

	// Assumed are conditions on the data under which the conversion keeps the meaning.
	Assumed []Assumption

	// Answering are functions that are assumed to return a result.
	Answering map[string]bool

	// Whole are the functions that receive all data, now as the parameter "data"; Named are
	// those that receive only the parameters in Options.
	Whole map[string]bool
	Named map[string][]string

	Calls Calls

	errors []string // of Options
}

// Definition is one document of a conversion.
type Definition struct {
	ID    string
	Value expr.Value
	list  string // the key of its states or tasks
	items []Item
	head  []string
}

// Item is a state or task of a definition, with the comments above it.
type Item struct {
	Name     string // of the state that it is for, or its own
	Value    expr.Value
	Comments []string
}

// NewDefinition makes a document of its parts: doc has all keys but list, which the items are.
func NewDefinition(id string, doc expr.Value, list string, head []string, items []Item) Definition {
	values := make([]expr.Value, len(items))
	for i, it := range items {
		values[i] = it.Value
	}
	return Definition{ID: id, Value: doc.With(list, expr.Array(values...)), list: list, items: items, head: head}
}

// Assumption is a condition on the data.
type Assumption struct {
	Pos  dialect.Pos
	Text string
}

// Loss is a construct that cannot be converted.
type Loss struct {
	Pos   dialect.Pos
	What  string // the construct
	Why   string
	Do    string // what to do by hand
	State string // the state above which a comment says so

	Broken bool // the converted state always behaves differently
}

// Convert rewrites a definition.
func Convert(o *sw01.Outline, opts Options) Result {
	c := &converter{
		o: o, opts: opts, ids: map[string]bool{},
		result: Result{
			To:    To05,
			Whole: map[string]bool{}, Named: map[string][]string{}, Answering: map[string]bool{}, errors: opts.Errors,
		},
	}
	c.workflow(o.ID, o.Scope)
	c.result.Lost, c.result.Assumed = c.notes.sorted()
	for _, st := range o.Scope.States {
		broken := slices.ContainsFunc(c.result.Lost, func(l Loss) bool { return l.Broken && l.State == st.Name })
		c.result.Useful = c.result.Useful || st.Type != "END" && !broken
	}
	return c.result
}

// WithErrors is the result with the names of errors of [Options].
func (r Result) WithErrors(names []string) Result {
	r.errors = names
	return r
}

// converter is one conversion. Every document that it writes is a scope.
type converter struct {
	o      *sw01.Outline
	opts   Options
	result Result
	ids    map[string]bool
	notes  Notes
}

// lose notes a construct that cannot be converted.
func (c *converter) lose(pos dialect.Pos, state, what, why, do string) {
	c.notes.Lose(Loss{Pos: pos, What: what, Why: why, Do: do, State: state})
}

// breaks notes a construct that has no equivalent in 0.5.
func (c *converter) breaks(pos dialect.Pos, state, what, why, do string) {
	c.notes.Lose(Loss{Pos: pos, What: what, Why: why, Do: do, State: state, Broken: true})
}

// assume notes a condition under which the conversion keeps the meaning.
func (c *converter) assume(pos dialect.Pos, text string) { c.notes.Assume(pos, text) }

// id returns a unique id for a document.
func (c *converter) id(parts ...string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.Join(parts, "-"))
	unique := id
	for n := 2; c.ids[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	c.ids[unique] = true
	return unique
}

// labels writes the names and labels of instances as 0.5 does: a path in braces.
func labels(metadata expr.Value) expr.Value {
	if !metadata.IsObject() {
		return metadata
	}
	for _, m := range metadata.Members() {
		if strings.HasPrefix(m.Key, "lockstep.") && m.Value.Kind() == expr.KindString && strings.HasPrefix(strings.TrimSpace(m.Value.Str()), "$") {
			metadata = metadata.With(m.Key, str("{{ "+strings.TrimSpace(m.Value.Str())+" }}"))
		}
	}
	return metadata
}

// workflow converts the whole definition.
func (c *converter) workflow(id string, s *sw01.Scope) {
	c.ids[id] = true
	doc := obj("id", str(id), "name", str(first(c.o.Name, id)), "version", str(first(c.o.Version, "1.0")))
	if c.o.Description != "" {
		doc = doc.With("description", str(c.o.Description))
	}
	if c.o.HasMetadata {
		doc = doc.With("metadata", labels(c.o.Metadata))
	}
	if c.o.HasExtensions {
		doc = doc.With("extensions", c.o.Extensions)
	}
	c.document(doc, s, nil, slices.Concat(c.opts.Head, headComment(c.o)))
}

// document converts a scope into a separate document. finish, if not nil, shapes the output that
// a branch returns to its parent.
func (c *converter) document(doc expr.Value, s *sw01.Scope, finish *finish, head []string) {
	at := len(c.result.Definitions)
	c.result.Definitions = append(c.result.Definitions, Definition{}) // children come after
	id, _ := doc.Get("id")
	sc := newScope(c, id.Str(), s, finish)
	sc.convert()
	items := make([]Item, len(sc.out))
	for i, st := range sc.out {
		items[i] = Item{st.name, st.value, st.comments}
	}
	if list := functions(s); list.Len() > 0 {
		doc = doc.With("functions", list)
	}
	if list := sc.usedEvents(); list.Len() > 0 {
		doc = doc.With("events", list)
	}
	if len(sc.retries) > 0 {
		doc = doc.With("retries", expr.Array(sc.retries...))
	}
	c.result.Definitions[at] = NewDefinition(id.Str(), doc, "states", head, items)
}

// functions defines the functions that a scope calls with a type. In 0.5 the type goes into the
// metadata, or into the operation if it creates a job. Functions without a type need no definition.
func functions(s *sw01.Scope) expr.Value {
	var out []expr.Value
	seen := map[string]bool{}
	for _, st := range s.States {
		for _, a := range allActions(st) {
			if a.Type != "" && !seen[a.Function] && !(len(st.Actions.List) > 1 && st.Actions.Parallel) {
				seen[a.Function] = true
				one := obj("name", str(a.Function), "metadata", obj("type", str(a.Type)))
				if _, ok := ir.JobWorkflow(a.Type); ok {
					one = obj("name", str(a.Function), "operation", str(a.Type))
				}
				out = append(out, one)
			}
		}
	}
	return expr.Array(out...)
}

func headComment(o *sw01.Outline) []string {
	return []string{
		"Converted from " + Title01(o.Form) + ". What a function answers replaces the data there, and is",
		"merged into it in 0.5: to keep that, the data is the one item of an array between states.",
	}
}

// Title01 is what people call a form of 0.1.
func Title01(form string) string {
	switch form {
	case sw01.EarlyName:
		return "Serverless Workflow 0.1 (earliest draft)"
	case sw01.KebabName:
		return "Serverless Workflow 0.1 (kebab-case)"
	}
	return "Serverless Workflow 0.1 (camelCase)"
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

func str(s string) expr.Value { return expr.String(s) }

// obj builds an object of keys and values.
func obj(pairs ...any) expr.Value {
	members := make([]expr.Member, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, expr.Member{Key: pairs[i].(string), Value: pairs[i+1].(expr.Value)})
	}
	return expr.Object(members...)
}

// text is a path as an expression.
func text(path string) expr.Value { return str("{{ " + path + " }}") }
