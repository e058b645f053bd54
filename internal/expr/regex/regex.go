// Package regex matches regular expressions in Java's syntax, since that is what
// Jayway's =~ takes, or in JavaScript's, which JSON Schema takes.
//
// One parser reads them (parse.go, escape.go, class.go, set.go). What is regular runs on Go's
// linear-time regexp (linear.go); look-around, back-references, atomic groups and
// the like run on a backtracking matcher whose every step is charged to the
// budget (match.go). Both stop at the same place on every machine.
package regex

import (
	"regexp"
	"regexp/syntax"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/cache"
)

// Limits of one regular expression (limit expression-regex; expression-nesting).
const (
	maxRanges  = 64 << 10 // ranges of characters in all its classes
	maxProgram = 16 << 10 // instructions of the backtracking matcher
	maxRepeat  = 1 << 16  // n in {n}
	maxNesting = expr.MaxNested
)

// Flags change what a pattern means.
type Flags uint8

// The flags, with their letters.
const (
	Fold        Flags = 1 << iota // i: ASCII letters of either case
	UnicodeFold                   // u: with i, all letters
	Multiline                     // m: ^ and $ at lines
	DotAll                        // s: . matches line ends
	Comments                      // x: blanks and # comments are passed over
	UnixLines                     // d: only \n ends a line
	Unicode                       // U: \w, \d, \s and \b of Unicode; implies u
	JavaScript                    // without a letter: JavaScript's classes, braces and $
)

func flagOf(c byte) Flags {
	switch c {
	case 'i':
		return Fold
	case 'u':
		return UnicodeFold
	case 'm':
		return Multiline
	case 's':
		return DotAll
	case 'x':
		return Comments
	case 'd':
		return UnixLines
	case 'U':
		return Unicode | UnicodeFold
	}
	return 0
}

// ParseFlags returns the flags, and where an unknown letter stands, or -1.
func ParseFlags(text string) (flags Flags, bad int) {
	for i := range len(text) {
		f := flagOf(text[i])
		if f == 0 {
			return 0, i
		}
		flags |= f
	}
	return flags, -1
}

// Pattern is a regular expression that was checked. Its program is compiled when a text is first
// matched, and kept while the cache has room for it.
type Pattern struct {
	src    string
	flags  Flags
	search bool // it may match anywhere in a text
	linear bool // Go's matcher runs it
	size   int  // instructions
	weight int

	onepass bool // Go's program may have its one-pass form
	held    cache.Handle[compiled]
}

// compiled is the program of a pattern: one of the two. It is immutable.
type compiled struct {
	linear *regexp.Regexp
	prog   *program
}

// Compile checks a pattern that must match the whole of a text. Offsets of
// errors count from the start of src.
func Compile(src string, flags Flags) (*Pattern, *expr.SyntaxError) {
	return check(&Pattern{src: src, flags: flags})
}

// CompileSearch checks a pattern that may match anywhere in a text.
func CompileSearch(src string, flags Flags) (*Pattern, *expr.SyntaxError) {
	return check(&Pattern{src: src, flags: flags, search: true})
}

// Weight is how many bytes the program takes while it is in memory. It is the same
// on every machine.
func (p *Pattern) Weight() int { return p.weight }

// check parses a pattern and tells how large its program is, without making it.
func check(p *Pattern) (*Pattern, *expr.SyntaxError) {
	tree, _, err := p.parse()
	if err != nil {
		return nil, err
	}
	if text, ok := goSyntax(tree); ok {
		// What Go finds too large (a{1001}) may still be fine for the other matcher.
		if re, err := syntax.Parse(text, syntax.Perl); err == nil {
			p.linear = true
			p.weight, p.size, p.onepass = goWeight(text, re)
			return p, nil
		}
	}
	if progSize(tree) > maxProgram {
		return nil, &expr.SyntaxError{Msg: "the regular expression is too large (limit expression-regex)"}
	}
	p.size = instCount(tree) + 2 // the end of the text, and the match
	p.weight = treeWeight(tree, p.size)
	return p, nil
}

func (p *Pattern) parse() (tree *node, groups int, err *expr.SyntaxError) {
	tree, groups, err = parse(p.src, p.flags)
	if err != nil || !p.search {
		return tree, groups, err
	}
	rest := func(mode repeatMode) *node {
		return &node{kind: kindRepeat, max: -1, mode: mode, kids: []*node{{kind: kindSet, set: anyRune}}}
	}
	return &node{kind: kindConcat, kids: []*node{rest(lazy), tree, rest(greedy)}}, groups, nil
}

// program returns the program from the cache, or compiles it.
func (p *Pattern) program() *compiled {
	if c := p.held.Peek(); c != nil {
		return c
	}
	key := cache.Key{Kind: "regex", Text: p.src, N: int(p.flags) << 1}
	if p.search {
		key.N++
	}
	return p.held.Get(key, func() (*compiled, int) { return p.compile(), p.weight })
}

// compile compiles a pattern that was checked.
func (p *Pattern) compile() *compiled {
	tree, groups, err := p.parse()
	if err != nil {
		panic("regex: a pattern that was checked: " + err.Error())
	}
	if !p.linear {
		return &compiled{prog: compileTree(tree, groups)}
	}
	text, _ := goSyntax(tree)
	if !p.onepass {
		text += "()?" // what can end in two ways has no such form
	}
	return &compiled{linear: regexp.MustCompile(text)}
}

// Go's matcher does at most as much work as a text has bytes, times the instructions of
// its program. One step pays for as much of that as takes some 50 ns: more where the
// matcher that remembers in a bitmap what it tried is used, which is for texts and
// programs that are not large; less where all states are followed at once.
const (
	bitmapUnit, statesUnit = 8, 3

	bitmapProgram = 500       // maxBacktrackProg of package regexp
	bitmapBits    = 256 << 10 // its maxBacktrackVector
)

// matchCost is what matching a text costs at most.
func (p *Pattern) matchCost(text string) int {
	unit := statesUnit
	if p.size <= bitmapProgram && len(text) < bitmapBits/p.size {
		unit = bitmapUnit
	}
	if len(text) > expr.MaxSteps*unit/p.size {
		return expr.MaxSteps + 1 // more than there can be, and nothing overflows
	}
	return 2 + len(text)*p.size/unit
}

// compileUnit is how many instructions of a program one step pays for, of each match.
const compileUnit = 64

// Match reports whether the text matches.
func (p *Pattern) Match(text string, b *expr.Budget) (bool, error) {
	// A program that is not in the cache is compiled. Whether it is there may not change what
	// an evaluation costs, so every match pays a part of compiling it.
	if err := b.Step(p.size / compileUnit); err != nil {
		return false, err
	}
	c := p.program()
	if !p.linear {
		return c.prog.match(text, b)
	}
	// Go's matcher cannot be stopped, so its worst case is paid beforehand.
	if err := b.Step(p.matchCost(text)); err != nil {
		return false, err
	}
	return c.linear.MatchString(text), nil
}
