package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// deployTime is how long a definition may take to be compiled, with everything that is
// fetched for it ("deploy-time").
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
		return problem(CodeInvalid, "the body is empty; it must be a definition")
	}
	doc, found, err := s.compile(r.Context(), r.visit.who, text, r.query.Get("dialect"))
	if err != nil {
		return err
	}
	if dry {
		row, err := s.engine.CheckDocument(r.Context(), doc)
		if err != nil {
			return refusedDefinition(doc, err)
		}
		v := viewDefinition(row)
		if v.Diagnostics = found; !row.Current {
			v.Deployed = nil
		}
		return answer(w, http.StatusOK, v)
	}
	row, created, err := s.engine.DeployDocument(r.Context(), doc)
	if err != nil {
		return refusedDefinition(doc, err)
	}
	s.log.InfoContext(r.Context(), "definition deployed", "id", row.ID, "version", row.Version, "digest", row.Digest, "new", created, "who", r.who.name)
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		w.Header().Set("Location", definitionPath(row))
	}
	v := viewDefinition(row)
	v.Diagnostics = found
	return answer(w, status, v)
}

// compile compiles a definition. Its errors are one problem.
func (s *Server) compile(ctx context.Context, who admit.Holder, text []byte, dialectName string) (engine.Document, []diagnosticView, error) {
	ctx, cancel := context.WithTimeout(ctx, deployTime)
	defer cancel()
	work, err := s.compiling(ctx, who, "deploy-time", deployTime)
	if err != nil {
		return engine.Document{}, nil, err
	}
	defer work.leave()
	bundle := fetched{work, s}
	c, found := s.cfg.Registry.Compile(documentName, text, bundle, dialect.Options{Dialect: dialectName, Functions: s.cfg.Functions, Budget: work.budget()})
	if c.Program != nil {
		found = append(found, openapi.Pin(ctx, c.Program, bundle, openapi.Definition{File: documentName, Operations: c.Operations})...)
		found.Sort()
		found = c.Truncate(found)
	}
	views := viewDiagnostics(found)
	if c.Program == nil || found.HasErrors() {
		errors, _ := found.Counts()
		noun := "errors"
		if errors == 1 {
			noun = "error"
		}
		p := problem(CodeInvalid, fmt.Sprintf("the definition has %d %s", errors, noun))
		first := slices.IndexFunc(views, func(d diagnosticView) bool { return d.Severity == string(dialect.Error) })
		if first >= 0 {
			p.Detail += ": " + views[first].Message
		}
		for _, d := range views {
			p.Errors = append(p.Errors, Detail{
				File: d.File, Line: d.Line, Column: d.Column, Severity: d.Severity, Code: d.Code, Message: d.Message, Hint: d.Hint,
			})
		}
		return engine.Document{}, nil, p
	}
	if id := c.Program.ID; id == "." || id == ".." {
		return engine.Document{}, nil, problem(CodeInvalid, fmt.Sprintf("the id %q cannot be part of a path", id)).hint("give the definition another id")
	}
	doc := engine.Document{Program: c.Program, Source: text}
	if len(views) > 0 {
		var err error
		if doc.Diagnostics, err = json.Marshal(views); err != nil {
			return engine.Document{}, nil, fmt.Errorf("%w: %w", errInternal, err)
		}
	}
	return doc, views, nil
}

// refusedDefinition tells what the engine has against a definition that compiles.
func refusedDefinition(doc engine.Document, err error) error {
	conflict, ok := as[*engine.VersionConflictError](err)
	switch {
	case ok && doc.Program.Job: // which has no version to change
		return problem(CodeVersion, fmt.Sprintf("job workflow %q is deployed with other content; a job workflow never changes", conflict.ID)).
			hint("give it another name, or delete the one that is deployed first")
	case ok:
		return problem(CodeVersion, err.Error()).hint("change the version in the document")
	}
	return err
}

// fetched opens what a definition refers to over http(s), under the outbound policy.
// There are no files: the document came alone.
type fetched struct {
	work *compilation
	s    *Server
}

// Open implements dialect.Bundle.
func (b fetched) Open(ref string) ([]byte, error) {
	address, _, _ := strings.Cut(ref, "#")
	if scheme, _, ok := strings.Cut(address, "://"); !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return dialect.NoBundle.Open(ref)
	}
	if b.s.cfg.Outbound == nil {
		return nil, fmt.Errorf("%q: this server fetches nothing", address)
	}
	b.work.leave() // a slow address holds up nobody else
	text, err := b.s.cfg.Outbound.Fetch(b.work.ctx, address)
	if full := b.work.enter(); err == nil {
		err = full
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", address, err)
	}
	return text, nil
}
