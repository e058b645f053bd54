package regex

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// nodeKind tells the nodes of a regular expression apart.
type nodeKind uint8

const (
	kindSet     nodeKind = iota // one character of a set
	kindConcat                  // kids one after another; none of them is the empty text
	kindAlt                     // one of the kids
	kindRepeat                  // the kid, min to max times
	kindGroup                   // the kid, captured as index
	kindLook                    // the kid is (not) ahead or behind, and nothing is read
	kindAtomic                  // the kid, without trying again
	kindBackref                 // what group index captured
	kindPlace                   // a place
)

type node struct {
	kind     nodeKind
	set      runeSet
	kids     []*node
	min, max int // max < 0: no limit
	mode     repeatMode
	index    int
	negate   bool
	behind   bool
	place    place
	flags    Flags
}

type repeatMode uint8

const (
	greedy repeatMode = iota
	lazy
	possessive
)

// place is what an assertion asks of a position.
type place uint8

const (
	atStart     place = iota // \A, ^
	atEnd                    // \z
	atLastLine               // \Z, $: the end, or before the last line's end
	atLineStart              // ^ with m
	atLineEnd                // $ with m
	atWord                   // \b
	notAtWord                // \B
)

type parser struct {
	src    string
	pos    int
	flags  Flags
	depth  int
	groups int // captured so far
	names  map[string]int
	refs   []*node // back-references by number, to check at the end
	ranges int     // in all sets
}

// parseError unwinds the parser; parse catches it.
type parseError struct{ err *expr.SyntaxError }

func (p *parser) fail(at int, hint, format string, args ...any) {
	panic(parseError{&expr.SyntaxError{Offset: at, Msg: "in the regular expression: " + fmt.Sprintf(format, args...), Hint: hint}})
}

// parse returns the tree and the number of groups.
func parse(src string, flags Flags) (tree *node, groups int, err *expr.SyntaxError) {
	p := &parser{src: src, flags: flags, names: map[string]int{}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case parseError:
			err = r.err
		default:
			panic(r)
		}
	}()
	tree = p.alternatives()
	if p.pos < len(src) {
		p.fail(p.pos, `write \) for the character itself`, "the ) closes nothing")
	}
	for _, ref := range p.refs {
		if ref.index > p.groups {
			p.fail(0, "", "there is no group %d", ref.index)
		}
	}
	return tree, p.groups, nil
}

func (p *parser) more() bool { return p.pos < len(p.src) }

func (p *parser) peek() byte {
	if p.more() {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) accept(s string) bool {
	if strings.HasPrefix(p.src[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) rune() rune {
	r, size := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += size
	return r
}

// comments passes over what the flag x makes invisible.
func (p *parser) comments() {
	if p.flags&Comments == 0 {
		return
	}
	for p.more() {
		switch c := p.peek(); {
		case c == ' ' || c >= '\t' && c <= '\r':
			p.pos++
		case c == '#':
			for p.more() && p.peek() != '\n' {
				p.pos++
			}
		default:
			return
		}
	}
}

// alternatives parses a|b up to the end or a ). Flags set inside end with it.
func (p *parser) alternatives() *node {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.pos, "", "nested deeper than %d levels (limit expression-nesting)", maxNesting)
	}
	flags := p.flags
	alts := []*node{p.sequence()}
	for p.accept("|") {
		alts = append(alts, p.sequence())
	}
	p.flags = flags
	p.depth--
	if len(alts) == 1 {
		return alts[0]
	}
	return &node{kind: kindAlt, kids: alts}
}

func (p *parser) sequence() *node {
	seq := &node{kind: kindConcat}
	for {
		p.comments()
		if !p.more() || p.peek() == '|' || p.peek() == ')' {
			return seq
		}
		if p.accept(`\Q`) {
			p.literal(seq)
			continue
		}
		if n := p.atom(); n != nil {
			seq.kids = append(seq.kids, p.quantified(n))
		}
	}
}

// literal reads the text up to \E.
func (p *parser) literal(seq *node) {
	for p.more() && !p.accept(`\E`) {
		n := p.char(p.rune())
		if !p.more() || strings.HasPrefix(p.src[p.pos:], `\E`) {
			p.accept(`\E`)
			n = p.quantified(n)
			seq.kids = append(seq.kids, n)
			return
		}
		seq.kids = append(seq.kids, n)
	}
}

func (p *parser) set(s runeSet) *node {
	if p.ranges += len(s); p.ranges > maxRanges {
		p.fail(p.pos, "", "its character classes are too large (limit expression-regex)")
	}
	return &node{kind: kindSet, set: s}
}

func (p *parser) char(r rune) *node { return p.set(single(r).fold(p.flags)) }

// quantified parses * + ? {n,m} after an atom.
func (p *parser) quantified(n *node) *node {
	for levels := 0; ; levels++ {
		p.comments()
		low, high, at := 0, -1, p.pos
		switch {
		case p.accept("*"):
		case p.accept("+"):
			low = 1
		case p.accept("?"):
			high = 1
		case p.peek() == '{' && (p.flags&JavaScript == 0 || jsCount.MatchString(p.src[p.pos:])):
			low, high = p.braces()
		default:
			return n
		}
		if levels > 0 {
			p.fail(at, "put the part before it in (?:…)", "nothing to repeat before it")
		}
		mode := greedy
		if p.accept("?") {
			mode = lazy
		} else if p.accept("+") {
			mode = possessive
		}
		n = &node{kind: kindRepeat, kids: []*node{n}, min: low, max: high, mode: mode}
	}
}

// jsCount is what JavaScript takes as a count; any other { is a character.
var jsCount = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

// braces parses {n}, {n,} or {n,m}.
func (p *parser) braces() (low, high int) {
	at := p.pos
	end := strings.IndexByte(p.src[at:], '}')
	if end < 0 {
		p.fail(at, `write \{ for the character itself`, "the { is not closed")
	}
	lowText, highText, comma := strings.Cut(p.src[at+1:at+end], ",")
	p.pos = at + end + 1
	number := func(text string) int {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			p.fail(at, `write {2}, {2,} or {2,5}, and \{ for the character itself`, "malformed {…}")
		}
		if n > maxRepeat {
			p.fail(at, "", "more than %d repetitions (limit expression-regex)", maxRepeat)
		}
		return int(n)
	}
	low = number(lowText)
	switch {
	case !comma:
		high = low
	case highText == "":
		high = -1
	default:
		if high = number(highText); high < low {
			p.fail(at, "", "{%d,%d} is the wrong way round", low, high)
		}
	}
	return low, high
}

