package format

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// tree is a YAML document taken apart. Everything between values belongs to some
// part of it; lines of comments are kept with their # and without indentation,
// and "" among them is an empty line.
type tree struct {
	src    string
	header []string // before the first key: it stays at the top whatever that key is (see split)
	root   *block
	footer []string // from a line "..." on
}

// block is a mapping or sequence that is written without brackets.
type block struct {
	seq     bool
	column  int // in the source
	entries []*entry
	foot    []string // comments behind the last entry that are indented like it
}

// entry is a key with its value, or an item.
type entry struct {
	in      *block
	head    []string        // lines before it
	key     *dialect.Syntax // nil for an item
	comment string          // at the end of the line of its key or dash, with the blanks before it
	below   []string        // lines between that and a value on a line of its own
	value   *dialect.Syntax
	child   *block // its value, if that is a block
	tail    string // the comment at the end of the value

	node  *dialect.Node   // its value for the order of keys
	rules []*dialect.Node // those of its value
	order *Order
}

// layout takes a document apart from its beginning to its end.
type layout struct {
	src    string
	pos    int      // what lies before is taken
	last   *string  // owns a comment that ends the current line
	closed []*block // that ended since the last entry began, inner ones first
}

// puzzle is something between values that has no place in a tree.
type puzzle struct{ line, text string }

func (p puzzle) Error() string {
	if p.text == "?" || strings.HasPrefix(p.text, "? ") {
		return fmt.Sprintf("line %s marks a key with \"?\"; write it as \"key: value\", without the mark", p.line)
	}
	return fmt.Sprintf("line %s cannot be laid out: %q", p.line, p.text)
}

func takeApart(doc *dialect.Document) (t *tree, err error) {
	root, err := doc.Syntax()
	if err != nil {
		return nil, err
	}
	l := &layout{src: string(doc.Source)}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case puzzle:
			err = p
		default:
			panic(p)
		}
	}()
	t = &tree{src: l.src}
	text := strings.TrimPrefix(l.src[:root.Begin], mark)
	l.pos = root.Begin
	switch {
	case root.Props != "":
		return nil, errors.New("the document must be a mapping without an anchor or a tag before it")
	case root.Kind != dialect.SyntaxMapping && root.Kind != dialect.SyntaxSequence:
		return nil, errors.New("the document must be a mapping")
	case !isBlock(root) || strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], " ") != "":
		l.fail(text)
	}
	for line := range strings.Lines(text) {
		t.header = add(t.header, trim(line))
	}
	own := split(t.header)
	t.root = l.block(root)
	first := t.root.entries[0]
	t.header, first.head = t.header[:own], append(t.header[own:len(t.header):len(t.header)], first.head...)
	l.end(t)
	return t, nil
}

func isBlock(s *dialect.Syntax) bool {
	return (s.Kind == dialect.SyntaxMapping || s.Kind == dialect.SyntaxSequence) && !s.Flow
}

func (l *layout) fail(text string) {
	line := strings.Count(l.src[:min(l.pos, len(l.src))], "\n") + 1
	panic(puzzle{fmt.Sprint(line), trim(text)})
}

// trim takes the blanks and breaks from around a line. What else Unicode counts as white
// space is text.
func trim(line string) string { return strings.Trim(line, " \t\n") }

// split returns where, among the lines before the first key, those begin that speak of that
// key and move with it: a paragraph of comments that touches it, below other comments. A
// paragraph that stands alone speaks of the whole document.
func split(header []string) int {
	at := len(header)
	for at > 0 && strings.HasPrefix(header[at-1], "#") {
		at--
	}
	if at == 0 || header[at-1] != "" || !slices.ContainsFunc(header[:at], func(line string) bool { return strings.HasPrefix(line, "#") }) {
		return len(header)
	}
	return at
}

// add adds a line, without repeating empty ones.
func add(lines []string, line string) []string {
	if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
		return lines
	}
	return append(lines, line)
}

func (l *layout) block(s *dialect.Syntax) *block {
	b := &block{seq: s.Kind == dialect.SyntaxSequence, column: s.Column}
	if b.seq {
		for _, item := range s.Content {
			at := l.dash()
			e := &entry{in: b, value: item, head: l.gap(at, b.column)}
			l.pos = at + 1
			l.value(e)
			b.entries = append(b.entries, e)
		}
	} else {
		for i := 0; i+1 < len(s.Content); i += 2 {
			key := s.Content[i]
			e := &entry{in: b, key: key, value: s.Content[i+1], head: l.gap(key.Begin, b.column)}
			l.pos = key.End
			colon := l.pos + len(l.src[l.pos:]) - len(strings.TrimLeft(l.src[l.pos:], " \t"))
			if colon >= len(l.src) || l.src[colon] != ':' || key.Kind == dialect.SyntaxEmpty || strings.Contains(l.src[key.Start:key.End], "\n") {
				l.fail(l.src[key.Start:key.End])
			}
			l.pos = colon + 1
			l.value(e)
			b.entries = append(b.entries, e)
		}
	}
	l.closed = append(l.closed, b)
	return b
}

