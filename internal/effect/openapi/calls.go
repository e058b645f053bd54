package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// checkCalls compares the calls of a function, as they are written, with its operation.
func (c *compiler) checkCalls(f *pin.Finder, fn pin.Function, o *operation, report reporter) {
	for _, call := range fn.Calls {
		args, whole := call.Args, true
		if fn.Builtin.Kind != "" { // its arguments are {parameters, authentication, output, redirect}
			if !args.Known() {
				continue
			}
			whole = givesContent(args)
			parameters, ok := args.Get("parameters")
			if !ok || parameters.Known() && parameters.Value.IsNull() {
				parameters.Value = expr.EmptyObject
			}
			args = parameters
		}
		k := callCheck{c, f, fn, o, report}
		if args.Known() {
			k.arguments(args)
		}
		if whole {
			k.results(call.Reads)
		}
	}
}

// givesContent reports whether the result of a described call is the content of the answer.
func givesContent(args pin.Written) bool {
	output, ok := args.Get("output")
	return !ok || output.Constant() && (output.Value.IsNull() || output.Value.Str() == "content")
}

// callCheck checks one call.
type callCheck struct {
	*compiler
	f      *pin.Finder
	fn     pin.Function
	o      *operation
	report reporter // of arguments that no instance can make right
}

// reporter is Errorf or Warnf of a [dialect.Reporter].
type reporter func(at dialect.Place, code, format string, args ...any) *dialect.Diagnostic

func (k callCheck) errorf(at dialect.Place, code, format string, args ...any) *dialect.Diagnostic {
	return k.report(at, code, "function %q: "+format, append([]any{k.fn.Name}, args...)...)
}

// CheckCalls compares the calls of a function with an operation of documents that are pinned elsewhere, in a
// catalogue. headers are those that the operator gives with the call.
func CheckCalls(f *pin.Finder, fn pin.Function, documents effect.Documents, id string, headers http.Header) {
	if documents.Root == 0 {
		return
	}
	o, c, err := pinned(documents).compile(f.Ctx, documents.All[documents.Root-1].Ref, id)
	if err != nil {
		return // that was reported with the catalogue
	}
	for _, p := range o.parameters {
		if p.given(headers) {
			p.required, p.check = false, nil // whatever the argument is, it is not sent
		}
	}
	report := f.Errorf
	if f.AllowMismatch() {
		report = f.Warnf
	}
	c.checkCalls(f, fn, o, report)
}

// arguments checks what request will check when the call is made, as far as it is known.
func (k callCheck) arguments(args pin.Written) {
	if args.Value.IsNull() {
		args.Value = expr.EmptyObject
	}
	if !args.Value.IsObject() {
		k.errorf(args.Place(""), pin.CodeConstant, "the arguments must be an object, not %s", args.Value.Kind().WithArticle())
		return
	}
	args = k.named(args)
	rest := args
	for _, p := range k.o.parameters {
		rest = rest.Without(p.name)
		v, ok := args.Get(p.name)
		switch {
		case ok && !v.Known():
		case !ok || v.Value.IsNull():
			if p.required {
				k.errorf(args.Place(""), pin.CodeMissing, "the argument %q is missing (a required %s parameter of %q)", p.name, p.in, k.o.id)
			}
		default:
			k.value(v, p.check, p.name, textOnly(!p.json))
		}
	}
	if k.o.body != nil {
		k.body(rest)
	}
}

func quoted(name string) string { return fmt.Sprintf("%q", name) }

// named reports arguments that have no place in the request. What they were most likely meant to be counts as given,
// so that one mistake is reported once.
func (k callCheck) named(args pin.Written) pin.Written {
	var names []string
	for _, p := range k.o.parameters {
		names = append(names, p.name)
	}
	takes, open := slices.Clone(names), false
	if b := k.o.body; b != nil {
		rest := args
		for _, name := range names {
			rest = rest.Without(name)
		}
		_, whole, _ := b.pick(rest.Value)
		takes = append(takes, b.properties...)
		open = whole || b.open && !b.strict
	}
	if open {
		return args
	}
	for _, m := range args.Value.Members() {
		if slices.Contains(takes, m.Key) {
			continue
		}
		d := k.errorf(args.KeyPlace("/"+pin.Token(m.Key)), pin.CodeUnknown, "%q takes no argument %q", k.o.id, m.Key)
		if len(takes) > 0 {
			d.WithHint("it takes %s", few(takes))
		} else {
			d.WithHint("it takes no arguments")
		}
		d.DidYouMean(m.Key, takes)
		near := dialect.Suggest(m.Key, takes)
		if _, given := args.Value.Get(near); near == "" || given {
			args = args.Without(m.Key)
		} else {
			args = args.Instead(m.Key, near)
		}
	}
	return args
}

