package expr

import (
	"fmt"
	"strings"
)

// Compiler is one expression language.
type Compiler interface {
	// Compile turns source into a program once per definition. A *SyntaxError says
	// where in src it cannot.
	Compile(src string) (Program, error)
}

// Program is a compiled expression. It is immutable and safe for concurrent use.
type Program interface {
	// Eval evaluates against the data. It spends from b and returns a *LimitError
	// when that is used up; any other error is a fault of this evaluation.
	Eval(data Value, b *Budget) (Result, error)
}

// Scope is all that an expression sees.
type Scope struct {
	Data Value
	// Lent is for paths: where one begins with a name that the data lacks, it begins in the
	// lent value instead. Nothing else about $ changes. Null: nothing is lent.
	Lent Value
	Vars Vars // nil: there are none
}

// Vars are the variables of a Scope.
type Vars interface {
	// Var returns the value of a variable, named without a leading $. It reports false for one
	// that does not exist.
	Var(name string) (Value, bool)
}

// Scoped is a Program that sees more than the data.
type Scoped interface {
	Program
	EvalIn(in Scope, b *Budget) (Result, error)
}

// Weighed is a Program that is compiled when it is first evaluated, and then takes memory.
type Weighed interface {
	Program
	// Weight is how many bytes that is. It is the same on every machine.
	Weight() int
}

// MaxPrograms bounds the weight of all programs of one definition: the limit
// definition-programs, in bytes.
const MaxPrograms = 16 << 20

// Languages is the set of languages a program may use, by name.
type Languages map[string]Compiler

// Result is what an evaluation gives.
type Result struct {
	Value Value
	// Missing says that a definite expression selected nothing, or an indefinite
	// one had no match; Value is then null, respectively the empty array.
	Missing bool
	// List says that Value is the array of an indefinite expression's matches.
	List bool
	// Holes names the expressions inside a template that selected nothing and
	// became null (or, inside text, nothing).
	Holes []string
}

// True reports whether the result satisfies a condition (semantics.md §Expressions):
// the expression selects something, and what a definite one selects is not false,
// null or empty.
func (r Result) True() bool { return !r.Missing && r.Value.Truthy() }

// PartError is a failure of one of several expressions in a template.
type PartError struct {
	Part int    // which of the template's strings that hold expressions; keys count in their sorted order
	Src  string // the expression
	Err  error
}

func (e *PartError) Error() string { return e.Err.Error() }
func (e *PartError) Unwrap() error { return e.Err }

// SyntaxError is a place in an expression's source that does not parse.
type SyntaxError struct {
	Offset int // byte offset in the source
	Msg    string
	Hint   string // what to write instead, where that can be said
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at column %d: %s", e.Offset+1, e.Msg) }

// Detail returns the parts of the error, for reporting it at its place in a document.
func (e *SyntaxError) Detail() (offset int, msg, hint string) { return e.Offset, e.Msg, e.Hint }

// NoSecretError says that an expression asks for a secret that it may not see, by a name that it
// computes.
type NoSecretError struct{ Name string }

func (e *NoSecretError) Error() string {
	name := e.Name
	if len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "") + "…"
	}
	return fmt.Sprintf("there is no secret %q", name)
}
