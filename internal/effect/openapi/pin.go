package openapi

import (
	"context"
	"errors"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

// Kind knows OpenAPI documents.
type Kind struct{}

var _ pin.Kind = Kind{}

// Find finds the document of a function and everything that is wrong with its operation there.
func (Kind) Find(f *pin.Finder, fn pin.Function) string {
	if fn.Operation.ID == "" {
		return "" // a front-end warns of a document without an operation
	}
	lib := f.Keep(Kind{}, func() any { return newLibrary(f.Open) }).(*library)
	o, c, err := lib.compile(f.Ctx, fn.Operation.Document, fn.Operation.ID)
	var p *problem
	switch {
	case errors.As(err, &p):
		at := fn.ID
		if p.document {
			at = fn.Document
		}
		if d := f.Failf(at, err, p.code, "function %q: %s", fn.Name, p.msg); p.hint != "" {
			d.WithHint("%s", p.hint)
		}
	case err != nil:
		f.Failf(fn.ID, err, codeBroken, "function %q: %v", fn.Name, err)
	default:
		if c.twice {
			f.Warnf(fn.ID, codeTwice, "function %q: %q has several operations %q; the first one is called: %s %s",
				fn.Name, fn.Operation.Document, fn.Operation.ID, o.method, o.path)
		}
		for _, note := range c.notes {
			f.Warnf(fn.ID, codeUnchecked, "function %q: %s", fn.Name, note)
		}
		c.checkCalls(f, fn, o, f.Errorf)
	}
	if c == nil || c.root == nil {
		return ""
	}
	return c.root.ref
}

// One pins a single operation, for callers without a program: the documents, and what
// there is to say against it. The document and the operationId are texts of the user's. An address that cannot
// be reached is a warning: a server must be able to start without the services that its functions call.
func One(ctx context.Context, bundle dialect.Bundle, name string, document, id *dialect.Node) (effect.Documents, dialect.Diagnostics) {
	f := pin.NewFinder(ctx, bundle, pin.Definition{File: id.File(), AllowUnreachable: true})
	root := Kind{}.Find(f, pin.Function{
		Name: name, Document: document, ID: id,
		Operation: route.Operation{Kind: route.Document, Document: route.LowerScheme(document.Text), ID: id.Text},
	})
	return f.Documents(root), f.Diagnostics()
}
