package load

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// Needs is what a definition refers to on this machine.
type Needs struct {
	File         string
	IsDefinition bool
	ID           string            // "": it has errors
	Files        map[string][]byte // by path relative to the folder of the definition
	Refused      error             // the first file that is there and cannot be used
	Workflows    []string          // the ids of its sub-workflows
}

// NeedsOf finds what a definition refers to. It opens no addresses, and leaves out what is missing: the server says
// what is wrong. Why a file that is there cannot be used only this machine knows.
func NeedsOf(ctx context.Context, file string, text []byte, dialectName string) Needs {
	files := &recorder{Bundle: dialect.DirBundle(filepath.Dir(file)), opened: map[string][]byte{}}
	c, _ := dialects.All().Compile(file, text, files, dialect.Options{Dialect: dialectName, Budget: &dialect.Budget{Stop: ctx.Err}})
	builtin.Kinds.Check(ctx, files, pin.Definition{File: file, Program: c.Program, Operations: c.Operations, Root: c.Document.Root}, false)
	out := Needs{File: file, IsDefinition: c.IsDefinition(), Files: files.opened, Refused: files.refused}
	if c.Program == nil {
		return out
	}
	out.ID = c.Program.ID
	for _, n := range c.Program.Nodes {
		if spawn, ok := n.Op.(*ir.Spawn); ok && !slices.Contains(out.Workflows, spawn.Workflow) {
			out.Workflows = append(out.Workflows, spawn.Workflow)
		}
	}
	return out
}

// recorder remembers the files that were opened.
type recorder struct {
	dialect.Bundle
	opened  map[string][]byte
	refused error
}

// Open implements dialect.Bundle.
func (r *recorder) Open(ref string) ([]byte, error) {
	text, err := r.Bundle.Open(ref)
	if name, ok := dialect.FilePath(ref); ok && err == nil {
		r.opened[name] = text
	} else if ok && filepath.IsLocal(name) && r.refused == nil && !errors.Is(err, fs.ErrNotExist) {
		r.refused = err
	}
	return text, err
}

// IDs finds the definitions of a folder, not of those below it: their files, by id. Files that cannot be read are left
// out.
func IDs(ctx context.Context, folder string) map[string]string {
	out := map[string]string{}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if !dialect.IsDocument(e.Name()) || scenario.IsFile(e.Name()) || e.IsDir() {
			continue
		}
		file := filepath.Join(folder, e.Name())
		text, err := dialect.ReadFile(ctx, file)
		if err != nil {
			continue
		}
		c, _ := dialects.All().Compile(file, text, dialect.DirBundle(folder), dialect.Options{Budget: &dialect.Budget{Stop: ctx.Err}})
		if c.Program != nil && c.FrontEnd != nil {
			if _, twice := out[c.Program.ID]; !twice {
				out[c.Program.ID] = file
			}
		}
	}
	return out
}
