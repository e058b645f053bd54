package asyncapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// problem is why an operation cannot be called: a diagnostic when the definition is deployed, the failure of a
// call.
type problem struct {
	msg, hint string
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

func broken(format string, args ...any) error { return &problem{msg: fmt.Sprintf(format, args...)} }

// document is a parsed document.
type document struct {
	ref     string
	root    expr.Value
	servers []string // in the order of the document
}

// place is a value in a document.
type place struct {
	doc *document
	ptr string // a JSON pointer; set only for the target of a $ref
	expr.Value
}

// library reads documents once.
type library struct {
	open func(ref string) ([]byte, error)
	docs map[string]opened
}

// opened is a document, or why there is none.
type opened struct {
	doc *document
	err error
}

func newLibrary(open func(ref string) ([]byte, error)) *library {
	return &library{open: open, docs: map[string]opened{}}
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

func (l *library) read(ref string) (*document, error) {
	text, err := l.open(ref)
	if err != nil {
		return nil, &problem{msg: fmt.Sprintf("the document %q cannot be opened: %v", ref, err), document: true, cause: err}
	}
	doc, found := dialect.Read(ref, text)
	if found.HasErrors() || doc.Root == nil {
		why := "it is empty"
		for _, d := range found {
			if d.Severity == dialect.Error {
				why = d.String()
				break
			}
		}
		return nil, &problem{msg: fmt.Sprintf("the document %q cannot be read: %s", ref, why), document: true}
	}
	d := &document{ref: ref, root: doc.Root.Value()}
	if servers := doc.Root.Get("servers"); servers != nil {
		for _, n := range servers.Members {
			d.servers = append(d.servers, n.Name())
		}
	}
	return d, nil
}

// member is a member of a place, with its reference followed; false: there is none.
func (l *library) member(p place, key string) (place, bool, error) {
	v, ok := p.Get(key)
	if !ok || v.IsNull() {
		return place{doc: p.doc}, false, nil
	}
	out, err := l.follow(place{doc: p.doc, Value: v})
	return out, err == nil, err
}

// at follows a path of members. What is not there is null.
func (l *library) at(p place, path ...string) (place, error) {
	for _, key := range path {
		next, ok, err := l.member(p, key)
		if !ok {
			return next, err
		}
		p = next
	}
	return p, nil
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
	fail := func(err error) (place, error) {
		return place{}, &problem{msg: fmt.Sprintf("the reference %q in %q cannot be followed: %v", ref, from.ref, err), cause: err}
	}
	file, fragment, _ := strings.Cut(ref, "#")
	doc := from
	if file != "" {
		target, err := pin.Join(from.ref, file)
		if err != nil {
			return fail(err)
		}
		if doc, err = l.get(target); err != nil {
			return fail(err)
		}
	}
	pointer, v, err := pin.Point(doc.root, fragment)
	if err != nil {
		return fail(err)
	}
	return place{doc, pointer, v}, nil
}

// version is the major version of a document.
func (d *document) version() (int, error) {
	text := ""
	if v, ok := d.root.Get("asyncapi"); ok {
		text = v.Text()
	}
	major, _, _ := strings.Cut(text, ".")
	switch n, err := strconv.Atoi(major); {
	case text == "":
		return 0, &problem{msg: fmt.Sprintf("%q is not an AsyncAPI document: it has no member asyncapi with its version", d.ref), document: true}
	case err != nil || n < 2 || n > 3:
		return 0, &problem{msg: fmt.Sprintf("the document %q is of AsyncAPI %s; versions 2 and 3 can be used", d.ref, text), document: true}
	default:
		return n, nil
	}
}

var errNotPinned = errors.New("it was not pinned when the definition was deployed")
