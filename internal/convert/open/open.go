package open

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/convert"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// Version is the version that definitions are written in.
const Version = "1.0.3"

// errorBase begins the types of errors that the language defines.
const errorBase = "https://open-workflow-specification.org/spec/1.0.0/errors/"

// writer is one conversion.
type writer struct {
	o     *states.Outline
	opts  convert.Options
	notes convert.Notes
	exact bool

	state   string // that is being converted, for losses
	pending []convert.Assumption
	objects bool                  // some expression assumes that the data is an object
	uses    map[string]expr.Value // use.functions
	order   []string
	secrets []string
	calls   convert.Calls
	keys    correlation
	undo    undoing
	graph   *graph
}

// States converts a definition of 0.1 as released, of 0.2, or of 0.5 to 0.9.
func States(o *states.Outline, opts convert.Options) convert.Result {
	w := &writer{o: o, opts: opts, exact: opts.Exact, uses: map[string]expr.Value{}, calls: convert.NewCalls()}
	w.graph = newGraph(o)
	w.secrets = slices.Clone(o.Secrets)
	w.keys = w.correlated()
	w.undo = w.planned()
	main := &flow{w: w, scope: newScope(), done: "end", names: map[*states.State]string{}}
	normal := slices.DeleteFunc(slices.Clone(o.States), func(s *states.State) bool { return s.Compensates || s.Inside })
	if i := slices.Index(normal, o.Start); i > 0 { // the start comes first
		normal = slices.Insert(slices.Delete(normal, i, i+1), 0, o.Start)
	}
	for _, s := range normal {
		main.names[s] = main.scope.name(s.Name)
	}
	doc := obj("document", w.document())
	for _, s := range normal {
		main.convert(s)
	}
	main.settle()
	doc = w.frame(doc)
	result := w.notes.Result(convert.To10, w.calls, convert.NewDefinition(documentName(o.ID), doc, "do", w.head(), main.items()))
	result.Useful = w.useful(normal)
	return result
}

// useful reports whether a state is kept.
func (w *writer) useful(list []*states.State) bool {
	return slices.ContainsFunc(list, func(s *states.State) bool { return !w.notes.Broken(s.Name) })
}

func (w *writer) head() []string {
	return slices.Concat(w.opts.Head, []string{"Converted from " + w.o.Title + "."})
}

// document is what the workflow is.
func (w *writer) document() expr.Value {
	o := w.o
	name, version := documentName(o.ID), semanticVersion(o.Version)
	if name != o.ID {
		w.assume(dialect.Pos{}, "whoever starts the workflow calls it "+quote(name)+", not "+quote(o.ID)+": names of 1.0 have letters, digits and hyphens")
	}
	doc := obj("dsl", str(Version), "namespace", str("default"), "name", str(name), "version", str(version))
	if o.Name != "" && o.Name != name {
		doc = doc.With("title", str(o.Name))
	}
	if o.Description != "" {
		doc = doc.With("summary", str(o.Description))
	}
	about := expr.EmptyObject
	if o.HasMetadata {
		if about = o.Metadata; !about.IsObject() {
			about = obj("metadata", o.Metadata)
		}
		about = w.labels(about)
	}
	if o.HasExtensions {
		about = about.With("extensions", o.Extensions)
	}
	if about.Len() > 0 {
		doc = doc.With("metadata", about)
	}
	return doc
}

// labels leaves out the names and labels of instances that are computed: their expressions are in another language.
func (w *writer) labels(metadata expr.Value) expr.Value {
	for _, m := range metadata.Members() {
		if strings.HasPrefix(m.Key, "lockstep.") && strings.Contains(m.Value.String(), "$") {
			w.lose(dialect.Pos{Line: 1, Column: 1}, m.Key, "the expression is not converted", "declare it in document.metadata, in jq")
			metadata = metadata.Without(m.Key)
		}
	}
	return metadata
}

