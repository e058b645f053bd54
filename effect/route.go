package effect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Kind is what the operation of a function stands for.
type Kind uint8

// The kinds.
const (
	ByName   Kind = iota // there is no operation: the catalogue may know the name
	PlainURL             // https://host/path#METHOD
	Document             // document#operationId
	Job                  // job:WORKFLOW: creates a job, which the engine does itself
)

// Operation is the operation of a function, taken apart.
type Operation struct {
	Kind     Kind
	Document string // the text before the #
	ID       string // the text after it: an operationId, or a method in upper case; a workflow
}

// Methods of plain URLs. An operationId that is spelled like one of them can be used
// in documents that are files, or through the catalogue.
var methods = []string{"POST", "PUT", "PATCH", "GET", "HEAD", "DELETE"}

// ParseOperation takes an operation apart. It does not check it.
func ParseOperation(text string) Operation {
	if text == "" {
		return Operation{}
	}
	if name, ok := ir.JobWorkflow(text); ok {
		return Operation{Kind: Job, ID: name}
	}
	document, id, _ := strings.Cut(text, "#")
	document = LowerScheme(document)
	o := Operation{Document, document, id}
	if Remote(document) {
		if method := strings.ToUpper(id); id == "" || slices.Contains(methods, method) {
			o.Kind, o.ID = PlainURL, method
		}
	}
	return o
}

// Remote reports whether a reference is an address, not a file.
func Remote(ref string) bool {
	scheme, _, ok := strings.Cut(ref, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// LowerScheme is an address with its scheme in lower case, which is how everybody else
// writes and looks for it (RFC 3986 §3.1); other references stay as they are.
func LowerScheme(ref string) string {
	if !Remote(ref) {
		return ref
	}
	scheme, rest, _ := strings.Cut(ref, "://")
	return strings.ToLower(scheme) + "://" + rest
}

// Router chooses who carries out a call. What the definition says of a function
// comes first; the catalogue is for the functions that it only names.
type Router struct {
	HTTP      Invoker // of plain URLs
	OpenAPI   Invoker // of operations of documents
	Catalogue Catalogue
}

// Catalogue knows functions by name.
type Catalogue interface {
	Invoker
	// Knows reports whether there is such a function, and else the name that may have
	// been meant.
	Knows(name string) (known bool, near string)
}

var _ Invoker = (*Router)(nil)

// Invoke hands the call on.
func (r *Router) Invoke(ctx context.Context, c Call) Outcome {
	switch ParseOperation(c.Operation).Kind {
	case PlainURL:
		if r.HTTP != nil {
			return r.HTTP.Invoke(ctx, c)
		}
	case Document:
		if r.OpenAPI != nil {
			return r.OpenAPI.Invoke(ctx, c)
		}
	case ByName:
		return r.byName(ctx, c)
	}
	return Fail(Failure{Name: NotFound, Detail: fmt.Sprintf("function %q: nothing here can call %q", c.Function, c.Operation)})
}

func (r *Router) byName(ctx context.Context, c Call) Outcome {
	if r.Catalogue == nil {
		return Fail(Failure{Name: NotFound, Detail: fmt.Sprintf(
			"function %q has no operation, and there is no catalogue that could know its name; give it an operation, a catalogue (--functions) or a mock", c.Function)})
	}
	known, near := r.Catalogue.Knows(c.Function)
	if known {
		return r.Catalogue.Invoke(ctx, c)
	}
	detail := fmt.Sprintf("function %q has no operation, and the catalogue does not know its name", c.Function)
	if near != "" {
		detail += fmt.Sprintf("; did you mean %q?", near)
	}
	return Fail(Failure{Name: NotFound, Detail: detail})
}
