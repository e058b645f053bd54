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
	auth         *template // nil: there is none
}

func (r *reader) openapi(name string, n *dialect.Node) entry {
	f := r.Fields(n, "openapi")
	if f == nil {
		return nil
	}
	document, id := f.Name("document"), f.Name("operation")
	o := &operation{headers: r.headers(f), timeout: r.timeout(f), auth: r.authentication(f)}
	f.Done()
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
	extra := openapi.Extra{ID: o.id, Header: header, Secret: len(s.values) > 0, Timeout: o.timeout}
	if extra.Auth, err = c.policy(o.auth, s); err != nil {
		return failedAuth("function \""+call.Function+"\"", err)
	}
	call.Operation, call.Documents = o.document+"#"+o.id, o.documents
	return c.options.OpenAPI.Call(ctx, call, extra), nil
}
