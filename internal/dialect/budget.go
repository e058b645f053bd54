package dialect

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Budget bounds what compiling one definition costs. A nil Budget bounds nothing.
//
// A front-end spends where it works. Once compiling must end, its methods panic, and
// [Registry.Compile] reports why: nothing in between has to hand an error on.
type Budget struct {
	// Stop, where it is not nil, is asked now and then whether to go on; its error says why not.
	Stop func() error

	work     int // units so far: values, names and characters that were looked at
	asked    int // work when Stop was last asked
	programs int // bytes
	names    int // bytes
	built    int // units of the program
	omitted  more
}

// askEvery is after how much work Stop is asked again: well below a millisecond.
const askEvery = 1 << 12

// maxNames is the limit definition-names, in bytes: a program repeats the name of a state for
// every step in it.
const maxNames = 16 << 20

// maxBuilt is the limit definition-steps. No document is long enough to write down more; extensions, error policies
// and functions in expressions repeat what they hold at each use.
const maxBuilt = 300_000

// exhausted ends compiling.
type exhausted struct{ why Diagnostic }

// Spend counts work: about one for each value or name that is looked at.
func (b *Budget) Spend(n int) {
	if b == nil {
		return
	}
	if b.work += n; b.Stop == nil || b.work-b.asked < askEvery {
		return
	}
	b.asked = b.work
	if err := b.Stop(); err != nil {
		panic(exhausted{Diagnostic{Severity: Error, Code: CodeStopped, Message: fmt.Sprintf("compiling was stopped: %v", err)}})
	}
}

// Build counts what the program is made of, as an [ir.Builder] reports it.
func (b *Budget) Build(n int) {
	if b == nil {
		return
	}
	b.Spend(n)
	if b.built += n; b.built <= maxBuilt {
		return
	}
	var r Reporter
	panic(exhausted{*r.Errorf(Pos{}, CodePrograms, "the definition becomes more than %d steps, with what is repeated at each use (limit definition-steps)",
		maxBuilt).WithHint("use fewer extensions, error handlers or functions in expressions, or move a part into a workflow of its own")})
}

// Work is how much was spent. For the same definition it is the same everywhere.
func (b *Budget) Work() int { return b.work }

// Weigh counts what a regular expression or a schema takes once it is compiled.
func (b *Budget) Weigh(at Place, bytes int) {
	if b == nil || bytes == 0 {
		return
	}
	if b.programs += bytes; b.programs <= expr.MaxPrograms {
		return
	}
	var r Reporter
	panic(exhausted{*r.Errorf(at, CodePrograms, "the regular expressions and schemas up to here take more than %d MiB of memory (limit definition-programs)",
		expr.MaxPrograms>>20).WithHint("repetitions such as {1,1000} cost most; write + or *, or compare lengths")})
}

// name counts a name that a program repeats.
func (b *Budget) name(at Place, text string) {
	if b.names += len(text); b.names <= maxNames {
		return
	}
	var r Reporter
	panic(exhausted{*r.Errorf(at, CodePrograms, "the names of states, once for each step in them, are longer than %d MiB (limit definition-names)",
		maxNames>>20).WithHint("give the states shorter names")})
}
