package jq

import (
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/lockstep-workflows/lockstep/expr"
)

// parse reads a filter, and makes the interpreter's error one of ours.
func parse(src string) (*gojq.Query, error) {
	if strings.TrimSpace(src) == "" {
		return nil, &expr.SyntaxError{Msg: "the filter is empty", Hint: `"." lets everything through`}
	}
	query, err := gojq.Parse(src)
	var at *gojq.ParseError
	switch {
	case errors.As(err, &at):
		msg := at.Error()
		if msg == "unexpected EOF" {
			msg = "it ends where more is expected"
		}
		return nil, &expr.SyntaxError{Offset: max(0, at.Offset-len(at.Token)), Msg: msg}
	case err != nil:
		return nil, &expr.SyntaxError{Msg: err.Error()}
	}
	return query, nil
}

// code is a filter in the form that the interpreter gets.
type code struct {
	query   *gojq.Query
	natives map[string]bool // that it uses
	nodes   int             // its size, with that of the prelude
	assigns int             // assignments among them
}

// rewrite turns a parsed filter into code. It changes the query.
func rewrite(src string, query *gojq.Query) (*code, error) {
	g := &guard{src: src, natives: map[string]bool{}, needed: map[string]bool{}}
	if err := g.program(query); err != nil {
		return nil, err
	}
	query = g.withPrelude(query)
	if g.failed != nil {
		return nil, g.failed
	}
	return &code{query: query, natives: g.natives, nodes: g.nodes, assigns: g.assigns}, nil
}

// machine runs a filter, once at a time.
type machine struct {
	meter
	code *gojq.Code
}

// newMachine compiles code whose variables, without $, are given to every run.
func newMachine(src string, c *code, vars []string) (*machine, error) {
	m := &machine{}
	names := make([]string, len(vars))
	for i, name := range vars {
		names[i] = "$" + name
	}
	var err error
	m.code, err = gojq.Compile(c.query, append(m.functions(c.natives), gojq.WithVariables(names))...)
	if err != nil {
		return nil, &expr.SyntaxError{Offset: find(src, "break"), Msg: err.Error()}
	}
	return m, nil
}

// each runs the filter and hands over its results one by one, until give returns an error.
func (m *machine) each(input any, vars []any, give func(result any) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // a mistake of the interpreter must not end the process
			err = &Error{Msg: fmt.Sprintf("the filter cannot be evaluated: %v", p)}
		}
	}()
	results := m.code.RunWithContext(&m.meter, input, vars...)
	m.meter.run = stacksOf(results)
	for {
		result, more := results.Next()
		if m.over != nil {
			return m.over
		}
		if !more {
			return nil
		}
		if failure, failed := result.(error); failed {
			return describe(failure)
		}
		if err := give(result); err != nil {
			return err
		}
	}
}

// describe says what went wrong. The value of `error(…)` may be as large as any, so that
// only a part of it is shown.
func describe(err error) error {
	if e, ok := err.(gojq.ValueError); ok {
		if text, ok := e.Value().(string); ok {
			return &Error{Msg: short(text), own: true}
		}
		return &Error{Msg: gojq.Preview(e.Value()) + " (not a string)", own: true}
	}
	return &Error{Msg: short(err.Error())}
}

// short bounds a message.
func short(text string) string {
	const most = 500
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
