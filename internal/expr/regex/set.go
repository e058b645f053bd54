package regex

import (
	"cmp"
	"slices"
	"sync"
	"unicode"
)

// runeRange is lo to hi, both included.
type runeRange struct{ lo, hi rune }

// runeSet is a set of characters: ranges sorted and apart from each other.
type runeSet []runeRange

const maxRune = unicode.MaxRune

var anyRune = runeSet{{0, maxRune}}

func single(r rune) runeSet { return runeSet{{r, r}} }

// normal sorts and joins ranges.
func normal(s runeSet) runeSet {
	slices.SortFunc(s, func(a, b runeRange) int { return cmp.Compare(a.lo, b.lo) })
	out := s[:0]
	for _, r := range s {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (s runeSet) has(r rune) bool {
	if len(s) <= 4 {
		for _, x := range s {
			if r >= x.lo && r <= x.hi {
				return true
			}
		}
		return false
	}
	_, ok := slices.BinarySearchFunc(s, r, func(x runeRange, r rune) int {
		switch {
		case x.hi < r:
			return -1
		case x.lo > r:
			return 1
		}
		return 0
	})
	return ok
}

func (s runeSet) not() runeSet {
	var out runeSet
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= maxRune {
		out = append(out, runeRange{next, maxRune})
	}
	return out
}

func (s runeSet) or(o runeSet) runeSet { return normal(slices.Concat(s, o)) }

func (s runeSet) and(o runeSet) runeSet { return s.not().or(o.not()).not() }

// cased are the characters that have another case, sorted.
var cased = sync.OnceValue(func() []rune {
	var out []rune
	for r := rune(0); r <= maxRune; r++ {
		if unicode.SimpleFold(r) != r {
			out = append(out, r)
		}
	}
	return out
})

// fold adds the other cases of every character.
func (s runeSet) fold(flags Flags) runeSet {
	if flags&Fold == 0 {
		return s
	}
	out := slices.Clone(s)
	if flags&UnicodeFold == 0 {
		for _, r := range s {
			if lo, hi := max(r.lo, 'a'), min(r.hi, 'z'); lo <= hi {
				out = append(out, runeRange{lo - 32, hi - 32})
			}
			if lo, hi := max(r.lo, 'A'), min(r.hi, 'Z'); lo <= hi {
				out = append(out, runeRange{lo + 32, hi + 32})
			}
		}
		return normal(out)
	}
	all := cased()
	for _, r := range s {
		i, _ := slices.BinarySearch(all, r.lo)
		for ; i < len(all) && all[i] <= r.hi; i++ {
			for f := unicode.SimpleFold(all[i]); f != all[i]; f = unicode.SimpleFold(f) {
				out = append(out, runeRange{f, f})
			}
		}
	}
	return normal(out)
}

func tableSet(tables ...*unicode.RangeTable) runeSet {
	var out runeSet
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, runeRange{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			out = append(out, runeRange{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return normal(out)
}

var (
	lineEnds = runeSet{{'\n', '\n'}, {'\r', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}
	digitSet = runeSet{{'0', '9'}}
	wordSet  = runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaceSet = runeSet{{'\t', '\r'}, {' ', ' '}}
	horizSet = runeSet{{'\t', '\t'}, {' ', ' '}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200a}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}}
	vertSet  = runeSet{{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}
	uniWord  = sync.OnceValue(func() runeSet {
		return tableSet(unicode.L, unicode.M, unicode.Nd, unicode.Pc, unicode.Other_Alphabetic)
	})
	uniDigit  = sync.OnceValue(func() runeSet { return tableSet(unicode.Nd) })
	uniSpace  = sync.OnceValue(func() runeSet { return tableSet(unicode.White_Space) })
	posixSets = map[string]runeSet{
		"Lower": {{'a', 'z'}}, "Upper": {{'A', 'Z'}}, "ASCII": {{0, 0x7f}}, "Alpha": {{'A', 'Z'}, {'a', 'z'}},
		"Digit": {{'0', '9'}}, "Alnum": {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}},
		"Punct": {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, "Graph": {{'!', '~'}}, "Print": {{' ', '~'}},
		"Blank": {{'\t', '\t'}, {' ', ' '}}, "Cntrl": {{0, 0x1f}, {0x7f, 0x7f}},
		"XDigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, "Space": {{'\t', '\r'}, {' ', ' '}},
	}
)

// classSet returns the set of \d, \w, \s, \h, \v; c is the lower-case letter.
func classSet(c byte, flags Flags) (runeSet, bool) {
	unicodeClass := flags&Unicode != 0
	switch c {
	case 'd':
		if unicodeClass {
			return uniDigit(), true
		}
		return digitSet, true
	case 'w':
		if unicodeClass {
			return uniWord(), true
		}
		return wordSet, true
	case 's':
		if unicodeClass {
			return uniSpace(), true
		}
		return spaceSet, true
	case 'h':
		return horizSet, true
	case 'v':
		return vertSet, true
	}
	return nil, false
}

// propertySet returns the set of \p{name}.
func propertySet(name string) (runeSet, bool) {
	if s, ok := posixSets[name]; ok {
		return s, true
	}
	switch name {
	case "L1":
		return runeSet{{0, 0xff}}, true
	case "IsAlphabetic":
		return tableSet(unicode.L, unicode.Nl, unicode.Other_Alphabetic), true
	case "IsLetter", "javaLetter":
		return tableSet(unicode.L), true
	case "IsDigit", "javaDigit":
		return uniDigit(), true
	case "IsLowercase", "javaLowerCase":
		return tableSet(unicode.Lower, unicode.Other_Lowercase), true
	case "IsUppercase", "javaUpperCase":
		return tableSet(unicode.Upper, unicode.Other_Uppercase), true
	case "IsWhite_Space", "javaWhitespace":
		return uniSpace(), true
	case "IsPunctuation":
		return tableSet(unicode.P), true
	}
	short := name
	for _, prefix := range []string{"Is", "general_category=", "gc=", "script=", "sc=", "block=", "blk=", "In"} {
		if len(name) > len(prefix) && name[:len(prefix)] == prefix {
			short = name[len(prefix):]
			break
		}
	}
	if t, ok := unicode.Categories[short]; ok {
		return tableSet(t), true
	}
	if t, ok := unicode.Scripts[short]; ok {
		return tableSet(t), true
	}
	return nil, false
}
