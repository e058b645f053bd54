package jq

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/cache"
)

// Names of the languages of this package.
const (
	// Lang is an expression that gives one value. None is null, several are an error.
	Lang = "jq"
	// ConditionLang is an expression whose value is true or false: false and null are false.
	ConditionLang = "jqif"
	// TemplateLang is JSON text in which a string that is as a whole ${ expression } stands for the
	// expression's value.
	TemplateLang = "jqt"
	// LooseLang is JSON text in which every string is an expression, with ${ } or without. Where it
	// does not compile, or fails, it stands for itself.
	LooseLang = "jqloose"

	// These three see what the scope lends, as long as the data is an object.

	// SelectLang is an expression that selects something: a value, or the list of several. No value,
	// and null, are nothing: jq cannot tell a path that leads nowhere from one to null.
	SelectLang = "jqs"
	// StrictLang is a condition that is true or false. Null and no value are false, anything else is
	// an error.
	StrictLang = "jqsif"
	// TextLang is JSON text in which ${ expression } stands for a value, also inside other text; see
	// [Parts]. Several values are the list of them, none is null. Inside other text a string is as it
	// is, null is nothing, and other values are JSON.
	TextLang = "jqst"
)

// Limits of the source of one expression. Compiling refuses what exceeds them.
const (
	// MaxSource is the limit expression-source, in bytes of one expression.
	MaxSource = 32 << 10
	// MaxNesting is the limit expression-nesting: terms inside each other.
	MaxNesting = expr.MaxNested
)

// Variables with a meaning of their own.
const (
	runtimeVar = "runtime" // a constant of the languages
	secretsVar = "secrets" // errors do not show values of expressions that use it
	nowVar     = "now"     // what the function now gives
)

// Compiler compiles one of the languages.
type Compiler struct {
	lang    string
	runtime expr.Value
}

var (
	_ expr.Compiler = Compiler{}
	_ expr.Scoped   = (*expression)(nil)
	_ expr.Weighed  = (*expression)(nil)
	_ expr.Scoped   = (*template)(nil)
	_ expr.Weighed  = (*template)(nil)
)

// Languages returns the languages of this package by name. The variable $runtime is the value
// of runtime in all of them.
func Languages(runtime expr.Value) expr.Languages {
	out := expr.Languages{}
	for _, lang := range []string{Lang, ConditionLang, TemplateLang, LooseLang, SelectLang, StrictLang, TextLang} {
		out[lang] = Compiler{lang, runtime}
	}
	return out
}

// Compile implements [expr.Compiler].
func (c Compiler) Compile(src string) (expr.Program, error) {
	switch c.lang {
	case TemplateLang, LooseLang, TextLang:
		return c.template(src)
	}
	return c.expression(src)
}

func (c Compiler) expression(src string) (*expression, error) {
	checked, err := check(src)
	if err != nil {
		return nil, err
	}
	return &expression{checked: checked, lang: c.lang, runtime: c.runtime}, nil
}

// checked is an expression that compiles.
type checked struct {
	src    string
	direct *node // nil: the interpreter evaluates it
	data   *need
	vars   []variable
	weight int
}

// check reads an expression. What the interpreter needs to evaluate it is not kept: it is made
// when the expression is first evaluated, and kept while the cache has room.
func check(src string) (*checked, error) {
	if len(src) > MaxSource {
		return nil, &expr.SyntaxError{Msg: fmt.Sprintf("the expression is longer than %d bytes (limit expression-source)", MaxSource)}
	}
	query, err := parse(src)
	if err != nil {
		return nil, err
	}
	seen := look(query)
	if seen.nesting > MaxNesting {
		return nil, &expr.SyntaxError{Msg: fmt.Sprintf("the expression nests deeper than %d levels (limit expression-nesting)", MaxNesting)}
	}
	c := &checked{src: src, data: seen.data, vars: seen.variables()}
	if c.direct = direct(query, namesOf(c.vars)); c.direct != nil {
		return c, nil
	}
	code, err := rewrite(src, query)
	if err != nil {
		return nil, err
	}
	if _, err := newMachine(src, code, namesOf(c.vars)); err != nil {
		return nil, err
	}
	c.weight = code.weight()
	return c, nil
}

// The memory of a machine in bytes: upper bounds measured with version 0.12 of gojq, see
// TestWeightIsTheMemory.
const (
	machineBytes = 6 << 10
	nodeBytes    = 128     // for each node of the filter
	assignBytes  = 3 << 10 // more, for each assignment
)

func (c *code) weight() int { return machineBytes + nodeBytes*c.nodes + assignBytes*c.assigns }

// machine makes what the interpreter needs.
func (c *checked) machine() (*machine, int) {
	query, err := parse(c.src)
	if err != nil {
		panic(fmt.Sprintf("jq: an expression that was checked: %v", err))
	}
	code, err := rewrite(c.src, query)
	if err != nil {
		panic(fmt.Sprintf("jq: an expression that was checked: %v", err))
	}
	m, err := newMachine(c.src, code, namesOf(c.vars))
	if err != nil {
		panic(fmt.Sprintf("jq: an expression that was checked: %v", err))
	}
	return m, code.weight()
}

