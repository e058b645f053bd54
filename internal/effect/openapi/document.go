package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

// maxHops bounds references that lead to references.
const maxHops = 32

// problem is why an operation cannot be called: a diagnostic when the definition is
// deployed, the fault FunctionNotFound when the function is called.
type problem struct {
	code, msg string
	hint      string
	document  bool // the document as a whole is the problem
}

func (p *problem) Error() string {
	if p.hint != "" {
		return p.msg + "; " + p.hint
	}
	return p.msg
}

func broken(format string, args ...any) error {
	return &problem{code: codeBroken, msg: fmt.Sprintf(format, args...)}
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
		return &problem{code: code, msg: fmt.Sprintf(format, args...), document: true}
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
	for range maxHops {
		ref, ok := p.Get("$ref")
		if !ok || ref.Kind() != expr.KindString {
			return p, nil
		}
		next, err := l.resolve(p.doc, ref.Str())
		if err != nil {
			return place{}, err
		}
		p = next
	}
	return place{}, broken("references in %q form a cycle", p.doc.ref)
}

// resolve finds what a $ref in a document names.
func (l *library) resolve(from *document, ref string) (place, error) {
	file, fragment, _ := strings.Cut(ref, "#")
	doc := from
	if file != "" {
		target, err := join(from.ref, file)
		if err != nil {
			return place{}, broken("the reference %q in %q cannot be followed: %v", ref, from.ref, err)
		}
		if doc, err = l.get(target); err != nil {
			return place{}, broken("the reference %q in %q cannot be followed: %v", ref, from.ref, err)
		}
	}
	pointer, err := url.PathUnescape(fragment)
	if err == nil && pointer != "" && pointer[0] != '/' {
		err = errors.New("it is an anchor, and only JSON pointers (#/…) are followed")
	}
	v := doc.root
	if err == nil && pointer != "" {
		v, err = walk(v, strings.Split(pointer[1:], "/"))
	}
	if err != nil {
		return place{}, broken("the reference %q in %q cannot be followed: %v", ref, from.ref, err)
	}
	return place{doc, "#" + pointer, v}, nil
}

func walk(v expr.Value, tokens []string) (expr.Value, error) {
	for _, token := range tokens {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		var ok bool
		if v.IsArray() {
			i, err := strconv.Atoi(token)
			if ok = err == nil && i >= 0 && i < v.Len(); ok {
				v = v.Items()[i]
			}
		} else {
			v, ok = v.Get(token)
		}
		if !ok {
			return expr.Null, fmt.Errorf("there is no %q", token)
		}
	}
	return v, nil
}

// join resolves a reference in a document relative to that document, so that the bundle can open
// it. A document from the network cannot refer to local files.
func join(base, ref string) (string, error) {
	if route.Remote(ref) {
		return route.LowerScheme(ref), nil
	}
	target, err := url.Parse(ref)
	if err != nil {
		return "", errors.New("it is not a URI")
	}
	if route.Remote(base) {
		if target.Scheme != "" {
			return "", fmt.Errorf("a document from the network cannot refer to %q", target.Scheme+":")
		}
		from, err := url.Parse(base)
		if err != nil {
			return "", err
		}
		return from.ResolveReference(target).String(), nil
	}
	if target.Scheme != "" || strings.HasPrefix(ref, "/") {
		return ref, nil // the bundle decides whether to open it
	}
	for _, prefix := range []string{"file://", "file:"} {
		if rest, ok := strings.CutPrefix(base, prefix); ok {
			base = rest
			if strings.HasPrefix(rest, "/") {
				ref = "file://" + path.Join(path.Dir(rest), ref)
				return ref, nil
			}
			break
		}
	}
	return path.Join(path.Dir(base), ref), nil
}
