package trial

import (
	"context"
	"fmt"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Limits bound a run, so that a loop, or workflows that start one another, come to an end. A limit
// of zero is none.
type Limits struct {
	Of        string // the first word of their names: "scenario" of scenario-steps
	Calls     int    // of functions
	Steps     int    // commits
	Instances int    // that have not ended, at a time
}

// LimitError says which limit a run exceeded.
type LimitError struct {
	Limit string // its name
	Max   int
	Unit  string // what it counts, in the plural
}

func (e *LimitError) Error() string {
	question := "is this a loop without an end?"
	if e.Unit == instances {
		question = "do workflows start one another without an end?"
	}
	return fmt.Sprintf("more than %d %s (limit %s): %s", e.Max, e.Unit, e.Limit, question)
}

const instances = "instances at a time"

// guard is a store that refuses the commit that exceeds a limit, and all commits after it. It is safe
// for concurrent use.
type guard struct {
	store.Store
	limits  Limits
	history bool
	onLimit func(error)
	silent  func(definition string) bool

	mu    sync.Mutex
	steps int
	calls int
	live  map[string]struct{} // instances that have not ended
	over  *LimitError
}

// PutDefinitions leaves out schedules that must stay silent.
func (g *guard) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) ([]store.Definition, error) {
	for i := range ds {
		if g.silent != nil && g.silent(ds[i].ID) {
			ds[i].Schedule = nil
		}
	}
	return g.Store.PutDefinitions(ctx, ds, move)
}

// Commit counts, and refuses what exceeds a limit.
func (g *guard) Commit(ctx context.Context, c store.Commit) error {
	if err := g.admit(c); err != nil {
		return err
	}
	if !g.history {
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

// admit decides whether a commit may happen. An instance that an event created counts from its first
// commit on.
func (g *guard) admit(c store.Commit) error {
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
	case exceeds(g.steps, 1, g.limits.Steps):
		g.over = &LimitError{g.limits.Of + "-steps", g.limits.Steps, "steps"}
	case exceeds(g.calls, len(c.Calls), g.limits.Calls):
		g.over = &LimitError{g.limits.Of + "-calls", g.limits.Calls, "calls of functions"}
	case exceeds(len(g.live), more, g.limits.Instances):
		g.over = &LimitError{g.limits.Of + "-instances", g.limits.Instances, instances}
	default:
		return nil
	}
	if g.onLimit != nil {
		g.onLimit(g.over)
	}
	return g.over
}

func exceeds(count, more, limit int) bool { return limit > 0 && more > 0 && count+more > limit }
