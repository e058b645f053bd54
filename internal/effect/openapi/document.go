package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Limits of what one definition may pin.
const (
	maxDocuments = 64      // pinned-documents
	maxBytes     = 8 << 20 // pinned-bytes
)

// maxHops bounds references that lead to references.
const maxHops = 32

// problem is why an operation cannot be called: a diagnostic when the definition is
// deployed, the fault FunctionNotFound when the function is called.
type problem struct {
	code, msg string
	hint      string
	document  bool // it is about the document as a whole
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

// document is one text, read. One that cannot be read is kept without its text, so
// that a call can tell it from one that could not be opened.
type document struct {
	ref   string
	text  string
	root  expr.Value
	paths []string // as they stand in it, one after the other
}

// place is a value in a document.
type place struct {
	doc *document
	ptr string // # and a JSON pointer; only of what a $ref led to
	expr.Value
}

// key tells what a $ref led to from everything else in the library; it is empty for a
// value that was reached in another way.
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

// library opens documents once and remembers the order.
type library struct {
	ctx     context.Context // of who uses it now
	open    func(ref string) ([]byte, error)
	docs    map[string]opened
	order   []*document
	bytes   int
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
	if d != nil {
		l.order = append(l.order, d)
	}
	return d, err
}

// errUnread is what a pinned document without a text stands for.
var errUnread = errors.New("it could not be read when the definition was deployed")

// read opens a document. With an error there is one only where it was opened.
func (l *library) read(ref string) (*document, error) {
	if len(l.order) == maxDocuments {
		return nil, &problem{code: codeOpen, msg: fmt.Sprintf("the definition refers to more than %d documents (limit pinned-documents)", maxDocuments), document: true}
	}
	text, err := l.open(ref)
	if errors.Is(err, errUnread) {
		return &document{ref: ref}, &problem{code: codeRead, msg: fmt.Sprintf("the document %q: %v", ref, err), document: true}
	}
	if err != nil {
		return nil, &problem{code: codeOpen, msg: fmt.Sprintf("the document cannot be opened: %v", err), document: true}
	}
	if l.bytes += len(text); l.bytes > maxBytes {
		return nil, &problem{code: codeOpen, msg: fmt.Sprintf("the documents of the definition have more than %d bytes (limit pinned-bytes)", maxBytes), document: true}
	}
	doc, found := dialect.Read(ref, text)
	if found.HasErrors() || doc.Root == nil {
		return &document{ref: ref}, &problem{code: codeRead, msg: "the document cannot be read: " + firstError(found), document: true}
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

// follow goes from a reference object to what it stands for.
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
	return place{}, broken("references in %q lead to one another without an end", p.doc.ref)
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

// join is a reference inside of a document as the bundle can open it: relative to
// that document. A document from elsewhere never names a file of ours.
func join(base, ref string) (string, error) {
	if effect.Remote(ref) {
		return effect.LowerScheme(ref), nil
	}
	target, err := url.Parse(ref)
	if err != nil {
		return "", errors.New("it is not a URI")
	}
	if effect.Remote(base) {
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
		return ref, nil // the bundle judges it
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
