package grpc

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

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
	fail := func(at dialect.Place, err error) {
		var p *problem
		if !errors.As(err, &p) {
			p = &problem{code: pin.CodeDocument, msg: err.Error()}
		}
		if d := f.Failf(at, err, p.code, "call %q: %s", fn.Name, p.msg); p.hint != "" {
			d.WithHint("%s", p.hint)
		}
	}
	root := ref
	if _, err := f.Open(ref); err != nil {
		root = ""
	}
	if doc.err != nil {
		fail(fn.Document, doc.err)
		return root
	}
	m, err := doc.schema.method(service, method)
	if err != nil {
		fail(fn.ID, err)
		return root
	}
	if m.IsStreamingServer() {
		f.Stream(fn)
	}
	checkCalls(f, fn, doc.schema, m)
	return root
}

// checkCalls compares the calls of a function, as they are written, with the method.
func checkCalls(f *pin.Finder, fn pin.Function, s *schema, m protoreflect.MethodDescriptor) {
	for _, call := range fn.Calls {
		with := call.With
		warn := func(err error) { f.Warnf(fn.ID, pin.CodeMismatch, "call %q: %v", fn.Name, err) }
		c := checker{schema: s, written: true, report: func(path string, p *problem) {
			args := call.Args
			at := args.Place(pointerOf(path))
			if p.code == pin.CodeUnknown {
				at = args.KeyPlace(pointerOf(path))
			}
			if d := f.Errorf(at, p.code, "call %q: %s", fn.Name, p.msg); p.hint != "" {
				d.WithHint("%s", p.hint)
			}
		}}
		given, _ := with.Get("arguments")
		if given.IsNull() {
			given = expr.EmptyObject
		}
		c.checked(func() { c.message(given, m.Input(), "arguments") }, warn)
		at, _ := with.Get("service")
		if host, _ := at.Get("host"); !c.open(host) {
			if _, err := readTarget(at, false); err != nil {
				warn(err)
			}
		}
		if digest, _ := at.Lookup("authentication", "digest"); !digest.IsNull() {
			warn(errDigest)
		}
	}
}

// pointerOf is the JSON pointer of a path such as arguments.items[0].name.
func pointerOf(path string) string {
	return "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(path)
}

// checked runs a check that may panic: a document can describe google.protobuf.Any and the like in its own way.
func (c *checker) checked(check func(), warn func(error)) {
	defer func() {
		if r := recover(); r != nil {
			warn(fmt.Errorf("arguments cannot be checked: %v", r))
		}
	}()
	check()
}
