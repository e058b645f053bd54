package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	lib "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/regex"
)

// checker is one compiled copy of a schema and the budget of the evaluation that
// uses it now.
//
// The library takes no budget and cannot be stopped, and a small schema can ask
// for exponential work (two references to a definition that holds two references
// …). It does let a vocabulary see every schema while it is compiled. This one
// hooks itself into the format of each, which the library looks at whenever a
// value meets a schema and before anything below, and pays there. When the budget
// is used up the hook panics, and check catches that.
type checker struct {
	library *lib.Compiler
	schema  *lib.Schema
	budget  *expr.Budget

	patterns     map[string]*regex.Pattern // of all its schemas
	patternBytes int                       // size of their programs
	setBytes     int                       // size of the schemas that were compiled for the set

	set   *Set                   // nil: the schema stands alone
	ready map[string]*lib.Schema // the compiled schemas of the set
}

// exhausted carries a *expr.LimitError out of the library.
type exhausted struct{ err error }

func newChecker(doc any) (*checker, error) {
	c := &checker{}
	c.open()
	if err := c.library.AddResource(base, doc); err != nil {
		return nil, err
	}
	schema, err := c.library.Compile(base)
	if err != nil {
		return nil, err
	}
	c.schema = schema
	return c, nil
}

func (c *checker) open() {
	c.patterns = map[string]*regex.Pattern{}
	c.library = newLibrary()
	c.library.RegisterVocabulary(&lib.Vocabulary{URL: "lockstep:///vocabulary", Compile: c.hook})
	c.library.AssertVocabs()
	c.library.UseRegexpEngine(c.regexp)
}

// check validates data.
func (c *checker) check(data expr.Value, open openParts, b *expr.Budget) (found []violation, err error) {
	// The library iterates over maps and stops early where only the verdict counts (not, if), so
	// its steps may differ from run to run. They are limited by what is left of the budget but
	// not taken from it, because an evaluation must always cost the same. Only its work is
	// reported, rounded so that it hardly differs.
	work := *b
	c.budget = &work
	began := 0
	defer func() {
		c.budget = nil
		b.Work(stepWork * roughly(began-max(0, work.Steps)))
		switch r := recover().(type) {
		case nil:
		case exhausted:
			b.Steps = min(b.Steps, work.Steps)
			found, err = nil, r.err
		default:
			panic(r)
		}
	}()
	before := b.Steps
	doc, bad := toGo(data, b)
	b.Work(convertSteps * (before - b.Steps))
	work = *b
	began = work.Steps
	if len(bad) > 0 {
		for _, at := range bad {
			found = append(found, violation{pointer: at.pointer(), message: fmt.Sprintf("the number has more than %d digits and cannot be checked", maxDigits)})
		}
		return found, nil
	}
	failed := (*lib.ValidationError)(nil)
	if errors.As(c.schema.Validate(doc), &failed) {
		n := leaves(failed, maxViolations)
		if n > maxViolations {
			return nil, &expr.LimitError{Limit: "schema-violations", Max: maxViolations}
		}
		b.Work(violationSteps * n)
		return violations(failed, open), nil
	}
	return nil, nil
}

const (
	// stepWork is how many steps of other languages take as long as one of the library's,
	// which allocates for everything it does.
	stepWork = 10
	// convertSteps is what converting one value costs, beyond its step.
	convertSteps = 4
)

// roughly rounds up to a power of two.
func roughly(n int) int {
	r := 16
	for r < n {
		r *= 2
	}
	return min(r, expr.MaxSteps)
}

// pay spends steps; without a budget the library is checking the schema itself.
func (c *checker) pay(n int) {
	if c.budget == nil {
		return
	}
	if err := c.budget.Step(n); err != nil {
		panic(exhausted{err})
	}
}

// hook is called for every schema that is compiled.
func (c *checker) hook(ctx *lib.CompilerContext, source map[string]any) (lib.SchemaExt, error) {
	s := ctx.Enqueue(nil) // the schema itself
	format := s.Format
	name := ""
	if format != nil {
		name = format.Name
	}
	types := s.Types
	s.Types = nil // the library would check them before the format
	other, refers := "", false
	if c.set != nil {
		other, refers = source[Ref].(string)
	}
	s.Format = &lib.Format{Name: name, Validate: func(v any) error {
		c.pay(c.cost(s, v))
		if types != nil && !types.IsEmpty() && !isOf(*types, v) {
			return wrongType(typeMessage(types.ToStrings(), typeOf(v)))
		}
		if refers && s.Ref == nil {
			s.Ref = c.named(other) // the library follows it next
		}
		if format == nil {
			return nil
		}
		return format.Validate(v)
	}}
	// Enum, const and propertyNames are checked here: the library checks the first two before the
	// format, and reports wrong positions for the third.
	e := &extra{c: c, names: s.PropertyNames}
	if s.Enum != nil {
		e.listed = s.Enum.Values
	}
	if s.Const != nil {
		e.listed, e.constant = []any{*s.Const}, true
	}
	s.Enum = nil
	s.Const = nil
	s.PropertyNames = nil
	if e.listed == nil && e.names == nil {
		return nil, nil
	}
	return e, nil
}

