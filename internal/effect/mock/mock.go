package mock

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Missing is the name of the failure of a function that has no mock.
const Missing = "MockMissing"

// Any is the key of the answers for all functions without a key.
const Any = "*"

// Mocks are answers by function name, one for each call; the last one repeats.
type Mocks map[string][]Answer

// Answers reports whether there is an answer for a function.
func (m Mocks) Answers(function string) bool { return len(m[function]) > 0 || len(m[Any]) > 0 }

// Answer is the answer to one call. Without Result, Error and Echo there is no value.
type Answer struct {
	Result    expr.Value
	HasResult bool
	Error     *effect.Failure
	Echo      bool // the result is the arguments
	Delay     time.Duration
}

// Invoker answers calls from mocks and remembers them.
type Invoker struct {
	mocks Mocks
	next  effect.Invoker
	log   effect.Invoker // of calls that only log; nil: they do nothing

	mu      sync.Mutex
	used    map[string]int // answers given, by key of mocks
	calls   []effect.Call
	missing []string
}

var _ effect.Invoker = (*Invoker)(nil)

// New returns an invoker that answers from mocks. Calls of functions without a mock go to next;
// if that is nil, they fail with the name Missing. Calls that only write to the log need no mock.
func New(mocks Mocks, next effect.Invoker) *Invoker {
	return &Invoker{mocks: mocks, next: next, used: map[string]int{}}
}

// Log makes an invoker carry out the calls without a mock that only write to the log.
func (i *Invoker) Log(log effect.Invoker) *Invoker {
	i.log = log
	return i
}

// Invoke answers a call.
func (i *Invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	a, ok := i.answer(c)
	switch {
	case !ok && ir.IsLog(c.Operation) && i.log != nil:
		return i.log.Invoke(ctx, c)
	case !ok && i.next != nil:
		return i.next.Invoke(ctx, c)
	case !ok && !ir.IsLog(c.Operation):
		return effect.Fail(effect.Failure{Name: Missing, Detail: fmt.Sprintf("function %q has no mock", c.Function)})
	case a.Error != nil:
		f := *a.Error
		return effect.Outcome{Failure: &f, Delay: a.Delay}
	case a.Echo:
		return effect.Outcome{Value: c.Args, Delay: a.Delay}
	case a.HasResult:
		return effect.Outcome{Value: a.Result, Delay: a.Delay}
	}
	return effect.Outcome{Value: expr.EmptyObject, None: true, Delay: a.Delay}
}

// answer records the call and chooses its answer.
func (i *Invoker) answer(c effect.Call) (Answer, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calls = append(i.calls, c)
	key := c.Function
	answers := i.mocks[key]
	if len(answers) == 0 {
		key = Any
		answers = i.mocks[key]
	}
	if len(answers) == 0 {
		if i.next == nil && !ir.IsLog(c.Operation) && !slices.Contains(i.missing, c.Function) {
			i.missing = append(i.missing, c.Function)
		}
		return Answer{}, false
	}
	n := min(i.used[key], len(answers)-1)
	i.used[key]++
	return answers[n], true
}

// Calls lists the calls so far, in order.
func (i *Invoker) Calls() []effect.Call {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.calls)
}

// Missing names the functions that were called without a mock, in order of their
// first call.
func (i *Invoker) Missing() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.missing)
}
