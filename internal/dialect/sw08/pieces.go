package sw08

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// piece is an expression inside of a text: from its first brace to behind the last.
type piece struct {
	source
	from, to int
	alone    bool // nothing but blanks is around it
}

// pieces finds the expressions in a text: ${ … }, and with jsonpath {{ … }}.
func (p *parser) pieces(text string) ([]piece, error) {
	if p.w.language == langJSONPath && !strings.Contains(text, "${") {
		return pathPieces(text)
	}
	parts, err := jq.Parts(text)
	if err != nil {
		return nil, err
	}
	var out []piece
	for _, part := range parts {
		if part.Expr {
			end := part.Offset + len(part.Src)
			out = append(out, inside(text, part.Offset, end, len("${"), len("}")))
		}
	}
	return alone(text, out), nil
}

// pathPieces finds {{ path }}.
func pathPieces(text string) ([]piece, error) {
	if !jsonpath.HasExpression(text) {
		return nil, nil
	}
	if err := jsonpath.CheckTemplateString(text); err != nil {
		return nil, err
	}
	var out []piece
	for at := 0; ; {
		open := strings.Index(text[at:], "{{")
		length := strings.Index(text[at+max(open, 0):], "}}")
		if open < 0 || length < 0 {
			return alone(text, out), nil
		}
		open += at
		if open == 0 || text[open-1] != '\\' {
			out = append(out, inside(text, open+2, open+length, len("{{"), len("}}")))
		}
		at = open + length + 2
	}
}

// inside is the expression in text[begin:end] with its braces around.
func inside(text string, begin, end, before, after int) piece {
	inner := text[begin:end]
	blanks := len(inner) - len(strings.TrimLeft(inner, " \t\r\n"))
	return piece{source: source{strings.TrimSpace(inner), begin + blanks}, from: begin - before, to: end + after}
}

func alone(text string, all []piece) []piece {
	if len(all) == 1 && strings.TrimSpace(text[:all[0].from]) == "" && strings.TrimSpace(text[all[0].to:]) == "" {
		all[0].alone = true
		all[0].from, all[0].to = 0, len(text)
	}
	return all
}
