package scenario

import (
	"context"
	"fmt"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Guard is a store that bounds what one scenario, or one `lockstep run`, may do: a
// loop or a tree of workflows without an end runs into a [LimitError], and after
// that nothing is committed any more. It is safe for concurrent use.
type Guard struct {
	store.Store
	Limits  Limits            // a zero field: any number
	Forget  bool              // history is not kept: nobody asks this store for it
	OnLimit func(*LimitError) // told once, from the commit that is refused; may be nil

	mu    sync.Mutex
	steps int
	calls int
	live  map[string]struct{} // instances that are not over
	over  *LimitError
}

// LimitError says which limit a scenario or a run went beyond.
type LimitError struct {
	Limit string
	Max   int
}

func (e *LimitError) Error() string {
	what := "is this a loop without an end?"
	if e.Limit == instancesLimit {
		what = "do workflows start one another without an end?"
	}
	return fmt.Sprintf("more than %d %s (limit %s): %s", e.Max, limited[e.Limit], e.Limit, what)
}

const (
	stepsLimit     = "scenario-steps"
	callsLimit     = "scenario-calls"
	instancesLimit = "scenario-instances"
)

// limited is what each limit counts.
var limited = map[string]string{
	stepsLimit:     "steps",
	callsLimit:     "calls of functions",
	instancesLimit: "instances at a time",
}

// Commit counts, and refuses what goes beyond a limit.
func (g *Guard) Commit(ctx context.Context, c store.Commit) error {
	if err := g.admit(c); err != nil {
		return err
	}
	if g.Forget {
		c.Records = nil
	}
	if err := g.Store.Commit(ctx, c); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.steps++
	g.calls += len(c.Calls)
	for _, child := range c.Children {
		g.live[child.Instance.ID] = struct{}{}
	}
	g.live[c.Instance.ID] = struct{}{}
	if c.Instance.Status.Final() {
		delete(g.live, c.Instance.ID)
	}
	return nil
}

// admit tells whether a commit may happen. An instance that an event created is
// counted from its first commit on.
func (g *Guard) admit(c store.Commit) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.live == nil {
		g.live = map[string]struct{}{}
	}
	more := len(c.Children)
	if _, known := g.live[c.Instance.ID]; !known && !c.Instance.Status.Final() {
		more++
	}
	switch {
	case g.over != nil:
		return g.over
	case exceeds(g.steps, 1, g.Limits.Steps):
		g.over = &LimitError{stepsLimit, g.Limits.Steps}
	case exceeds(g.calls, len(c.Calls), g.Limits.Calls):
		g.over = &LimitError{callsLimit, g.Limits.Calls}
	case exceeds(len(g.live), more, g.Limits.Instances):
		g.over = &LimitError{instancesLimit, g.Limits.Instances}
	default:
		return nil
	}
	if g.OnLimit != nil {
		g.OnLimit(g.over)
	}
	return g.over
}

func exceeds(count, more, limit int) bool { return limit > 0 && more > 0 && count+more > limit }
