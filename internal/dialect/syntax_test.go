package dialect

import (
	"fmt"
	"strings"
	"testing"
)

// Every value is found where it is written, with its anchor and tag.
func TestSyntax(t *testing.T) {
	src := "a: &x 'one'   # comment\n" +
		"\"b\" : |+\n    block\n     more\n\n" +
		"c:\n- plain over\n  two lines # comment\n- {k: [1, 2 ] , l: }\n- *x\n-\n- !!map &y\n  d: >2\n      deep\n    text\n# end\n"
	want := []string{
		"mapping 0",
		"plain [a]", "single & &x ['one']",
		"double [\"b\"]", "block [|+\n    block\n     more\n]",
		"plain [c]", "sequence 0",
		"plain [plain over\n  two lines]",
		"mapping flow [{k: [1, 2 ] , l: }]", "plain [k]", "sequence flow [[1, 2 ]]", "plain [1]", "plain [2]", "plain [l]", "empty",
		"alias [*x]",
		"empty",
		"mapping 2 & !!map &y", "plain [d]", "block [>2\n      deep\n    text]",
	}
	doc, found := Read("a.yaml", []byte(src))
	if found.HasErrors() {
		t.Fatal(found)
	}
	root, err := doc.Syntax()
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"empty", "plain", "single", "double", "block", "alias", "mapping", "sequence"}
	var got []string
	var visit func(s *Syntax)
	visit = func(s *Syntax) {
		line := kinds[s.Kind]
		container := s.Kind == SyntaxMapping || s.Kind == SyntaxSequence
		if container && s.Flow {
			line += " flow"
		} else if container {
			line += fmt.Sprintf(" %d", s.Column)
		}
		if s.Props != "" {
			line += " & " + s.Props
		}
		if s.Kind != SyntaxEmpty && (!container || s.Flow) {
			line += " [" + src[s.Start:s.End] + "]"
		}
		got = append(got, line)
		for _, c := range s.Content {
			visit(c)
		}
	}
	visit(root)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
