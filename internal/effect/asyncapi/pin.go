package asyncapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/expr/texts"
)

// Kind knows AsyncAPI documents.
type Kind struct{}

var _ pin.Kind = Kind{}

// Find finds the document of a call and everything that is wrong with the call there.
func (Kind) Find(f *pin.Finder, fn pin.Function) string {
	lib := f.Keep(Kind{}, func() any { return newLibrary(f.Open) }).(*library)
	ref, said := fn.Operation.Document, map[string]bool{}
	once := func(err error) bool {
		again := said[err.Error()]
		said[err.Error()] = true
		return !again
	}
	warn := func(err error) {
		if once(err) {
			f.Warnf(fn.ID, pin.CodeMismatch, "function %q: %v", fn.Name, err)
		}
	}
	fail := func(err error) {
		code, at := pin.CodeMismatch, fn.ID
		var p *problem
		if errors.As(err, &p) && p.document {
			code, at = pin.CodeDocument, fn.Document
		}
		if once(err) {
			f.Failf(at, err, code, "function %q: %v", fn.Name, err)
		}
	}
	for _, call := range fn.Calls {
		with := call.With
		name, way := named(with)
		o, c, err := lib.compile(ref, name, way)
		if err != nil {
			fail(err)
		} else if err := checkWith(o, way, with); err != nil {
			warn(err)
		} else {
			checkMessage(f, fn, o, call.Args)
		}
		if c != nil {
			for _, note := range c.notes {
				warn(errors.New(note))
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
	return nil
}

// checkMessage reports what is wrong with the message of a call, as far as it is written. It must fit one of those of
// the operation.
func checkMessage(f *pin.Finder, fn pin.Function, o *operation, with pin.Written) {
	msg, ok := with.Get("message")
	if !ok || !msg.Known() {
		return
	}
	var first []misfit
	for i, m := range o.messages {
		found := m.certain(msg)
		if len(found) == 0 {
			return
		}
		if i == 0 {
			first = found
		}
	}
	for _, one := range first {
		code, among := pin.CodeConstant, ""
		if len(one.Missing) > 0 {
			code = pin.CodeMissing
		}
		if len(o.messages) > 1 {
			among = fmt.Sprintf("; it fits none of the %d messages of %s, and this is what is wrong for the first", len(o.messages), o.title)
		}
		f.Errorf(one.part.Place(one.Pointer), code, "function %q: %s%s: %s%s", fn.Name, one.key, one.Pointer, one.Message, among)
	}
}

// misfit is what is wrong with a part of a message.
type misfit struct {
	jsonschema.Violation
	key  string
	part pin.Written
}

// certain lists what is wrong with a message whatever its expressions give.
func (m *message) certain(msg pin.Written) (out []misfit) {
	for key, schema := range map[string]expr.Program{"payload": m.payload, "headers": m.headers} {
		part, ok := msg.Get(key)
		if schema == nil || !ok && key == "headers" || !part.Known() {
			continue
		}
		budget := expr.NewBudget()
		found, err := jsonschema.Certain(schema, part.Value, part.Open, &budget)
		if err != nil {
			continue // the call says so
		}
		for _, v := range found {
			out = append(out, misfit{v, key, part})
		}
	}
	return out
}

// expression reports whether something in a value as written is an expression.
func expression(v expr.Value) bool {
	return texts.Any(v, func(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "${") })
}
