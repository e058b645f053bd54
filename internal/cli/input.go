package cli

import (
	"bytes"
	"context"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// ReadInput reads the value of --input: JSON, @FILE (JSON or YAML), or - for stdin.
func (a *App) ReadInput(ctx context.Context, arg string) (expr.Value, error) {
	v, given, err := a.ReadData(ctx, "--input", arg)
	switch {
	case err != nil:
		return expr.Null, err
	case !given:
		return expr.EmptyObject, nil
	case !v.IsObject():
		return expr.Null, Invalidf("the workflow input must be a JSON object, not %s", v.Kind().WithArticle()).
			WithHint(`write for example --input '{"name":"Ada"}'`)
	}
	return v, nil
}

// ReadData reads the value of a flag that takes data as --input does, and reports whether there is any.
func (a *App) ReadData(ctx context.Context, flag, arg string) (v expr.Value, given bool, err error) {
	name, text := flag+".json", []byte(arg) // text on the command line is JSON, whatever it begins with
	if file, ok := strings.CutPrefix(arg, "@"); ok || arg == "-" {
		text, name, err = a.ReadText(ctx, file)
	}
	if err != nil {
		return expr.Null, false, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return expr.Null, false, nil
	}
	doc, found := dialect.Read(name, text)
	if found.HasErrors() {
		what := "the value of " + flag + " cannot be read"
		if flag == "--input" {
			what = "the input cannot be read"
		}
		return expr.Null, false, a.InvalidDocument(what, doc, Renamed(found, flag+".json", flag))
	}
	return doc.Root.Value(), true, nil
}

// Renamed gives diagnostics of one file the name of another.
func Renamed(ds dialect.Diagnostics, from, to string) dialect.Diagnostics {
	for i := range ds {
		if ds[i].File == from {
			ds[i].File = to
		}
	}
	return ds
}

// InvalidDocument reports the errors in a document other than a definition.
func (a *App) InvalidDocument(what string, doc *dialect.Document, ds dialect.Diagnostics) error {
	f := InvalidDefinition(ds)
	f.Code, f.Title, f.Detail = "invalid-input", "Invalid input", what
	if a.Problems {
		return f
	}
	for _, d := range ds {
		if err := Render(a.Err, doc, d); err != nil {
			return err
		}
	}
	return f
}
