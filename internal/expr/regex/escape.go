package regex

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escaped parses what follows a backslash at the place at, outside classes.
func (p *parser) escaped(at int) *node {
	switch c := p.peek(); {
	case c == 'b':
		p.pos++
		return p.at(atWord)
	case c == 'B':
		p.pos++
		return p.at(notAtWord)
	case c == 'A':
		p.pos++
		return p.at(atStart)
	case c == 'z':
		p.pos++
		return p.at(atEnd)
	case c == 'Z':
		p.pos++
		return p.at(atLastLine)
	case c == 'R':
		p.pos++
		crlf := &node{kind: kindConcat, kids: []*node{p.set(single('\r')), p.set(single('\n'))}}
		return &node{kind: kindAlt, kids: []*node{crlf, p.set(vertSet)}}
	case c == 'k':
		p.pos++
		if !p.accept("<") {
			p.fail(at, `write \k<name>`, `\k without a name`)
		}
		name := p.groupName(at)
		index, ok := p.names[name]
		if !ok {
			p.fail(at, "", "there is no group %q before it", name)
		}
		return &node{kind: kindBackref, index: index, flags: p.flags}
	case c >= '1' && c <= '9':
		return p.backref()
	}
	return p.set(p.escapedSet(at))
}

// backref parses \1. Further digits belong to it while so many groups are open
// or closed before it.
func (p *parser) backref() *node {
	index := int(p.src[p.pos] - '0')
	p.pos++
	for p.more() && p.peek() >= '0' && p.peek() <= '9' {
		next := index*10 + int(p.peek()-'0')
		if next > p.groups {
			break
		}
		index = next
		p.pos++
	}
	n := &node{kind: kindBackref, index: index, flags: p.flags}
	p.refs = append(p.refs, n)
	return n
}

// escapedSet parses an escape that stands for characters, in and outside classes.
func (p *parser) escapedSet(at int) runeSet {
	if !p.more() {
		p.fail(at, `write \\ for the character itself`, "it ends with a backslash")
	}
	r := p.rune()
	if r < utf8.RuneSelf {
		if s, ok := classSet(byte(r)|0x20, p.flags); ok && (r|0x20 >= 'a' && r|0x20 <= 'z') {
			if r < 'a' {
				return s.not()
			}
			return s
		}
	}
	switch r {
	case 'p', 'P':
		s := p.property(at).fold(p.flags)
		if r == 'P' {
			return s.not()
		}
		return s
	case 't':
		return single('\t')
	case 'n':
		return single('\n')
	case 'r':
		return single('\r')
	case 'f':
		return single('\f')
	case 'a':
		return single(7)
	case 'e':
		return single(27)
	case 'c':
		if !p.more() {
			p.fail(at, "", `\c without a character`)
		}
		return single(p.rune() ^ 64)
	case '0':
		return single(p.octal(at)).fold(p.flags)
	case 'x', 'u':
		return single(p.hex(at, r)).fold(p.flags)
	}
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '1' && r <= '9' {
		p.fail(at, "", `unknown escape \%c`, r)
	}
	return single(r)
}

func (p *parser) property(at int) runeSet {
	name := ""
	if p.accept("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			p.fail(at, "", `\p{ is not closed`)
		}
		name = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	} else if p.more() {
		name = string(p.rune())
	}
	s, ok := propertySet(name)
	if !ok {
		p.fail(at, "", `unknown property \p{%s}`, name)
	}
	return s
}

func (p *parser) octal(at int) rune {
	start := p.pos
	for p.pos-start < 3 && p.peek() >= '0' && p.peek() <= '7' {
		p.pos++
	}
	u, err := strconv.ParseUint(p.src[start:p.pos], 8, 32)
	if err != nil || u > 0o377 {
		p.fail(at, `write \0 and one to three octal digits up to 377`, "malformed octal escape")
	}
	return rune(u)
}

func (p *parser) hex(at int, kind rune) rune {
	var text string
	switch end := strings.IndexByte(p.src[p.pos:], '}'); {
	case kind == 'x' && p.peek() == '{' && end > 0:
		text = p.src[p.pos+1 : p.pos+end]
		p.pos += end + 1
	default:
		n := 2
		if kind == 'u' {
			n = 4
		}
		text = p.src[p.pos:min(len(p.src), p.pos+n)]
		p.pos += len(text)
		if len(text) < n {
			text = ""
		}
	}
	u, err := strconv.ParseUint(text, 16, 32)
	if err != nil || u > maxRune {
		p.fail(at, "", `malformed \%c escape`, kind)
	}
	if r := rune(u); kind != 'u' || !utf16.IsSurrogate(r) || !strings.HasPrefix(p.src[p.pos:], `\u`) {
		return r
	}
	low, err := strconv.ParseUint(p.src[p.pos+2:min(len(p.src), p.pos+6)], 16, 16)
	r := utf16.DecodeRune(rune(u), rune(low))
	if err != nil || r == utf8.RuneError {
		return rune(u)
	}
	p.pos += 6
	return r
}
