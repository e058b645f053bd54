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

// Pattern is a compiled regular expression. It is immutable.
type Pattern struct {
	linear *regexp.Regexp // nil where the pattern is not regular
	size   int            // of linear's program
	prog   *program
}

// Compile compiles a pattern that must match the whole of a text. Offsets of
// errors count from the start of src.
func Compile(src string, flags Flags) (*Pattern, *expr.SyntaxError) {
	tree, groups, err := parse(src, flags)
	if err != nil {
		return nil, err
	}
	return compile(tree, groups)
}

// CompileSearch compiles a pattern that may match anywhere in a text.
func CompileSearch(src string, flags Flags) (*Pattern, *expr.SyntaxError) {
	tree, groups, err := parse(src, flags)
	if err != nil {
		return nil, err
	}
	rest := func(mode repeatMode) *node {
		return &node{kind: kindRepeat, max: -1, mode: mode, kids: []*node{{kind: kindSet, set: anyRune}}}
	}
	return compile(&node{kind: kindConcat, kids: []*node{rest(lazy), tree, rest(greedy)}}, groups)
}

func compile(tree *node, groups int) (*Pattern, *expr.SyntaxError) {
	if text, ok := goSyntax(tree); ok {
		// What Go finds too large (a{1001}) may still be fine for the other matcher.
		if re, err := regexp.Compile(text); err == nil {
			return &Pattern{linear: re, size: linearSize(text)}, nil
		}
	}
	prog, ok := compileTree(tree, groups)
	if !ok {
		return nil, &expr.SyntaxError{Msg: "the regular expression is too large (limit expression-regex)"}
	}
	return &Pattern{prog: prog}, nil
}

// linearSize is the number of instructions of Go's program: the most states it
// looks at for each character.
func linearSize(text string) int {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 1
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 1
	}
	return len(prog.Inst)
}

// linearUnit is how many characters times instructions of Go's matcher one step pays for.
const linearUnit = 64

// Match reports whether the text matches.
func (p *Pattern) Match(text string, b *expr.Budget) (bool, error) {
	if p.linear == nil {
		return p.prog.match(text, b)
	}
	// Go's matcher cannot be stopped, so its worst case is paid beforehand.
	if err := b.Step(1 + len(text)*p.size/linearUnit); err != nil {
		return false, err
	}
	return p.linear.MatchString(text), nil
}
