package arch

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"
)

// pureTops are the packages, with everything below them, whose results depend on
// their arguments alone. That is what lets one instance be advanced on any
// machine, and a run be repeated from its inputs.
var pureTops = []string{"core", "ir", "jobdata", "expr", "calendar"}

func isPure(dir string) bool {
	return slices.ContainsFunc(pureTops, func(top string) bool { return within(short(dir), top) })
}

// impureImports are forbidden in pure packages, each with everything below it.
var impureImports = map[string]string{
	"context":     "nothing pure waits or is cancelled; bound the work with a budget",
	"os":          "take what is needed as an argument",
	"net":         "describe the effect as a command and let the engine carry it out",
	"sync":        "values are immutable and one goroutine advances an instance",
	"log":         "return a record, a warning or an error",
	"math/rand":   "derive what looks random from the instance's seed",
	"crypto/rand": "derive what looks random from the instance's seed",
	"runtime":     "the result must not depend on the machine",
	"syscall":     "the result must not depend on the machine",
}

// pureImports: the pure packages import nothing that reaches the world outside.
func pureImports(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		if !isPure(p.Dir) {
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, spec := range f.AST.Imports {
				name := importPath(spec)
				for top := name; top != "."; top = path.Dir(top) {
					if advice, bad := impureImports[top]; bad {
						found = append(found, Violation{
							At:   m.at(spec.Pos()),
							Text: fmt.Sprintf("%s is pure and may not import %s: %s", p.Dir, name, advice),
						})
						break
					}
				}
			}
		}
	}
	return found
}

// pureFiles: the pure packages are the same code on every machine, and it
// compiles; the rules below need its types.
func pureFiles(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		if !isPure(p.Dir) {
			continue
		}
		for _, f := range p.Files {
			if !f.Test && !m.built(f.Path) {
				found = append(found, Violation{At: f.Path, Text: "a pure package has no files for some machines only; write it once for all"})
			}
		}
	}
	for _, err := range m.typed().errs {
		found = append(found, Violation{At: m.at(err.Pos), Text: err.Msg + "; mend this first, the rules of purity need types"})
	}
	return found
}

// clockNames are the functions and variables of package time that read or wait
// for the machine's clock, or depend on its time zone.
var clockNames = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc",
	"NewTimer", "NewTicker", "Tick", "Local",
}

// pureCalls: the pure packages never ask what time it is.
func pureCalls(m *Module) []Violation {
	return m.eachTyped(func(f *File, info *types.Info, n ast.Node) string {
		id, ok := n.(*ast.Ident)
		if !ok {
			return ""
		}
		obj := info.Uses[id]
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != "time" {
			return ""
		}
		if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
			if obj.Name() != "Local" { // t.After(u) and the like only compare
				return ""
			}
		} else if !slices.Contains(clockNames, obj.Name()) {
			return ""
		}
		return fmt.Sprintf("time.%s depends on the machine; take the time as an argument and stay in UTC", obj.Name())
	})
}

// mapOrder: the pure packages never go through a map in Go's random order.
func mapOrder(m *Module) []Violation {
	const advice = "the order of a map is random; keep a slice, or take slices.Sorted(maps.Keys(m))"
	sorted := map[ast.Node]bool{} // calls whose result is sorted at once
	return m.eachTyped(func(f *File, info *types.Info, n ast.Node) string {
		switch x := n.(type) {
		case *ast.RangeStmt:
			t := info.TypeOf(x.X)
			if t == nil {
				return ""
			}
			if _, ok := t.Underlying().(*types.Map); ok {
				return advice
			}
		case *ast.CallExpr:
			name := calledName(info, x)
			if strings.HasPrefix(name, "slices.Sorted") && len(x.Args) > 0 {
				sorted[ast.Unparen(x.Args[0])] = true
			}
			switch name {
			case "maps.Keys", "maps.Values", "maps.All":
				if !sorted[x] {
					return advice
				}
			}
		}
		return ""
	})
}

// calledName returns "package.Function" of a call of a package's function.
func calledName(info *types.Info, call *ast.CallExpr) string {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	fn, ok := info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return ""
	}
	return fn.Pkg().Path() + "." + fn.Name()
}

// eachTyped calls visit for every node of the pure packages, tests apart, parents
// first. A text that it returns is a violation.
func (m *Module) eachTyped(visit func(*File, *types.Info, ast.Node) string) []Violation {
	var found []Violation
	info := m.typed().info
	for _, p := range m.Packages {
		if !isPure(p.Dir) {
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			ast.Inspect(f.AST, func(n ast.Node) bool {
				if n == nil {
					return false
				}
				if text := visit(f, info, n); text != "" {
					found = append(found, Violation{At: m.at(n.Pos()), Func: f.enclosing(n.Pos()), Text: text})
				}
				return true
			})
		}
	}
	return found
}
