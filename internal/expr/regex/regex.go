// Package regex matches regular expressions in the syntax of Java, for Jayway's =~, or of
// JavaScript, for JSON Schema.
//
// One parser reads both (parse.go, escape.go, class.go, set.go). Patterns that are regular in
// the strict sense run on Go's linear-time regexp (linear.go). Look-around, back-references,
// atomic groups and the like run on a backtracking matcher that charges every step to the
// budget (match.go). Both run out of budget at the same point on every machine.
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
	Comments                      // x: blanks and # comments are skipped
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

// Pattern is a checked regular expression. Its program is compiled when a text is first
// matched, and kept while the cache has room for it.
type Pattern struct {
	src    string
	flags  Flags
	search bool // match anywhere in a text, not only all of it
	linear bool // runs on Go's matcher
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

// check parses a pattern and sets the size of its program without compiling it.
func check(p *Pattern) (*Pattern, *expr.SyntaxError) {
	tree, _, err := p.parse()
	if err != nil {
		return nil, err
	}
	if text, ok := goSyntax(tree); ok {
		// A pattern that Go refuses as too large (a{1001}) may still fit the other matcher.
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
		text += "()?" // a pattern that can end in two ways has no one-pass form
	}
	return &compiled{linear: regexp.MustCompile(text)}
}

// Go's matcher executes at most len(text) × instructions. One step pays for about 50 ns of that.
// Package regexp has two matchers: for small texts and programs a faster one with a bitmap of
// what it tried, else one that follows all states at once.
const (
	bitmapUnit, statesUnit = 8, 3

	bitmapProgram = 500       // maxBacktrackProg of package regexp
	bitmapBits    = 256 << 10 // its maxBacktrackVector
)

// matchCost is the cost of matching a text in the worst case.
func (p *Pattern) matchCost(text string) int {
	unit := statesUnit
	if p.size <= bitmapProgram && len(text) < bitmapBits/p.size {
		unit = bitmapUnit
	}
	if len(text) > expr.MaxSteps*unit/p.size {
		return expr.MaxSteps + 1 // more than any budget, computed without overflow
	}
	return 2 + len(text)*p.size/unit
}

// compileUnit is how many instructions of a program each match pays one step for.
const compileUnit = 64

// Match reports whether the text matches.
func (p *Pattern) Match(text string, b *expr.Budget) (bool, error) {
	// A program that is not in the cache is compiled again. Since the cost of an evaluation must
	// not depend on the cache, every match pays for a part of compiling.
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
