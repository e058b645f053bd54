package def

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func deploy(a *cli.App, server *remote.Flags) *cobra.Command {
	var how client.Deploy
	var diff bool
	cmd := &cobra.Command{
		Use: "apply FILE…", Short: "Deploy definitions with the files that they refer to", Args: cli.AtLeastOne("a file or a directory"),
		Long: "Apply deploys definitions as one bundle, all or nothing; for a directory every definition below it. What they refer to\n" +
			"travels with them: OpenAPI, AsyncAPI and .proto documents, schemas, scripts and other files in the definition's folder or\n" +
			"below it, and sub-workflows in the same folder. A file that is missing is an error, and so is a document on the network\n" +
			"that the server cannot fetch. A deployed definition becomes the current version; applying an older bundle again makes its\n" +
			"versions current again. With --diff, exit code 1 means that something would change.",
		Example: `  lockstep def apply order.yaml
  lockstep def apply definitions/
  lockstep def apply --diff definitions/
  generate | lockstep def apply -`,
	}
	output := cli.ListFlag(cmd)
	cmd.Flags().BoolVar(&how.DryRun, "dry-run", false, "only check")
	cmd.Flags().BoolVar(&diff, "diff", false, "only compare with what is deployed: print one diff of all definitions and files")
	load.UnreachableFlag(cmd, &how.AllowUnreachable)
	cmd.Flags().BoolVar(&how.AllowMismatch, "allow-mismatch", false, "let calls pass that do not fit the server's catalogue of functions; they fail when they are made")
	a.DialectFlag(cmd, &how.Dialect)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		how.DryRun = how.DryRun || diff
		b, err := gather(r, args, how.Dialect)
		if err != nil {
			return err
		}
		got, err := r.DeployBundle(r.Ctx, b.files(), how)
		if err != nil {
			return b.refused(r, err)
		}
		if err := b.reportWarnings(r, got); err != nil {
			return err
		}
		if diff {
			return writeDiff(a, got.Diff)
		}
		var results []applied
		for _, d := range got.Definitions {
			results = append(results, applied{d.Definition, b.local(d.Definition.Path), d.Change})
		}
		if how.DryRun {
			fmt.Fprintln(a.Err, "dry run: nothing was deployed")
		}
		return cli.Listing[applied]{
			Columns: []string{"DEFINITION", "VERSION", "RESULT", "FILE"},
			Row:     func(d applied) []string { return []string{d.ID, d.Version, string(d.Result), d.File} },
			Name:    func(d applied) string { return cli.JoinVersion(d.ID, d.Version) },
		}.Write(a, output, results)
	})
	return cmd
}

// writeDiff prints a comparison; exit code 1 means that there is one.
func writeDiff(a *cli.App, text string) error {
	if text == "" {
		return nil
	}
	if cli.IsTerminal(a.Out) { // in a file it is a patch, byte by byte
		text = plainLines(text)
	}
	if _, err := fmt.Fprint(a.Out, text); err != nil {
		return err
	}
	return cli.Shown(cli.ExitError)
}

// plainLines is text from elsewhere for a terminal, which must not obey it. Lines and tabs stay.
func plainLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		for i, cell := range strings.Split(strings.TrimSuffix(line, "\r"), "\t") {
			if i > 0 {
				out.WriteByte('\t')
			}
			out.WriteString(cli.Plain(cell))
		}
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// applied is a definition that was deployed, or checked.
type applied struct {
	api.Definition
	File   string     `json:"file"`
	Result api.Change `json:"result"`
}

// refused is the failure of a bundle, with the errors at the lines of the local files.
func (b *bundle) refused(r remote.Server, err error) error {
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok {
		return err
	}
	for i := range problem.Errors {
		problem.Errors[i].File = b.local(problem.Errors[i].File)
	}
	if len(problem.Errors) == 0 || problem.Errors[0].Code == "" {
		f := remote.ProblemFailure(problem)
		if len(problem.Errors) == 1 && problem.Errors[0].File != "" {
			f.Detail = problem.Errors[0].File + ": " + f.Detail
		}
		return f
	}
	found := diagnosticsOf(problem)
	if err := b.report(r, found); err != nil {
		return err
	}
	f := cli.InvalidDefinition(found)
	f.Detail += "; nothing was deployed"
	return f
}

func (b *bundle) reportWarnings(r remote.Server, got api.Bundle) error {
	for _, d := range got.Definitions {
		found := warningsOf(d.Definition, d.Definition.Path)
		for i := range found {
			found[i].File = b.local(found[i].File)
		}
		if err := b.report(r, found); err != nil {
			return err
		}
	}
	return nil
}

// report shows diagnostics at the lines of the local files.
func (b *bundle) report(r remote.Server, found dialect.Diagnostics) error {
	if r.Problems {
		return nil
	}
	for _, d := range found {
		var doc *dialect.Document
		if i := slices.IndexFunc(b.all, func(f file) bool { return f.local == d.File }); i >= 0 {
			doc, _ = dialect.Read(d.File, b.all[i].text)
		}
		if err := cli.Render(r.Err, doc, d); err != nil {
			return err
		}
	}
	return nil
}

func diagnosticsOf(p *client.Problem) dialect.Diagnostics {
	var out dialect.Diagnostics
	for _, e := range p.Errors {
		out = append(out, dialect.Diagnostic{
			File: e.File, Line: e.Line, Column: e.Column,
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
