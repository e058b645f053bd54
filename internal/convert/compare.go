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
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// CompareOptions say how much to compare.
type CompareOptions struct {
	Cases int
	Seed  uint64
}

// Comparison is what came of running both definitions with the same cases.
type Comparison struct {
	Cases, Agreed int
	First         *Difference // the first case that differs, made small; nil if none does
	Entered       []string    // states of the source that were entered
	Missed        []string    // and those that were not
}

// Difference is a case in which the two do not do the same.
type Difference struct {
	Number int // of the case, from 1
	Case   *Case
	What   string
	Source Outcome
	Target Outcome

	alike func(a, b Call) bool
}

// comparison compares one definition with its conversion.
type comparison struct {
	o        *sw01.Outline
	result   Result
	source   []*ir.Program
	target   []*ir.Program
	parallel bool
}

// Compare runs the source and what it was converted to with generated cases. The same
// options give the same cases.
func Compare(ctx context.Context, o *sw01.Outline, source *ir.Program, r Result, opts CompareOptions) (Comparison, error) {
	k := &comparison{o: o, result: r, source: []*ir.Program{source}}
	var err error
	if k.target, err = compile(r); err != nil {
		return Comparison{}, err
	}
	for _, w := range subflows(o.Scope) {
		stub, err := stub(w)
		if err != nil {
			return Comparison{}, err
		}
		k.source, k.target = append(k.source, stub), append(k.target, stub)
	}
	g := newGenerator(o, source, r)
	k.parallel = g.parallel
	out := Comparison{}
	entered := map[string]bool{}
	for n := range opts.Cases {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		c := g.generate(rand.New(rand.NewPCG(opts.Seed, uint64(n))))
		a, b, what, err := k.try(ctx, c)
		if err != nil {
			return out, fmt.Errorf("case %d: %w", n+1, err)
		}
		maps.Copy(entered, a.Entered)
		if out.Cases++; what == "" {
			out.Agreed++
			continue
		}
		if out.First == nil {
			out.First = k.shrink(ctx, &Difference{n + 1, c, what, a, b, k.alike})
		}
	}
	for _, s := range source.States {
		if entered[s.Name] {
			out.Entered = append(out.Entered, s.Name)
		} else {
			out.Missed = append(out.Missed, s.Name)
		}
	}
	return out, nil
}

func (k *comparison) try(ctx context.Context, c *Case) (a, b Outcome, what string, err error) {
	if a, err = run(ctx, k.source, c); err != nil {
		return a, b, "", fmt.Errorf("run the source: %w", err)
	}
	if b, err = run(ctx, k.target, c); err != nil {
		return a, b, "", fmt.Errorf("run the conversion: %w", err)
	}
	return a, b, k.difference(a, b), nil
}

// compile compiles the documents of a conversion.
func compile(r Result) ([]*ir.Program, error) {
	registry := dialect.NewRegistry(sw05.FrontEnd{})
	var out []*ir.Program
	for _, d := range r.Definitions {
		c, found := registry.Compile(d.ID+".json", d.Value.AppendJSON(nil), nil, dialect.Options{Dialect: sw05.Name})
		if found.HasErrors() {
			return nil, fmt.Errorf("the conversion is not valid, which is a bug in this program: %w", found)
		}
		out = append(out, c.Program)
	}
	return out, nil
}

// stub stands for a sub-workflow that is not at hand: it calls a function of its name
// with what it is given.
func stub(id string) (*ir.Program, error) {
	doc := obj("id", str(id), "name", str(id), "version", str("1.0"), "states", expr.Array(obj(
		"name", str("Run"), "type", str("operation"), "start", obj("kind", str("default")), "end", obj("kind", str("default")),
		"actions", expr.Array(obj("functionRef", obj("refName", str(stubFunction(id)), "parameters", obj("input", text("$"))))))))
	c, found := dialect.NewRegistry(sw05.FrontEnd{}).Compile(id+".json", doc.AppendJSON(nil), nil, dialect.Options{Dialect: sw05.Name})
	if found.HasErrors() {
		return nil, fmt.Errorf("stand in for workflow %q: %w", id, found)
	}
	return c.Program, nil
}

func stubFunction(id string) string { return "workflow " + id }

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
	trial.Shrink(d.Case, maxShrinks, (*Case).smaller, func(c *Case) bool {
		a, b, what, err := k.try(ctx, c)
		if err != nil || what == "" {
			return false
		}
		d = &Difference{d.Number, c, what, a, b, k.alike}
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
	width := len("0.1")
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
		}{{"0.1", left}, {"0.5", right}} {
			fmt.Fprintf(b, "    %s\n", side.name)
			for i, l := range side.lines {
				fmt.Fprintf(b, "  %s %s\n", mark(i), l)
			}
		}
		return
	}
	fmt.Fprintf(b, "    %-*s  0.5\n", width, "0.1")
	for i := range rows {
		l, r := line(left, i), line(right, i)
		text := fmt.Sprintf("  %s %s%s  %s", mark(i), l, strings.Repeat(" ", width-len([]rune(l))), r)
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}

// iso writes a span of time.
func iso(d time.Duration) string { return calendar.DurationOf(d).String() }
