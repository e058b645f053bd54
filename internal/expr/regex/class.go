package regex

import (
	"slices"
	"strconv"
	"strings"
)

// class parses […] after the bracket at open, with Java's nesting and &&.
func (p *parser) class(open int) runeSet {
	p.depth++
	if p.depth > maxNesting {
		p.fail(p.pos, "", "nested deeper than %d levels (limit expression-nesting)", maxNesting)
	}
	negate := p.accept("^")
	var out, part runeSet
	joined := false // out holds the left side of &&
	for first := true; ; first = false {
		p.comments()
		switch {
		case !p.more():
			p.fail(open, `close it with ], or write \[ for the character itself`, "the class is not closed")
		case p.peek() == ']' && (!first || p.flags&JavaScript != 0):
			p.pos++
			p.depth--
			part = normal(part)
			if joined {
				part = out.and(part)
			}
			if negate {
				return part.not()
			}
			return part
		case p.flags&JavaScript == 0 && p.accept("&&"):
			part = normal(part)
			if joined {
				part = out.and(part)
			}
			out, part = part, nil
			joined = true
		case p.flags&JavaScript == 0 && p.accept("["):
			part = slices.Concat(part, p.class(p.pos-1))
		default:
			part = slices.Concat(part, p.classItem())
		}
		if len(part) > maxRanges {
			p.fail(open, "", "the class is too large (limit expression-regex)")
		}
	}
}

// classItem parses a character, an escape or a range.
func (p *parser) classItem() runeSet {
	at := p.pos
	low := p.classChar()
	if len(low) != 1 || low[0].lo != low[0].hi {
		return low.fold(p.flags)
	}
	rest := p.src[p.pos:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		return low.fold(p.flags)
	}
	if p.flags&JavaScript == 0 && (rest[1] == '[' || strings.HasPrefix(rest[1:], "&&")) {
		return low.fold(p.flags)
	}
	p.pos++
	high := p.classChar()
	if len(high) != 1 || high[0].lo != high[0].hi || high[0].lo < low[0].lo {
		p.fail(at, "", "the range %s is the wrong way round", strconv.Quote(p.src[at:p.pos]))
	}
	return runeSet{{low[0].lo, high[0].lo}}.fold(p.flags)
}

func (p *parser) classChar() runeSet {
	at := p.pos
	r := p.rune()
	if r != '\\' {
		return single(r)
	}
	flags := p.flags
	p.flags &^= Fold // the caller folds, after it has seen a range
	s := p.escapedSet(at)
	p.flags = flags
	return s
}
