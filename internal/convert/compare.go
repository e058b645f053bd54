package convert

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// CompareOptions say how much to compare.
type CompareOptions struct {
	Cases int
	Seed  uint64
	// Exact is the conversion that assumes nothing, if the one to compare does: a case in which only the
	// latter differs breaks an assumption.
	Exact *Result
}

// Comparison is what came of running both definitions with the same cases.
type Comparison struct {
	Cases, Agreed int
	Broke         int         // cases that break an assumption, and in which the exact conversion agrees
	Breaks        *Difference // the first of them
	First         *Difference // the first case that differs, made small; nil if none does
	Entered       []string    // states of the source that were entered
	Missed        []string    // and those that were not
}

// Difference is a case in which the two do not do the same.
type Difference struct {
	Number   int // of the case, from 1
	Case     *Case
	What     string
	Source   Outcome
	Target   Outcome
	From, To string // the versions

	alike func(a, b Call) bool
}

// Source is a definition that was converted, with its program.
type Source struct {
	program *ir.Program
	early   *sw01.Outline
	states  *states.Outline
}

// Early is a definition of 0.1.
func Early(o *sw01.Outline, p *ir.Program) Source { return Source{program: p, early: o} }

// Stateful is a definition of 0.1 as released, of 0.2, or of 0.5 to 0.9.
func Stateful(o *states.Outline, p *ir.Program) Source { return Source{program: p, states: o} }

// version is what the source is called in a table.
func (s Source) version() string {
	if s.early != nil {
		return "0.1"
	}
	_, version, _ := strings.Cut(s.states.Title, "Serverless Workflow ")
	return version
}

// comparison compares one definition with its conversion.
type comparison struct {
	from          Source
	result        Result
	source        subject
	target, exact subject
	parallel      bool
}

// Compare runs the source and what it was converted to with generated cases. The same
// options give the same cases.
func Compare(ctx context.Context, src Source, r Result, opts CompareOptions) (Comparison, error) {
	k := &comparison{from: src, result: r, source: subject{programs: []*ir.Program{unscheduled(src.program)}, calls: Calls{NoSource: r.Calls.NoSource}}}
	var err error
	if k.target, err = k.subject(r); err != nil {
		return Comparison{}, err
	}
	if opts.Exact != nil {
		if k.exact, err = k.subject(*opts.Exact); err != nil {
			return Comparison{}, err
		}
	}
	for _, w := range src.workflows() {
		one, err := stub(w, first(src.versionOf(w), "1.0"))
		if err != nil {
			return Comparison{}, err
		}
		k.source.programs = append(k.source.programs, one)
	}
	g := newGenerator(src, r)
	k.parallel = g.parallel
	out := Comparison{}
	entered := map[string]bool{}
	for n := range opts.Cases {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		c := g.generate(rand.New(rand.NewPCG(opts.Seed, uint64(n))))
		a, b, what, broke, err := k.try(ctx, c)
		if err != nil {
			return out, fmt.Errorf("case %d: %w", n+1, err)
		}
		maps.Copy(entered, a.Entered)
		out.Cases++
		switch d := (&Difference{n + 1, c, what, a, b, src.version(), r.To, k.alike}); {
		case what == "":
			out.Agreed++
		case broke:
			if out.Broke++; out.Breaks == nil {
				out.Breaks = d
			}
		case out.First == nil:
			out.First = k.shrink(ctx, d)
		}
	}
	if out.Breaks != nil {
		out.Breaks = k.shrink(ctx, out.Breaks)
	}
	for _, s := range src.program.States {
		if entered[s.Name] {
			out.Entered = append(out.Entered, s.Name)
		} else {
			out.Missed = append(out.Missed, s.Name)
		}
	}
	return out, nil
}

// unscheduled is a program without its schedule: cases are started by hand or by events.
func unscheduled(p *ir.Program) *ir.Program {
	if p.Start.Schedule == nil {
		return p
	}
	alone := *p
	alone.Start.Schedule = nil
	return &alone
}

// subject compiles a conversion, with what stands for the workflows that it starts.
func (k *comparison) subject(r Result) (subject, error) {
	s := subject{calls: r.Calls, titles: r.To == To10, typed: len(k.from.program.Errors) > 0}
	var err error
	if s.programs, err = compile(r); err != nil {
		return s, err
	}
	for _, w := range k.from.workflows() {
		one, err := stub(w, "1.0")
		if r.To == To10 {
			if r.Calls.Workflows[w] == "" {
				continue // nothing leads to where it would be started
			}
			one, err = stub10(w, first(r.Calls.Versions[w], "1.0.0"), r.Calls)
		}
		if err != nil {
			return s, err
		}
		s.programs = append(s.programs, one)
	}
	return s, nil
}

