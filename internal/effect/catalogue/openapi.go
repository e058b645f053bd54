package catalogue

import (
	"context"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/ir"
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

// CheckCalls reports calls that do not fit the documents of the catalogue. No catalogue promises nothing.
func (c *Catalogue) CheckCalls(ctx context.Context, def pin.Definition) dialect.Diagnostics {
	if c == nil || def.Program == nil {
		return nil
	}
	f := pin.NewFinder(ctx, dialect.NoBundle, def)
	for i, fn := range def.Program.Functions {
		o, ok := c.entries[fn.Name].(*operation)
		if !ok || fn.Operation != "" {
			continue
		}
		given := http.Header{}
		for _, h := range o.headers {
			given.Add(h.name, "given")
		}
		if o.auth == nil && given.Get("Cookie") == "" { // else the operator may give any parameter
			openapi.CheckCalls(f, pin.Function{Name: fn.Name, Calls: f.Calls(ir.FunctionID(i))}, o.documents, o.id, given)
		}
	}
	return f.Diagnostics()
}
