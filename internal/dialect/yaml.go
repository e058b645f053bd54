package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/expr"
)

// yamlReader turns the library's tree into ours. The library scans and parses;
// what a scalar means, which tags and keys are allowed and how aliases expand is
// decided here, after YAML 1.2's core schema.
type yamlReader struct {
	*reader
	lines lineIndex
	shown *strings.Replacer   // see hideSeparators; nil: there are none
	open  map[*yaml.Node]bool // containers being read: an alias to one is a cycle
}

func (r *reader) yaml(begin int) *Node {
	src := r.doc.Source
	y := &yamlReader{reader: r, lines: r.doc.lines, open: map[*yaml.Node]bool{}}
	if at := structure(src, 2*r.limits.Nodes); at >= 0 {
		r.tooMany(at)
		return nil
	}
	root := y.parse(begin)
	if r.stopped {
		return nil
	}
	n := y.node(root, 1)
	if !r.stopped && n.Kind == expr.KindNull && n.style == styleEmpty {
		r.fatal(n.start, n.start, CodeEmpty, "the document is empty")
	}
	return n
}

// structure returns where text has more than limit of the characters that begin
// or separate values, -1 if nowhere. It guards memory: the library builds all of
// its tokens and nodes, several hundred bytes each, before any can be counted.
// It may count characters in text and comments too, hence the generous limit.
func structure(src []byte, limit int) int {
	count := 0
	for i, c := range src {
		switch c {
		case ',', '[', '{':
			count++
		case ':', '-', '?':
			if i+1 == len(src) || isBlank(src[i+1]) {
				count++
			}
		case '&', '!', '*', '"', '\'':
			if i == 0 || isBlank(src[i-1]) || bytes.IndexByte([]byte(`,[{:"'`), src[i-1]) >= 0 {
				count++
			}
		}
		if count > limit {
			return i
		}
	}
	return -1
}

// parse returns the only document of the stream.
func (y *yamlReader) parse(begin int) *yaml.Node {
	src := y.version(begin)
	if !y.stopped {
		src = y.hideSeparators(src, begin)
	}
	if y.stopped {
		return nil
	}
	guard := &yamlGuard{depth: y.limits.Depth}
	var root, second yaml.Node
	var first, next error
	err := confine(func() error {
		loader, err := yaml.NewLoader(bytes.NewReader(src), yaml.WithPlugin(guard))
		if err != nil {
			return err
		}
		if first = loader.Load(&root); first == nil {
			next = loader.Load(&second)
		}
		return nil
	})
	switch {
	case err != nil:
		y.fatal(begin, begin, CodeSyntax, "the document cannot be read as YAML: %v", err)
	case errors.Is(first, io.EOF):
		y.fatal(begin, begin, CodeEmpty, "the document is empty")
	case first != nil:
		y.syntax(first, guard)
	case next == nil:
		at := y.lines.offset(second.Line, second.Column)
		y.fatal(at, at+3, CodeDocuments, "a second document begins here").WithHint("write one definition in each file")
	case !errors.Is(next, io.EOF):
		y.syntax(next, guard)
	case len(root.Content) != 1:
		y.fatal(begin, begin, CodeEmpty, "the document is empty")
	default:
		if y.shown != nil {
			y.show(&root)
		}
		return root.Content[0]
	}
	return nil
}

// confine turns a panic of the library into an error.
func confine(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

// yamlGuard stops the library before it recurses deeper than we allow.
type yamlGuard struct {
	depth   int
	tripped bool
}

func (g *yamlGuard) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > g.depth {
		g.tripped = true
		return errors.New("too deep")
	}
	return nil
}

func (g *yamlGuard) CheckAlias(int, int) error { return nil }

var _ yaml.LimitPlugin = (*yamlGuard)(nil)

// start returns where a node's text begins, behind its anchor and tag.
func (y *yamlReader) start(n *yaml.Node) int {
	at := y.lines.offset(n.Line, n.Column)
	if isEmpty(n) {
		return at
	}
	src := y.doc.Source
	anchor, tag := n.Anchor != "", n.Tag == "!" || n.Style&yaml.TaggedStyle != 0
	for (anchor || tag) && at < len(src) {
		switch {
		case anchor && src[at] == '&':
			at, anchor = at+1+len(n.Anchor), false
		case tag && src[at] == '!':
			at, tag = at+len(word(src[at:])), false
		default: // the library and we disagree; its place is the better one
			return at
		}
		at = skipBlank(src, at)
	}
	return min(at, len(src))
}

// skipBlank returns where white space and comments end.
func skipBlank(src []byte, at int) int {
	for at < len(src) {
		switch n := breakLen(src[at:]); {
		case n > 0:
			at += n
		case isBlank(src[at]):
			at++
		case src[at] == '#':
			for at < len(src) && breakLen(src[at:]) == 0 {
				at++
			}
		default:
			return at
		}
	}
	return at
}

// word returns text up to the first white space.
func word(text []byte) []byte {
	for i := range text {
		if isBlank(text[i]) || breakLen(text[i:]) > 0 {
			return text[:i]
		}
	}
	return text
}

// isEmpty reports whether a scalar is not written at all, as in `key:`.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&^yaml.TaggedStyle == 0
}