// body checks the arguments that no parameter takes.
func (k callCheck) body(rest pin.Written) {
	b := k.o.body
	_, whole, given := b.pick(rest.Value)
	if !given {
		if b.required {
			k.errorf(rest.Place(""), pin.CodeMissing, "the request body of %q is missing", k.o.id).
				WithHint("%s", strings.TrimPrefix(b.wants(), ": "))
		}
		return
	}
	if whole {
		rest, _ = rest.Get(rest.Value.Members()[0].Key)
		if !rest.Known() {
			return
		}
	}
	switch {
	case b.kind == bodyForm || b.kind == bodyMultipart:
		k.fields(rest)
	default:
		k.value(rest, b.check, "", textOnly(b.kind == bodyText))
	}
}

// fields checks the fields of a form.
func (k callCheck) fields(rest pin.Written) {
	for _, name := range k.o.body.properties {
		f := k.o.body.fields[name]
		v, ok := rest.Get(name)
		switch {
		case ok && !v.Known():
		case !ok || v.Value.IsNull():
			if f.required {
				k.errorf(rest.Place(""), pin.CodeMissing, "the argument %q is missing (a required form field of %q)", name, k.o.id)
			}
		default:
			k.value(v, f.check, name, asText)
		}
	}
	k.value(rest, k.o.body.check, "", asFields)
}

// value checks what is known of a value that is sent: of the argument of that name, or the body where name is empty.
func (k callCheck) value(v pin.Written, c *check, name string, how written) {
	if c == nil {
		return
	}
	found := certain(c, v.Value, v.Open)
	if len(found) > 0 && how != asJSON {
		found = retyped(c, v, found, how)
	}
	for _, bad := range found {
		subject := "the request body"
		if path := strings.TrimPrefix(name+bad.Pointer, "/"); path != "" {
			subject = "the argument " + quoted(strings.ReplaceAll(path, "/", "."))
		}
		if len(bad.Missing) == 0 {
			k.errorf(v.Place(bad.Pointer), pin.CodeConstant, "%s %s", subject, bad.Message)
		}
		for _, missing := range bad.Missing {
			k.errorf(v.Place(bad.Pointer), pin.CodeMissing, "the argument %q is missing (%s of %q requires it)", missing, subject, k.o.id)
		}
	}
}

// retyped is what is left of what was found where values are sent as text, see conform: texts are read as what they may
// mean, so what is wrong with that is told.
func retyped(c *check, v pin.Written, found []jsonschema.Violation, how written) []jsonschema.Violation {
	blamed := map[string]bool{}
	for _, one := range found {
		blamed[one.Pointer] = true
	}
	if how == asFields {
		blamed = fieldsOf(v.Value, blamed)
	}
	again := certain(c, retype(v.Value, "", blamed), v.Open)
	isText := func(pointer string) bool {
		_, part, err := pin.Point(v.Value, pointer)
		return err == nil && part.Kind() == expr.KindString
	}
	wrong := map[string]bool{}
	for _, one := range again {
		wrong[one.Pointer] = true
	}
	again = slices.DeleteFunc(again, func(one jsonschema.Violation) bool { return !isText(one.Pointer) })
	found = slices.DeleteFunc(found, func(one jsonschema.Violation) bool { return isText(one.Pointer) || !wrong[one.Pointer] })
	return append(again, found...)
}

// certain lists what is wrong with a value of which parts are open. What cannot be checked is told by the call.
func certain(c *check, v expr.Value, open []string) []jsonschema.Violation {
	budget := expr.NewBudget()
	found, err := jsonschema.Certain(c.program, v, open, &budget)
	if err != nil {
		return nil
	}
	return found
}
