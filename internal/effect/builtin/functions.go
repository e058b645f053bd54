package builtin

import (
	"cmp"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Function is what a definition calls.
type Function struct {
	Name, Kind string
	Target     string // where calls go, as written
	Places     int    // nodes that call it
	Problem    string // why it cannot be called here; "": it can
}

// Functions are those of a program in their order. known reports whether a name is in the catalogue.
func Functions(p *ir.Program, allowExec bool, known func(name string) bool) []Function {
	out := make([]Function, len(p.Functions))
	for _, n := range p.Nodes {
		if call, ok := n.Op.(*ir.Call); ok {
			out[call.Function].Places++
		}
	}
	for i := range p.Functions {
		out[i].describe(p, ir.FunctionID(i), allowExec, known)
	}
	return out
}

func (f *Function) describe(p *ir.Program, id ir.FunctionID, allowExec bool, known func(string) bool) {
	fn := &p.Functions[id]
	operation := route.Parse(fn.Operation)
	f.Name, f.Target = fn.Name, fn.Operation
	switch operation.Kind {
	case route.ByName:
		if f.Kind = "catalogue"; !known(fn.Name) {
			f.Problem = "this server has no function of that name; a catalogue (--functions) can describe one"
		}
		return
	case route.Job:
		f.Kind, f.Target = "job", operation.ID
		return
	case route.PlainURL:
		f.Kind = "http"
	case route.Document:
		if f.Kind = "openapi"; fn.Resource == 0 {
			f.Problem = "its document could not be opened when the definition was deployed"
		}
	case route.Other:
		f.Kind = operation.ID
	}
	b, ok := ir.BuiltinOf(fn.Operation)
	if !ok {
		return
	}
	switch f.Target = b.Document; b.Kind {
	case ir.LogKind:
		return
	case ir.RequestKind:
		f.request(b)
		return
	}
	if about, err := expr.ParseJSON([]byte(fn.Metadata)); err == nil {
		f.Target = cmp.Or(effect.Name(about, ir.TargetKey), f.Target)
	}
	switch {
	case b.Exec && !allowExec:
		f.Problem = "it runs a program on the server's machine; the server must be started with --allow-exec"
	case b.Document != "" && fn.Resource == 0:
		f.Problem = "its document could not be opened when the definition was deployed"
	}
}

// request describes a function whose definition is its whole request.
func (f *Function) request(b ir.Builtin) {
	r, err := b.Request()
	if err != nil {
		f.Problem = "its operation describes no request"
		return
	}
	f.Kind, f.Target = r.Protocol, r.URI
	switch r.Protocol {
	case ir.RequestHTTP, ir.RequestREST:
		f.Target = strings.ToUpper(r.Method) + " " + r.URI
	case ir.RequestGraphQL:
		f.Target += "#" + r.Kind + "#" + r.Field
	case ir.RequestOData:
		f.Target += "#" + r.EntitySet
	}
}
