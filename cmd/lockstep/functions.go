package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// functionFlags name a catalogue of functions.
type functionFlags struct {
	file      string
	allowExec bool
}

func (f *functionFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(&once{text: &f.file}, "functions", "a catalogue `file` of functions that definitions only name")
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

// onlyNamed is where the functions stand that the definition lists without an operation,
// by name. Those of another file are told at the reference to it, if they are called:
// others may need the rest. Names that are called and not listed have a warning already.
func (d definition) onlyNamed() map[string]dialect.Place {
	out := map[string]dialect.Place{}
	list := d.Document.Root.Get("functions")
	if list == nil {
		return out
	}
	for _, n := range list.Items {
		if name, ok := n.Get("name").Str(); ok && d.Operations[name] == nil {
			out[name] = n.Get("name")
		}
	}
	if d.Program == nil { // it has errors
		return out
	}
	for _, f := range d.Program.Functions {
		if f.Operation != "" { // dialects differ in what they call it
			delete(out, f.Name)
		}
	}
	if list.Is(expr.KindString) {
		for _, node := range d.Program.Nodes {
			if call, ok := node.Op.(*ir.Call); ok && d.Program.Functions[call.Function].Operation == "" {
				out[d.Program.Functions[call.Function].Name] = list
			}
		}
	}
	return out
}

// log is where the built-in function log writes.
func (a *app) log(function string, message expr.Value) {
	fmt.Fprintf(a.err, "%s: %s\n", plain(function), plain(message.String()))
}

// once is a flag that must not be given twice: the first would be forgotten silently.
type once struct {
	text  *string
	given bool
}

func (o *once) String() string {
	if o.text == nil {
		return ""
	}
	return *o.text
}

func (o *once) Set(text string) error {
	if o.given {
		return fmt.Errorf("it is given twice, %s before: put both into one file", *o.text)
	}
	*o.text, o.given = text, true
	return nil
}

func (o *once) Type() string { return "file" }
