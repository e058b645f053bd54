package grpc

import (
	"errors"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// Kind knows .proto files and descriptor sets.
type Kind struct{}

var _ pin.Kind = Kind{}

// compiled is a document, or why there is none.
type compiled struct {
	schema *schema
	err    error
}

// Find opens and compiles the document of a function, and reports what is wrong with it and with the calls.
func (Kind) Find(f *pin.Finder, fn pin.Function) string {
	ref, service, method := operation(fn.Builtin)
	type key struct{ ref string }
	doc := f.Keep(key{ref}, func() any {
		s, err := compile(ref, f.Open)
		return &compiled{s, err}
	}).(*compiled)
	warn := func(at dialect.Place, err error) {
		var p *problem
		if !errors.As(err, &p) {
			p = &problem{code: pin.CodeDocument, msg: err.Error()}
		}
		if d := f.Warnf(at, p.code, "call %q: %s", fn.Name, p.msg); p.hint != "" {
			d.WithHint("%s", p.hint)
		}
	}
	root := ref
	if _, err := f.Open(ref); err != nil {
		root = ""
	}
	if doc.err != nil {
		warn(fn.Document, doc.err)
		return root
	}
	m, err := doc.schema.method(service, method)
	if err != nil {
		warn(fn.ID, err)
		return root
	}
	said := map[string]bool{} // calls of one function may have the same mistake
	c := checker{schema: doc.schema, written: true, report: func(p *problem) {
		if !said[p.Error()] {
			said[p.Error()] = true
			warn(fn.ID, p)
		}
	}}
	for _, with := range fn.Arguments {
		given, _ := with.Get("arguments")
		if given.IsNull() {
			given = expr.EmptyObject
		}
		c.checked(func() { c.message(given, m.Input(), "arguments") })
		at, _ := with.Get("service")
		if host, _ := at.Get("host"); !c.open(host) {
			if _, err := readTarget(at, false); err != nil {
				c.report(mismatch("", "%v", err))
			}
		}
		if digest, _ := at.Lookup("authentication", "digest"); !digest.IsNull() {
			c.report(mismatch("", "%v", errDigest))
		}
	}
	return root
}

// checked runs a check that may panic: a document can describe google.protobuf.Any and the like in its own way.
func (c *checker) checked(check func()) {
	defer func() {
		if r := recover(); r != nil {
			c.report(mismatch("", "arguments cannot be checked: %v", r))
		}
	}()
	check()
}
