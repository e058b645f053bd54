package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/effect/openapi"
	"github.com/lockstep-workflows/lockstep/scenario"
)

func (a *app) validateCommand() *cobra.Command {
	var dialectName string
	var strict, fetch bool
	var outbound outboundFlags
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
	a.dialectFlag(cmd, &dialectName)
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings count as errors")
	cmd.Flags().BoolVar(&fetch, "fetch", false, "also check OpenAPI documents that are fetched over http(s)")
	functions.add(cmd)
	outbound.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := outbound.client()
		if err != nil {
			return err
		}
		defer client.Close()
		files, found, err := findDefinitions(args)
		if err != nil {
			return err
		}
		v := validation{app: a, all: dialect.Diagnostics{}, documents: map[string]*dialect.Document{}}
		known, err := v.addFunctions(cmd.Context(), functions, client)
		if err != nil {
			return err
		}
		for _, file := range files {
			if scenario.IsFile(file) {
				if err := v.addScenarios(cmd.Context(), file); err != nil {
					return err
				}
				continue
			}
			d, err := a.compile(cmd.Context(), file, dialectName, client, known...)
			if err != nil {
				return err
			}
			if found[file] && !looksLikeDefinition(d) {
				fmt.Fprintf(a.err, "%s: passed over, it is not a definition\n", file)
				continue
			}
			d.diagnostics = append(d.diagnostics, openapi.Check(cmd.Context(), bundleFor(cmd.Context(), file, client), d.functions(), fetch)...)
			d.diagnostics.Sort()
			v.add(d)
		}
		return v.finish(output.value, strict)
	}
	return cmd
}

// validation gathers what was found.
type validation struct {
	app       *app
	all       dialect.Diagnostics
	documents map[string]*dialect.Document
	notes     []string // which dialect each file is written in
}

func (v *validation) add(d definition) {
	v.documents[d.file] = d.Document
	v.all = append(v.all, d.diagnostics...)
	if d.FrontEnd != nil {
		v.notes = append(v.notes, fmt.Sprintf("%s: %s (%s)", d.file, d.FrontEnd.Title(), d.Reason))
	}
}

// addFunctions checks a catalogue, and lists its functions.
func (v *validation) addFunctions(ctx context.Context, flags functionFlags, client *http.Client) ([]string, error) {
	c, doc, found, err := flags.read(ctx, v.app, client)
	if err != nil || doc == nil {
		return nil, err
	}
	v.documents[flags.file] = doc
	v.all = append(v.all, found...)
	v.notes = append(v.notes, flags.file+": a catalogue of functions")
	if c == nil {
		return nil, nil
	}
	return c.Names(), nil
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
