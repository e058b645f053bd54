package openapi

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// problem is why an operation cannot be called: a diagnostic when the definition is
// deployed, the fault FunctionNotFound when the function is called.
type problem struct {
	code, msg string
	hint      string
	document  bool // the document as a whole is the problem
	cause     error
}

func (p *problem) Unwrap() error { return p.cause }

func (p *problem) Error() string {
	if p.hint != "" {
		return p.msg + "; " + p.hint
	}
	return p.msg
}

func broken(format string, args ...any) error {
	return &problem{code: codeBroken, msg: fmt.Sprintf(format, args...), cause: causeIn(args)}
}

// causeIn is the error among the arguments of a message.
func causeIn(args []any) error {
	for _, a := range args {
		if err, ok := a.(error); ok {
			return err
		}
	}
	return nil
}

// document is a parsed document. One that cannot be parsed is kept without its text, so that a
// call can distinguish it from one that could not be opened.
type document struct {
	ref   string
	text  string
	root  expr.Value
	paths []string // in the order of the document
}

// place is a value in a document.
type place struct {
	doc *document
	ptr string // # and a JSON pointer; set only for the target of a $ref
	expr.Value
}

// key identifies the target of a $ref within the library; "" for a value that was reached in
// another way.
func (p place) key() string {
	if p.ptr == "" {
		return ""
	}
	return p.doc.ref + p.ptr
}

func (p place) member(key string) (place, bool) {
	v, ok := p.Get(key)
	return place{p.doc, "", v}, ok
}

// opened is a document, or why there is none.
type opened struct {
	doc *document
	err error
}

// library reads documents once.
type library struct {
	ctx     context.Context // of the current caller
	open    func(ref string) ([]byte, error)
	docs    map[string]opened
	indexes map[*document]*index
	schemas map[string]*schemas
}

func newLibrary(open func(ref string) ([]byte, error)) *library {
	return &library{
		ctx: context.Background(), open: open,
		docs: map[string]opened{}, indexes: map[*document]*index{}, schemas: map[string]*schemas{},
	}
}

// get returns a document by its reference without a fragment.
func (l *library) get(ref string) (*document, error) {
	if o, ok := l.docs[ref]; ok {
		return o.doc, o.err
	}
	d, err := l.read(ref)
	l.docs[ref] = opened{d, err}
	return d, err
}

// errUnread is the error of a pinned document without a text.
var errUnread = errors.New("it could not be read when the definition was deployed")

// read opens and parses a document. With an error it returns one only if it could be opened.
func (l *library) read(ref string) (*document, error) {
	fail := func(code, format string, args ...any) error {
		return &problem{code: code, msg: fmt.Sprintf(format, args...), document: true, cause: causeIn(args)}
	}
	text, err := l.open(ref)
	if errors.Is(err, errUnread) {
		return &document{ref: ref}, fail(codeRead, "the document %q: %v", ref, err)
	}
	if err != nil {
		return nil, fail(codeOpen, "the document cannot be opened: %v", err)
	}
	doc, found := dialect.Read(ref, text)
	if found.HasErrors() || doc.Root == nil {
		return &document{ref: ref}, fail(codeRead, "the document cannot be read: %s", firstError(found))
	}
	d := &document{ref: ref, text: string(text), root: doc.Root.Value()}
	if paths := doc.Root.Get("paths"); paths != nil {
		for _, n := range paths.Members {
			d.paths = append(d.paths, n.Name())
		}
	}
	return d, nil
}

func firstError(found dialect.Diagnostics) string {
	for _, d := range found {
		if d.Severity == dialect.Error {
			return d.String()
		}
	}
	return "it is empty"
}

// follow resolves a reference object to its target.
func (l *library) follow(p place) (place, error) {
	var chain pin.Chain
	for {
		ref, ok := p.Get("$ref")
		if !ok || ref.Kind() != expr.KindString {
			return p, nil
		}
		if err := chain.Follow(p.doc.ref, ref.Str()); err != nil {
			return place{}, broken("%v", err)
		}
		next, err := l.resolve(p.doc, ref.Str())
		if err != nil {
			return place{}, err
		}
		p = next
	}
}

// resolve finds what a $ref in a document names.
func (l *library) resolve(from *document, ref string) (place, error) {
	file, fragment, _ := strings.Cut(ref, "#")
	doc := from
	if file != "" {
		target, err := pin.Join(from.ref, file)
		if err != nil {
			return place{}, broken("the reference %q in %q cannot be followed: %v", ref, from.ref, err)
		}
		if doc, err = l.get(target); err != nil {
			return place{}, broken("the reference %q in %q cannot be followed: %v", ref, from.ref, err)
		}
	}
	pointer, v, err := pin.Point(doc.root, fragment)
	if err != nil {
		return place{}, broken("the reference %q in %q cannot be followed: %v", ref, from.ref, err)
	}
	return place{doc, "#" + pointer, v}, nil
}
