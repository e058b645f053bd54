package server

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// readFiles reads the files beside the definition.
func (ask *playAsk) readFiles(body *dialect.Members) error {
	files := body.Object("files")
	if err := memberProblem(body); err != nil {
		return err
	}
	ask.files = map[string][]byte{}
	for _, f := range files.Members() {
		at := "/files/" + f.Key
		if err := checkBundlePath(f.Key); err != nil {
			return err
		}
		switch {
		case f.Value.Kind() != expr.KindString:
			return badMember(at, fmt.Sprintf("the file %q must be a string: its text", f.Key))
		case f.Key == documentName || slices.Contains(playMembers, f.Key):
			return badMember(at, fmt.Sprintf("a file cannot be called %q, which is a member of the request", f.Key))
		}
		ask.files[f.Key] = []byte(f.Value.Str())
	}
	if len(ask.files) > playFiles {
		return badMember("/files", fmt.Sprintf("there are %d files, more than %d (limit playground-files)", len(ask.files), playFiles))
	}
	return nil
}

// compilePlay compiles and draws the definition and those among its files, into out: the programs, the definition's own
// first; nil if that has errors.
func (s *Server) compilePlay(ctx context.Context, work *compilation, ask playAsk, found dialect.Diagnostics, out *api.PlayResult) ([]*ir.Program, error) {
	compile := func(name string, text []byte, folder, as string) (*ir.Program, dialect.Diagnostics) {
		c, wrong := s.cfg.Registry.Compile(name, text, below(ask.files, folder), dialect.Options{Dialect: as, Functions: s.functionNames(), Budget: work.budget()})
		if wrong.HasErrors() {
			return nil, wrong
		}
		return c.Program, wrong
	}
	main, wrong := compile(documentName, []byte(ask.definition), ".", ask.dialect)
	programs, owners := []*ir.Program{main}, map[string]string{}
	if main != nil {
		owners[main.ID] = "the definition"
		out.ID, out.Version, out.Dialect, out.Job = main.ID, main.Version, main.Dialect, main.Job
		var err error
		if out.Graph, err = drawn(ctx, main); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ask.files)) {
		if !MayBeDefinition(name) || !s.cfg.Registry.IsDefinition(name, ask.files[name]) {
			continue
		}
		p, bad := compile(name, ask.files[name], path.Dir(name), "")
		file := api.PlayFile{Path: name}
		if p != nil {
			if other, taken := owners[p.ID]; taken {
				bad = append(bad, dialect.Diagnostic{
					File: name, Line: 1, Column: 1, Severity: dialect.Error, Code: dialect.CodeSameID,
					Message: fmt.Sprintf("%q is also the id of %s", p.ID, other), Hint: "give one of them another id",
				})
			}
			owners[p.ID] = name
			programs = append(programs, p)
			file.ID, file.Version, file.Dialect = p.ID, p.Version, p.Dialect
			var err error
			if file.Graph, err = drawn(ctx, p); err != nil && ctx.Err() == nil {
				return nil, err
			}
		}
		wrong = append(wrong, bad...)
		out.Files = append(out.Files, file)
	}
	if main != nil {
		wrong = append(wrong, missingInPlay(main, owners)...)
	}
	out.Diagnostics = viewDiagnostics(append(wrong, found...), documentName)
	if main == nil {
		return nil, nil
	}
	return programs, nil
}

// missingInPlay warns of sub-workflows that no file defines.
func missingInPlay(p *ir.Program, owners map[string]string) (out dialect.Diagnostics) {
	told := map[string]bool{}
	for _, n := range p.Nodes {
		spawn, ok := n.Op.(*ir.Spawn)
		if !ok || owners[spawn.Workflow] != "" || told[spawn.Workflow] {
			continue
		}
		told[spawn.Workflow] = true
		out = append(out, dialect.Diagnostic{
			File: documentName, Line: n.Pos.Line, Column: n.Pos.Column, Severity: dialect.Warning, Code: dialect.CodeNoWorkflow,
			Message: fmt.Sprintf("no file here defines the sub-workflow %q", spawn.Workflow), Hint: "add its definition as a file",
		})
	}
	return out
}

func hasErrors(list []api.Diagnostic) bool {
	return slices.ContainsFunc(list, func(d api.Diagnostic) bool { return d.Severity == api.SeverityError })
}

func looksLikeJSON(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "{") }

// writeScenario is a run as a scenario file.
func writeScenario(ask playAsk, programs []*ir.Program, out *api.PlayResult) (*api.PlayScenario, error) {
	run := out.Run
	switch run.Status {
	case api.PlayStopped, api.PlayLater, api.PlayLimit:
		return nil, problem(api.CodeInput, "the run did not end: a scenario is written of a whole run")
	}
	p := programs[0]
	w := scenario.Written{
		Programs: programs, Name: ask.scenario, Definition: p.ID, JSON: looksLikeJSON(ask.definition), Job: p.Job, Client: ask.client, Clock: ask.start,
		Input: ask.input, HasInput: ask.hasInput, Mocks: ask.mocks, Events: ask.scene.Events, Takes: ask.scene.Takes, None: run.Status == api.PlayNone,
	}
	for _, f := range out.Files {
		w.Files = append(w.Files, f.Path)
	}
	if len(run.Records) > 0 {
		first := run.Records[0].Instance
		for _, in := range run.Instances {
			if in.ID == first {
				w.Instance = in
			}
		}
		for _, r := range run.Records {
			if r.Instance == first {
				w.Records = append(w.Records, r.Record)
			}
		}
	}
	text, definition := w.Text()
	return &api.PlayScenario{File: scenario.FileName(p.ID), Definition: definition, Text: text}, nil
}
