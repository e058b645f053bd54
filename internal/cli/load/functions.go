package load

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/effect/process"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/secrets"
)

// Catalogue are the flags of a catalogue of functions.
type Catalogue struct {
	File      string
	AllowExec bool
	Timeout   time.Duration // of programs that tasks run
}

// AddPrograms adds --program-timeout, for commands that make calls.
func (f *Catalogue) AddPrograms(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.Timeout, "program-timeout", process.DefaultTimeout, "how long a program may take that a task runs")
}

// Router makes the calls of definitions, which log to log.
func (f *Catalogue) Router(client *http.Client, log *slog.Logger) *route.Router {
	return builtin.Router(builtin.Options{Client: client, AllowExec: f.AllowExec, Timeout: f.Timeout, Log: log}, nil)
}

// Add adds --functions and --allow-exec.
func (f *Catalogue) Add(cmd *cobra.Command) {
	cli.ParseFlag(cmd.Flags(), "functions", "a catalogue `file` of functions that definitions call by name", func(file string) error {
		if f.File != "" { // the first one would be ignored silently
			return fmt.Errorf("it is given twice (%s before): put both into one file", f.File)
		}
		f.File = file
		return nil
	})
	cmd.Flags().BoolVar(&f.AllowExec, "allow-exec", false, "allow functions of the catalogue, and tasks of definitions, to run programs on this machine")
}

// Read reads the catalogue; nil if there is none, or if it has errors. Its functions use the known secrets.
func (f *Catalogue) Read(ctx context.Context, a *cli.App, client *http.Client, known *secrets.Store) (*catalogue.Catalogue, *dialect.Document, dialect.Diagnostics, error) {
	if f.File == "" {
		return nil, nil, nil, nil
	}
	text, err := cli.ReadFile(ctx, f.File)
	if err != nil {
		return nil, nil, nil, err
	}
	c, doc, found := catalogue.Read(ctx, f.File, text, catalogue.Options{
		AllowExec: f.AllowExec, Dir: filepath.Dir(f.File), Bundle: Bundle(ctx, f.File, client),
		Client: client, OpenAPI: openapi.New(client), Log: a.Log, Secrets: known.Get,
	})
	return c, doc, found, nil
}

// Use reads the catalogue for a run. Errors end the run, warnings are shown.
func (f *Catalogue) Use(ctx context.Context, a *cli.App, client *http.Client, known *secrets.Store) (*catalogue.Catalogue, error) {
	c, doc, found, err := f.Read(ctx, a, client, known)
	if err != nil {
		return nil, err
	}
	if found.HasErrors() {
		return nil, a.InvalidDocument("the catalogue of functions cannot be used", doc, found)
	}
	for _, d := range found {
		if a.Problems {
			break
		}
		if err := cli.Render(a.Err, doc, d); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// OnlyNamed are the positions of functions that the definition lists without an operation, by name.
// Functions of another file have the position of the reference to it, and only if they are called.
// Functions that are called but not listed have a warning already.
func (d Definition) OnlyNamed() map[string]dialect.Place {
	out := map[string]dialect.Place{}
	list := d.Document.Root.Get("functions")
	if list == nil {
		return out
	}
	for _, n := range list.Items {
		if name, ok := n.Get("name").Str(); ok && d.Operations[name] == nil {
			out[name] = n.Get("name")
		}
	}
	if d.Program == nil { // it has errors
		return out
	}
	for _, f := range d.Program.Functions {
		if f.Operation != "" { // dialects have different names for it
			delete(out, f.Name)
		}
	}
	if list.Is(expr.KindString) {
		for _, node := range d.Program.Nodes {
			if call, ok := node.Op.(*ir.Call); ok && d.Program.Functions[call.Function].Operation == "" {
				out[d.Program.Functions[call.Function].Name] = list
			}
		}
	}
	return out
}
