package arch

import (
	"go/ast"
	"strings"
)

// testSleep: a test never waits for the real clock. Inside a synctest bubble
// time is virtual, and sleeping is how it goes on.
func testSleep(m *Module) []Violation {
	const text = "time.Sleep in a test is slow or flaky; wait for the thing itself, or use testing/synctest"
	return m.eachTest(func(f *File, report func(ast.Node, string)) {
		clock, bubble := importName(f.AST, "time"), importName(f.AST, "testing/synctest")
		ast.Inspect(f.AST, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && isSelector(call.Fun, bubble, "Test") {
				return false
			}
			if ok && isSelector(call.Fun, clock, "Sleep") {
				report(call, text)
			}
			return true
		})
	})
}

// testSkip: a test that does not run proves nothing.
func testSkip(m *Module) []Violation {
	const text = "a skipped test proves nothing; make it run everywhere, or name it among the exceptions in rules_test.go"
	return m.eachTest(func(f *File, report func(ast.Node, string)) {
		handles := testHandles(f.AST)
		ast.Inspect(f.AST, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(sel.Sel.Name, "Skip") || sel.Sel.Name == "Skipped" {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); ok && handles[id.Name] {
				report(call, text)
			}
			return true
		})
	})
}

func (m *Module) eachTest(visit func(f *File, report func(ast.Node, string))) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if !f.Test {
				continue
			}
			visit(f, func(n ast.Node, text string) {
				found = append(found, Violation{At: m.at(n.Pos()), Func: f.enclosing(n.Pos()), Text: text})
			})
		}
	}
	return found
}

// testHandles returns the names under which a file takes a *testing.T, B or F
// or a testing.TB. Other types may well have a method named Skip.
func testHandles(file *ast.File) map[string]bool {
	names := map[string]bool{}
	pkg := importName(file, "testing")
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		t := field.Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		for _, kind := range []string{"T", "B", "F", "TB"} {
			if isSelector(t, pkg, kind) {
				for _, id := range field.Names {
					names[id.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// importName returns the name under which a file imports a package, "" if not.
func importName(file *ast.File, path string) string {
	for _, spec := range file.Imports {
		if importPath(spec) != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndex(path, "/")+1:]
	}
	return ""
}

// isSelector reports whether an expression is pkg.name.
func isSelector(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || pkg == "" || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}