// frame adds what stands around the tasks.
func (w *writer) frame(doc expr.Value) expr.Value {
	use := expr.EmptyObject
	if len(w.order) > 0 {
		functions := expr.EmptyObject
		for _, name := range w.order {
			functions = functions.With(name, w.uses[name])
		}
		use = use.With("functions", functions)
	}
	if len(w.secrets) > 0 {
		var names []expr.Value
		for _, name := range w.secrets {
			names = append(names, str(name))
		}
		use = use.With("secrets", expr.Array(names...))
	}
	if use.Len() > 0 {
		doc = doc.With("use", use)
	}
	w.state = ""
	for _, what := range w.o.Unknown {
		w.lose(dialect.Pos{Line: 1, Column: 1}, what, "it is not converted", "do it by hand")
	}
	if w.o.KeepActive {
		w.lose(dialect.Pos{Line: 1, Column: 1}, "keepActive", "an instance of 1.0 is over when its tasks are", "listen again in the end")
	}
	if t := w.o.Timeout; t != nil {
		doc = doc.With("timeout", obj("after", w.duration(t, view{})))
		w.lose(t.Pos, "the timeout of the workflow", "at its end the workflow is complete, after what runBefore says; in 1.0 it fails", "catch it in a try around all tasks")
	}
	if s := w.schedule(); !s.IsNull() {
		doc = doc.With("schedule", s)
	}
	if s := w.o.InputSchema; s != nil && s.Warn {
		w.lose(s.Pos, "that input which does not adhere to its schema is only a warning", "in 1.0 it fails; here it is not checked", "check it in a task")
	} else if s != nil && !w.graph.startsWithEvents() {
		doc = doc.With("input", obj("schema", schema(s)))
	}
	if s := w.o.OutputSchema; s != nil {
		doc = doc.With("output", obj("schema", schema(s)))
	}
	return doc
}

func schema(s *states.Schema) expr.Value {
	v, err := expr.ParseJSON([]byte(s.Text))
	if err != nil {
		v = expr.EmptyObject
	}
	return obj("document", v)
}

// lose notes something of the state that is being converted that cannot be kept.
func (w *writer) lose(pos dialect.Pos, what, why, do string) {
	w.notes.Lose(convert.Loss{Pos: pos, What: what, Why: why, Do: do, State: w.state})
}

// breaks notes something without which the state always behaves differently.
func (w *writer) breaks(pos dialect.Pos, what, why, do string) {
	w.notes.Lose(convert.Loss{Pos: pos, What: what, Why: why, Do: do, State: w.state, Broken: true})
}

func (w *writer) assume(pos dialect.Pos, text string) { w.notes.Assume(pos, text) }

// assumeLater keeps an assumption until it is known whether the plain expression is used.
func (w *writer) assumeLater(pos dialect.Pos, text string) {
	w.pending = append(w.pending, convert.Assumption{Pos: pos, Text: text})
}

func (w *writer) assumePending() {
	for _, a := range w.pending {
		w.assume(a.Pos, a.Text)
	}
	w.pending = nil
}

// assumeObject notes once what all plain expressions need.
func (w *writer) assumeObject() {
	if !w.objects {
		w.objects = true
		w.assume(dialect.Pos{}, "the data is an object wherever a name is selected from it or something is merged into it, and so is every value on the way to a name")
	}
}

// flow is a list of tasks that states become: the main list, or the body of a loop that undoes states, or a branch or an iteration.
type flow struct {
	w     *writer
	scope *scope
	tasks []*task
	names map[*states.State]string
	done  string // how the list ends: end, exit
}

func (f *flow) add(t *task) { f.tasks = append(f.tasks, t) }

// settle leaves out where to go on where that is the next task anyway.
func (f *flow) settle() {
	for i, t := range f.tasks {
		to, _ := t.value.Get("then")
		last := i == len(f.tasks)-1
		if !last && to.Str() == f.tasks[i+1].name || last && to.Str() == f.done {
			t.value = t.value.Without("then")
		}
	}
}

func (f *flow) items() []convert.Item {
	var out []convert.Item
	for _, t := range f.tasks {
		out = append(out, convert.Item{Name: t.name, Value: t.item(), Comments: t.comments})
	}
	return out
}

// words joins the parts of a name.
func words(parts ...string) string { return strings.Join(parts, " ") }