// try runs a case. broke says that the exact conversion agrees.
func (k *comparison) try(ctx context.Context, c *Case) (a, b Outcome, what string, broke bool, err error) {
	if a, err = run(ctx, k.source, c); err != nil {
		return a, b, "", false, fmt.Errorf("run the source: %w", err)
	}
	if b, err = run(ctx, k.target, c); err != nil {
		return a, b, "", false, fmt.Errorf("run the conversion: %w", err)
	}
	if what = k.difference(a, b); what == "" || k.exact.programs == nil {
		return a, b, what, false, nil
	}
	x, err := run(ctx, k.exact, c)
	if err != nil {
		return a, b, "", false, fmt.Errorf("run the exact conversion: %w", err)
	}
	if exact := k.difference(a, x); exact != "" {
		return a, x, exact, false, nil
	}
	return a, b, what, true, nil
}

// compile compiles the documents of a conversion.
func compile(r Result) ([]*ir.Program, error) {
	registry, name := dialect.NewRegistry(sw05.FrontEnd{}), sw05.Name
	if r.To == To10 {
		registry, name = dialect.NewRegistry(sw10.FrontEnd{}), sw10.Name
	}
	var out []*ir.Program
	for _, d := range r.Definitions {
		c, found := registry.Compile(d.ID+".json", d.Value.AppendJSON(nil), nil, dialect.Options{Dialect: name})
		if found.HasErrors() {
			return nil, fmt.Errorf("the conversion is not valid, which is a bug in this program: %w", found)
		}
		out = append(out, unscheduled(c.Program))
	}
	return out, nil
}

// stub stands for a sub-workflow that is not at hand: it calls a function of its name
// with what it is given.
func stub(id, version string) (*ir.Program, error) {
	doc := obj("id", str(id), "name", str(id), "version", str(version), "states", expr.Array(obj(
		"name", str("Run"), "type", str("operation"), "start", obj("kind", str("default")), "end", obj("kind", str("default")),
		"actions", expr.Array(obj("functionRef", obj("refName", str(stubFunction(id)), "parameters", obj("input", text("$"))))))))
	c, found := dialect.NewRegistry(sw05.FrontEnd{}).Compile(id+".json", doc.AppendJSON(nil), nil, dialect.Options{Dialect: sw05.Name})
	if found.HasErrors() {
		return nil, fmt.Errorf("stand in for workflow %q: %w", id, found)
	}
	return c.Program, nil
}

// stub10 is the same in 1.0.
func stub10(id, version string, calls Calls) (*ir.Program, error) {
	name := calls.Workflows[id]
	function := "workflow-" + name
	calls.Names[function] = stubFunction(id)
	task := obj("call", str(function), "with", obj("input", str("${ . }")),
		"output", obj("as", str(MergeJQ+"reduce (. | objects) as $new ($input; merge($new))")))
	doc := obj("document", obj("dsl", str("1.0.3"), "namespace", str("default"), "name", str(name), "version", str(version)),
		"do", expr.Array(obj("run", task)))
	c, found := dialect.NewRegistry(sw10.FrontEnd{}).Compile(name+".json", doc.AppendJSON(nil), nil, dialect.Options{Dialect: sw10.Name})
	if found.HasErrors() {
		return nil, fmt.Errorf("stand in for workflow %q: %w", id, found)
	}
	return c.Program, nil
}

func stubFunction(id string) string { return "workflow " + id }

// workflows are those that the source starts.
func (s Source) workflows() []string {
	if s.early != nil {
		return subflows(s.early.Scope)
	}
	var out []string
	for _, st := range s.states.States {
		for _, f := range subflowsOf(st) {
			if !slices.Contains(out, f.Workflow) {
				out = append(out, f.Workflow)
			}
		}
	}
	return out
}

// versionOf is the version of a workflow that the source asks for; "": any.
func (s Source) versionOf(id string) string {
	if s.states == nil {
		return ""
	}
	for _, st := range s.states.States {
		for _, f := range subflowsOf(st) {
			if f.Workflow == id && f.Version != "" {
				return f.Version
			}
		}
	}
	return ""
}

