package format

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// printer writes a tree.
type printer struct {
	strings.Builder
	src  string
	kept int // where block text ends that would take an empty line for its own
}

func (t *tree) String() string {
	p := &printer{src: t.src}
	p.lines(t.header, 0)
	if n := len(t.header); n > 0 && strings.HasPrefix(t.header[n-1], "#") && t.root.commented() {
		p.WriteByte('\n') // what speaks of the first key is not part of the header
	}
	p.block(t.root, 0, false)
	p.lines(t.footer, 0)
	return p.Builder.String()
}

// commented reports whether comments stand before the first entry.
func (b *block) commented() bool {
	return slices.ContainsFunc(b.entries[0].allHead(), func(line string) bool { return line != "" })
}

func (p *printer) lines(lines []string, column int) {
	for _, line := range lines {
		switch {
		case line != "":
			p.indent(column)
		case p.kept == p.Len() && p.kept > 0:
			continue
		}
		p.WriteString(line + "\n")
	}
}

func (p *printer) indent(column int) { p.WriteString(strings.Repeat(" ", column)) }

// block writes a block at a column. begun says that the line of its first entry
// is begun already, behind a dash.
func (p *printer) block(b *block, column int, begun bool) {
	for i, e := range b.entries {
		if !begun || i > 0 {
			head := e.allHead()
			for i == 0 && len(head) > 0 && head[0] == "" {
				head = head[1:]
			}
			p.lines(head, column)
			p.indent(column)
		}
		p.entry(e, column)
	}
	foot := b.foot
	for len(foot) > 0 && foot[len(foot)-1] == "" {
		foot = foot[:len(foot)-1]
	}
	p.lines(foot, column)
}

// allHead is an entry's head and those of the entries that begin on its line.
func (e *entry) allHead() []string {
	head := e.head
	for e.compact() {
		e = e.child.entries[0]
		for i, line := range e.head {
			if line != "" || i > 0 {
				head = append(head[:len(head):len(head)], line)
			}
		}
	}
	return head
}

// compact reports whether an item's block begins on the line of its dash.
func (e *entry) compact() bool {
	return e.in.seq && e.child != nil && e.comment == "" && e.value.Props == "" && len(e.below) == 0
}

func (p *printer) entry(e *entry, column int) {
	if e.key == nil {
		p.WriteByte('-')
	} else {
		p.WriteString(p.key(e.key) + ":")
	}
	v := e.value
	switch {
	case e.compact():
		p.WriteByte(' ')
		p.block(e.child, column+2, true)
		return
	case e.child == nil && (e.comment != "" || len(e.below) > 0) && v.Kind != dialect.SyntaxEmpty:
		// The value stays on its own line, or the comment would have no place.
		p.WriteString(e.comment + "\n")
		p.lines(e.below, column+2)
		p.indent(column + 2)
		if v.Props != "" {
			p.WriteString(v.Props + " ")
		}
		p.inline(e, column)
		return
	}
	if v.Props != "" {
		p.WriteString(" " + v.Props)
	}
	switch {
	case e.child != nil:
		p.WriteString(e.comment + "\n")
		below := column + 2
		if e.child.seq && !e.in.seq {
			below = column
		}
		p.lines(e.below, below)
		p.block(e.child, below, false)
	case v.Kind == dialect.SyntaxEmpty:
		p.WriteString(e.comment + "\n")
		p.lines(e.below, column+2)
	default:
		p.WriteByte(' ')
		p.inline(e, column)
	}
}

func (p *printer) key(s *dialect.Syntax) string {
	text := scalar(p.src, s, true)
	if s.Props != "" {
		text = s.Props + " " + text
	}
	if s.Kind == dialect.SyntaxAlias {
		text += " "
	}
	return text
}

