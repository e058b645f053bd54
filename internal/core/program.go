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
	// Stops names states before which instances pause, for people who watch; "*" is
	// every state. An instance that stopped goes on when it is resumed.
	Stops []string
	exprs []expr.Program

	owner []string // by node: the state it works for
}

// Link compiles the expressions of a checked program.
func Link(p *ir.Program, langs expr.Languages) (*Program, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.Edition != ir.Edition {
		return nil, fmt.Errorf("link %s: edition %d is not known here (want %d)", p.ID, p.Edition, ir.Edition)
	}
	out := &Program{Program: p, Limits: DefaultLimits, exprs: make([]expr.Program, len(p.Exprs))}
	out.owner = owners(p)
	weight := 0
	type source struct{ lang, src string }
	compiled := map[source]expr.Program{} // the same text may stand at many places
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
			if weight += w.Weight(); weight > expr.MaxPrograms {
				return nil, fmt.Errorf("link %s: expression at %d:%d: %w", p.ID, e.Pos.Line, e.Pos.Column, &expr.LimitError{Limit: "definition-programs", Max: expr.MaxPrograms})
			}
		}
	}
	return out, nil
}

// CheckInput returns how a workflow input violates the definition's schema; that of a
// job has the shape of all jobs.
func (p *Program) CheckInput(data expr.Value) []expr.Value {
	m := machine{p: p}
	return m.checkInput(data)
}

func (m *machine) checkInput(data expr.Value) []expr.Value {
	if m.p.Job {
		return jobViolations(data)
	}
	if m.p.InputSchema == 0 {
		return nil
	}
	violations, fault := m.violations(m.p.InputSchema, data)
	if fault != nil {
		return []expr.Value{expr.Object(expr.Member{Key: "message", Value: expr.String(fault.Detail)})}
	}
	return violations
}

// describe tells violations in one line.
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
