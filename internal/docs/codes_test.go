//go:build unix

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTransportCodes: the table of functions.md has the codes of calls without an answer, all of them and no others.
func TestTransportCodes(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "../effect/http/client.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	ast.Inspect(source, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Code") {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			defined[code] = true
		}
		return true
	})
	text, err := os.ReadFile("../../docs/functions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### Without an answer\n")
	section, _, _ = strings.Cut(section, "\n## ")
	shown := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		shown[row[1]] = true
	}
	if want, got := slices.Sorted(maps.Keys(defined)), slices.Sorted(maps.Keys(shown)); len(want) == 0 || !slices.Equal(want, got) {
		t.Errorf("the code has %q, functions.md has %q", want, got)
	}
}