// inline writes a value that is no block, and ends its line.
func (p *printer) inline(e *entry, column int) {
	v := e.value
	raw := p.src[v.Start:v.End]
	switch {
	case v.Kind == dialect.SyntaxBlock:
		p.blockText(raw, e.in.column, column)
		return
	case !strings.Contains(raw, "\n"):
		p.WriteString(p.flow(v, e.node, e.rules, e.order))
	case v.Flow:
		for i, line := range strings.Split(p.requoted(v), "\n") {
			if i > 0 {
				p.WriteByte('\n')
				text := strings.TrimLeft(line, " \t")
				if text != "" {
					p.indent(column + max(len(line)-len(text)-e.in.column, 0))
				}
				line = text
			}
			p.WriteString(line)
		}
	default:
		for i, line := range strings.Split(raw, "\n") {
			if i > 0 {
				p.WriteByte('\n')
				if line = strings.TrimLeft(line, " \t"); line != "" {
					p.indent(column + 2)
				}
			}
			p.WriteString(line)
		}
	}
	p.WriteString(e.tail + "\n")
}

// blockText writes block text: its header, and its lines with their new
// indentation. What is indented further is text.
func (p *printer) blockText(raw string, from, to int) {
	lines := strings.Split(raw, "\n")
	p.WriteString(strings.TrimRight(lines[0], " \t") + "\n")
	header, _, _ := strings.Cut(lines[0], " ")
	was, now := -1, to+2
	if i := strings.IndexAny(header, "123456789"); i > 0 {
		was, now = from+int(header[i]-'0'), to+int(header[i]-'0')
	}
	for _, line := range lines[1:] {
		text := strings.TrimLeft(line, " ")
		if was < 0 && text != "" {
			was = len(line) - len(text)
		}
		if was < 0 || len(line) <= was {
			p.WriteByte('\n')
			continue
		}
		p.indent(now)
		p.WriteString(line[was:] + "\n")
	}
	if strings.Contains(header, "+") {
		p.kept = p.Len()
	}
}

// flow writes a value on one line.
func (p *printer) flow(s *dialect.Syntax, n *dialect.Node, rules []*dialect.Node, order *Order) string {
	var parts []string
	switch s.Kind {
	case dialect.SyntaxMapping:
		for _, pair := range p.pairs(s, n, rules, order) {
			var m *dialect.Node
			if n != nil {
				m = n.Get(pair.key.Text)
			}
			parts = append(parts, p.key(pair.key)+": "+p.part(pair.value, m, pair.rules, order))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case dialect.SyntaxSequence:
		var item []*dialect.Node
		if n != nil {
			item = order.item(n, rules)
		}
		for i, c := range s.Content {
			var m *dialect.Node
			if n != nil && i < len(n.Items) {
				m = n.Items[i]
			}
			parts = append(parts, p.part(c, m, item, order))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalar(p.src, s, false)
}

// part writes a value between brackets.
func (p *printer) part(s *dialect.Syntax, n *dialect.Node, rules []*dialect.Node, order *Order) string {
	text := "null"
	if s.Kind != dialect.SyntaxEmpty {
		text = p.flow(s, n, rules, order)
	} else if s.Props != "" {
		text = ""
	}
	if s.Props != "" {
		text = strings.TrimRight(s.Props+" "+text, " ")
	}
	return text
}

type pair struct {
	key, value *dialect.Syntax
	rules      []*dialect.Node
}

func (p *printer) pairs(s *dialect.Syntax, n *dialect.Node, rules []*dialect.Node, order *Order) []pair {
	var all []pair
	for i := 0; i+1 < len(s.Content); i += 2 {
		one := pair{key: s.Content[i], value: s.Content[i+1]}
		if n != nil {
			one.rules = order.member(n, rules, one.key.Text)
		}
		all = append(all, one)
	}
	if n == nil {
		return all
	}
	return sorted(all, order.keys(n, rules), func(one pair) string { return one.key.Text })
}

// requoted is a container over several lines as it is written, but for quotes.
func (p *printer) requoted(s *dialect.Syntax) string {
	var b strings.Builder
	at := s.Start
	var visit func(s *dialect.Syntax, key bool)
	visit = func(s *dialect.Syntax, key bool) {
		for i, c := range s.Content {
			visit(c, s.Kind == dialect.SyntaxMapping && i%2 == 0)
		}
		switch s.Kind {
		case dialect.SyntaxPlain, dialect.SyntaxSingle, dialect.SyntaxDouble:
			b.WriteString(p.src[at:s.Start] + scalar(p.src, s, key))
			at = s.End
		}
	}
	visit(s, false)
	return b.String() + p.src[at:s.End]
}
