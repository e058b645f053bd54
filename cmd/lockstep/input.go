package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// readInput reads the value of --input: JSON, @FILE (JSON or YAML), or - for stdin.
func (a *app) readInput(ctx context.Context, arg string) (expr.Value, error) {
	name, text := "--input", []byte(arg)
	var err error
	switch {
	case arg == "":
		return expr.EmptyObject, nil
	case arg == "-":
		name = "stdin"
		if text, err = dialect.ReadAll(ctx, a.in); err != nil {
			return expr.Null, err
		}
	case strings.HasPrefix(arg, "@"):
		name = arg[1:]
		if text, err = readFile(ctx, name); err != nil {
			return expr.Null, err
		}
	default:
		name += ".json" // what stands on the command line is JSON, whatever it begins with
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return expr.EmptyObject, nil
	}
	doc, found := dialect.Read(name, text)
	if found.HasErrors() {
		return expr.Null, a.invalidDocument("the input cannot be read", doc, renamed(found, "--input.json", "--input"))
	}
	v := doc.Root.Value()
	if !v.IsObject() {
		f := invalidf("the workflow input must be a JSON object, not %s", v.Kind())
		f.hint = `write for example --input '{"name":"Ada"}'`
		return expr.Null, f
	}
	return v, nil
}

func renamed(ds dialect.Diagnostics, from, to string) dialect.Diagnostics {
	for i := range ds {
		if ds[i].File == from {
			ds[i].File = to
		}
	}
	return ds
}

// invalidDocument tells what is wrong in a document other than a definition.
func (a *app) invalidDocument(what string, doc *dialect.Document, ds dialect.Diagnostics) error {
	f := invalidDefinition(ds)
	f.code, f.title, f.detail = "invalid-input", "Invalid input", what
	if a.problems {
		return f
	}
	for _, d := range ds {
		if err := render(a.err, doc, d); err != nil {
			return err
		}
	}
	return f
}
