package arch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Module is a Go module as the rules see it: every file parsed, nothing built.
type Module struct {
	Path     string // as in go.mod
	Table    Table
	Packages []*Package // by directory

	fsys  fs.FS
	fset  *token.FileSet
	types *checker // of the pure packages, once they are asked for
}

// Package is one directory with Go files.
type Package struct {
	Dir   string // relative to the root, with slashes; "." for the root
	Name  string // without _test
	Files []*File
}

// File is one Go file.
type File struct {
	Path  string // relative to the root
	Test  bool
	Lines int
	Text  string
	AST   *ast.File
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// Load reads the module at the root of fsys together with its ARCHITECTURE.md.
// Directories that the go command ignores are ignored here too.
func Load(fsys fs.FS) (*Module, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	match := moduleLine.FindSubmatch(mod)
	if match == nil {
		return nil, errors.New("go.mod names no module")
	}
	text, err := fs.ReadFile(fsys, "ARCHITECTURE.md")
	if err != nil {
		return nil, err
	}
	table, err := parseTable(string(text))
	if err != nil {
		return nil, fmt.Errorf("ARCHITECTURE.md: %w", err)
	}
	m := &Module{Path: string(match[1]), Table: table, fsys: fsys, fset: token.NewFileSet()}
	if err := m.walk(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Module) walk() error {
	byDir := map[string]*Package{}
	err := fs.WalkDir(m.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && m.ignored(name) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		file, err := m.parse(name)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		p := byDir[dir]
		if p == nil {
			p = &Package{Dir: dir, Name: strings.TrimSuffix(file.AST.Name.Name, "_test")}
			byDir[dir] = p
			m.Packages = append(m.Packages, p)
		}
		p.Files = append(p.Files, file)
		return nil
	})
	slices.SortFunc(m.Packages, func(a, b *Package) int { return cmp.Compare(a.Dir, b.Dir) })
	return err
}

// ignored reports whether the go command would not look into a directory:
// hidden ones, testdata, and modules of their own.
func (m *Module) ignored(dir string) bool {
	base := path.Base(dir)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
		return true
	}
	_, err := fs.Stat(m.fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (m *Module) parse(name string) (*File, error) {
	src, err := fs.ReadFile(m.fsys, name)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(m.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &File{
		Path:  name,
		Test:  strings.HasSuffix(name, "_test.go"),
		Lines: bytes.Count(src, []byte("\n")),
		Text:  string(src),
		AST:   syntax,
	}, nil
}

// own returns the directory of one of the module's own packages.
func (m *Module) own(importPath string) (dir string, ok bool) {
	if importPath == m.Path {
		return ".", true
	}
	return strings.CutPrefix(importPath, m.Path+"/")
}

// at returns a place in a file, as editors understand it.
func (m *Module) at(pos token.Pos) string {
	p := m.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// importPath returns what an import declaration names.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "" // the parser refuses such a file
	}
	return p
}

// enclosing returns the name of the function declaration around a place:
// "Name", "Type.Name", or "" outside of functions.
func (f *File) enclosing(pos token.Pos) string {
	for _, d := range f.AST.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || pos < fn.Pos() || fn.End() <= pos {
			continue
		}
		if fn.Recv == nil || len(fn.Recv.List) == 0 {
			return fn.Name.Name
		}
		return receiverName(fn.Recv.List[0].Type) + "." + fn.Name.Name
	}
	return ""
}

func receiverName(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.StarExpr:
		return receiverName(x.X)
	case *ast.IndexExpr:
		return receiverName(x.X)
	case *ast.IndexListExpr:
		return receiverName(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
