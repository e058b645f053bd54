package load

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/secrets"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// Outbound is the flag of commands that call other machines.
type Outbound struct{ Allow []string }

// Add adds --outbound-allow.
func (o *Outbound) Add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.Allow, "outbound-allow", nil, "allow calls to this private `address` (CIDR or HOST[:PORT]); repeatable")
}

// Client makes the client of all calls, under the outbound policy. Authentications that use secrets
// take them from known; nil: there are none.
func (o *Outbound) Client(known *secrets.Store) (*http.Client, error) {
	client, err := http.New(http.Options{Allow: o.Allow, Version: version.Read().Version, Secrets: known.Get, Holds: known.Holds})
	if err != nil {
		return nil, cli.Usagef("--outbound-allow: %v", err)
	}
	return client, nil
}

// bundle opens the files of a definition's folder, and documents over HTTP under the outbound policy.
type bundle struct {
	dialect.Bundle
	ctx    context.Context
	client *http.Client
}

// Bundle opens the files and documents that a file refers to.
func Bundle(ctx context.Context, file string, client *http.Client) dialect.Bundle {
	return bundle{dialect.DirBundle(filepath.Dir(file)), ctx, client}
}

// Open reads a file of the folder, or fetches a document.
func (b bundle) Open(ref string) ([]byte, error) {
	if !strings.HasPrefix(ref, "http://") && !strings.HasPrefix(ref, "https://") {
		return b.Bundle.Open(ref)
	}
	address, _, _ := strings.Cut(ref, "#")
	text, err := b.client.Fetch(b.ctx, address)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Pin stores the documents that calls need in the program. Calls that run programs are errors, unless that is
// allowed.
func (d Definition) Pin(ctx context.Context, client *http.Client, allowExec bool) dialect.Diagnostics {
	found := builtin.Kinds.Pin(ctx, Bundle(ctx, d.File, client), d.functions())
	if !allowExec {
		found = append(found, builtin.CheckExec(d.File, d.Program)...)
	}
	return found
}

// CheckCalls reports what is wrong with the calls and the documents that they need. It opens addresses only where
// fetch is set.
func (d Definition) CheckCalls(ctx context.Context, client *http.Client, fetch bool) dialect.Diagnostics {
	return builtin.Kinds.Check(ctx, Bundle(ctx, d.File, client), d.functions(), fetch)
}

func (d Definition) functions() pin.Definition {
	return pin.Definition{File: d.File, Program: d.Program, Operations: d.Operations}
}

// Definition is one that was read and compiled.
type Definition struct {
	dialect.Compiled
	File        string
	Diagnostics dialect.Diagnostics
}

// Compile compiles a file, or stdin for -. catalogued are functions that it need not define.
func Compile(a *cli.App, ctx context.Context, file, dialectName string, client *http.Client, catalogued ...string) (Definition, error) {
	text, file, err := a.ReadText(ctx, file)
	if err != nil {
		return Definition{}, err
	}
	c, ds := dialects.All().Compile(file, text, Bundle(ctx, file, client), dialect.Options{
		Dialect: dialectName, Functions: catalogued, Budget: &dialect.Budget{Stop: ctx.Err},
	})
	return Definition{c, file, ds}, nil
}

// Reader reads definitions for commands that do not run them.
type Reader struct {
	*cli.App
	Ctx     context.Context
	Client  *http.Client
	Dialect string
}

// WithReader adds the flags for reading definitions to a command, and runs it with a reader.
func WithReader(a *cli.App, cmd *cobra.Command, run func(r Reader, args []string) error) {
	var dialectName string
	var outbound Outbound
	a.DialectFlag(cmd, &dialectName)
	outbound.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := outbound.Client(nil)
		if err != nil {
			return err
		}
		defer client.Close()
		return run(Reader{a, cmd.Context(), client, dialectName}, args)
	}
}

// Read compiles a file, or stdin for -.
func (r Reader) Read(file string, catalogued ...string) (Definition, error) {
	return Compile(r.App, r.Ctx, file, r.Dialect, r.Client, catalogued...)
}
