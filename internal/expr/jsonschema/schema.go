// Package jsonschema is JSON Schema as an expression language: a schema is the source, and
// evaluating it on a value returns the list of violations (semantics.md §Functions, events,
// errors: dataInputSchema).
//
// santhosh-tekuri/jsonschema validates. This package adds three guarantees: nothing is loaded
// from files or the network, the work is bounded by the budget (budget.go), and violations come
// in a fixed order with readable messages (messages.go). Schemas that refer to one another, as
// in a large document, form a [Set] (set.go).
package jsonschema

import (
	"errors"
	"fmt"
	"strings"

	lib "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/cache"
)

// Lang is the name of the language.
const Lang = "jsonschema"

// MaxSource is the limit schema-source, in bytes.
const MaxSource = 1 << 20

// Compiler compiles the JSON text of a schema. The draft is that of `$schema`, by default
// 2020-12; draft-04, 06, 07 and 2019-09 are supported.
type Compiler struct{}

var _ expr.Compiler = Compiler{}

// Compile checks a schema. Errors name the place inside the schema. The checked schema is not
// kept: it is compiled again when a value is first checked, and kept while the cache has room.
func (Compiler) Compile(src string) (expr.Program, error) {
	doc, own, err := read(src)
	if err != nil {
		return nil, err
	}
	c, err := newChecker(doc)
	if err != nil {
		return nil, describeSchemaError(err)
	}
	return &program{src: src, weight: own + c.patternBytes}, nil
}

// read converts the text of a schema for the library, and returns the size of its checker.
func read(src string) (doc any, bytes int, err error) {
	if len(src) > MaxSource {
		return nil, 0, &expr.SyntaxError{Msg: fmt.Sprintf("the schema is longer than %d bytes (limit schema-source)", MaxSource)}
	}
	v, err := expr.ParseJSON([]byte(src))
	if err != nil {
		if bad := (*expr.ParseError)(nil); errors.As(err, &bad) {
			return nil, 0, &expr.SyntaxError{Offset: bad.Offset, Msg: "the schema is not valid JSON: " + bad.Msg}
		}
		return nil, 0, err
	}
	if k := v.Kind(); k != expr.KindObject && k != expr.KindBool {
		return nil, 0, &expr.SyntaxError{Msg: fmt.Sprintf("a schema is an object, true or false, not %s", k.WithArticle()), Hint: `write {"type": "object", …}`}
	}
	size := measure(v)
	if err := size.check(); err != nil {
		return nil, 0, err
	}
	doc, bad := toGo(v, nil)
	if len(bad) > 0 {
		return nil, 0, &expr.SyntaxError{Msg: fmt.Sprintf("the schema's number at %s has too many digits", bad[0].show())}
	}
	return doc, size.bytes(), nil
}

// program is a checked schema.
type program struct {
	src    string
	weight int // of a checker with the programs of its patterns
	copies cache.Copies[checker]
}

// Weight implements [expr.Weighed].
func (p *program) Weight() int { return p.weight }

// Eval returns an array of {pointer, message}, empty if data is valid.
func (p *program) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	found, err := p.check(data, nil, b)
	return listed(found, err, b)
}

func (p *program) check(data expr.Value, open openParts, b *expr.Budget) ([]violation, error) {
	taken, _ := p.copies.Take(cache.Key{Kind: "jsonschema", Text: p.src}, func() (*checker, int) {
		doc, own, err := read(p.src)
		if err != nil {
			panic(fmt.Sprintf("jsonschema: a schema that was checked: %v", err))
		}
		c, err := newChecker(doc)
		if err != nil {
			panic(fmt.Sprintf("jsonschema: a schema that was checked: %v", err))
		}
		return c, own
	})
	found, err := taken.Value.check(data, open, b)
	taken.Release()
	return found, err
}

func listed(found []violation, err error, b *expr.Budget) (expr.Result, error) {
	if err != nil {
		return expr.Result{}, err
	}
	items := make([]expr.Value, 0, len(found))
	for _, v := range found {
		if err := b.Emit(len(v.message) + len(v.pointer)); err != nil {
			return expr.Result{}, err
		}
		items = append(items, expr.Object(
			expr.Member{Key: "message", Value: expr.String(v.message)},
			expr.Member{Key: "pointer", Value: expr.String(v.pointer)}))
	}
	return expr.Result{Value: expr.Array(items...)}, nil
}

// base is the address of a schema without an $id. Nothing is ever loaded from it.
const base = "lockstep:///schema"

// refuse is a loader that loads nothing.
type refuse struct{}

var errOutside = errors.New("only references inside the schema are followed")

func (refuse) Load(string) (any, error) { return nil, errOutside }

// newLibrary returns a compiler of the library that loads nothing.
func newLibrary() *lib.Compiler {
	c := lib.NewCompiler()
	c.DefaultDraft(lib.Draft2020)
	c.UseLoader(refuse{})
	return c
}

// describeSchemaError describes in one sentence what is wrong with a schema.
func describeSchemaError(err error) error {
	var outside *lib.LoadURLError
	var invalid *lib.SchemaValidationError
	var regex *lib.InvalidRegexError
	switch {
	case errors.As(err, &outside):
		return &expr.SyntaxError{
			Msg:  fmt.Sprintf("the schema refers to %q, which is outside of it", shortURL(outside.URL)),
			Hint: "copy the definition into $defs and refer to it with #/$defs/NAME",
		}
	case errors.As(err, &invalid):
		var cause *lib.ValidationError
		if errors.As(invalid.Err, &cause) {
			if found := violations(cause, nil); len(found) > 0 {
				return &expr.SyntaxError{Msg: fmt.Sprintf("the schema is wrong at %s: %s", showPointer(found[0].pointer), found[0].message)}
			}
		}
	case errors.As(err, &regex):
		return &expr.SyntaxError{Msg: fmt.Sprintf("the pattern %q at %s is not a regular expression: %v", regex.Regex, showPointer(fragment(regex.URL)), regex.Err)}
	}
	return &expr.SyntaxError{Msg: "the schema is wrong: " + strings.ReplaceAll(err.Error(), base, "")}
}

func shortURL(url string) string { return strings.TrimPrefix(url, "lockstep:///") }

func fragment(url string) string {
	_, frag, _ := strings.Cut(url, "#")
	return frag
}

func showPointer(p string) string {
	if p == "" {
		return "its top"
	}
	return p
}
