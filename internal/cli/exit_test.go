package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExitCodesAreDocumented: the table of docs/cli.md has every exit code, once, and no other.
func TestExitCodesAreDocumented(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "exit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Exit") {
			codes = append(codes, spec.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Exit codes\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var documented []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(table, -1) {
		documented = append(documented, row[1])
	}
	if len(codes) < 10 || !slices.Equal(codes, documented) {
		t.Errorf("the program has %v, docs/cli.md %v", codes, documented)
	}
}
