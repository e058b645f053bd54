package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// deployTime bounds the compilation of a definition or a bundle, with everything that is fetched for it
// ("deploy-time").
const deployTime = 60 * time.Second

// deployOptions reads the parameters of a deployment.
func deployOptions(r *request) (b Bundle, dry bool, err error) {
	if b.AllowUnreachable, err = r.flag("allow-unreachable"); err != nil {
		return b, dry, err
	}
	if b.AllowMismatch, err = r.flag("allow-mismatch"); err == nil {
		dry, err = r.flag("dry-run")
	}
	return b, dry, err
}

func (s *Server) deployDefinition(w http.ResponseWriter, r *request) error {
	b, dry, err := deployOptions(r)
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
	b.Documents = []Document{{Text: text, Dialect: r.query.Get("dialect")}}
	out, err := s.deploy(r.Context(), r.visit.who, b, dry)
	if err != nil {
		return err
	}
	v := out.Definitions[0]
	if dry {
		return answer(w, http.StatusOK, v.Definition)
	}
	r.deed.target, r.deed.before, r.deed.after = definitionPath(v.Definition), v.Before, v.Definition.Digest
	s.logDeployed(r, v)
	status := http.StatusOK
	if v.Change.IsNew() {
		status = http.StatusCreated
		w.Header().Set("Location", definitionPath(v.Definition))
	}
	return answer(w, status, v.Definition)
}

func (s *Server) logDeployed(r *request, v api.DeployedDefinition) {
	s.log.InfoContext(r.Context(), "definition deployed", "id", v.Definition.ID, "version", v.Definition.Version, "digest", v.Definition.Digest, "new", v.Change.IsNew(), "who", r.who.name)
}

// Document is a definition to be deployed.
type Document struct {
	Name    string // the name of its file, for diagnostics; empty: it came over the network
	Text    []byte
	Dialect string         // empty: it is detected
	Files   dialect.Bundle // that it refers to; nil: none
}

// Deploy deploys a definition on behalf of this program.
func (s *Server) Deploy(ctx context.Context, d Document) (api.Definition, error) {
	out, err := s.deploy(ctx, admit.Holder{}, Bundle{Documents: []Document{d}}, false)
	if err != nil {
		return api.Definition{}, err
	}
	return out.Definitions[0].Definition, nil
}

// DeployFiles deploys the definitions of a folder with the files that they refer to, on behalf of this program.
func (s *Server) DeployFiles(ctx context.Context, f Folder) (api.Bundle, error) {
	b, err := s.read(f)
	if err != nil {
		return api.Bundle{}, err
	}
	return s.deploy(ctx, admit.Holder{}, b, false)
}

// maxTimeout is how long a call may take at most; 0: that is not known here.
func (s *Server) maxTimeout() time.Duration {
	if s.cfg.Outbound == nil {
		return 0
	}
	return s.cfg.Outbound.Limits().MaxTimeout
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
