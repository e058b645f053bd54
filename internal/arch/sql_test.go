package arch

import (
	"go/ast"
	"go/token"
	"regexp"
)

var unnamedColumns = regexp.MustCompile(`(?i)\bINSERT\b[^(]*\bINTO\s+[\w~.]+\s+(VALUES|SELECT)\b`)

// insertColumns: an INSERT names its columns, so that no migration gives a value to another one.
func insertColumns(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			ast.Inspect(f.AST, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if ok && text.Kind == token.STRING && unnamedColumns.MatchString(text.Value) {
					found = append(found, Violation{
						At: m.at(text.Pos()), Func: f.enclosing(text.Pos()), Text: "an INSERT without the names of its columns; name them",
					})
				}
				return true
			})
		}
	}
	return found
}
