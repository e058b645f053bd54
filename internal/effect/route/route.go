// Package route parses the operations of functions, and chooses the invoker for their calls.
package route

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Kind is the kind of a function's operation.
type Kind uint8

// The kinds.
const (
	ByName   Kind = iota // no operation: the catalogue may have the function
	PlainURL             // https://host/path#METHOD
	Document             // document#operationId
	Job                  // job:WORKFLOW: creates a job, which the engine does itself
	Other                // a call that its arguments describe, of another kind than http and openapi
)

// Operation is a parsed operation.
type Operation struct {
	Kind     Kind
	Document string // the text before the #
	ID       string // the text after it: an operationId, or a method in upper case; a workflow; of Other the kind
}

// methods are the methods of plain URLs. An operationId that looks like one of them can be used
// in documents that are files, or through the catalogue.
var methods = []string{"POST", "PUT", "PATCH", "GET", "HEAD", "DELETE"}

// Parse parses an operation, without checking it.
func Parse(text string) Operation {
	if text == "" {
		return Operation{}
	}
	if name, ok := ir.JobWorkflow(text); ok {
		return Operation{Kind: Job, ID: name}
	}
	if b, ok := ir.BuiltinOf(text); ok {
		document, id, _ := strings.Cut(b.Document, "#")
		switch b.Kind {
		case "http":
			return Operation{Kind: PlainURL}
		case "openapi":
			return Operation{Document, LowerScheme(document), id}
		}
		return Operation{Other, LowerScheme(document), b.Kind}
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

// LowerScheme returns an address with its scheme in lower case, the form that is stored and
// looked up (RFC 3986 §3.1). Other references stay as they are.
func LowerScheme(ref string) string {
	if !Remote(ref) {
		return ref
	}
	scheme, rest, _ := strings.Cut(ref, "://")
	return strings.ToLower(scheme) + "://" + rest
}

// Router chooses the invoker of a call. The operation in the definition takes precedence; the
// catalogue is for functions without one.
type Router struct {
	HTTP      effect.Invoker            // of plain URLs
	OpenAPI   effect.Invoker            // of operations of documents
	Others    map[string]effect.Invoker // of other calls that their arguments describe, by kind
	Catalogue Catalogue
	Closers   []func() // of invokers that leave something behind
	// Within tells the invokers how long a definition waits for the answer of a call; nil: they need not know.
	Within func(ctx context.Context, timeout time.Duration) context.Context
}

// Close ends what calls left behind. It is called when no call is made any more.
func (r *Router) Close() {
	for _, end := range r.Closers {
		end()
	}
}

// Catalogue knows functions by name.
type Catalogue interface {
	effect.Invoker
	// Knows reports whether there is such a function; if not, near is a similar name.
	Knows(name string) (known bool, near string)
}

var _ effect.Invoker = (*Router)(nil)

// Invoke passes the call on.
func (r *Router) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	operation := Parse(c.Operation)
	if r.Within != nil && c.Timeout > 0 {
		ctx = r.Within(ctx, c.Timeout)
	}
	switch operation.Kind {
	case PlainURL:
		if r.HTTP != nil {
			return r.HTTP.Invoke(ctx, c)
		}
	case Document:
		if r.OpenAPI != nil {
			return r.OpenAPI.Invoke(ctx, c)
		}
	case Other:
		if other := r.Others[operation.ID]; other != nil {
			return other.Invoke(ctx, c)
		}
	case ByName:
		return r.byName(ctx, c)
	}
	detail := fmt.Sprintf("function %q: nothing here can call %q", c.Function, c.Operation)
	return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: detail})
}

func (r *Router) byName(ctx context.Context, c effect.Call) effect.Outcome {
	if r.Catalogue == nil {
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: fmt.Sprintf(
			"function %q has no operation, and there is no catalogue that could know its name; give it an operation, a catalogue (--functions) or a mock", c.Function)})
	}
	known, near := r.Catalogue.Knows(c.Function)
	if known {
		return r.Catalogue.Invoke(ctx, c)
	}
	detail := fmt.Sprintf("function %q has no operation, and the catalogue does not have it", c.Function)
	if near != "" {
		detail += fmt.Sprintf("; did you mean %q?", near)
	}
	return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: detail})
}
