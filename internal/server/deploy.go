package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// deployTime bounds the compilation of a definition, with everything that is fetched for it
// ("deploy-time").
const deployTime = 60 * time.Second

func (s *Server) deployDefinition(w http.ResponseWriter, r *request) error {
	dry, err := r.flag("dry-run")
	if err != nil {
		return err
	}
	text, _, err := s.body(r, "document-bytes", s.limits.Definition, "application/yaml", "text/yaml", "application/x-yaml", "application/json")
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return problem(api.CodeInvalid, "the body is empty; it must be a definition")
	}
	d := Document{Text: text, Dialect: r.query.Get("dialect")}
	if dry {
		v, err := s.check(r.Context(), r.visit.who, d)
		if err != nil {
			return err
		}
		return answer(w, http.StatusOK, v)
	}
	v, created, err := s.deploy(r.Context(), r.visit.who, d)
	if err != nil {
		return err
	}
	s.log.InfoContext(r.Context(), "definition deployed", "id", v.ID, "version", v.Version, "digest", v.Digest, "new", created, "who", r.who.name)
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		w.Header().Set("Location", definitionPath(v))
	}
	return answer(w, status, v)
}

// Document is a definition to be deployed.
type Document struct {
	Name    string // the name of its file, for diagnostics; empty: it came over the network
	Text    []byte
	Dialect string         // empty: it is detected
	Files   dialect.Bundle // that it refers to; nil: none
}

// Deploy deploys a definition on behalf of this program.
func (s *Server) Deploy(ctx context.Context, d Document) (v api.Definition, created bool, err error) {
	return s.deploy(ctx, admit.Holder{}, d)
}

func (s *Server) deploy(ctx context.Context, who admit.Holder, d Document) (v api.Definition, created bool, err error) {
	doc, found, err := s.compile(ctx, who, d)
	if err != nil {
		return v, false, err
	}
	row, created, err := s.engine.DeployDocument(ctx, doc)
	if err != nil {
		return v, false, refusedDefinition(doc, err)
	}
	v = viewDefinition(row)
	v.Diagnostics = found
	return v, created, nil
}

// check is deploy without its effect.
func (s *Server) check(ctx context.Context, who admit.Holder, d Document) (v api.Definition, err error) {
	doc, found, err := s.compile(ctx, who, d)
	if err != nil {
		return v, err
	}
	row, err := s.engine.CheckDocument(ctx, doc)
	if err != nil {
		return v, refusedDefinition(doc, err)
	}
	v = viewDefinition(row)
	v.Diagnostics = found
	if !row.Current {
		v.Deployed = time.Time{}
	}
	return v, nil
}

// compile compiles a definition. All its errors are one problem.
func (s *Server) compile(ctx context.Context, who admit.Holder, d Document) (engine.Document, []api.Diagnostic, error) {
	if d.Name == "" {
		d.Name = documentName
	}
	if d.Files == nil {
		d.Files = dialect.NoBundle
	}
	ctx, cancel := context.WithTimeout(ctx, deployTime)
	defer cancel()
	work, err := s.compiling(ctx, who, "deploy-time", deployTime)
	if err != nil {
		return engine.Document{}, nil, err
	}
	defer work.leave()
	bundle := fetched{d.Files, work, s}
	c, found := s.cfg.Registry.Compile(d.Name, d.Text, bundle, dialect.Options{Dialect: d.Dialect, Functions: s.cfg.Functions, Budget: work.budget()})
	if c.Program != nil {
		found = append(found, builtin.Kinds.Pin(ctx, bundle, pin.Definition{File: d.Name, Program: c.Program, Operations: c.Operations})...)
		if !s.cfg.AllowExec {
			found = append(found, builtin.CheckExec(d.Name, c.Program)...)
		}
		found.Sort()
		found = c.Truncate(found)
	}
	views := viewDiagnostics(found, d.Name)
	if c.Program == nil || found.HasErrors() {
		errors, _ := found.Counts()
		noun := "errors"
		if errors == 1 {
			noun = "error"
		}
		p := problem(api.CodeInvalid, fmt.Sprintf("the definition has %d %s", errors, noun))
		first := slices.IndexFunc(views, func(d api.Diagnostic) bool { return d.Severity == api.SeverityError })
		if first >= 0 {
			p.Detail += ": " + views[first].Message
		}
		for _, d := range views {
			p.Errors = append(p.Errors, api.ProblemDetail{
				File: d.File, Line: d.Line, Column: d.Column, Severity: d.Severity, Code: d.Code, Message: d.Message, Hint: d.Hint,
			})
		}
		return engine.Document{}, nil, p
	}
	if id := c.Program.ID; id == "." || id == ".." {
		return engine.Document{}, nil, problem(api.CodeInvalid, fmt.Sprintf("the id %q cannot be used in a path", id)).hint("give the definition another id")
	}
	doc := engine.Document{Program: c.Program, Source: d.Text}
	if len(views) > 0 {
		var err error
		if doc.Diagnostics, err = json.Marshal(views); err != nil {
			return engine.Document{}, nil, fmt.Errorf("%w: %w", errInternal, err)
		}
	}
	return doc, views, nil
}

// refusedDefinition is the problem of a definition that compiles and that the engine refuses.
func refusedDefinition(doc engine.Document, err error) error {
	conflict, ok := errors.AsType[*engine.VersionConflictError](err)
	switch {
	case ok && doc.Program.Job: // a job workflow has no version
		return problem(api.CodeVersion, fmt.Sprintf("job workflow %q is deployed with different content; a job workflow never changes", conflict.ID)).
			hint("use another name, or delete the deployed one first")
	case ok:
		return problem(api.CodeVersion, err.Error()).hint("change the version in the document")
	}
	return err
}

// fetched opens the files that a definition refers to, and documents over http(s) under the outbound
// policy.
type fetched struct {
	files dialect.Bundle
	work  *compilation
	s     *Server
}

// Open implements dialect.Bundle.
func (b fetched) Open(ref string) ([]byte, error) {
	address, _, _ := strings.Cut(ref, "#")
	if scheme, _, ok := strings.Cut(address, "://"); !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return b.files.Open(ref)
	}
	if b.s.cfg.Outbound == nil {
		return nil, fmt.Errorf("%q: this server does not fetch documents", address)
	}
	b.work.leave() // others may compile while this definition waits for the network
	text, err := b.s.cfg.Outbound.Fetch(b.work.ctx, address)
	if full := b.work.enter(); err == nil {
		err = full
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}