func (p *parser) at(at place) *node {
	return &node{kind: kindPlace, place: at, flags: p.flags}
}

// atom parses one part; nil where it only set flags.
func (p *parser) atom() *node {
	at := p.pos
	switch r := p.rune(); r {
	case '(':
		return p.group(at)
	case '[':
		return p.set(p.class(at))
	case '.':
		return p.set(p.dot())
	case '^':
		if p.flags&Multiline != 0 {
			return p.at(atLineStart)
		}
		return p.at(atStart)
	case '$':
		switch {
		case p.flags&Multiline != 0:
			return p.at(atLineEnd)
		case p.flags&JavaScript != 0:
			return p.at(atEnd)
		}
		return p.at(atLastLine)
	case '*', '+', '?':
		p.fail(at, fmt.Sprintf(`write \%c for the character itself`, r), "nothing to repeat before %c", r)
	case '\\':
		return p.escaped(at)
	default:
		return p.char(r)
	}
	return nil
}

func (p *parser) dot() runeSet {
	switch {
	case p.flags&DotAll != 0:
		return anyRune
	case p.flags&UnixLines != 0:
		return single('\n').not()
	case p.flags&JavaScript != 0:
		return runeSet{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}.not()
	}
	return lineEnds.not()
}

// group parses what follows a ( at open.
func (p *parser) group(open int) *node {
	n := &node{}
	switch {
	case !p.accept("?"):
		n = p.capture("")
	case p.accept(":"):
		return p.closed(open)
	case p.accept("="):
		n.kind = kindLook
	case p.accept("!"):
		n.kind, n.negate = kindLook, true
	case p.accept("<="):
		n.kind, n.behind = kindLook, true
	case p.accept("<!"):
		n.kind, n.behind, n.negate = kindLook, true, true
	case p.accept(">"):
		n.kind = kindAtomic
	case p.accept("<"):
		n = p.capture(p.groupName(open))
	default:
		return p.inlineFlags(open)
	}
	n.kids = []*node{p.closed(open)}
	return n
}

func (p *parser) capture(name string) *node {
	p.groups++
	if name != "" {
		p.names[name] = p.groups
	}
	return &node{kind: kindGroup, index: p.groups}
}

func (p *parser) groupName(at int) string {
	end := strings.IndexByte(p.src[p.pos:], '>')
	if end <= 0 {
		p.fail(at, "", "the group's name is not closed with >")
	}
	name := p.src[p.pos : p.pos+end]
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			p.fail(p.pos+i, "", "the group's name %q is not made of letters and digits", name)
		}
	}
	p.pos += end + 1
	return name
}

// closed parses the inside of a group and its ).
func (p *parser) closed(open int) *node {
	n := p.alternatives()
	if !p.accept(")") {
		p.fail(open, "close it with )", "the group is not closed")
	}
	return n
}

// inlineFlags parses (?i), (?i-s) and (?i:…).
func (p *parser) inlineFlags(open int) *node {
	flags, on := p.flags, true
	for {
		at := p.pos
		switch c := p.peek(); {
		case c == '-' && on:
			on = false
		case c == ')':
			p.pos++
			p.flags = flags
			return nil
		case c == ':':
			p.pos++
			outer := p.flags
			p.flags = flags
			n := p.closed(open)
			p.flags = outer
			return n
		case flagOf(c) != 0 && on:
			flags |= flagOf(c)
		case flagOf(c) != 0:
			flags &^= flagOf(c)
		default:
			p.fail(at, "groups are (…), (?:…), (?=…), (?!…), (?<=…), (?<!…), (?>…), (?<name>…) and (?i)", "unknown kind of group")
		}
		p.pos++
	}
}
