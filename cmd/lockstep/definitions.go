package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
)

// outboundFlags are what commands that reach beyond this machine share.
type outboundFlags struct{ allow []string }

func (o *outboundFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.allow, "outbound-allow", nil, "allow calls to this private `address` (CIDR or HOST[:PORT]); repeatable")
}

func (o *outboundFlags) client() (*http.Client, error) {
	client, err := http.New(http.Options{Allow: o.allow, Version: readVersion().Version})
	if err != nil {
		return nil, usagef("--outbound-allow: %v", err)
	}
	return client, nil
}

// bundle opens what a definition refers to: files of its folder, and documents
// over HTTP under the outbound policy.
type bundle struct {
	dialect.Bundle
	ctx    context.Context
	client *http.Client
}

func bundleFor(ctx context.Context, file string, client *http.Client) dialect.Bundle {
	return bundle{dialect.DirBundle(filepath.Dir(file)), ctx, client}
}

func (b bundle) Open(ref string) ([]byte, error) {
	if !strings.HasPrefix(ref, "http://") && !strings.HasPrefix(ref, "https://") {
		return b.Bundle.Open(ref)
	}
	address, _, _ := strings.Cut(ref, "#")
	text, err := b.client.Fetch(b.ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", address, err)
	}
	return text, nil
}

// pin stores the OpenAPI documents of the functions in the program.
func (d definition) pin(ctx context.Context, client *http.Client) dialect.Diagnostics {
	return openapi.Pin(ctx, d.Program, bundleFor(ctx, d.file, client), d.functions())
}

func (d definition) functions() openapi.Definition {
	return openapi.Definition{File: d.file, Operations: d.Operations}
}

// definition is one that was read and compiled.
type definition struct {
	dialect.Compiled
	file        string
	diagnostics dialect.Diagnostics
}

// compile compiles a file. catalogued are functions that need no definition in it.
func (a *app) compile(ctx context.Context, file, dialectName string, client *http.Client, catalogued ...string) (definition, error) {
	text, err := readFile(ctx, file)
	if err != nil {
		return definition{}, err
	}
	return a.compileText(ctx, file, text, dialectName, client, catalogued...), nil
}

func (a *app) compileText(ctx context.Context, file string, text []byte, dialectName string, client *http.Client, catalogued ...string) definition {
	c, ds := a.registry().Compile(file, text, bundleFor(ctx, file, client), dialect.Options{Dialect: dialectName, Functions: catalogued, Budget: &dialect.Budget{Stop: ctx.Err}})
	return definition{c, file, ds}
}

// definitionReader reads definitions for the commands that run none of them.
type definitionReader struct {
	*app
	ctx     context.Context
	client  *http.Client
	dialect string
}

// readsDefinitions adds to a command the flags about reading definitions, and what
// it does with a reader.
func (a *app) readsDefinitions(cmd *cobra.Command, run func(r definitionReader, args []string) error) {
	var dialectName string
	var outbound outboundFlags
	a.dialectFlag(cmd, &dialectName)
	outbound.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := outbound.client()
		if err != nil {
			return err
		}
		defer client.Close()
		return run(definitionReader{a, cmd.Context(), client, dialectName}, args)
	}
}

// read compiles a file or, named -, stdin.
func (r definitionReader) read(file string, catalogued ...string) (definition, error) {
	if file != "-" {
		return r.compile(r.ctx, file, r.dialect, r.client, catalogued...)
	}
	text, err := r.stdin(r.ctx)
	if err != nil {
		return definition{}, err
	}
	return r.compileText(r.ctx, stdinName, text, r.dialect, r.client, catalogued...), nil
}

// stdinName stands for a file's name where text comes from stdin.
const stdinName = "stdin"

func (a *app) stdin(ctx context.Context) ([]byte, error) {
	text, err := dialect.ReadAll(ctx, a.in)
	if err != nil {
		return nil, fmt.Errorf("read stdin: %w", err)
	}
	return text, nil
}
