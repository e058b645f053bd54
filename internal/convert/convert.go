package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Options is what the definition itself does not say.
type Options struct {
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

	errors []string // of Options
}

// Definition is one document of a conversion.
type Definition struct {
	ID     string
	Value  expr.Value
	states []*outState
	head   []string
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
		o: o, opts: opts, ids: map[string]bool{}, seen: map[Loss]bool{},
		result: Result{
			Whole: map[string]bool{}, Named: map[string][]string{}, Answering: map[string]bool{}, errors: opts.Errors,
		},
	}
	c.workflow(o.ID, o.Scope)
	slices.SortStableFunc(c.result.Lost, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	for _, st := range o.Scope.States {
		broken := slices.ContainsFunc(c.result.Lost, func(l Loss) bool { return l.Broken && l.State == st.Name })
		c.result.Useful = c.result.Useful || st.Type != "END" && !broken
	}
	return c.result
}

// converter is one conversion. Every document that it writes is a scope.
type converter struct {
	o      *sw01.Outline
	opts   Options
	result Result
	ids    map[string]bool
	seen   map[Loss]bool
}

// lose notes a construct that cannot be converted.
func (c *converter) lose(pos dialect.Pos, state, what, why, do string) {
	c.note(Loss{Pos: pos, What: what, Why: why, Do: do, State: state})
}

// breaks notes a construct that has no equivalent in 0.5.
func (c *converter) breaks(pos dialect.Pos, state, what, why, do string) {
	c.note(Loss{Pos: pos, What: what, Why: why, Do: do, State: state, Broken: true})
}

func (c *converter) note(l Loss) {
	if !c.seen[l] {
		c.seen[l] = true
		c.result.Lost = append(c.result.Lost, l)
	}
}

// assume notes a condition under which the conversion keeps the meaning.
func (c *converter) assume(pos dialect.Pos, text string) {
	one := Assumption{pos, text}
	if !slices.Contains(c.result.Assumed, one) {
		c.result.Assumed = append(c.result.Assumed, one)
	}
}

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

// workflow converts the whole definition.
func (c *converter) workflow(id string, s *sw01.Scope) {
	c.ids[id] = true
	doc := obj("id", str(id), "name", str(first(c.o.Name, id)), "version", str(first(c.o.Version, "1.0")))
	if c.o.Description != "" {
		doc = doc.With("description", str(c.o.Description))
	}
	if c.o.HasMetadata {
		doc = doc.With("metadata", c.o.Metadata)
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
	d := Definition{ID: id.Str(), head: head, states: sc.out}
	if list := functions(s); list.Len() > 0 {
		doc = doc.With("functions", list)
	}
	if list := sc.usedEvents(); list.Len() > 0 {
		doc = doc.With("events", list)
	}
	if len(sc.retries) > 0 {
		doc = doc.With("retries", expr.Array(sc.retries...))
	}
	states := make([]expr.Value, len(sc.out))
	for i, st := range sc.out {
		states[i] = st.value
	}
	d.Value = doc.With("states", expr.Array(states...))
	c.result.Definitions[at] = d
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
		"Converted from " + title(o.Form) + ". What a function answers replaces the data there, and is",
		"merged into it in 0.5: to keep that, the data is the one item of an array between states.",
	}
}

func title(form string) string {
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
