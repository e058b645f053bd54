package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/effect/openapi"
	"github.com/lockstep-workflows/lockstep/expr"
)

// functionFlags name a catalogue of functions.
type functionFlags struct {
	file      string
	allowExec bool
}

func (f *functionFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "functions", "", "a catalogue `file` of functions that definitions only name")
	cmd.Flags().BoolVar(&f.allowExec, "allow-exec", false, "the functions of the catalogue may run commands")
}

// read reads the catalogue; it is nil where there is none, or where it has errors.
func (f *functionFlags) read(ctx context.Context, a *app, client *http.Client) (*catalogue.Catalogue, *dialect.Document, dialect.Diagnostics, error) {
	if f.file == "" {
		if f.allowExec {
			return nil, nil, nil, usagef("--allow-exec says that the catalogue may run commands, and there is none; add --functions FILE")
		}
		return nil, nil, nil, nil
	}
	text, err := readFile(ctx, f.file)
	if err != nil {
		return nil, nil, nil, err
	}
	c, doc, found := catalogue.Read(ctx, f.file, text, catalogue.Options{
		AllowExec: f.allowExec, Dir: filepath.Dir(f.file), Bundle: bundleFor(ctx, f.file, client),
		Client: client, OpenAPI: openapi.New(client), Log: a.log,
	})
	return c, doc, found, nil
}

// use reads the catalogue for a run: errors end it, warnings are told.
func (f *functionFlags) use(ctx context.Context, a *app, client *http.Client) (*catalogue.Catalogue, error) {
	c, doc, found, err := f.read(ctx, a, client)
	if err != nil {
		return nil, err
	}
	if found.HasErrors() {
		return nil, a.invalidDocument("the catalogue of functions cannot be used", doc, found)
	}
	for _, d := range found {
		if a.problems {
			break
		}
		if err := render(a.err, doc, d); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// log is where the built-in function log writes.
func (a *app) log(function string, message expr.Value) {
	fmt.Fprintf(a.err, "%s: %s\n", plain(function), plain(message.String()))
}
