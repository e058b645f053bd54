package arch

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"path"
)

// others reads packages that are not ours from source, without function bodies,
// and remembers them. It has a file set of its own: places in them are of no
// interest.
var others = importer.ForCompiler(token.NewFileSet(), "source", nil).(types.ImporterFrom)

// checker gives the types of our own packages.
type checker struct {
	m    *Module
	done map[string]*types.Package // by import path
	info *types.Info
	errs []types.Error
}

func newChecker(m *Module) *checker {
	return &checker{
		m:    m,
		done: map[string]*types.Package{},
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{},
			Uses:  map[*ast.Ident]types.Object{},
		},
	}
}

// typed checks the types of the pure packages, once.
func (m *Module) typed() *checker {
	if m.types == nil {
		m.types = newChecker(m)
		for _, p := range m.Packages {
			if isPure(p.Dir) {
				m.types.check(p)
			}
		}
	}
	return m.types
}

// Import implements types.Importer.
func (c *checker) Import(importPath string) (*types.Package, error) {
	if p := c.done[importPath]; p != nil {
		return p, nil
	}
	dir, own := c.m.own(importPath)
	if !own {
		return others.ImportFrom(importPath, ".", 0)
	}
	for _, p := range c.m.Packages {
		if p.Dir == dir {
			return c.check(p), nil
		}
	}
	return nil, fmt.Errorf("no package %s", importPath)
}

// check type-checks a package without its tests. Errors are collected; what
// could be typed is typed all the same.
func (c *checker) check(p *Package) *types.Package {
	importPath := path.Join(c.m.Path, p.Dir)
	if done := c.done[importPath]; done != nil {
		return done
	}
	var files []*ast.File
	for _, f := range p.Files {
		if !f.Test && c.m.built(f.Path) {
			files = append(files, f.AST)
		}
	}
	conf := types.Config{
		Importer: c,
		Error: func(err error) {
			if e, ok := err.(types.Error); ok {
				c.errs = append(c.errs, e)
			}
		},
	}
	pkg, _ := conf.Check(importPath, c.m.fset, files, c.info)
	c.done[importPath] = pkg
	return pkg
}

// built reports whether the build constraints of a file hold on this machine.
func (m *Module) built(name string) bool {
	ctx := build.Default
	ctx.JoinPath = path.Join
	ctx.OpenFile = func(name string) (io.ReadCloser, error) {
		return m.fsys.Open(name)
	}
	ok, err := ctx.MatchFile(path.Dir(name), path.Base(name))
	return ok && err == nil
}
