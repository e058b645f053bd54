package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// Limits of a bundle, besides those of a definition and in Limits.
const (
	MaxBundleFiles       = 1000 // bundle-files
	MaxBundleDefinitions = 500  // bundle-definitions
	maxBundlePath        = 512  // bundle-path
)

// Bundle is definitions that are deployed together: all of them or none.
type Bundle struct {
	Documents        []Document
	Whole            bool     // it is a bundle, and not one definition alone
	Unused           []string // files that are not definitions, by path; of them, the used ones are left out
	AllowUnreachable bool     // a document from the network that cannot be opened is a warning
	AllowMismatch    bool     // a call that does not fit the catalogue is a warning
}

// compiled is a definition of a bundle, ready to be deployed.
type compiled struct {
	engine.Document
	warnings []api.Diagnostic
}

// deploy deploys a bundle, or only says what that would do.
func (s *Server) deploy(ctx context.Context, who admit.Holder, b Bundle, dry bool) (out api.Bundle, err error) {
	if err := b.check(); err != nil {
		return out, err
	}
	all, err := s.compile(ctx, who, b)
	if err != nil {
		return out, err
	}
	docs := make([]engine.Document, len(all))
	for i, c := range all {
		docs[i] = c.Document
	}
	if b.Whole {
		out.Digest = bundleDigest(docs)
		out.Unused = unused(b.Unused, docs)
		for i := range docs {
			docs[i].Bundle = out.Digest
		}
	}
	deploy := s.engine.DeployDocuments
	if dry {
		deploy = s.engine.CheckDocuments
	}
	done, err := deploy(ctx, docs)
	if err != nil {
		return out, refusedBundle(b, docs, err)
	}
	missing := s.missingWorkflows(ctx, docs)
	for i, d := range done {
		v := viewDefinition(d.Row)
		v.Diagnostics = append(slices.Clip(all[i].warnings), missing[i]...)
		if dry && !d.Row.Current {
			v.Deployed = timeOf(0)
		}
		out.Definitions = append(out.Definitions, api.DeployedDefinition{Definition: v, Change: api.Change(d.Change), Before: d.Before.Digest})
	}
	if dry && b.Whole {
		out.Diff, err = s.diffBundle(ctx, docs, done)
	}
	return out, err
}

// check sees that a bundle is within its limits.
func (b Bundle) check() error {
	switch n := len(b.Documents); {
	case n == 0:
		return problem(api.CodeInvalid, "the bundle has no definition").
			hint("definitions are YAML or JSON files with tasks or states; files whose names end in _test.yaml are scenarios")
	case n > MaxBundleDefinitions:
		return overLimit("bundle-definitions", fmt.Sprintf("the bundle has %d definitions, more than %d", n, MaxBundleDefinitions))
	}
	return nil
}

// overLimit is the problem of something that is larger than a limit.
func overLimit(limit, detail string) *problemError {
	p := problem(api.CodeTooLarge, detail+" (limit "+limit+")")
	p.Limit = limit
	return p
}

// compile compiles the definitions of a bundle. All errors are one problem.
func (s *Server) compile(ctx context.Context, who admit.Holder, b Bundle) ([]compiled, error) {
	ctx, cancel := context.WithTimeout(ctx, deployTime)
	defer cancel()
	work, err := s.compiling(ctx, who, "deploy-time", deployTime)
	if err != nil {
		return nil, err
	}
	defer work.leave()
	c := &bundleCompiler{s: s, ctx: ctx, work: work, bundle: b, owners: map[string]string{}}
	for _, d := range b.Documents {
		if err := c.add(d); err != nil {
			return nil, err
		}
	}
	if c.failed > 0 {
		return nil, c.invalid()
	}
	return c.out, nil
}

// bundleCompiler compiles the definitions of a bundle one by one.
type bundleCompiler struct {
	s      *Server
	ctx    context.Context
	work   *compilation
	bundle Bundle
	out    []compiled
	owners map[string]string // files, by the id of the definition
	bytes  int               // of all programs

	errors []api.Diagnostic // of definitions that have errors, with their warnings
	failed int              // how many errors
}

