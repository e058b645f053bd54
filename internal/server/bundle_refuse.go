package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func rank(d api.Diagnostic) int {
	if d.Severity == api.SeverityError {
		return 0
	}
	return 1
}

func comparePlaces(a, b api.Diagnostic) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// refusedBundle is the problem of definitions that compile and that the engine refuses.
func refusedBundle(b Bundle, docs []engine.Document, err error) error {
	conflicts := conflictsIn(err)
	if len(conflicts) == 0 {
		return err
	}
	find := func(id string) engine.Document {
		return docs[slices.IndexFunc(docs, func(d engine.Document) bool { return d.Program.ID == id })]
	}
	p := refusedVersion(find(conflicts[0].ID), conflicts[0])
	if !b.Whole {
		return p
	}
	var names []string
	for _, c := range conflicts {
		names = append(names, fmt.Sprintf("%s@%s", c.ID, c.Version))
		p.Errors = append(p.Errors, api.ProblemDetail{File: find(c.ID).Path, Message: refusedVersion(find(c.ID), c).Detail})
	}
	if len(conflicts) > 1 {
		p.Detail = fmt.Sprintf("%d definitions are deployed with different content: %s", len(conflicts), strings.Join(names, ", "))
		p.Hint = "change the version in each of the documents"
	}
	return p
}

func refusedVersion(doc engine.Document, conflict *engine.VersionConflictError) *problemError {
	if doc.Program.Job { // a job workflow has no version
		return problem(api.CodeVersion, fmt.Sprintf("job workflow %q is deployed with different content; a job workflow never changes", conflict.ID)).
			hint("use another name, or delete the deployed one first")
	}
	return problem(api.CodeVersion, conflict.Error()).hint("change the version in the document")
}

// conflictsIn finds all version conflicts of an error.
func conflictsIn(err error) (out []*engine.VersionConflictError) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			out = append(out, conflictsIn(one)...)
		}
		return out
	}
	if conflict, ok := errors.AsType[*engine.VersionConflictError](err); ok {
		out = append(out, conflict)
	}
	return out
}

// maxSubWorkflows is how many sub-workflows of a bundle are looked up.
const maxSubWorkflows = 200

// missingWorkflows warns of sub-workflows that are neither in the bundle nor deployed, by definition. The warnings are
// not stored: the workflow may be deployed later.
func (s *Server) missingWorkflows(ctx context.Context, docs []engine.Document) [][]api.Diagnostic {
	type target struct{ id, version string }
	here := map[target]bool{}
	for _, d := range docs {
		here[target{d.Program.ID, ""}], here[target{d.Program.ID, d.Program.Version}] = true, true
	}
	asked := 0
	out := make([][]api.Diagnostic, len(docs))
	for i, d := range docs {
		told := map[target]bool{}
		for _, n := range d.Program.Nodes {
			spawn, ok := n.Op.(*ir.Spawn)
			if !ok {
				continue
			}
			at := target{spawn.Workflow, spawn.Version}
			there, known := here[at]
			if !known {
				if asked++; asked > maxSubWorkflows {
					return out
				}
				_, err := s.engine.Definition(ctx, at.id, at.version)
				there = err == nil
				here[at] = there
			}
			if there || told[at] {
				continue
			}
			told[at] = true
			name := at.id
			if at.version != "" {
				name += "@" + at.version
			}
			out[i] = append(out[i], api.Diagnostic{
				Line: n.Pos.Line, Column: n.Pos.Column, Severity: api.SeverityWarning, Code: dialect.CodeNoWorkflow,
				Message: fmt.Sprintf("the sub-workflow %q is neither in this bundle nor deployed", name), Hint: "deploy it together with this definition",
			})
		}
	}
	return out
}
