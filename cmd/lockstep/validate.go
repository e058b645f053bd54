package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

func (a *app) validateCommand() *cobra.Command {
	var strict, fetch bool
	var functions functionFlags
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "Check definitions and tell everything that is wrong in them",
		Long: "Validate checks definitions without running them. Of a directory it checks every definition below it;\n" +
			"scenario files (*_test.yaml) are checked only where they are named. Exit code 3 says that there are errors.",
		Example: `  lockstep validate order.yaml
  lockstep validate --strict definitions/
  lockstep validate -o json order.yaml | jq '.[].message'`,
		Args: atLeastOne("a file or a directory"),
	}
	output := outputFlag(cmd, "format", "text", "json")
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings count as errors")
	cmd.Flags().BoolVar(&fetch, "fetch", false, "also check OpenAPI documents that are fetched over http(s)")
	functions.add(cmd)
	a.readsDefinitions(cmd, func(r definitionReader, args []string) error {
		if err := stdinOnce(args); err != nil {
			return err
		}
		v := newValidation(a)
		files, found, err := findDefinitions(args)
		for _, err := range eachError(err) {
			v.fail(err)
		}
		known, err := v.addFunctions(r.ctx, functions, r.client)
		if err != nil {
			return err
		}
		var compiled []dialect.Compiled
		for _, file := range files {
			if scenario.IsFile(file) {
				err = v.addScenarios(r.ctx, file)
			}
			var d definition
			if !scenario.IsFile(file) {
				d, err = r.read(file, known.Names()...)
			}
			switch {
			case r.ctx.Err() != nil:
				return err
			case err != nil:
				v.fail(err)
				continue
			case scenario.IsFile(file):
				continue
			}
			if found[file] && !looksLikeDefinition(d) {
				fmt.Fprintf(a.err, "%s: passed over, it is not a definition\n", file)
				continue
			}
			d.diagnostics = append(d.diagnostics, openapi.Check(r.ctx, bundleFor(r.ctx, d.file, r.client), d.functions(), fetch)...)
			d.diagnostics = append(d.diagnostics, known.Check(d.onlyNamed())...)
			d.diagnostics.Sort()
			v.add(d)
			compiled = append(compiled, d.Compiled)
		}
		v.all = append(v.all, dialect.CheckJobs(compiled)...)
		if v.nothing() {
			f := usagef("there is no definition in %s", strings.Join(args, ", "))
			f.hint = "definitions are *.yaml, *.yml and *.json files with states; scenario files are checked where they are named"
			return f
		}
		return v.finish(output.value, strict)
	})
	return cmd
}

// validation gathers what was found.
type validation struct {
	app       *app
	all       dialect.Diagnostics
	documents map[string]*dialect.Document
	notes     []string // which dialect each file is written in
	failed    int      // the exit code of the first file that could not be read
}

// fail tells that something could not be read. The other files are checked all the same.
func (v *validation) fail(err error) {
	code := v.app.exit(err)
	if v.failed == exitOK {
		v.failed = code
	}
}

// nothing reports whether there was nothing to check.
func (v *validation) nothing() bool { return v.failed == exitOK && len(v.documents) == 0 }

func newValidation(a *app) *validation {
	return &validation{app: a, all: dialect.Diagnostics{}, documents: map[string]*dialect.Document{}}
}

func (v *validation) add(d definition) {
	v.documents[d.file] = d.Document
	v.all = append(v.all, d.diagnostics...)
	if d.FrontEnd != nil {
		v.notes = append(v.notes, fmt.Sprintf("%s: %s (%s)", d.file, d.FrontEnd.Title(), d.Reason))
	}
}

// addFunctions checks a catalogue; it is nil where there is none, or where it has errors.
func (v *validation) addFunctions(ctx context.Context, flags functionFlags, client *http.Client) (*catalogue.Catalogue, error) {
	c, doc, found, err := flags.read(ctx, v.app, client)
	if err != nil || doc == nil {
		return nil, err
	}
	v.documents[flags.file] = doc
	v.all = append(v.all, found...)
	v.notes = append(v.notes, flags.file+": a catalogue of functions")
	return c, nil
}

// addScenarios checks a scenario file that was named.
func (v *validation) addScenarios(ctx context.Context, file string) error {
	text, err := readFile(ctx, file)
	if err != nil {
		return err
	}
	f, err := scenario.Parse(file, text)
	v.documents[file] = f.Document
	var found dialect.Diagnostics
	if errors.As(err, &found) {
		v.all = append(v.all, found...)
	}
	v.notes = append(v.notes, file+": a scenario file")
	return nil
}

func (v *validation) finish(format string, strict bool) error {
	failures, warnings := v.all.Counts()
	if v.failed != exitOK && len(v.documents) == 0 {
		return shown(v.failed)
	}
	if format == "json" {
		if err := writeJSON(v.app.out, v.all); err != nil {
			return err
		}
	} else {
		for _, d := range v.all {
			if err := render(v.app.out, v.document(d.File), d); err != nil {
				return err
			}
		}
		for _, note := range v.notes {
			fmt.Fprintln(v.app.err, note)
		}
		fmt.Fprintln(v.app.err, tally(failures, warnings))
	}
	if failures > 0 || strict && warnings > 0 {
		return shown(exitInvalid)
	}
	if v.failed != exitOK {
		return shown(v.failed)
	}
	return nil
}

// document finds the text a diagnostic points into, also that of a file which a
// definition refers to.
func (v *validation) document(file string) *dialect.Document {
	if doc, ok := v.documents[file]; ok {
		return doc
	}
	var doc *dialect.Document
	if text, err := os.ReadFile(file); err == nil && !strings.Contains(file, "://") {
		doc, _ = dialect.Read(file, text)
	}
	v.documents[file] = doc
	return doc
}
