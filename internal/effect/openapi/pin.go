package openapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Definition is where functions stand, for diagnostics.
type Definition struct {
	File       string
	Operations map[string]*dialect.Node // by the name of the function
}

// Pin opens the documents of a program's functions and stores them in the program; its
// digest covers them from then on. Everything it finds is a warning. A program is
// pinned once, before it is deployed. Where ctx ends before that, nothing is pinned and
// that is an error: it must not be deployed.
func Pin(ctx context.Context, p *ir.Program, bundle dialect.Bundle, def Definition) dialect.Diagnostics {
	f := newFinder(ctx, bundle, def)
	roots := make([]*document, len(p.Functions))
	for i, fn := range p.Functions {
		roots[i] = f.function(fn.Name, fn.Operation, dialect.Pos{File: def.File, Line: fn.Pos.Line, Column: fn.Pos.Column})
		if err := ctx.Err(); err != nil {
			var given dialect.Reporter
			given.File = def.File
			given.Errorf(dialect.Pos{File: def.File, Line: 1, Column: 1}, codeOpen, "the documents of the functions are not all opened yet: %v", err)
			return given.Diagnostics()
		}
	}
	for i, root := range roots {
		if root != nil {
			p.Functions[i].Resource = 1 + slices.Index(f.lib.order, root)
		}
	}
	all := f.documents()
	for _, d := range all {
		p.Resources = append(p.Resources, ir.Resource{Ref: d.Ref, Text: d.Text})
	}
	if len(all) > 0 {
		p.Digest = digest(p.Digest, all)
	}
	return f.report.Diagnostics()
}

// Check reports what Pin would, also for a definition that has errors elsewhere, and
// nothing where ctx ends before it is done. It opens addresses only where fetch is set.
func Check(ctx context.Context, bundle dialect.Bundle, def Definition, fetch bool) dialect.Diagnostics {
	f := newFinder(ctx, bundle, def)
	for _, name := range slices.Sorted(maps.Keys(def.Operations)) {
		n := def.Operations[name]
		if fetch || !route.Remote(n.Text) {
			f.function(name, n.Text, n.Pos())
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return f.report.Diagnostics()
}

// One pins a single operation, for callers without a program: the documents, and what
// there is to say against it. The document and the operationId are texts of the user's.
func One(ctx context.Context, bundle dialect.Bundle, name string, document, id *dialect.Node) (effect.Documents, dialect.Diagnostics) {
	f := newFinder(ctx, bundle, Definition{File: id.File()})
	root := f.operation(name, route.Operation{Kind: route.Document, Document: route.LowerScheme(document.Text), ID: id.Text}, document, id)
	all := f.documents()
	d := effect.Documents{Key: digest("", all), All: all}
	if root != nil {
		d.Root = 1 + slices.Index(f.lib.order, root)
	}
	return d, f.report.Diagnostics()
}

// finder opens documents once and reports what is wrong with them.
type finder struct {
	ctx    context.Context
	def    Definition
	lib    *library
	report dialect.Reporter
}

func newFinder(ctx context.Context, bundle dialect.Bundle, def Definition) *finder {
	return &finder{ctx: ctx, def: def, report: dialect.Reporter{File: def.File}, lib: newLibrary(func(ref string) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return bundle.Open(ref)
	})}
}

// function finds the document of one function.
func (f *finder) function(name, operation string, pos dialect.Pos) *document {
	named := route.Parse(operation)
	if named.Kind != route.Document || named.ID == "" {
		return nil // a front-end warns of a document without an operation
	}
	text, id := dialect.Place(pos), dialect.Place(pos)
	if n := f.def.Operations[name]; n != nil && n.Text == operation {
		text, id = n.SpanIn(0, len(named.Document)), n.SpanIn(len(named.Document)+1, len(n.Text))
	}
	return f.operation(name, named, text, id)
}

// operation finds a document and everything that is wrong with an operation in it.
func (f *finder) operation(name string, named route.Operation, text, id dialect.Place) *document {
	o, c, err := f.lib.compile(f.ctx, named.Document, named.ID)
	var p *problem
	switch {
	case errors.As(err, &p):
		at := id
		if p.document {
			at = text
		}
		if d := f.report.Warnf(at, p.code, "function %q: %s", name, p.msg); p.hint != "" {
			d.WithHint("%s", p.hint)
		}
	case err != nil:
		f.report.Warnf(id, codeBroken, "function %q: %v", name, err)
	default:
		if c.twice {
			f.report.Warnf(id, codeTwice, "function %q: %q has several operations %q; the first one is called: %s %s", name, named.Document, named.ID, o.method, o.path)
		}
		for _, note := range c.notes {
			f.report.Warnf(id, codeUnchecked, "function %q: %s", name, note)
		}
	}
	if c == nil {
		return nil
	}
	return c.root
}

func (f *finder) documents() []effect.Document {
	var out []effect.Document
	for _, d := range f.lib.order {
		out = append(out, effect.Document{Ref: d.ref, Text: d.text})
	}
	return out
}

// digest covers the documents too. Lengths come first, so that no two lists of
// documents look alike.
func digest(before string, all []effect.Document) string {
	h := sha256.New()
	frame := func(text string) {
		fmt.Fprintf(h, "\x00%d:", len(text))
		_, _ = io.WriteString(h, text) // a hash never fails
	}
	frame(before)
	for _, r := range all {
		frame(r.Ref)
		frame(r.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
