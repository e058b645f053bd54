package arch

import (
	"fmt"
	"slices"
	"strings"
)

// packageTable: the table and the tree name the same packages.
func packageTable(m *Module) []Violation {
	var found []Violation
	exists := map[string]bool{}
	for _, p := range m.Packages {
		exists[short(p.Dir)] = true
		if _, ok := m.Table[short(p.Dir)]; !ok {
			found = append(found, Violation{
				At:   p.Dir,
				Text: "the package is not in the table of ARCHITECTURE.md; add a row that says what it holds and may import",
			})
		}
	}
	for _, dir := range sortedKeys(m.Table) {
		row := m.Table[dir]
		at := fmt.Sprintf("ARCHITECTURE.md:%d", row.Line)
		if !exists[dir] {
			found = append(found, Violation{At: at, Text: fmt.Sprintf("there is no package %s; remove it from the table", dir)})
		}
		for _, other := range row.MayImport {
			if _, ok := m.Table[other]; !ok {
				found = append(found, Violation{At: at, Text: fmt.Sprintf("%s may import %s, which is not in the table; correct the name", dir, other)})
			}
		}
	}
	return found
}

// imports: our own packages import one another only as the table allows. Tests
// may import more; see testImports.
func imports(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		row, ok := m.Table[short(p.Dir)]
		if !ok {
			continue // packageTable says so
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, spec := range f.AST.Imports {
				dir, own := m.own(importPath(spec))
				if !own || row.Allows(short(dir)) {
					continue
				}
				found = append(found, Violation{
					At: m.at(spec.Pos()),
					Text: fmt.Sprintf("%s may not import %s; move the code to where the table of ARCHITECTURE.md allows it, or argue for a change of the table",
						p.Dir, dir),
				})
			}
		}
	}
	return found
}

// testImports: the tests of a pure package may use the other pure packages and
// the front-ends, which run nothing. A test that needs the engine, a store or
// the network belongs to the package that has it.
func testImports(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		if !isPure(p.Dir) {
			continue
		}
		for _, f := range p.Files {
			if !f.Test {
				continue
			}
			for _, spec := range f.AST.Imports {
				dir, own := m.own(importPath(spec))
				if !own || isPure(dir) || within(short(dir), "dialect") {
					continue
				}
				found = append(found, Violation{
					At:   m.at(spec.Pos()),
					Text: fmt.Sprintf("a test of the pure package %s may not import %s; move the test up to that package", p.Dir, dir),
				})
			}
		}
	}
	return found
}

// forTests are modules that only tests need: other implementations to compare with, and
// servers to talk to. None of them gets into the binary.
var forTests = []string{
	"github.com/nats-io/nats-server/v2", "github.com/cloudevents/sdk-go/v2",
	"github.com/modelcontextprotocol/go-sdk", "github.com/a2aproject/a2a-go",
	"go.opentelemetry.io/proto/otlp",
}

// testModules: what only tests need is imported by tests only.
func testModules(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, spec := range f.AST.Imports {
				for _, module := range forTests {
					if within(importPath(spec), module) {
						found = append(found, Violation{
							At:   m.at(spec.Pos()),
							Text: fmt.Sprintf("%s is for tests only; import it in a file that ends in _test.go", module),
						})
					}
				}
			}
		}
	}
	return found
}

// within reports whether dir is top or below it.
func within(dir, top string) bool {
	return dir == top || strings.HasPrefix(dir, top+"/")
}

func sortedKeys(t Table) []string {
	keys := make([]string, 0, len(t))
	for k := range t {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