// node reads one value; it always returns one unless reading has stopped.
func (y *yamlReader) node(n *yaml.Node, depth int) *Node {
	at := y.start(n)
	if n.Kind == yaml.AliasNode {
		return y.alias(n, at, depth)
	}
	if !y.admit(at) {
		return nil
	}
	out := &Node{doc: y.doc, start: at}
	switch {
	case n.Kind == yaml.ScalarNode:
		y.scalar(n, out)
	case !y.enter(at, depth):
	case n.Kind == yaml.MappingNode:
		y.mapping(n, out, depth)
	default:
		y.sequence(n, out, depth)
	}
	if y.stopped {
		return nil
	}
	return out
}

func (y *yamlReader) alias(n *yaml.Node, at, depth int) *Node {
	if y.open[n.Alias] {
		y.errorf(at, at+1+len(n.Value), CodeAlias, "alias %s is inside what it refers to", quote("*"+n.Value))
		return &Node{doc: y.doc, start: at, style: styleEmpty}
	}
	return y.node(n.Alias, depth)
}

func (y *yamlReader) sequence(n *yaml.Node, out *Node, depth int) {
	y.containerTag(n, "!!seq")
	out.Kind, out.style = expr.KindArray, containerStyle(n)
	y.open[n] = true
	defer delete(y.open, n)
	for _, c := range n.Content {
		item := y.node(c, depth+1)
		if y.stopped {
			return
		}
		out.Items = append(out.Items, item)
	}
}

func containerStyle(n *yaml.Node) style {
	if n.Style&yaml.FlowStyle != 0 {
		return styleFlow
	}
	return stylePlain
}

func (y *yamlReader) mapping(n *yaml.Node, out *Node, depth int) {
	if y.template(n, out) {
		return
	}
	y.containerTag(n, "!!map")
	out.Kind, out.style = expr.KindObject, containerStyle(n)
	y.open[n] = true
	defer delete(y.open, n)
	var m members
	var merge, mergeKey *yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if isMerge(k) {
			if merge != nil {
				at := y.start(k)
				y.errorf(at, at+2, CodeDuplicateKey, "key \"<<\" repeats the one at %s", y.at(y.start(mergeKey))).
					WithHint("merge a list: \"<<: [*a, *b]\"")
				continue
			}
			merge, mergeKey = v, k
			continue
		}
		key := y.key(k)
		value := y.node(v, depth+1)
		if y.stopped {
			return
		}
		if key != nil {
			value.Key = key
			y.member(&m, value)
		}
	}
	if merge != nil {
		y.merge(merge, &m, depth)
	}
	m.into(out)
}

func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && k.Style == 0
}

// merge adds the members of one mapping, or of a list of them, that are not
// there yet: what is written in place wins, then the first in the list.
func (y *yamlReader) merge(n *yaml.Node, m *members, depth int) {
	at, reported := y.start(n), y.errors
	from := y.node(n, depth+1)
	if y.stopped {
		return
	}
	sources := []*Node{from}
	if from.Kind == expr.KindArray {
		sources = from.Items
	}
	for _, s := range sources {
		if s.Kind != expr.KindObject && y.errors > reported {
			return // a cycle, already reported
		}
		if s.Kind != expr.KindObject {
			y.errorf(at, at+1, CodeAlias, "\"<<\" merges mappings, and this is %s", s.Kind.WithArticle()).
				WithHint("write an alias to a mapping, as in \"<<: *defaults\"")
			return
		}
		for _, member := range s.Members {
			if m.get(member.Key.Text) == nil {
				m.add(member)
			}
		}
	}
}

// key reads a key. JSON, which definitions and data become, has only text for
// keys, so a plain scalar is the text it is written with: `on`, `200` and `true`
// are "on", "200" and "true". A key that is not there, or null, is refused.
func (y *yamlReader) key(n *yaml.Node) *Node {
	if n.Kind == yaml.AliasNode && n.Alias.Kind == yaml.ScalarNode {
		n = n.Alias
	}
	at := y.start(n)
	if n.Kind != yaml.ScalarNode {
		y.errorf(at, at+1, CodeKey, "a key must be text").WithHint("put text with brackets or braces in quotes")
		return nil
	}
	key := &Node{Kind: expr.KindString, Text: n.Value, doc: y.doc, start: at, style: scalarStyle(n)}
	switch {
	case n.Style&yaml.TaggedStyle != 0 && !coreTags[n.Tag]:
		y.foreignTag(n)
	case key.style == styleEmpty && n.Tag != "!" && n.Style == 0:
		y.errorf(at, at+1, CodeKey, "the key before this \":\" is missing")
		return nil
	case key.style == stylePlain && n.Style == 0 && isNullWord(n.Value):
		y.errorf(at, key.end(), CodeKey, "a key cannot be null").WithHint("put it in quotes if it is meant as text")
		return nil
	}
	return key
}

// template recognises text like {{ $.name }} that was not put in quotes and so
// is a mapping within a mapping to YAML. It is read as the text it looks like.
func (y *yamlReader) template(n *yaml.Node, out *Node) bool {
	src := y.doc.Source[out.start:]
	if n.Style&yaml.FlowStyle == 0 || !bytes.HasPrefix(src, []byte("{{")) {
		return false
	}
	text := src
	if i := bytes.IndexAny(src, "\r\n"); i >= 0 {
		text = src[:i]
	}
	if i := bytes.Index(text, []byte("}}")); i >= 0 {
		text = text[:i+2]
	}
	y.errorf(out.start, out.start+len(text), CodeKey, "text that begins with \"{{\" must be in quotes").
		WithHint("write %q", string(text))
	out.Kind, out.Text = expr.KindString, string(text)
	return true
}
