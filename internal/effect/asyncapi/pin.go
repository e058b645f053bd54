package asyncapi

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/expr/texts"
)

// Kind knows AsyncAPI documents.
type Kind struct{}

var _ pin.Kind = Kind{}

// Find finds the document of a call and everything that is wrong with the call there.
func (Kind) Find(f *pin.Finder, fn pin.Function) string {
	lib := f.Keep(Kind{}, func() any { return newLibrary(f.Open) }).(*library)
	ref, said := fn.Operation.Document, map[string]bool{}
	report := func(err error) {
		code, at := pin.CodeMismatch, fn.ID
		var p *problem
		if errors.As(err, &p) && p.document {
			code, at = pin.CodeDocument, fn.Document
		}
		if said[err.Error()] {
			return
		}
		said[err.Error()] = true
		f.Warnf(at, code, "function %q: %v", fn.Name, err)
	}
	for _, with := range fn.Arguments {
		name, way := named(with)
		o, c, err := lib.compile(ref, name, way)
		if err == nil {
			err = checkWith(o, way, with)
		}
		if err != nil {
			report(err)
		}
		if c != nil {
			for _, note := range c.notes {
				report(errors.New(note))
			}
		}
	}
	if _, err := lib.get(ref); err != nil {
		return ""
	}
	return ref
}

// named is the channel or operation of a call, and what is done with it.
func named(with expr.Value) (string, direction) {
	name, way := effect.Name(with, "operation"), sends
	if channel := effect.Name(with, "channel"); channel != "" {
		name = channel
	}
	if _, ok := with.Get("subscription"); ok {
		way = receives
	}
	return name, way
}

// checkWith checks the constants of a call as it is written.
func checkWith(o *operation, way direction, with expr.Value) error {
	at, _ := with.Get("server")
	if !expression(at) {
		s, err := o.choose(effect.Name(at, "name"), effect.Name(with, "protocol"))
		if err != nil {
			return err
		}
		variables, _ := at.Get("variables")
		if err := s.strangers(variables); err != nil {
			return err
		}
		if _, err := s.address(variables); err != nil {
			return err
		}
		if way == receives && s.kind() == protocolHTTP || way == sends {
			if err := o.valued(way); err != nil {
				return err
			}
		}
	}
	if msg, ok := with.Get("message"); ok && !expression(msg) {
		return o.check(msg)
	}
	return nil
}

// expression reports whether something in a value as written is an expression.
func expression(v expr.Value) bool {
	return texts.Any(v, func(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "${") })
}
