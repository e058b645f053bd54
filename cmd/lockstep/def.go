package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func (a *app) defCommand() *cobra.Command {
	var server remoteFlags
	cmd := a.group("def", "Deploy and look at the definitions of a server", `  lockstep def apply order.yaml
  lockstep def ls
  lockstep def get order@1.3 --source
  lockstep def diff order 1.2 1.3`)
	server.add(cmd)
	cmd.AddCommand(a.defApply(&server), a.defList(&server), a.defGet(&server), a.defDiff(&server), a.defVersions(&server), a.defRemove(&server))
	return cmd
}

// splitVersion takes ID@VERSION apart. Ids have no @ of their own at the end.
func splitVersion(arg string) (id, version string) {
	if i := strings.LastIndexByte(arg, '@'); i > 0 {
		return arg[:i], arg[i+1:]
	}
	return arg, ""
}

// joinVersion is the opposite; a definition may have no version.
func joinVersion(id, version string) string {
	if version == "" {
		return id
	}
	return id + "@" + version
}

func (a *app) defApply(server *remoteFlags) *cobra.Command {
	var dryRun bool
	var dialectName string
	cmd := &cobra.Command{
		Use: "apply FILE…", Short: "Deploy definitions", Args: atLeastOne("a file or a directory"),
		Long: "Apply deploys definitions; of a directory every definition below it. All of them are checked first: if one has\n" +
			"errors, none is deployed. What is deployed becomes the current version. Files that a definition refers to stay on\n" +
			"this machine: the server takes one document, and fetches what it refers to by http(s).",
		Example: `  lockstep def apply order.yaml ship.yaml
  lockstep def apply --dry-run definitions/
  generate | lockstep def apply -`,
	}
	output := listFlag(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only check")
	a.dialectFlag(cmd, &dialectName)
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		docs, err := r.readDocuments(args)
		if err != nil {
			return err
		}
		results := listing[applied]{
			columns: []string{"DEFINITION", "VERSION", "RESULT", "FILE"},
			row:     func(d applied) []string { return []string{d.ID, d.Version, d.Result, d.File} },
			name:    func(d applied) string { return joinVersion(d.ID, d.Version) },
		}
		if results.items, err = r.apply(docs, client.Deploy{Dialect: dialectName, DryRun: true}); err != nil {
			return err
		}
		if !dryRun {
			if results.items, err = r.apply(docs, client.Deploy{Dialect: dialectName}); err != nil {
				return err
			}
		}
		return results.write(a, output.value)
	})
	return cmd
}

// applied is a definition that was deployed, or checked.
type applied struct {
	client.Definition
	File   string `json:"file"`
	Result string `json:"result"` // created, unchanged or checked
}

// sourceDocument is a document to deploy.
type sourceDocument struct {
	file string
	text []byte
}

// readDocuments reads the definitions among paths; those of directories that are something
// else are passed over.
func (r remote) readDocuments(paths []string) ([]sourceDocument, error) {
	files, found, err := findDefinitions(paths)
	if err != nil {
		return nil, err
	}
	var out []sourceDocument
	for _, file := range files {
		d := sourceDocument{file: file}
		if file == "-" {
			d.file = stdinName
			d.text, err = r.stdin(r.ctx)
		} else {
			d.text, err = readFile(r.ctx, file)
		}
		if err != nil {
			return nil, err
		}
		if found[file] && !r.isDefinition(d) {
			fmt.Fprintf(r.err, "%s: passed over, it is not a definition\n", file)
			continue
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		return nil, &failure{exit: exitNotFound, code: "not-found", title: "Not found", detail: "there is no definition in " + strings.Join(paths, ", ")}
	}
	return out, nil
}

func (r remote) isDefinition(d sourceDocument) bool {
	c, ds := r.registry().Compile(d.file, d.text, dialect.DirBundle(filepath.Dir(d.file)), dialect.Options{})
	return looksLikeDefinition(definition{c, d.file, ds})
}

// apply deploys documents, or checks all of them and tells everything that is wrong.
func (r remote) apply(docs []sourceDocument, how client.Deploy) ([]applied, error) {
	var out []applied
	var all dialect.Diagnostics
	hint := ""
	for _, d := range docs {
		how.JSON = strings.EqualFold(filepath.Ext(d.file), ".json") || d.file == stdinName && strings.HasPrefix(strings.TrimSpace(string(d.text)), "{")
		got, created, err := r.DeployDefinition(r.ctx, d.text, how)
		var problem *client.Problem
		if errors.As(err, &problem) && len(problem.Errors) > 0 && problem.Errors[0].Code != "" {
			ds := diagnosticsOf(problem, d.file)
			all = append(all, ds...)
			if r.soundHere(d, how.Dialect) {
				hint = "here it is sound, with the files that it refers to; the server has none of them: write them into the definition, or refer to them by http(s)"
			}
			if err := r.tell(d, ds); err != nil {
				return nil, err
			}
			continue
		}
		if problem != nil {
			f := problemFailure(problem)
			f.detail = d.file + ": " + f.detail
			return nil, f
		}
		if err != nil {
			return nil, err
		}
		if how.DryRun {
			if err := r.tell(d, warningsOf(got, d.file)); err != nil {
				return nil, err
			}
		}
		result := "unchanged"
		switch {
		case how.DryRun:
			result = "checked"
		case created:
			result = "created"
		}
		out = append(out, applied{got, d.file, result})
	}
	if all.HasErrors() {
		f := invalidDefinition(all)
		f.detail += "; nothing was deployed"
		f.hint = hint
		return nil, f
	}
	return out, nil
}

// soundHere reports whether a document has no errors on this machine.
func (r remote) soundHere(d sourceDocument, dialectName string) bool {
	_, found := r.registry().Compile(d.file, d.text, dialect.DirBundle(filepath.Dir(d.file)), dialect.Options{Dialect: dialectName})
	return !found.HasErrors()
}

// tell shows diagnostics at the lines of the local file.
func (r remote) tell(d sourceDocument, ds dialect.Diagnostics) error {
	if r.problems || len(ds) == 0 {
		return nil
	}
	doc, _ := dialect.Read(d.file, d.text)
	for _, one := range ds {
		about := doc
		if one.File != d.file {
			about = nil
		}
		if err := render(r.err, about, one); err != nil {
			return err
		}
	}
	return nil
}

func diagnosticsOf(p *client.Problem, file string) dialect.Diagnostics {
	var out dialect.Diagnostics
	for _, e := range p.Errors {
		d := dialect.Diagnostic{File: e.File, Line: e.Line, Column: e.Column, Severity: dialect.Severity(e.Severity), Code: e.Code, Message: e.Message, Hint: e.Hint}
		if d.File == "" {
			d.File = file
		}
		if d.Severity == "" {
			d.Severity = dialect.Error
		}
		out = append(out, d)
	}
	return out
}

func warningsOf(d client.Definition, file string) dialect.Diagnostics {
	var out dialect.Diagnostics
	for _, w := range d.Diagnostics {
		one := dialect.Diagnostic{File: w.File, Line: w.Line, Column: w.Column, Severity: dialect.Severity(w.Severity), Code: w.Code, Message: w.Message, Hint: w.Hint}
		if one.File == "" {
			one.File = file
		}
		out = append(out, one)
	}
	return out
}
