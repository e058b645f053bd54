package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Operators decide about a definition as a whole, whatever its version: pause it, retire it, pause its
// schedule or change how that fires. One row of the store has all of this. In a shared store a change of the
// row counts as a change of the definitions, so that a start which another node refuses is refused here, too.

// Mark says who decided something, when and why.
type Mark struct {
	At     core.Time `json:"at"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// policy is what operators decided about a definition.
type policy struct {
	Paused   *Mark         `json:"paused,omitempty"`
	Retired  *Mark         `json:"retired,omitempty"`
	Release  bool          `json:"release,omitempty"` // it was resumed, and instances may still be held
	Schedule scheduleRules `json:"schedule,omitzero"`
}

// storedPolicy is a policy as the store has it.
type storedPolicy struct {
	policy
	rev int64
}

// PausedError refuses a start: operators paused or retired the definition.
type PausedError struct {
	Definition string
	Retired    bool // else paused
	Mark
}

func (e *PausedError) Error() string {
	what := "paused"
	if e.Retired {
		what = "retired"
	}
	by := ""
	if e.By != "" {
		by = " by " + e.By
	}
	if e.Reason != "" {
		by += fmt.Sprintf(" (%s)", e.Reason)
	}
	return fmt.Sprintf("definition %q is %s since %s%s", e.Definition, what, e.At.Std().Format(time.RFC3339), by)
}

// readPolicies reads what operators decided. The caller holds the lock of deployments, or is alone.
func (e *Engine) readPolicies(ctx context.Context) (map[string]storedPolicy, error) {
	rows, err := e.store.Policies(ctx)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	out := make(map[string]storedPolicy, len(rows))
	for _, row := range rows {
		p, err := parsePolicy(row)
		if err != nil {
			e.report(err)
		}
		out[row.Definition] = p
	}
	return out, nil
}

// parsePolicy reads one. A definition whose policy is damaged counts as paused until an operator decides anew.
func parsePolicy(row store.Policy) (storedPolicy, error) {
	p := storedPolicy{rev: row.Rev}
	if err := json.Unmarshal([]byte(row.Data), &p.policy); err != nil {
		p.policy = policy{Paused: &Mark{Reason: "its policy is damaged"}}
		return p, fmt.Errorf("the policy of definition %s is %w: %w", row.Definition, store.ErrDamaged, err)
	}
	return p, nil
}

// setPolicies replaces what is known. The caller holds mu.
func (e *Engine) setPolicies(all map[string]storedPolicy) {
	e.policies, e.starts = all, nil
	paused, releases := 0, 0
	for _, p := range all {
		if p.Paused != nil {
			paused++
		}
		if p.Release {
			releases++
		}
	}
	e.paused.Store(int64(paused))
	e.releases.Store(int64(releases))
}

// policyOf is what operators decided about a definition.
func (e *Engine) policyOf(id string) policy {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.policies[id].policy
}

// holds reports whether the instances of a definition are held.
func (e *Engine) holds(definition string) bool {
	return e.paused.Load() > 0 && e.policyOf(definition).Paused != nil
}

// retired returns since when no instance of a definition is started any more; nil: that is allowed. A version
// that was deployed later ends it.
func (e *Engine) retired(id string) *Mark {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.retiredNow(id)
}

// retiredNow is retired for callers that hold mu.
func (e *Engine) retiredNow(id string) *Mark {
	p, d := e.policies[id], e.byID[aliasKey{id, ""}]
	if d == nil {
		return p.Retired
	}
	return p.retiredAt(d.row.Deployed)
}

// retiredAt is since when a definition is retired whose current version was deployed at a time.
func (p *policy) retiredAt(deployed core.Time) *Mark {
	if p.Retired == nil || deployed > p.Retired.At {
		return nil
	}
	return p.Retired
}

// startable says why no instance of a definition may be started now.
func (e *Engine) startable(id string) error {
	if mark := e.policyOf(id).Paused; mark != nil {
		return &PausedError{Definition: id, Mark: *mark}
	}
	if mark := e.retired(id); mark != nil {
		return &PausedError{Definition: id, Retired: true, Mark: *mark}
	}
	return nil
}

// decide changes the policy of a definition. Where change reports false, nothing is stored.
func (e *Engine) decide(ctx context.Context, id string, change func(*policy) (bool, error)) error {
	if _, err := e.find(ctx, id, ""); err != nil && !errors.As(err, new(*UnloadableError)) {
		return err
	}
	e.cfg.Probe.lock(&e.deploys)
	defer e.deploys.Unlock()
	for range maxConflicts {
		all, err := e.readPolicies(ctx)
		if err != nil {
			return err
		}
		p := all[id]
		changed, err := change(&p.policy)
		if err != nil || !changed {
			return err
		}
		data, err := json.Marshal(p.policy)
		if err != nil {
			return fmt.Errorf("decide about %s: %w", id, err)
		}
		err = e.decided(func() error {
			return e.store.SetPolicy(ctx, store.Policy{Definition: id, Rev: p.rev, Data: string(data)})
		}, func() {
			p.rev++
			e.mu.Lock()
			all = maps.Clone(e.policies)
			all[id] = p
			e.setPolicies(all)
			e.mu.Unlock()
		})
		switch {
		case errors.Is(err, store.ErrConflict):
			continue
		case errors.Is(err, store.ErrNotFound):
			return &NotFoundError{"definition", id, ""}
		case err != nil:
			return fmt.Errorf("decide about %s: %w", id, err)
		}
		e.wakeUp()
		return nil
	}
	return fmt.Errorf("decide about %s: %w, %d times", id, store.ErrConflict, maxConflicts)
}

// undecided does what depends on decisions, and lets new ones wait until it is stored. Where nodes share the store, the
// commit names the count of the decisions that it is after, and is refused after another one.
func (e *Engine) undecided(do func() error) error {
	if e.shared == nil {
		e.cfg.Probe.readLock(&e.decisions)
		defer e.decisions.RUnlock()
	}
	return do()
}

// decided stores a decision and then follows it.
func (e *Engine) decided(store func() error, follow func()) error {
	if e.shared == nil {
		e.cfg.Probe.lock(&e.decisions)
		defer e.decisions.Unlock()
	}
	err := store()
	if err == nil {
		follow()
	}
	return err
}

// mark is a decision of now.
func (e *Engine) mark(by, reason string) *Mark { return &Mark{At: e.now(), By: by, Reason: reason} }

// InvalidError says that a part of a request is not valid.
type InvalidError struct{ Field, Msg string }

func (e *InvalidError) Error() string { return e.Field + ": " + e.Msg }

// PauseDefinition stops a definition: until it is resumed no instance is started, and none goes on. Calls in
// flight may answer. Pausing it again changes nothing.
func (e *Engine) PauseDefinition(ctx context.Context, id, by, reason string) error {
	mark := e.mark(by, reason)
	return e.decide(ctx, id, func(p *policy) (bool, error) {
		if p.Paused != nil {
			return false, nil
		}
		p.Paused, p.Release = mark, false
		return true, nil
	})
}

// ResumeDefinition lets a paused definition go on. What became due meanwhile is done now; fire times of its
// schedule are left out.
func (e *Engine) ResumeDefinition(ctx context.Context, id string) error {
	err := e.decide(ctx, id, func(p *policy) (bool, error) {
		if p.Paused == nil {
			return false, nil
		}
		p.Paused, p.Release, p.Schedule.Resumed = nil, true, e.now()
		return true, nil
	})
	if err == nil {
		e.calls.unshelve(id)
		e.wakeUp()
	}
	return err
}

// RetireDefinition ends a definition: nothing starts instances any more, until a new version is deployed.
// Those that run go on to their end.
func (e *Engine) RetireDefinition(ctx context.Context, id, by, reason string) error {
	mark := e.mark(by, reason)
	return e.decide(ctx, id, func(p *policy) (bool, error) {
		if e.retired(id) != nil {
			return false, nil
		}
		p.Retired = mark
		return true, nil
	})
}

// UnretireDefinition undoes RetireDefinition.
func (e *Engine) UnretireDefinition(ctx context.Context, id string) error {
	return e.decide(ctx, id, func(p *policy) (bool, error) {
		if p.Retired == nil {
			return false, nil
		}
		p.Retired, p.Schedule.Resumed = nil, e.now()
		return true, nil
	})
}

// Decisions returns whether a definition is paused or retired; nil: it is not.
func (e *Engine) Decisions(id string) (paused, retired *Mark) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.policies[id].Paused, e.retiredNow(id)
}
