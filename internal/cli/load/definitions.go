package load

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/secrets"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// Outbound is the flag of commands that call other machines.
type Outbound struct {
	Allow               []string
	Timeout, MaxTimeout time.Duration // of a call; 0: the default
	timed               bool          // there are flags for both
}

// Add adds --outbound-allow.
func (o *Outbound) Add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.Allow, "outbound-allow", nil, "allow calls to this private `address` (CIDR or HOST[:PORT]); repeatable")
}

// AddTimeouts adds --call-timeout and --call-timeout-max.
func (o *Outbound) AddTimeouts(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.Timeout, "call-timeout", http.DefaultLimits.Timeout, "how long a call may take if neither its definition nor its function states a timeout")
	o.AddMaxTimeout(cmd)
	o.timed = true
}

// AddMaxTimeout adds --call-timeout-max.
func (o *Outbound) AddMaxTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.MaxTimeout, "call-timeout-max", http.DefaultLimits.MaxTimeout, "how long a call may take if its definition states a longer timeout")
}

// checkTimeouts refuses timeouts that cannot be meant.
func (o *Outbound) checkTimeouts() error {
	switch {
	case o.timed && (o.Timeout <= 0 || o.MaxTimeout <= 0):
		return cli.Usagef("--call-timeout and --call-timeout-max must be positive")
	case o.Timeout > 0 && o.MaxTimeout > 0 && o.MaxTimeout < o.Timeout:
		return cli.Usagef("--call-timeout-max (%s) must not be less than --call-timeout (%s)", o.MaxTimeout, o.Timeout)
	}
	return nil
}

// Client makes the client of all calls, under the outbound policy. Authentications that use secrets
// take them from known; nil: there are none.
func (o *Outbound) Client(known *secrets.Store) (*http.Client, error) {
	if err := o.checkTimeouts(); err != nil {
		return nil, err
	}
	client, err := http.New(http.Options{Limits: http.Limits{Timeout: o.Timeout, MaxTimeout: o.MaxTimeout}, Allow: o.Allow, Version: version.Read().Version, Secrets: known.Get, Holds: known.Holds})
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

// Allowed is what definitions may do, and may lack, on this machine.
type Allowed struct {
	Exec        bool // run programs
	Unreachable bool // need a document from the network that cannot be opened
}

// UnreachableFlag adds --allow-unreachable.
func UnreachableFlag(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(allow, "allow-unreachable", false, "let documents on the network pass that cannot be fetched now; calls that need them fail")
}

// Pin stores the documents that calls need in the program.
func (d Definition) Pin(ctx context.Context, client *http.Client, allow Allowed) dialect.Diagnostics {
	def := d.Calls(client)
	def.AllowUnreachable = allow.Unreachable
	found := builtin.Kinds.Pin(ctx, Bundle(ctx, d.File, client), def)
	if !allow.Exec {
		found = append(found, builtin.CheckExec(d.File, d.Program)...)
	}
	return found
}

// CheckCalls reports what is wrong with the calls and the documents that they need, and with calls of functions that a
// catalogue describes. It opens addresses only where fetch is set.
func (d Definition) CheckCalls(ctx context.Context, client *http.Client, known *catalogue.Catalogue, fetch bool) dialect.Diagnostics {
	found := builtin.Kinds.Check(ctx, Bundle(ctx, d.File, client), d.Calls(client), fetch)
	return append(found, known.CheckCalls(ctx, d.Calls(client))...)
}

// CheckTogether reports what is wrong between definitions: jobs that no workflow describes, and inputs that do not fit.
func CheckTogether(client *http.Client, all []Definition) dialect.Diagnostics {
	var compiled []dialect.Compiled
	var defs []pin.Definition
	for _, d := range all {
		compiled, defs = append(compiled, d.Compiled), append(defs, d.Calls(client))
	}
	return append(dialect.CheckJobs(compiled), pin.CheckInputs(defs)...)
}

// Calls is what the calls of the definition are compared with functions by.
func (d Definition) Calls(client *http.Client) pin.Definition {
	return pin.Definition{File: d.File, Program: d.Program, Operations: d.Operations, Root: d.Document.Root, MaxTimeout: client.Limits().MaxTimeout}
}

// Uses lists the local files that the definition refers to, once it is pinned.
func (d Definition) Uses() (out []string) {
	add := func(ref string) {
		if name, ok := dialect.FilePath(ref); ok {
			out = append(out, filepath.Join(filepath.Dir(d.File), filepath.FromSlash(name)))
		}
	}
	for ref := range d.Files {
		add(ref)
	}
	for _, r := range d.Program.Resources {
		add(r.Ref)
	}
	return out
}

// Definition is one that was read and compiled.
type Definition struct {
	dialect.Compiled
	File        string
	Diagnostics dialect.Diagnostics
}

// Compile compiles a file, or stdin for -. catalogued are functions that it need not define.
func Compile(a *cli.App, ctx context.Context, file, dialectName string, client *http.Client, catalogued ...string) (Definition, error) {
	return Reader{App: a, Ctx: ctx, Client: client, Dialect: dialectName}.Read(file, catalogued...)
}

// Reader reads definitions for commands that do not run them.
type Reader struct {
	*cli.App
	Ctx     context.Context
	Client  *http.Client
	Dialect string
	Local   bool // no document is fetched: what needs one is checked without it
}

// WithReader adds the flags for reading definitions to a command, and more of them, and runs it with a reader.
func WithReader(a *cli.App, cmd *cobra.Command, run func(r Reader, args []string) error, more ...func(*Outbound, *cobra.Command)) {
	var dialectName string
	var outbound Outbound
	a.DialectFlag(cmd, &dialectName)
	outbound.Add(cmd)
	for _, add := range more {
		add(&outbound, cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := outbound.Client(nil)
		if err != nil {
			return err
		}
		defer client.Close()
		return run(Reader{App: a, Ctx: cmd.Context(), Client: client, Dialect: dialectName}, args)
	}
}

// Bundle opens what a file refers to.
func (r Reader) Bundle(file string) dialect.Bundle {
	files := Bundle(r.Ctx, file, r.Client)
	if r.Local {
		files = pin.Local(files)
	}
	return files
}

// Read compiles a file, or stdin for -.
func (r Reader) Read(file string, catalogued ...string) (Definition, error) {
	text, file, err := r.ReadText(r.Ctx, file)
	if err != nil {
		return Definition{}, err
	}
	c, ds := dialects.All().Compile(file, text, r.Bundle(file), dialect.Options{
		Dialect: r.Dialect, Functions: catalogued, Budget: &dialect.Budget{Stop: r.Ctx.Err},
	})
	return Definition{c, file, ds}, nil
}
