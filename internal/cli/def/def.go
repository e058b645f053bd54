package def

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
)

// Command is `lockstep def`.
func Command(a *cli.App) *cobra.Command {
	var server remote.Flags
	cmd := a.Group("def", "Deploy and read the definitions of a server", `  lockstep def apply order.yaml
  lockstep def ls
  lockstep def get order@1.3 --source
  lockstep def diff order 1.2 1.3`)
	server.Add(cmd)
	cmd.AddCommand(deploy(a, &server), list(a, &server), get(a, &server), diff(a, &server), versions(a, &server), remove(a, &server))
	return cmd
}

func deploy(a *cli.App, server *remote.Flags) *cobra.Command {
	var dryRun bool
	var dialectName string
	cmd := &cobra.Command{
		Use: "apply FILE…", Short: "Deploy definitions", Args: cli.AtLeastOne("a file or a directory"),
		Long: "Apply deploys definitions; for a directory every definition below it. All of them are checked first: if one has\n" +
			"errors, none is deployed. A deployed definition becomes the current version. The server gets only the document, not\n" +
			"local files that it refers to; references by http(s) work.",
		Example: `  lockstep def apply order.yaml ship.yaml
  lockstep def apply --dry-run definitions/
  generate | lockstep def apply -`,
	}
	output := cli.ListFlag(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only check")
	a.DialectFlag(cmd, &dialectName)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		docs, err := readDocuments(r, args)
		if err != nil {
			return err
		}
		results, err := apply(r, docs, client.Deploy{Dialect: dialectName, DryRun: true})
		if err == nil && !dryRun {
			results, err = apply(r, docs, client.Deploy{Dialect: dialectName})
		}
		if err != nil {
			return err
		}
		return cli.Listing[applied]{
			Columns: []string{"DEFINITION", "VERSION", "RESULT", "FILE"},
			Row:     func(d applied) []string { return []string{d.ID, d.Version, d.Result, d.File} },
			Name:    func(d applied) string { return cli.JoinVersion(d.ID, d.Version) },
		}.Write(a, output.Value, results)
	})
	return cmd
}

// applied is a definition that was deployed, or checked.
type applied struct {
	api.Definition
	File   string `json:"file"`
	Result string `json:"result"` // created, unchanged or checked
}

// sourceDocument is a document to deploy.
type sourceDocument struct {
	file string
	text []byte
}

// readDocuments reads the definitions among paths; other documents of directories are skipped.
func readDocuments(r remote.Server, paths []string) ([]sourceDocument, error) {
	files, found, err := load.Find(paths)
	if err != nil {
		return nil, err
	}
	var out []sourceDocument
	for _, file := range files {
		text, name, err := r.ReadText(r.Ctx, file)
		if err != nil {
			return nil, err
		}
		d := sourceDocument{name, text}
		if found[file] && !isDefinition(r, d) {
			fmt.Fprintf(r.Err, "%s: skipped, not a definition\n", file)
			continue
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		return nil, cli.NotFoundf("there is no definition in %s", strings.Join(paths, ", "))
	}
	return out, nil
}

func isDefinition(r remote.Server, d sourceDocument) bool {
	c, ds := dialects.All().Compile(d.file, d.text, dialect.DirBundle(filepath.Dir(d.file)), dialect.Options{})
	return load.IsDefinition(load.Definition{Compiled: c, File: d.file, Diagnostics: ds})
}

// apply deploys documents, or checks all of them and reports all errors.
func apply(r remote.Server, docs []sourceDocument, how client.Deploy) ([]applied, error) {
	var out []applied
	var all dialect.Diagnostics
	hint := ""
	for _, d := range docs {
		how.JSON = strings.EqualFold(filepath.Ext(d.file), ".json") ||
			d.file == cli.StdinName && strings.HasPrefix(strings.TrimSpace(string(d.text)), "{")
		got, created, err := r.DeployDefinition(r.Ctx, d.text, how)
		var problem *client.Problem
		if errors.As(err, &problem) && len(problem.Errors) > 0 && problem.Errors[0].Code != "" {
			ds := diagnosticsOf(problem, d.file)
			all = append(all, ds...)
			if needsFiles(d, how.Dialect) {
				hint = "it is valid here, with the files that it refers to, but the server does not have these files: " +
					"include them in the definition, or refer to them by http(s)"
			}
			if err := report(r, d, ds); err != nil {
				return nil, err
			}
			continue
		}
		if problem != nil {
			f := remote.ProblemFailure(problem)
			f.Detail = d.file + ": " + f.Detail
			return nil, f
		}
		if err != nil {
			return nil, err
		}
		if how.DryRun {
			if err := report(r, d, warningsOf(got, d.file)); err != nil {
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
		f := cli.InvalidDefinition(all)
		f.Detail += "; nothing was deployed"
		f.Hint = hint
		return nil, f
	}
	return out, nil
}

// needsFiles reports whether a document has no errors on this machine, but only with the files that it refers to.
func needsFiles(d sourceDocument, dialectName string) bool {
	valid := func(files dialect.Bundle) bool {
		_, found := dialects.All().Compile(d.file, d.text, files, dialect.Options{Dialect: dialectName})
		return !found.HasErrors()
	}
	return valid(dialect.DirBundle(filepath.Dir(d.file))) && !valid(dialect.NoBundle)
}

// report shows diagnostics at the lines of the local file.
func report(r remote.Server, d sourceDocument, ds dialect.Diagnostics) error {
	if r.Problems || len(ds) == 0 {
		return nil
	}
	doc, _ := dialect.Read(d.file, d.text)
	for _, one := range ds {
		about := doc
		if one.File != d.file {
			about = nil
		}
		if err := cli.Render(r.Err, about, one); err != nil {
			return err
		}
	}
	return nil
}

func diagnosticsOf(p *client.Problem, file string) dialect.Diagnostics {
	var out dialect.Diagnostics
	for _, e := range p.Errors {
		out = append(out, dialect.Diagnostic{
			File: cmp.Or(e.File, file), Line: e.Line, Column: e.Column,
			Severity: cmp.Or(dialect.Severity(e.Severity), dialect.Error), Code: e.Code, Message: e.Message, Hint: e.Hint,
		})
	}
	return out
}

func warningsOf(d api.Definition, file string) dialect.Diagnostics {
	var out dialect.Diagnostics
	for _, w := range d.Diagnostics {
		out = append(out, dialect.Diagnostic{
			File: cmp.Or(w.File, file), Line: w.Line, Column: w.Column,
			Severity: dialect.Severity(w.Severity), Code: w.Code, Message: w.Message, Hint: w.Hint,
		})
	}
	return out
}