// expression is a compiled expression.
type expression struct {
	*checked
	lang     string
	runtime  expr.Value
	machines cache.Copies[machine]
}

// Weight implements [expr.Weighed].
func (e *expression) Weight() int { return e.weight }

// Eval evaluates the expression, which must not use variables.
func (e *expression) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	return e.EvalIn(expr.Scope{Data: data}, b)
}

// EvalIn implements [expr.Scoped].
func (e *expression) EvalIn(in expr.Scope, b *expr.Budget) (expr.Result, error) {
	if e.lang == SelectLang || e.lang == StrictLang {
		if err := lend(&in, b); err != nil {
			return expr.Result{}, err
		}
	}
	v, err := e.value(in, b)
	if e.lang == StrictLang {
		v, err = decide(v, err)
	}
	if err != nil {
		return expr.Result{}, err
	}
	if e.lang == ConditionLang {
		v = expr.Bool(isTrue(v))
	}
	return expr.Result{Value: v, Missing: e.lang == SelectLang && v.IsNull()}, nil
}

func (e *expression) value(in expr.Scope, b *expr.Budget) (expr.Value, error) {
	if err := b.Enter(); err != nil {
		return expr.Null, err
	}
	defer b.Leave()
	var room [6]expr.Value
	vars := room[:0]
	for i := range e.vars {
		name := e.vars[i].name
		v, ok := e.runtime, name == runtimeVar
		if !ok && in.Vars != nil {
			v, ok = in.Vars.Var(name)
		}
		if !ok {
			return expr.Null, &Error{Msg: fmt.Sprintf("there is no variable $%s here", name)}
		}
		vars = append(vars, v)
	}
	if e.direct != nil {
		f := frame{vars, b}
		if v, err := f.eval(e.direct, in.Data); err != errUnusual {
			return v, err
		}
	}
	return e.interpret(in, vars, b)
}

// errSeveral says that an expression gives more than one value.
var errSeveral = &Error{Msg: "the expression gives more than one value; [ ] around it makes a list of them"}

// interpret lets the interpreter evaluate the expression.
func (e *expression) interpret(in expr.Scope, vars []expr.Value, b *expr.Budget) (expr.Value, error) {
	taken, _ := e.machines.Take(cache.Key{Kind: "jq", Text: e.src}, e.machine)
	m := taken.Value
	defer func() {
		m.meter = meter{} // it refers to the data
		taken.Release()
	}()
	m.meter = e.meter(in, b)
	v, err := e.run(m, in.Data, vars)
	if err != nil && e.usesSecrets() {
		if failed := (*Error)(nil); errors.As(err, &failed) {
			err = withoutValues(failed)
		}
	}
	return v, err
}

// meter measures one evaluation.
func (e *expression) meter(in expr.Scope, b *expr.Budget) meter {
	return meter{budget: b, memory: DefaultBudget.Memory, zone: time.UTC, clock: clockOf(in.Vars), paysInput: true}
}

func (e *expression) run(m *machine, data expr.Value, vars []expr.Value) (expr.Value, error) {
	input, err := m.input(data, e.data, 0)
	if err != nil {
		return expr.Null, err
	}
	given := make([]any, len(vars))
	for i, v := range vars {
		if given[i], err = m.input(v, e.vars[i].need, 0); err != nil {
			return expr.Null, err
		}
	}
	if e.lang == SelectLang || e.lang == TextLang {
		return m.all(input, given)
	}
	var result any
	n := 0
	err = m.each(input, given, func(one any) error {
		if n++; n > 1 {
			return errSeveral
		}
		result = one
		return nil
	})
	if err != nil {
		return expr.Null, err
	}
	return m.output(result, 0)
}

// clockOf is the time of the evaluation, which the scope has as the number of seconds since 1970,
// or as an object with the member epoch.milliseconds.
func clockOf(vars expr.Vars) func() (time.Time, error) {
	return func() (time.Time, error) {
		v, ok := expr.Null, false
		if vars != nil {
			v, ok = vars.Var(nowVar)
		}
		seconds := v.Float()
		if ms, found := v.Lookup("epoch", "milliseconds"); found {
			v, seconds = ms, ms.Float()/1000
		}
		if !ok || v.Kind() != expr.KindNumber || math.Abs(seconds) > 1<<40 {
			return time.Time{}, &Error{Msg: "there is no time here"}
		}
		whole := math.Floor(seconds)
		return time.Unix(int64(whole), int64((seconds-whole)*1e9)).UTC(), nil
	}
}

func (e *expression) usesSecrets() bool {
	for i := range e.vars {
		if e.vars[i].name == secretsVar {
			return true
		}
	}
	return false
}

// withoutValues is an error without the values that it shows.
func withoutValues(err *Error) error {
	if err == errSeveral {
		return err
	}
	msg := err.Msg
	if err.own {
		msg = "error was called"
	}
	if i := strings.IndexAny(msg, "(:\"`'[{0123456789"); i >= 0 {
		msg = msg[:i]
	}
	if msg = strings.TrimSpace(msg); msg == "" {
		msg = "the expression fails"
	}
	return &Error{Msg: msg + " (values are not shown, because the expression uses $secrets)"}
}
