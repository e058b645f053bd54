package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/effect/openapi"
	"github.com/lockstep-workflows/lockstep/scenario"
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
	c, ds := a.registry().Compile(file, text, bundleFor(ctx, file, client), dialect.Options{Dialect: dialectName, Functions: catalogued})
	return definition{c, file, ds}, nil
}

// readFile reads a file and, where it is missing, names one that may be meant.
func readFile(ctx context.Context, path string) ([]byte, error) {
	text, err := dialect.ReadFile(ctx, path)
	if err == nil {
		return text, nil
	}
	f := asFailure(err)
	if errors.Is(err, fs.ErrNotExist) {
		f.detail = fmt.Sprintf("there is no file %q", path)
		if near := nearFile(path); near != "" {
			f.hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return nil, f
}

func nearFile(path string) string {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := dialect.Suggest(name, names); near != "" {
		return dir + near
	}
	return ""
}

// findDefinitions lists the files among the paths, and the documents below those
// that are directories; scenario files and hidden directories are passed over.
// found tells those of the second kind: they may be something else than definitions.
func findDefinitions(paths []string) (files []string, found map[string]bool, err error) {
	found = map[string]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			files = append(files, path) // reading it will tell what is wrong
			continue
		}
		err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && at != path && strings.HasPrefix(entry.Name(), "."):
				return fs.SkipDir
			case isFile(entry) && isDocument(entry.Name()) && !scenario.IsFile(entry.Name()):
				files = append(files, at)
				found[at] = true
			}
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("look for definitions: %w", err)
		}
	}
	return files, found, nil
}

// isFile tells files and links from pipes and devices, which are not read unasked.
func isFile(entry fs.DirEntry) bool { return entry.Type()&^fs.ModeSymlink == 0 }

func isDocument(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// looksLikeDefinition tells a definition from the other documents of a folder:
// functions, schemas, API descriptions.
func looksLikeDefinition(d definition) bool {
	if d.FrontEnd != nil || d.Document.Root == nil {
		return true
	}
	return d.Document.Root.Get("states") != nil
}
