package ctk

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/sim/naive10"
)

// play is a scenario while it runs.
type play struct {
	runtime     Runtime
	services    map[string]string // addresses in definitions, and what takes their place
	definitions []string
	input       any
	out         *Outcome
}

// step is one of the kit's steps: what it looks like, and what it does with the parts and the doc string.
type step struct {
	pattern *regexp.Regexp
	do      func(ctx context.Context, p *play, parts []string, doc string) error
}

func is(pattern string, do func(ctx context.Context, p *play, parts []string, doc string) error) step {
	return step{regexp.MustCompile("^" + pattern + "$"), do}
}

// then is a step that looks at the outcome.
func then(pattern string, check func(out *Outcome, parts []string, doc string) error) step {
	return is(pattern, func(_ context.Context, p *play, parts []string, doc string) error {
		if p.out == nil {
			return fmt.Errorf("the workflow was not executed")
		}
		return check(p.out, parts, doc)
	})
}

var steps = []step{
	is("a workflow with definition:", func(_ context.Context, p *play, _ []string, doc string) error {
		for from, to := range p.services {
			doc = strings.ReplaceAll(doc, from, to)
		}
		p.definitions = append(p.definitions, doc)
		return nil
	}),
	is("(?:given )?the workflow input is:", func(_ context.Context, p *play, _ []string, doc string) (err error) {
		p.input, err = decode(doc)
		return err
	}),
	is("the workflow is executed", func(ctx context.Context, p *play, _ []string, _ string) error {
		out, err := p.runtime.Run(ctx, p.definitions, p.input)
		p.out = &out
		return err
	}),
	then("the workflow should (cancel|complete|fault)", func(out *Outcome, parts []string, _ string) error {
		return status("the workflow", out.Status, parts[1], out.Error)
	}),
	then("the workflow should complete with output:", func(out *Outcome, _ []string, doc string) error {
		if err := status("the workflow", out.Status, "complete", out.Error); err != nil {
			return err
		}
		return same("the output", out.Output, doc)
	}),
	then("the workflow should fault with error:", func(out *Outcome, _ []string, doc string) error {
		if err := status("the workflow", out.Status, "fault", nil); err != nil {
			return err
		}
		return same("the error", out.Error, doc)
	}),
	then("the workflow output should have (?:properties|property) (.+)", func(out *Outcome, parts []string, _ string) error {
		for _, name := range strings.Split(parts[1], ",") {
			if _, err := property(out, strings.Trim(strings.TrimSpace(name), "'")); err != nil {
				return err
			}
		}
		return nil
	}),
	then("the workflow output should have an? '([^']+)' property with value:", func(out *Outcome, parts []string, doc string) error {
		v, err := property(out, parts[1])
		if err != nil {
			return err
		}
		return same("property "+parts[1], v, doc)
	}),
	then("the workflow output should have an? '([^']+)' property containing ([0-9]+) items?", func(out *Outcome, parts []string, _ string) error {
		v, err := property(out, parts[1])
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(parts[2])
		if items, ok := v.([]any); !ok || len(items) != n {
			return fmt.Errorf("property %s is %s, want %d items", parts[1], naive10.Encode(v), n)
		}
		return nil
	}),
	then(`(\S+) should run (first|last)`, func(out *Outcome, parts []string, _ string) error {
		if len(out.Tasks) == 0 {
			return fmt.Errorf("no task ran")
		}
		ran := out.Tasks[0]
		if parts[2] == "last" {
			ran = out.Tasks[len(out.Tasks)-1]
		}
		if ran.Name != parts[1] {
			return fmt.Errorf("%s ran %s, not %s", ran.Name, parts[2], parts[1])
		}
		return nil
	}),
	then(`(\S+) should run (before|after) (\S+)`, func(out *Outcome, parts []string, _ string) error {
		a, b := place(out, parts[1]), place(out, parts[3])
		if parts[2] == "after" {
			a, b = b, a
		}
		if a < 0 || b < 0 || a >= b {
			return fmt.Errorf("%s did not run %s %s", parts[1], parts[2], parts[3])
		}
		return nil
	}),
	then(`(\S+) should (cancel|complete|fault)`, func(out *Outcome, parts []string, _ string) error {
		_, err := ended(out, parts[1], parts[2])
		return err
	}),
	then(`(\S+) should complete with output:`, func(out *Outcome, parts []string, doc string) error {
		t, err := ended(out, parts[1], "complete")
		if err != nil {
			return err
		}
		return same("the output of "+parts[1], t.Output, doc)
	}),
	then(`(\S+) should fault with error:`, func(out *Outcome, parts []string, doc string) error {
		t, err := ended(out, parts[1], "fault")
		if err != nil {
			return err
		}
		return same("the error of "+parts[1], t.Error, doc)
	}),
}

// run runs the steps of a scenario until one does not hold.
func (p *play) run(ctx context.Context, s Scenario) error {
	p.input = map[string]any{}
	for _, st := range s.Steps {
		i := slices.IndexFunc(steps, func(known step) bool { return known.pattern.MatchString(st.Text) })
		if i < 0 {
			return fmt.Errorf("line %d: unknown step %q", st.Line, st.Text)
		}
		if err := steps[i].do(ctx, p, steps[i].pattern.FindStringSubmatch(st.Text), st.Doc); err != nil {
			return fmt.Errorf("line %d: %s: %w", st.Line, st.Text, err)
		}
	}
	return nil
}

var statuses = map[string]string{"cancel": Cancelled, "complete": Completed, "fault": Faulted}

func status(what, got, verb string, err map[string]any) error {
	if got == statuses[verb] {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s is %s by %s", what, got, naive10.Encode(err))
	}
	return fmt.Errorf("%s is %s", what, got)
}

// ended finds the last run of a task that ended in a way.
func ended(out *Outcome, name, verb string) (Task, error) {
	last := "not run"
	for _, t := range slices.Backward(out.Tasks) {
		if t.Name == name {
			if t.Status == statuses[verb] {
				return t, nil
			}
			last = t.Status
		}
	}
	return Task{}, fmt.Errorf("%s is %s", name, last)
}

func place(out *Outcome, name string) int {
	return slices.IndexFunc(out.Tasks, func(t Task) bool { return t.Name == name })
}

// property finds a part of the output of a workflow that completed.
func property(out *Outcome, path string) (any, error) {
	if err := status("the workflow", out.Status, "complete", out.Error); err != nil {
		return nil, err
	}
	v := out.Output
	for _, name := range strings.Split(path, ".") {
		m, _ := v.(map[string]any)
		var ok bool
		if v, ok = m[name]; !ok {
			return nil, fmt.Errorf("the output has no %s: %s", path, naive10.Encode(out.Output))
		}
	}
	return v, nil
}

func same(what string, got any, doc string) error {
	want, err := decode(doc)
	if err != nil {
		return err
	}
	if m, ok := got.(map[string]any); ok && m == nil {
		got = nil
	}
	if g, w := string(naive10.Encode(got)), string(naive10.Encode(want)); g != w {
		return fmt.Errorf("%s is %s, want %s", what, g, w)
	}
	return nil
}
