// Package builtin is the list of all kinds of calls that a definition describes itself: who makes them, and
// which documents they need.
package builtin

import (
	"log/slog"
	"maps"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/a2a"
	"github.com/lockstep-workflows/lockstep/internal/effect/asyncapi"
	"github.com/lockstep-workflows/lockstep/internal/effect/grpc"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/log"
	"github.com/lockstep-workflows/lockstep/internal/effect/mcp"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/process"
	"github.com/lockstep-workflows/lockstep/internal/effect/request"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Kinds know the documents of calls.
var Kinds = pin.Kinds{
	"openapi":  openapi.Kind{},
	"a2a":      a2a.Kind{},
	"mcp":      mcp.Kind{},
	"grpc":     grpc.Kind{},
	"asyncapi": asyncapi.Kind{},
	"script":   process.Scripts{},
}

// Options say how calls are made.
type Options struct {
	Client    *effecthttp.Client // under whose policy they are
	AllowExec bool               // they may run programs
	Timeout   time.Duration      // of such a program; 0: process.DefaultTimeout
	Log       *slog.Logger       // where workflows log; nil: nowhere
}

// Router returns an invoker of every kind of call; catalogue may be nil. Close ends what its calls left behind.
func Router(o Options, catalogue route.Catalogue) *route.Router {
	programs := process.New(process.Options{Allow: o.AllowExec, Timeout: o.Timeout, Holds: o.Client.Holds})
	r := &route.Router{
		HTTP: o.Client, OpenAPI: openapi.New(o.Client), Catalogue: catalogue,
		Others: map[string]effect.Invoker{
			"a2a":      a2a.New(o.Client),
			"mcp":      mcp.New(o.Client, o.AllowExec),
			"grpc":     grpc.New(o.Client),
			"asyncapi": asyncapi.New(o.Client),

			ir.RequestKind: request.New(o.Client),
			ir.LogKind:     log.New(o.Log),
		},
		Closers: []func(){programs.Close}, Within: effecthttp.Within,
	}
	maps.Copy(r.Others, programs.Kinds())
	return r
}

// CheckExec reports the calls of a program that run programs, for a server that does not allow it.
func CheckExec(file string, p *ir.Program) dialect.Diagnostics {
	r := dialect.Reporter{File: file}
	for _, fn := range p.Functions {
		if b, ok := ir.BuiltinOf(fn.Operation); ok && b.Exec {
			r.Errorf(dialect.Pos{File: file, Line: fn.Pos.Line, Column: fn.Pos.Column}, codeNoExec,
				"%q runs a program on this machine, which is not allowed here", fn.Name).
				WithHint("allow it with --allow-exec, if you trust everyone whose definitions run here")
		}
	}
	return r.Diagnostics()
}
