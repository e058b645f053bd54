package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// namedSchema is a JSON Schema for a kind of documents.
type namedSchema struct {
	names []string // the first is the one to use
	title string
	text  func() []byte
}

// schemas lists what can be printed: one per dialect, and scenario files.
func (a *app) schemas() []namedSchema {
	var all []namedSchema
	for _, f := range a.registry().FrontEnds() {
		s := namedSchema{names: []string{f.Name()}, title: f.Title(), text: f.Schema}
		if m, ok := f.(dialect.Member); ok { // the first of a family answers for it
			s.names = append(s.names, m.Family())
		}
		for _, word := range strings.Fields(f.Title()) { // people know its version
			if word[0] >= '0' && word[0] <= '9' {
				s.names = append(s.names, word)
			}
		}
		all = append(all, s)
	}
	return append(all, namedSchema{[]string{"scenario"}, "scenario files (*_test.yaml)", scenario.Schema})
}

func (a *app) schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [DIALECT]",
		Short: "Print the JSON Schema of a dialect, for editors",
		Long: "Schema prints a JSON Schema with which editors complete, explain and check documents while they are written.\n" +
			"Without an argument it lists what there is.",
		Example: `  lockstep schema sw05 > sw05.schema.json
  lockstep schema scenario > scenario.schema.json
  lockstep schema`,
		Args: atMost(1),
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, s := range a.schemas() {
			words = append(words, s.names[0]+"\t"+s.title)
		}
		if len(args) > 0 {
			words = nil
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.listSchemas()
		}
		var names []string
		for _, s := range a.schemas() {
			for _, name := range s.names {
				if strings.EqualFold(name, args[0]) {
					_, err := a.out.Write(s.text())
					return err
				}
			}
			names = append(names, s.names...)
		}
		return noSuchSchema(args[0], names)
	}
	return cmd
}

func (a *app) listSchemas() error {
	for _, s := range a.schemas() {
		if _, err := fmt.Fprintf(a.out, "%-11s %s\n", s.names[0], s.title); err != nil {
			return err
		}
	}
	return nil
}

func noSuchSchema(name string, names []string) error {
	f := &failure{
		exit: exitNotFound, code: "not-found", title: "Not found",
		detail: fmt.Sprintf("there is no schema for %q", name), hint: `"lockstep schema" lists what there is`,
	}
	if near := dialect.Suggest(strings.ToLower(name), names); near != "" {
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f
}