// dash finds the mark of the next item.
func (l *layout) dash() int {
	for at := l.pos; at < len(l.src); at++ {
		switch l.src[at] {
		case ' ', '\t', '\n':
		case '#':
			if i := strings.IndexByte(l.src[at:], '\n'); i >= 0 {
				at += i
			} else {
				at = len(l.src)
			}
		case '-':
			return at
		default:
			l.fail(l.src[l.pos : at+1])
		}
	}
	l.fail("")
	return 0
}

// value takes what follows a key or dash.
func (l *layout) value(e *entry) {
	l.last = &e.comment
	v := e.value
	if v.Props != "" {
		e.below = l.gap(v.Begin, -1)
		l.pos = v.PropsEnd
	}
	switch {
	case v.Kind == dialect.SyntaxEmpty:
	case isBlock(v):
		e.child = l.block(v)
	case v.Kind == dialect.SyntaxBlock:
		l.between(e)
		l.pos, l.last = v.End, nil
	default:
		l.between(e)
		l.pos, l.last = v.End, &e.tail
	}
}

// between takes what stands before a value that is no block.
func (l *layout) between(e *entry) {
	for _, line := range l.gap(e.value.Start, -1) {
		if line != "" {
			e.below = append(e.below, line)
		}
	}
}

// gap takes everything up to an entry at that column, or up to a value (-1), and
// returns the lines that belong to it. Comments that are indented more than the
// entry belong to the block before that is indented like them.
func (l *layout) gap(to, column int) []string {
	if to < l.pos {
		l.fail(l.src[to:l.pos])
	}
	lines := strings.Split(l.src[l.pos:to], "\n")
	l.endLine(lines[0])
	var head []string
	empty := false
	closed := l.closed
	for i, line := range lines[1:] {
		text := trim(line)
		switch {
		case i == len(lines)-2: // before the entry itself
			if text != "" {
				l.pos = to
				l.fail(text)
			}
			if empty {
				head = append(head, "")
			}
		case text == "":
			empty = true
		case text[0] != '#':
			l.fail(text)
		default:
			into := &head
			if at := len(line) - len(strings.TrimLeft(line, " \t")); at > column && len(head) == 0 {
				for len(closed) > 0 && (closed[0].column > at || len(closed) > 1 && closed[1].column == closed[0].column) {
					closed = closed[1:] // of two at one column, the outer one
				}
				if len(closed) > 0 {
					into = &closed[0].foot
				}
			}
			if empty {
				*into, empty = append(*into, ""), false
			}
			*into = append(*into, text)
		}
	}
	l.pos = to
	if column >= 0 {
		l.closed = nil
	}
	return head
}

// endLine takes the rest of a line, which can only be a comment.
func (l *layout) endLine(text string) {
	text = strings.TrimRight(text, " \t")
	if text == "" {
		return
	}
	if l.last == nil || *l.last != "" || strings.TrimLeft(text, " \t")[0] != '#' {
		l.fail(text)
	}
	*l.last = text
}

// end takes what follows the root.
func (l *layout) end(t *tree) {
	rest := strings.SplitAfter(l.src[l.pos:], "\n")
	to := l.pos
	for i, line := range rest {
		if i > 0 && strings.HasPrefix(line, "...") {
			for _, line := range rest[i:] {
				t.footer = add(t.footer, trim(line))
			}
			break
		}
		to += len(line)
	}
	if to == len(l.src) && !strings.HasSuffix(l.src[l.pos:], "\n") { // the last line is a line like any other
		l.src += "\n"
		to++
	}
	t.root.foot = append(t.root.foot, l.gap(to, -1)...)
	for len(t.footer) > 0 && t.footer[len(t.footer)-1] == "" {
		t.footer = t.footer[:len(t.footer)-1]
	}
}

// comments lists all comments, wherever they stand.
func (t *tree) comments() []string {
	var all []string
	take := func(lines ...string) {
		for _, line := range lines {
			if line = trim(line); line != "" {
				all = append(all, line)
			}
		}
	}
	var visit func(b *block)
	visit = func(b *block) {
		for _, e := range b.entries {
			take(e.head...)
			take(e.below...)
			take(e.comment, e.tail)
			if e.child != nil {
				visit(e.child)
			}
		}
		take(b.foot...)
	}
	take(t.header...)
	visit(t.root)
	take(t.footer...)
	return all
}

// sort sorts the keys of all objects that the order knows.
func (t *tree) sort(root *dialect.Node, order *Order) { t.root.sort(root, order.rules(), order) }

func (b *block) sort(n *dialect.Node, rules []*dialect.Node, order *Order) {
	for i, e := range b.entries {
		e.order = order
		switch {
		case n == nil:
		case b.seq:
			if i < len(n.Items) {
				e.node = n.Items[i]
			}
			e.rules = order.item(n, rules)
		default:
			e.node, e.rules = n.Get(e.key.Text), order.member(n, rules, e.key.Text)
		}
		if e.child != nil {
			e.child.sort(e.node, e.rules, order)
		}
	}
	if !b.seq && n != nil {
		b.entries = sorted(b.entries, order.keys(n, rules), func(e *entry) string { return e.key.Text })
	}
}
