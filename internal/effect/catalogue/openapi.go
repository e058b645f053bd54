package catalogue

import (
	"context"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
)

// operation is one of an OpenAPI document, which is read with the catalogue.
type operation struct {
	document, id string
	documents    effect.Documents
	headers      []named
	timeout      time.Duration
}

func (r *reader) openapi(name string, n *dialect.Node) entry {
	if !r.object(n, "openapi", "document", "operation", "headers", "timeout") {
		return nil
	}
	document, id := r.required(n, "document"), r.required(n, "operation")
	o := &operation{headers: r.headers(n), timeout: r.timeout(n)}
	if document == nil || id == nil {
		return nil
	}
	o.document, o.id = document.Text, id.Text
	var found dialect.Diagnostics
	o.documents, found = openapi.One(r.ctx, r.options.Bundle, name, document, id)
	r.documents = append(r.documents, found...)
	return o
}

func (o *operation) invoke(ctx context.Context, c *Catalogue, call effect.Call, s *secrets) (effect.Outcome, error) {
	header, err := fillHeaders(o.headers, call.Args, s)
	if err != nil {
		return effect.Outcome{}, err
	}
	call.Operation, call.Documents = o.document+"#"+o.id, o.documents
	return c.options.OpenAPI.Call(ctx, call, openapi.Extra{ID: o.id, Header: header, Secret: len(s.values) > 0, Timeout: o.timeout}), nil
}
