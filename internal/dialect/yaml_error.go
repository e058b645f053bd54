package dialect

import (
	"bytes"
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"
)

// syntax says in our words what the library found wrong.
func (y *yamlReader) syntax(err error, guard *yamlGuard) {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		y.fatal(0, 0, CodeSyntax, "the document cannot be read as YAML: %v", err)
		return
	}
	if y.shown != nil {
		load.Message = y.shown.Replace(load.Message)
	}
	at := y.lines.offset(max(load.Mark.Line, 1), max(load.Mark.Column, 1))
	from := at
	if load.ContextMark.Line > 0 {
		from = y.lines.offset(load.ContextMark.Line, load.ContextMark.Column)
	}
	if guard.tripped {
		y.tooDeep(at)
		return
	}
	if name, ok := strings.CutPrefix(load.Message, "unknown anchor '"); ok {
		name = strings.TrimSuffix(name, "' referenced")
		y.fatal(at, at+1+len(name), CodeAlias, "alias %s refers to no anchor before it", quote("*"+name)).
			WithHint("put text that begins with * in quotes")
		return
	}
	p := y.problem(load, at, from)
	d := y.fatal(p.at, p.at+1, CodeSyntax, "%s", p.message)
	if d.Hint = p.hint; y.bareTemplate(at) {
		d.Hint = "put text with {{ }} in quotes"
	}
}

type yamlProblem struct {
	at            int
	message, hint string
}

// problem translates the library's messages. at is where it gave up, from where
// the construct it was reading began.
func (y *yamlReader) problem(load *yaml.LoadError, at, from int) yamlProblem {
	const indentation = "check that the lines of one mapping or list begin in the same column"
	const quotes = "put text that holds \": \" in quotes, or check the indentation"
	switch m := load.Message; {
	case strings.Contains(m, "mapping values are not allowed"):
		return yamlProblem{at, "a \":\" cannot stand here", quotes}
	case strings.Contains(m, "could not find expected ':'"):
		return yamlProblem{from, "a \":\" is missing after this key", "a key needs \": \" and its value"}
	case strings.Contains(m, "did not find expected key"):
		return yamlProblem{at, "expected a key of the mapping that begins at " + y.at(from), indentation}
	case strings.Contains(m, "did not find expected '-'"):
		return yamlProblem{at, "expected \"- \", an item of the list that begins at " + y.at(from), indentation}
	case strings.Contains(m, "did not find expected ',' or"):
		return yamlProblem{at, "expected a comma, or the end of what the bracket at " + y.at(from) + " opens", "close the bracket"}
	case strings.Contains(m, "block sequence entries are not allowed"):
		return yamlProblem{at, "a list item cannot begin here", "begin the list on a line of its own"}
	case strings.Contains(m, "mapping keys are not allowed"):
		return yamlProblem{at, "a key cannot stand here", indentation}
	case strings.Contains(m, "cannot start any token"):
		return y.badStart(at)
	case strings.Contains(m, "tab character"):
		return yamlProblem{at, "a tab where YAML needs spaces", "indent with spaces"}
	case strings.Contains(m, "quoted scalar") || strings.Contains(load.ContextMsg, "quoted scalar"):
		return y.badQuoted(m, at, from)
	case strings.Contains(m, "node content"):
		return yamlProblem{at, "a value is missing here", ""}
	case strings.Contains(m, "tag handle"):
		return yamlProblem{at, "this tag is not declared", "put text that begins with ! in quotes"}
	case strings.Contains(m, "document start"):
		return yamlProblem{at, "text after the end of the document", "remove what follows, and a \"...\" line above"}
	case strings.Contains(load.ContextMsg, "directive"):
		return yamlProblem{from, "text cannot begin with \"%\"", "put the text in quotes"}
	default:
		return yamlProblem{at, "the document cannot be read as YAML: " + m, ""}
	}
}

func (y *yamlReader) badStart(at int) yamlProblem {
	if at >= len(y.doc.Source) {
		return yamlProblem{at, "the document ends where a value is expected", ""}
	}
	switch c := y.doc.Source[at]; c {
	case '\t':
		return yamlProblem{at, "a tab where YAML needs spaces", "indent with spaces"}
	default:
		return yamlProblem{at, "text cannot begin with " + quote(string(c)), "put the text in quotes"}
	}
}

func (y *yamlReader) badQuoted(message string, at, from int) yamlProblem {
	switch {
	case strings.Contains(message, "unknown escape"):
		return yamlProblem{at, "unknown escape in double quotes", "write a backslash as \\\\, or use single quotes"}
	case strings.Contains(message, "hexadecimal"), strings.Contains(message, "escape code"):
		return yamlProblem{at, "malformed escape in double quotes", "\\x takes two hexadecimal digits, \\u four, \\U eight, and no surrogates"}
	default:
		return yamlProblem{from, "the quoted text that begins here is not closed", ""}
	}
}

// bareTemplate reports whether the line holds {{ where a value begins.
func (y *yamlReader) bareTemplate(at int) bool {
	src := y.doc.Source
	begin := bytes.LastIndexAny(src[:min(at, len(src))], "\r\n") + 1
	line := src[begin:]
	if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	return bytes.Contains(line, []byte(": {{")) || bytes.Contains(line, []byte("- {{"))
}
