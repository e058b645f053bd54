package jsonpath

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/regex"
)

// path is a compiled path. It is immutable.
type path struct {
	src     string // as written, without blanks around
	inner   *path  // what the segments start from, where a function stands in the middle
	current bool   // starts at @
	segs    []segment
	// definite says that at most one value is selected. A function's input is
	// what segs select: their one value, or the list.
	definite bool
	fn       *call
	// overlaps says that the result may hold parts of the data more than once,
	// so that its size must be paid for.
	overlaps bool
	weight   int // of its regular expressions, in a path that is a whole program
}

// isList reports whether the result is a list of matches.
func (p *path) isList() bool { return !p.definite && p.fn == nil }

// segKind tells segments apart.
type segKind uint8

const (
	segName    segKind = iota // .name
	segNames                  // ['a','b']
	segIndex                  // [0]
	segIndexes                // [0,2]
	segSlice                  // [1:3]
	segAll                    // .*
	segFilter                 // [?(…)]
)

// segment is one step of a path.
type segment struct {
	kind    segKind
	deep    bool // after "..": applies to every descendant as well
	name    string
	names   []string
	index   int
	indexes []int
	slice   slice
	filter  *cond
}

// slice selects from, from+step, … before to.
type slice struct {
	from, to       int
	hasFrom, hasTo bool
	step           int
}

// operand is one side of a comparison or an argument of a function.
type operand struct {
	path *path
	lit  expr.Value
	re   *regex.Pattern
}

// condOp is what a condition does.
type condOp uint8

const (
	opExists condOp = iota // left alone
	opConst                // left is true or false
	opNot
	opAnd
	opOr
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opMatch // left =~ right.re
	opIn
	opNin
	opSubsetOf
	opAnyOf
	opNoneOf
	opAll
	opContains
	opSize
	opEmpty
)

// cond is a condition inside a filter.
type cond struct {
	op          condOp
	left, right operand
	kids        []*cond // of opNot, opAnd, opOr
}

// call is a function at the end of a path.
type call struct {
	fn   *function
	args []operand
}
