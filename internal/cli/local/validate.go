package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// ValidateCommand is `lockstep validate`.
func ValidateCommand(a *cli.App) *cobra.Command {
	var strict, fetch bool
	var functions load.Catalogue
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "Check definitions and report everything that is wrong in them",
		Long: "Validate checks definitions without running them. For a directory it checks every definition below it;\n" +
			"scenario files (*_test.yaml) are checked only if they are named. Exit code 3: there are errors.",
		Example: `  lockstep validate order.yaml
  lockstep validate --strict definitions/
  lockstep validate -o json order.yaml | jq '.[].message'
  lockstep validate -o sarif definitions/ > lockstep.sarif`,
		Args: cli.AtLeastOne("a file or a directory"),
	}
	output := cli.OutputFlag(cmd, "format", "text", "json", "sarif", "github")
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings count as errors")
	cmd.Flags().BoolVar(&fetch, "fetch", false, "fetch the documents that definitions refer to over http(s), and check them too")
	functions.Add(cmd)
	load.WithReader(a, cmd, func(r load.Reader, args []string) error {
		if err := cli.StdinOnce(args); err != nil {
			return err
		}
		v := NewValidation(a)
		r.Local = !fetch
		files, found, err := load.Find(args)
		for _, err := range cli.EachError(err) {
			v.fail(err)
		}
		known, err := v.addFunctions(r.Ctx, functions, r.Client)
		if err != nil {
			return err
		}
		var all []load.Definition
		for _, file := range files {
			var d load.Definition
			isScenario := scenario.IsFile(file)
			if isScenario {
				err = v.addScenarios(r, file)
			} else {
				d, err = r.Read(file, known.Names()...)
			}
			switch {
			case r.Ctx.Err() != nil:
				return err
			case err != nil:
				v.fail(err)
				continue
			case isScenario:
				continue
			}
			if found[file] && !d.IsDefinition() {
				fmt.Fprintf(a.Err, "%s: skipped, not a definition\n", file)
				continue
			}
			d.Diagnostics = append(d.Diagnostics, d.CheckCalls(r.Ctx, r.Client, known, fetch)...)
			d.Diagnostics = append(d.Diagnostics, known.Check(d.OnlyNamed())...)
			d.Diagnostics.Sort()
			v.add(d)
			all = append(all, d)
		}
		v.all = append(v.all, load.CheckTogether(r.Client, all)...)
		if v.nothing() {
			return cli.NotFoundf("there is no definition in %s", strings.Join(args, ", ")).
				WithHint("definitions are *.yaml, *.yml and *.json files with tasks or states; scenario files are checked only if they are named")
		}
		return v.finish(output.Value, strict)
	}, (*load.Outbound).AddMaxTimeout)
	return cmd
}

// Validation gathers what was found.
type Validation struct {
	app       *cli.App
	all       dialect.Diagnostics
	Documents map[string]*dialect.Document
	notes     []string // which dialect each file is written in
	failed    int      // the exit code of the first file that could not be read
}

// fail reports that a file could not be read. The other files are still checked.
func (v *Validation) fail(err error) {
	code := v.app.Exit(err)
	if v.failed == cli.ExitOK {
		v.failed = code
	}
}

// nothing reports whether there is nothing to check.
func (v *Validation) nothing() bool { return v.failed == cli.ExitOK && len(v.Documents) == 0 }

// NewValidation starts one.
func NewValidation(a *cli.App) *Validation {
	return &Validation{app: a, all: dialect.Diagnostics{}, Documents: map[string]*dialect.Document{}}
}

func (v *Validation) add(d load.Definition) {
	v.Documents[d.File] = d.Document
	v.all = append(v.all, d.Diagnostics...)
	if d.FrontEnd != nil {
		v.notes = append(v.notes, fmt.Sprintf("%s: read as %s because of %s", d.File, d.FrontEnd.Title(), d.Reason))
	}
}

// addFunctions checks a catalogue; nil if there is none, or if it has errors.
func (v *Validation) addFunctions(ctx context.Context, flags load.Catalogue, client *http.Client) (*catalogue.Catalogue, error) {
	c, doc, found, err := flags.Read(ctx, v.app, client, nil)
	if err != nil || doc == nil {
		return nil, err
	}
	v.Documents[flags.File] = doc
	v.all = append(v.all, found...)
	v.notes = append(v.notes, flags.File+": a catalogue of functions")
	return c, nil
}

// addScenarios checks a scenario file that was named, with the definitions that it names.
func (v *Validation) addScenarios(r load.Reader, file string) error {
	text, err := cli.ReadFile(r.Ctx, file)
	if err != nil {
		return err
	}
	f, err := scenario.Parse(file, text)
	v.Documents[file] = f.Document
	if found, ok := errors.AsType[dialect.Diagnostics](err); ok {
		v.all = append(v.all, found...)
	} else {
		v.all = append(v.all, scenario.Check(r.Ctx, f, scenarioOptions(r, !r.Local))...)
	}
	v.notes = append(v.notes, file+": a scenario file")
	return nil
}

func (v *Validation) finish(format string, strict bool) error {
	failures, warnings := v.all.Counts()
	if v.failed != cli.ExitOK && len(v.Documents) == 0 {
		return cli.Shown(v.failed)
	}
	if err := v.write(format); err != nil {
		return err
	}
	if failures > 0 || strict && warnings > 0 {
		return cli.Shown(cli.ExitInvalid)
	}
	if v.failed != cli.ExitOK {
		return cli.Shown(v.failed)
	}
	return nil
}

// write writes what was found. Formats for programs have nothing else on stderr.
func (v *Validation) write(format string) error {
	switch format {
	case "json":
		return cli.WriteJSON(v.app.Out, v.all)
	case "sarif":
		return writeSARIF(v.app.Out, v.all, v.failed == cli.ExitOK)
	case "github":
		return writeGitHub(v.app.Out, v.all)
	}
	for _, d := range v.all {
		if err := cli.Render(v.app.Out, v.Document(d.File), d); err != nil {
			return err
		}
	}
	for _, note := range v.notes {
		fmt.Fprintln(v.app.Err, note)
	}
	failures, warnings := v.all.Counts()
	fmt.Fprintln(v.app.Err, cli.Tally(failures, warnings))
	return nil
}

// Document finds the document that a diagnostic refers to, which may be a file that a definition refers to.
func (v *Validation) Document(file string) *dialect.Document {
	if doc, ok := v.Documents[file]; ok {
		return doc
	}
	var doc *dialect.Document
	if text, err := os.ReadFile(file); err == nil && !strings.Contains(file, "://") {
		doc, _ = dialect.Read(file, text)
	}
	v.Documents[file] = doc
	return doc
}