// wrongType says that a value is not of a type that the schema allows.
type wrongType string

func (e wrongType) Error() string { return string(e) }

// isOf reports whether a value is of one of the types.
func isOf(types lib.Types, v any) bool {
	var actual lib.Types
	actual.Add(typeOf(v))
	if n, ok := v.(json.Number); ok && isWhole(string(n)) {
		actual.Add("integer")
	}
	return types&actual != 0
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func isWhole(number string) bool {
	if !strings.ContainsAny(number, ".eE") {
		return true
	}
	r, ok := new(big.Rat).SetString(number)
	return ok && r.IsInt()
}

// visit is the cost of checking one value against one schema: the library allocates each time.
const visit = 2

// cost is what checking v against the schema costs, without the values inside v.
func (c *checker) cost(s *lib.Schema, v any) int {
	switch v := v.(type) {
	case string:
		return visit + len(v)/128
	case map[string]any:
		return visit + len(v) + len(s.Required) + len(s.Dependencies) + len(s.DependentRequired) + len(s.DependentSchemas)
	case []any:
		n := visit + len(v)
		if s.UniqueItems { // the library hashes items, and compares a few with each other
			n += c.size(v) * min(len(v), 20)
		}
		return n
	case json.Number:
		return visit + len(v)/16
	}
	return visit
}

// size counts the values in v, and pays for counting.
func (c *checker) size(v any) int {
	c.pay(1)
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v) / 256
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n += c.size(v[k])
		}
	case []any:
		for _, e := range v {
			n += c.size(e)
		}
	}
	return n
}

// extra is the part of a schema that this package checks itself.
type extra struct {
	c        *checker
	listed   []any // enum, or const
	constant bool
	names    *lib.Schema
}

// Validate is called by the library.
func (e *extra) Validate(ctx *lib.ValidatorContext, v any) {
	if e.listed != nil && !slices.ContainsFunc(e.listed, func(want any) bool { return e.c.equal(want, v) }) {
		ctx.AddError(notListed(e.listed))
	}
	obj, ok := v.(map[string]any)
	if !ok || e.names == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		failed := (*lib.ValidationError)(nil)
		e.c.pay(2)
		if errors.As(e.names.Validate(name), &failed) {
			e.c.pay(10)
			ctx.AddError(problem(fmt.Sprintf("the name %s is not allowed: %s", quote(name), joined(violations(failed, nil)))))
		}
	}
}

// equal compares two values of the library's kind.
func (c *checker) equal(a, b any) bool {
	c.pay(1)
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if w, ok := y[k]; !ok || !c.equal(x[k], w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, c.equal)
	case json.Number:
		y, ok := b.(json.Number)
		if !ok {
			return false
		}
		c.pay((len(x) + len(y)) / 256)
		m, _ := expr.Number(string(x))
		n, _ := expr.Number(string(y))
		return expr.Equal(m, n)
	case string:
		y, ok := b.(string)
		if ok && len(x) == len(y) {
			c.pay(len(x) / 256)
		}
		return ok && x == y
	}
	return a == b // null and booleans
}

// pattern is a regular expression of a schema.
type pattern struct {
	c   *checker
	src string
	re  *regex.Pattern
}

func (c *checker) regexp(src string) (lib.Regexp, error) {
	re := c.patterns[src]
	if re == nil {
		var err *expr.SyntaxError
		if re, err = regex.CompileSearch(src, regex.JavaScript); err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Msg, "in the regular expression: "))
		}
		c.patterns[src] = re
		c.patternBytes += re.Weight()
	}
	return &pattern{c, src, re}, nil
}

func (p *pattern) String() string { return p.src }

// MatchString is called by the library.
func (p *pattern) MatchString(s string) bool {
	b := p.c.budget
	if b == nil {
		free := expr.NewBudget()
		b = &free
	}
	steps := b.Times(stepWork)
	began := steps.Steps
	ok, err := p.re.Match(s, &steps)
	if err != nil {
		b.Steps = min(b.Steps, steps.Steps)
		panic(exhausted{err})
	}
	if err := b.Step((began - steps.Steps + stepWork - 1) / stepWork); err != nil {
		panic(exhausted{err})
	}
	return ok
}

// problem is an error that this package reports through the library.
type problem string

// KeywordPath is asked for by the library.
func (problem) KeywordPath() []string { return nil }

// LocalizedString is asked for by the library.
func (p problem) LocalizedString(*message.Printer) string { return string(p) }
