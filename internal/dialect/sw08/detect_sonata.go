package sw08

import (
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// SonataFlow takes any text that compiles for an expression. The specification wants ${ } where a value need not
// be one, so texts without are expressions only in definitions that show that they were written for
// SonataFlow (semantics.md §SonataFlow).

// alwaysExpressions are the parameters that are expressions with or without braces.
var alwaysExpressions = map[string]bool{
	"condition": true, "input": true, "output": true, "fromStateData": true, "results": true,
	"inputCollection": true, "outputCollection": true,
}

// sonataStyle reports whether a document is written in SonataFlow's style.
func sonataStyle(root *dialect.Node) bool {
	s := &sonataMarks{}
	s.visit(root)
	return s.found || !s.braces
}

type sonataMarks struct {
	found  bool
	braces bool // ${ stands somewhere
}

func (s *sonataMarks) visit(n *dialect.Node) {
	if n == nil || n.Name() == "metadata" {
		return
	}
	if n.Kind == expr.KindString {
		s.text(n)
	}
	if n.Get("type").Literal() == typeExpression {
		operation, _ := n.Get("operation").Str()
		s.found = s.found || operation != "" && !strings.Contains(operation, "${")
	}
	if n.Name() == "extensions" && n.Is(expr.KindArray) {
		for _, item := range n.Items {
			id := extensionID(item)
			s.found = s.found || id == extensionPrefixes || id == extensionOutput
		}
	}
	for _, m := range n.Members {
		s.visit(m)
	}
	for _, item := range n.Items {
		s.visit(item)
	}
}

func (s *sonataMarks) text(n *dialect.Node) {
	text := strings.TrimSpace(n.Text)
	switch {
	case strings.Contains(text, "${"):
		s.braces = true
	case alwaysExpressions[n.Name()] && text != "":
		s.found = true
	case n.Name() == "operation" && sonataOperation.MatchString(text), n.Name() == "arguments":
		s.found = true
	case strings.HasPrefix(text, "$WORKFLOW") || strings.HasPrefix(text, "$SECRET"):
		s.found = true
	}
}

// sonataOperation are the custom operations of SonataFlow.
var sonataOperation = regexp.MustCompile(`^(rest:|sysout(:|$)|service:|script:|camel:|knative:|dmn|rpc:|div:|mul:|sum:|asyncapi:|openapi:)`)

// bareExpression is how expressions without braces begin; English words never do.
var bareExpression = regexp.MustCompile(`^(\.[A-Za-z_]|\.\[|\."|["{\[(]|\$(WORKFLOW|SECRETS?|CONST)\b)`)

func looksBare(text string) bool { return bareExpression.MatchString(strings.TrimSpace(text)) }