// subflows are the workflows that a scope starts.
func subflows(s *sw01.Scope) []string {
	var out []string
	for _, st := range s.States {
		if st.Workflow != "" && !slices.Contains(out, st.Workflow) {
			out = append(out, st.Workflow)
		}
		for _, b := range st.Branches {
			for _, w := range subflows(b) {
				if !slices.Contains(out, w) {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// maxShrinks is after how many cases shrinking ends.
const maxShrinks = 400

// shrink takes away from a case what the difference does not need.
func (k *comparison) shrink(ctx context.Context, d *Difference) *Difference {
	_, _, _, broke, _ := k.try(ctx, d.Case)
	trial.Shrink(d.Case, maxShrinks, (*Case).smaller, func(c *Case) bool {
		a, b, what, still, err := k.try(ctx, c)
		if err != nil || what == "" || still != broke {
			return false
		}
		d = &Difference{d.Number, c, what, a, b, d.From, d.To, k.alike}
		return true
	})
	return d
}

// smaller lists cases with one thing less each.
func (c *Case) smaller() []*Case {
	var out []*Case
	with := func(change func(*Case)) {
		n := *c
		change(&n)
		out = append(out, &n)
	}
	for i := range c.Events {
		with(func(n *Case) { n.Events = slices.Delete(slices.Clone(c.Events), i, i+1) })
	}
	for i, e := range c.Events {
		data, _ := e.Event.Get("data")
		for _, v := range reduced(data) {
			with(func(n *Case) {
				n.Events = slices.Clone(c.Events)
				n.Events[i].Event = e.Event.With("data", v)
			})
		}
	}
	for i, m := range c.Mocks {
		set := func(j int, a ...mockAnswer) {
			with(func(n *Case) {
				n.Mocks = slices.Clone(c.Mocks)
				n.Mocks[i].Answers = slices.Concat(m.Answers[:j], a, m.Answers[j+1:])
			})
		}
		for j, a := range m.Answers {
			if len(m.Answers) > 1 {
				set(j)
			}
			if less := a; a.Delay > time.Second {
				less.Delay %= time.Second // the rest distinguishes the answers of branches
				set(j, less)
			}
			for _, v := range reduced(a.Result) {
				less := a
				less.Result = v
				set(j, less)
			}
		}
	}
	for _, v := range reduced(c.Input) {
		with(func(n *Case) { n.Input = v })
	}
	return out
}

// reduced lists values with one member or item less.
func reduced(v expr.Value) []expr.Value {
	var out []expr.Value
	for _, m := range v.Members() {
		out = append(out, v.Without(m.Key))
	}
	items := v.Items()
	for i := range items {
		out = append(out, expr.Array(slices.Delete(slices.Clone(items), i, i+1)...))
	}
	for _, m := range v.Members() {
		for _, less := range reduced(m.Value) {
			out = append(out, v.With(m.Key, less))
		}
	}
	return out
}

// String describes a difference, with both outcomes side by side.
func (d *Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "case %d differs in %s\n", d.Number, d.What)
	if d.Case.ByHand {
		fmt.Fprintf(&b, "  input: %s\n", d.Case.Input)
	}
	for _, m := range d.Case.Mocks {
		for _, a := range m.Answers {
			fmt.Fprintf(&b, "  mock %s: %s\n", m.Function, answerText(a))
		}
	}
	for _, e := range d.Case.Events {
		fmt.Fprintf(&b, "  event at %s: %s\n", iso(e.At), e.Event)
	}
	d.sideBySide(&b)
	return b.String()
}

// sideBySide writes both outcomes in two columns, with a mark where they differ; where
// they are too wide, one below the other.
func (d *Difference) sideBySide(b *strings.Builder) {
	const most = 60
	left, right := d.Source.lines(), d.Target.lines()
	width := len(d.From)
	for _, l := range left {
		width = max(width, len([]rune(l)))
	}
	line := func(list []string, i int) string {
		if i < len(list) {
			return list[i]
		}
		return ""
	}
	mark := func(i int) string {
		same := line(left, i) == line(right, i)
		if i < len(d.Source.Calls) && i < len(d.Target.Calls) {
			same = d.alike(d.Source.Calls[i], d.Target.Calls[i])
		}
		if same {
			return " "
		}
		return "≠"
	}
	rows := max(len(left), len(right))
	if width > most {
		for _, side := range []struct {
			name  string
			lines []string
		}{{d.From, left}, {d.To, right}} {
			fmt.Fprintf(b, "    %s\n", side.name)
			for i, l := range side.lines {
				fmt.Fprintf(b, "  %s %s\n", mark(i), l)
			}
		}
		return
	}
	fmt.Fprintf(b, "    %-*s  %s\n", width, d.From, d.To)
	for i := range rows {
		l, r := line(left, i), line(right, i)
		text := fmt.Sprintf("  %s %s%s  %s", mark(i), l, strings.Repeat(" ", width-len([]rune(l))), r)
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}

// iso writes a span of time.
func iso(d time.Duration) string { return calendar.DurationOf(d).String() }
