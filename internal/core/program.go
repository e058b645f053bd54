package core

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Program is an ir.Program with its expressions compiled: what Step runs. It is
// immutable and serves any number of instances at once.
type Program struct {
	*ir.Program
	Limits Limits
	Model  Model
	// Stops names breakpoints: states before which instances pause until they are resumed.
	// "*" is every state.
	Stops []string
	exprs []expr.Program

	definition expr.Value // for the variable workflow
	owner      []string   // by node: the state it belongs to
	open       []ir.NodeID
}

// Link compiles the expressions of a checked program. jobs is the model of programs that
// are jobs; it may be nil for others.
func Link(p *ir.Program, langs expr.Languages, jobs Model) (*Program, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.Edition != ir.Edition {
		return nil, fmt.Errorf("link %s: unknown edition %d (want %d)", p.ID, p.Edition, ir.Edition)
	}
	out := &Program{Program: p, Limits: DefaultLimits, Model: plain{}, exprs: make([]expr.Program, len(p.Exprs))}
	if p.Job {
		if jobs == nil {
			return nil, fmt.Errorf("link %s: no model of jobs", p.ID)
		}
		out.Model = jobs
	}
	if p.Definition != "" {
		var err error
		if out.definition, err = expr.ParseJSON([]byte(p.Definition)); err != nil {
			return nil, fmt.Errorf("link %s: its definition: %w", p.ID, err)
		}
	}
	out.owner, out.open = owners(p), openTasks(p)
	weight := 0
	type source struct{ lang, src string }
	compiled := map[source]expr.Program{} // definitions repeat expressions; compile each once
	for i, e := range p.Exprs[1:] {
		key := source{e.Lang, e.Src}
		if prog, ok := compiled[key]; ok {
			out.exprs[i+1] = prog
			continue
		}
		c, ok := langs[e.Lang]
		if !ok {
			return nil, fmt.Errorf("link %s: no expression language %q", p.ID, e.Lang)
		}
		prog, err := c.Compile(e.Src)
		if err != nil {
			return nil, fmt.Errorf("link %s: expression at %d:%d: %w", p.ID, e.Pos.Line, e.Pos.Column, err)
		}
		out.exprs[i+1], compiled[key] = prog, prog
		if w, ok := prog.(expr.Weighed); ok {
			weight += w.Weight()
			if weight > expr.MaxPrograms {
				err := &expr.LimitError{Limit: "definition-programs", Max: expr.MaxPrograms}
				return nil, fmt.Errorf("link %s: expression at %d:%d: %w", p.ID, e.Pos.Line, e.Pos.Column, err)
			}
		}
	}
	return out, nil
}

// CheckInput returns why an instance cannot be started with an input: how it violates the
// model, or the definition's schema unless such violations are warnings.
func (p *Program) CheckInput(data expr.Value) []expr.Value {
	if violations := p.Model.CheckInput(data); len(violations) > 0 || p.WarnSchemas || p.WarnInput {
		return violations
	}
	m := machine{p: p}
	return m.checkInput(data)
}

func (m *machine) checkInput(data expr.Value) []expr.Value {
	if m.p.InputSchema == 0 {
		return nil
	}
	violations, fault := m.violations(m.p.InputSchema, data)
	if fault != nil {
		return []expr.Value{expr.Object(expr.Member{Key: "message", Value: expr.String(fault.Detail)})}
	}
	return violations
}

// describe joins violations into one line.
func describe(violations []expr.Value) string {
	const most = 5
	var parts []string
	for i, v := range violations {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(violations)-most))
			break
		}
		pointer, _ := v.Get("pointer")
		message, _ := v.Get("message")
		text := message.Str()
		if pointer.Str() != "" {
			text = pointer.Str() + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
