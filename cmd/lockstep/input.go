package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// readInput reads the value of --input: JSON, @FILE (JSON or YAML), or - for stdin.
func (a *app) readInput(ctx context.Context, arg string) (expr.Value, error) {
	v, given, err := a.readData(ctx, "--input", arg)
	switch {
	case err != nil:
		return expr.Null, err
	case !given:
		return expr.EmptyObject, nil
	case !v.IsObject():
		f := invalidf("the workflow input must be a JSON object, not %s", v.Kind())
		f.hint = `write for example --input '{"name":"Ada"}'`
		return expr.Null, f
	}
	return v, nil
}

// readData reads the value of a flag that takes data as --input does, and whether there
// is any.
func (a *app) readData(ctx context.Context, flag, arg string) (v expr.Value, given bool, err error) {
	name, text := flag, []byte(arg)
	switch {
	case arg == "-":
		name = "stdin"
		if text, err = dialect.ReadAll(ctx, a.in); err != nil {
			return expr.Null, false, err
		}
	case strings.HasPrefix(arg, "@"):
		name = arg[1:]
		if text, err = readFile(ctx, name); err != nil {
			return expr.Null, false, err
		}
	default:
		name += ".json" // what stands on the command line is JSON, whatever it begins with
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
		return expr.Null, false, a.invalidDocument(what, doc, renamed(found, flag+".json", flag))
	}
	return doc.Root.Value(), true, nil
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

// refusedInput explains a workflow input that is not acceptable: where the schema is
// asked for, and what stands in the input.
func (s *session) refusedInput(e *engine.InputError) error {
	f := invalidf("%v", e)
	var at problemError
	if e.Pos != (ir.Pos{}) {
		for _, d := range s.definitions {
			if d.Program.ID == e.Definition {
				at.File, at.Line, at.Column = d.file, e.Pos.Line, e.Pos.Column
				f.more = append(f.more, fmt.Sprintf("the schema is the dataInputSchema at %s:%d:%d", d.file, e.Pos.Line, e.Pos.Column))
			}
		}
		f.hint = "change the input, which --input gives, or the schema"
	}
	if e.Input.IsObject() && e.Input.Len() == 0 && s.flags.input == "" {
		f.hint = `give the workflow its input, for example --input '{"name":"Ada"}' or --input @FILE`
	}
	const most = 5
	told := map[string]bool{}
	for i, v := range e.Violations {
		one := at
		one.Pointer, one.Message = v.Pointer, v.Message
		value, found := pointed(e.Input, v.Pointer)
		if found {
			one.Value, one.Cut = core.Shorten(value)
		}
		f.errors = append(f.errors, one)
		switch {
		case !found || told[v.Pointer] || i >= most:
		case v.Pointer == "":
			f.more = append(f.more, "the input was "+shownValue(one.Value, one.Cut))
		default:
			f.more = append(f.more, fmt.Sprintf("at %s the input has %s", v.Pointer, shownValue(one.Value, one.Cut)))
		}
		told[v.Pointer] = true
	}
	return f
}

// pointed is what a JSON pointer (RFC 6901) leads to.
func pointed(v expr.Value, pointer string) (expr.Value, bool) {
	if pointer == "" {
		return v, true
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if v.IsArray() {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= v.Len() {
				return expr.Null, false
			}
			v = v.Items()[i]
			continue
		}
		next, ok := v.Get(unescape.Replace(step))
		if !ok {
			return expr.Null, false
		}
		v = next
	}
	return v, true
}