// add compiles a definition.
func (c *bundleCompiler) add(d Document) error {
	if d.Name == "" {
		d.Name = documentName
	}
	if d.Files == nil {
		d.Files = dialect.NoBundle
	}
	s, files := c.s, fetched{d.Files, c.work, c.s}
	def, found := s.cfg.Registry.Compile(d.Name, d.Text, files, dialect.Options{Dialect: d.Dialect, Functions: s.functionNames(), Budget: c.work.budget()})
	p := def.Program
	if p != nil {
		calls := pin.Definition{
			File: d.Name, Program: p, Operations: def.Operations, Files: def.Files, Root: def.Document.Root, MaxTimeout: s.maxTimeout(),
			AllowUnreachable: c.bundle.AllowUnreachable, AllowMismatch: c.bundle.AllowMismatch,
		}
		found = append(found, builtin.Kinds.Pin(c.ctx, files, calls)...)
		if s.cfg.CheckCalls != nil {
			found = append(found, s.cfg.CheckCalls(c.ctx, calls)...)
		}
		if !s.cfg.AllowExec {
			found = append(found, builtin.CheckExec(d.Name, p)...)
		}
		if other, ok := c.owners[p.ID]; ok {
			found = append(found, dialect.Diagnostic{
				File: d.Name, Line: 1, Column: 1, Severity: dialect.Error, Code: dialect.CodeSameID,
				Message: fmt.Sprintf("%q is also the id of %s", p.ID, other), Hint: "a bundle has one version of each definition",
			})
		}
		c.owners[p.ID] = d.Name
		found.Sort()
		found = def.Truncate(found)
	}
	if p == nil || found.HasErrors() {
		document := d.Name
		if c.bundle.Whole { // several files: each diagnostic names its own
			document = ""
		}
		errors, _ := found.Counts()
		c.failed += errors
		c.errors = append(c.errors, viewDiagnostics(found, document)...)
		return nil
	}
	if p.ID == "." || p.ID == ".." {
		return problem(api.CodeInvalid, fmt.Sprintf("the id %q cannot be used in a path", p.ID)).hint("give the definition another id")
	}
	return c.keep(d, p, found)
}

// keep keeps a program.
func (c *bundleCompiler) keep(d Document, p *ir.Program, found dialect.Diagnostics) (err error) {
	out := compiled{Document: engine.Document{Program: p, Source: d.Text}, warnings: viewDiagnostics(found, d.Name)}
	if c.bundle.Whole {
		out.Path = d.Name
		text, err := ir.Encode(p)
		if err != nil {
			return fmt.Errorf("%w: %w", errInternal, err)
		}
		if c.bytes += len(text) + len(d.Text); c.bytes > c.s.limits.Programs {
			return overLimit("bundle-programs", fmt.Sprintf("the programs of the bundle, with the files that each definition uses, have more than %d bytes", c.s.limits.Programs))
		}
	}
	if len(out.warnings) > 0 {
		if out.Diagnostics, err = json.Marshal(out.warnings); err != nil {
			return fmt.Errorf("%w: %w", errInternal, err)
		}
	}
	c.out = append(c.out, out)
	return nil
}

// maxBundleErrors is how many diagnostics of a bundle are told ("diagnostics").
const maxBundleErrors = dialect.MaxDiagnostics

// invalid is the problem of a bundle with errors.
func (c *bundleCompiler) invalid() error {
	what, noun := "the definition", "errors"
	if c.bundle.Whole {
		what = "the bundle"
	}
	if c.failed == 1 {
		noun = "error"
	}
	p := problem(api.CodeInvalid, fmt.Sprintf("%s has %d %s", what, c.failed, noun))
	for _, d := range c.errors {
		if d.Severity == api.SeverityError {
			p.Detail += ": " + d.Message
			break
		}
	}
	slices.SortStableFunc(c.errors, func(a, b api.Diagnostic) int { return rank(a) - rank(b) })
	shown := c.errors[:min(len(c.errors), maxBundleErrors+1)]
	slices.SortStableFunc(shown, func(a, b api.Diagnostic) int { return comparePlaces(a, b) })
	for _, d := range shown {
		p.Errors = append(p.Errors, api.ProblemDetail{
			File: d.File, Line: d.Line, Column: d.Column, Severity: d.Severity, Code: d.Code, Message: d.Message, Hint: d.Hint,
		})
	}
	return p
}

// bundleFiles are the texts of all files of a bundle that its definitions use, by path, and of documents from the
// network, by address.
func bundleFiles(docs []engine.Document) map[string][]byte {
	out := map[string][]byte{}
	for _, d := range docs {
		out[d.Path] = d.Source
		for name, text := range filesOf(d.Path, d.Program.Resources) {
			out[name] = text
		}
	}
	return out
}

// filesOf are the files of a definition, by their path in the bundle, or address.
func filesOf(document string, resources []ir.Resource) map[string][]byte {
	out := map[string][]byte{}
	for _, r := range resources {
		name := r.Ref
		if file, ok := dialect.FilePath(r.Ref); ok {
			name = path.Join(path.Dir(document), file)
		}
		out[name] = pin.File(r)
	}
	return out
}

// bundleDigest names the content of a bundle: its definitions and the files that they use, with their paths.
func bundleDigest(docs []engine.Document) string {
	files := bundleFiles(docs)
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// Lengths come first, so that no two bundles look alike.
		fmt.Fprintf(h, "%d:%s%d:", len(name), name, len(files[name]))
		_, _ = h.Write(files[name]) // a hash never fails
	}
	_, _ = io.WriteString(h, "\n")
	return hex.EncodeToString(h.Sum(nil))
}

// unused leaves out the files that definitions use.
func unused(names []string, docs []engine.Document) []string {
	files := bundleFiles(docs)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return files[name] != nil })
}
