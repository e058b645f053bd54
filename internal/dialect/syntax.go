package dialect

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Syntax is a YAML value as it is written, for package format: with the anchors,
// aliases and tags that a [Node] has no trace of. Offsets count bytes of the
// document's source. What is not part of a value stands between the offsets:
// white space, comments, and the marks of lists and keys.
type Syntax struct {
	Kind  SyntaxKind
	Begin int // where its anchor or tag begins, else Start
	Start int // where the value itself begins
	End   int // behind its last character; for block text without the last line break

	Column int // of a container in block style, counted from 0

	// Props is its anchor and tag as they are written, with one blank between, and
	// PropsEnd where they end; "" and 0 without any.
	Props    string
	PropsEnd int

	Scalar expr.Kind // what a scalar means
	Text   string    // a scalar's decoded text
	Flow   bool      // a container in brackets

	// Content holds the items of a sequence, or keys and values by turns.
	Content []*Syntax
}

// SyntaxKind is how a value is written.
type SyntaxKind uint8

// The ways to write a value.
const (
	SyntaxEmpty SyntaxKind = iota // nothing is written, as in `key:`
	SyntaxPlain
	SyntaxSingle // '…'
	SyntaxDouble // "…"
	SyntaxBlock  // | and >
	SyntaxAlias
	SyntaxMapping
	SyntaxSequence
)

// Syntax returns how a YAML document that was read without errors is written.
func (d *Document) Syntax() (*Syntax, error) {
	begin := len(d.Source) - len(bytes.TrimPrefix(d.Source, bom))
	r := &reader{doc: d, limits: DefaultLimits, report: Reporter{File: d.File}}
	y := &yamlReader{reader: r, lines: newLineIndex(d.Source, begin)}
	root := y.parse(begin)
	if root == nil {
		return nil, fmt.Errorf("read again: %w", r.report.Diagnostics())
	}
	return y.written(root, -1), nil
}

// written describes a value; column is that of the block container around it,
// counted from 0, -1 for the root.
func (y *yamlReader) written(n *yaml.Node, column int) *Syntax {
	s := &Syntax{Begin: y.lines.offset(n.Line, n.Column)}
	s.Start = y.start(n)
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || n.Tag == "!" {
		y.props(s)
	}
	s.End = s.Start
	switch n.Kind {
	case yaml.AliasNode:
		s.Kind, s.Text = SyntaxAlias, n.Value
		s.End = s.Start + 1 + len(n.Value)
	case yaml.ScalarNode:
		y.syntaxScalar(n, s, column)
	case yaml.MappingNode:
		s.Kind = SyntaxMapping
		y.syntaxContent(n, s, column)
	default:
		s.Kind = SyntaxSequence
		y.syntaxContent(n, s, column)
	}
	return s
}

// props finds the anchor and tag, in whichever order they stand.
func (y *yamlReader) props(s *Syntax) {
	src := y.doc.Source
	var props []string
	for at := s.Begin; at < len(src) && (src[at] == '&' || src[at] == '!'); at = skipBlank(src, at) {
		w := strings.TrimRight(string(word(src[at:])), ",]}")
		props = append(props, w)
		at += len(w)
		s.PropsEnd = at
	}
	s.Props = strings.Join(props, " ")
}

func (y *yamlReader) syntaxScalar(n *yaml.Node, s *Syntax, column int) {
	scratch := &yamlReader{reader: &reader{doc: y.doc, limits: y.limits}, lines: y.lines}
	out := &Node{doc: y.doc, start: s.Start}
	scratch.scalar(n, out)
	s.Scalar, s.Text = out.Kind, n.Value
	text := &Node{Kind: expr.KindString, Text: n.Value, doc: y.doc, start: s.Start, style: out.style}
	switch out.style {
	case styleEmpty:
		s.Kind = SyntaxEmpty
		s.End = max(s.Begin, s.PropsEnd)
		return
	case styleSingle:
		s.Kind = SyntaxSingle
	case styleDouble:
		s.Kind = SyntaxDouble
	case styleLiteral, styleFolded:
		s.Kind = SyntaxBlock
		s.End = blockEnd(y.doc.Source, s.Start, column)
		return
	default:
		s.Kind = SyntaxPlain
	}
	s.End = text.end()
}

func (y *yamlReader) syntaxContent(n *yaml.Node, s *Syntax, column int) {
	s.Flow = n.Style&yaml.FlowStyle != 0
	if !s.Flow {
		column = columnOf(y.doc.Source, s.Start)
		s.Column = column
	}
	for _, c := range n.Content {
		child := y.written(c, column)
		s.Content = append(s.Content, child)
		s.End = max(s.End, child.End)
	}
	src := y.doc.Source
	if !s.Flow || s.Start >= len(src) || src[s.Start] != '{' && src[s.Start] != '[' {
		return // also a pair in a list, [a: 1], which has no brackets of its own
	}
	for s.End = max(s.End, s.Start+1); s.End < len(src); s.End++ {
		s.End = skipBlank(src, s.End)
		if s.End < len(src) && (src[s.End] == ']' || src[s.End] == '}') {
			s.End++
			return
		}
	}
}

// columnOf returns how many characters stand before an offset on its line.
func columnOf(src []byte, offset int) int {
	begin := offset
	for begin > 0 && src[begin-1] != '\n' && src[begin-1] != '\r' {
		begin--
	}
	return utf8.RuneCount(src[begin:offset])
}

// blockEnd returns where block text ends whose header begins at start, inside of
// a container at that column. Empty lines behind it belong to it only if it
// keeps them (+).
func blockEnd(src []byte, start, column int) int {
	head := lineOf(src[start:])
	header, _, _ := bytes.Cut(bytes.TrimRight(head, "\r\n"), []byte(" "))
	indent := -1 // not known before the first line
	if i := bytes.IndexAny(header, "123456789"); i > 0 {
		indent = max(column, 0) + int(header[i]-'0')
	}
	keep := bytes.IndexByte(header, '+') >= 0
	end := start + len(bytes.TrimRight(head, "\r\n"))
	for at := start + len(head); at < len(src); {
		line := lineOf(src[at:])
		text := bytes.TrimRight(line, "\r\n")
		blanks := len(text) - len(bytes.TrimLeft(text, " "))
		empty := blanks == len(text) && (indent < 0 || blanks <= indent)
		if indent < 0 && !empty && blanks > column {
			indent = blanks
		}
		if !empty && (indent < 0 || blanks < indent) {
			break
		}
		if !empty || keep {
			end = at + len(text)
		}
		at += len(line)
	}
	return end
}

// lineOf returns the first line of text with its break.
func lineOf(text []byte) []byte {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}
