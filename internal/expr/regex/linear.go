package regex

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxLinear bounds the text handed to Go's regexp.
const maxLinear = 256 << 10

// goSyntax writes the tree for Go's regexp; ok is false where that cannot
// express it.
func goSyntax(n *node) (text string, ok bool) {
	var b strings.Builder
	b.WriteString(`\A(?:`)
	if !writeGo(&b, n, true) {
		return "", false
	}
	b.WriteString(`)\z`)
	return b.String(), true
}

// writeGo writes one node. last says that nothing follows it in the pattern.
func writeGo(b *strings.Builder, n *node, last bool) bool {
	if b.Len() > maxLinear {
		return false
	}
	switch n.kind {
	case kindSet:
		writeGoSet(b, n.set)
		return true
	case kindConcat:
		for i, k := range n.kids {
			if !writeGo(b, k, last && i == len(n.kids)-1) {
				return false
			}
		}
		return true
	case kindAlt:
		b.WriteString("(?:")
		for i, k := range n.kids {
			if i > 0 {
				b.WriteByte('|')
			}
			if !writeGo(b, k, last) {
				return false
			}
		}
		b.WriteByte(')')
		return true
	case kindGroup:
		b.WriteString("(?:")
		ok := writeGo(b, n.kids[0], last)
		b.WriteByte(')')
		return ok
	case kindRepeat:
		return n.mode != possessive && writeGoRepeat(b, n)
	case kindPlace:
		return writeGoPlace(b, n, last)
	}
	return false
}

func writeGoSet(b *strings.Builder, s runeSet) {
	if len(s) == 1 && s[0].lo == s[0].hi && utf8.ValidRune(s[0].lo) {
		b.WriteString(regexp.QuoteMeta(string(s[0].lo)))
		return
	}
	if len(s) == 0 {
		s = anyRune
		b.WriteString("[^")
	} else {
		b.WriteByte('[')
	}
	for _, r := range s {
		fmt.Fprintf(b, `\x{%x}-\x{%x}`, r.lo, r.hi)
	}
	b.WriteByte(']')
}

func writeGoRepeat(b *strings.Builder, n *node) bool {
	b.WriteString("(?:")
	ok := writeGo(b, n.kids[0], false)
	b.WriteByte(')')
	switch {
	case n.min == 0 && n.max < 0:
		b.WriteByte('*')
	case n.min == 1 && n.max < 0:
		b.WriteByte('+')
	case n.max < 0:
		fmt.Fprintf(b, "{%d,}", n.min)
	default:
		fmt.Fprintf(b, "{%d,%d}", n.min, n.max)
	}
	return ok
}

// writeGoPlace writes an assertion. Java's $ also holds before a last line end,
// which Go cannot say; where nothing follows it, the whole text must be read
// anyway and both mean the end.
func writeGoPlace(b *strings.Builder, n *node, last bool) bool {
	switch n.place {
	case atStart:
		b.WriteString(`\A`)
	case atEnd:
		b.WriteString(`\z`)
	case atLastLine:
		b.WriteString(`\z`)
		return last
	case atWord, notAtWord:
		if n.flags&Unicode != 0 {
			return false
		}
		b.WriteString(map[place]string{atWord: `\b`, notAtWord: `\B`}[n.place])
	default:
		return false
	}
	return true
}
