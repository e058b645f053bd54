package sw05

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// scope finds the states of a scope and of those inside of it by name and id.
func (c *checker) scope(s *scope) {
	c.scopes = append(c.scopes, s)
	s.byName = dialect.Names[*state]{What: "state", Code: codeDuplicate}
	s.byID = dialect.Names[*state]{What: "state id", Code: codeDuplicate}
	for _, one := range s.states {
		s.byName.Add(c.r, one.name, one)
		s.byID.Add(c.r, one.id, one)
	}
	for _, one := range s.states {
		for _, inner := range one.inner() {
			c.scope(inner)
		}
	}
}

// elsewhere finds a scope that has a state of this name. The one that is asked for has none.
func (c *checker) elsewhere(name string) *scope {
	for _, s := range c.scopes {
		if s.byName.Get(name) != nil || s.byID.Get(name) != nil {
			return s
		}
	}
	return nil
}

// label gives every state a name that no other has: its own, or where that repeats inside of a state, with the names
// of what it stands in.
func (c *checker) label() {
	taken := map[string]bool{}
	for _, s := range c.scopes {
		for _, one := range s.states {
			one.label = one.nameText()
			if taken[one.label] && s.parent != nil {
				one.label = s.path() + "/" + one.label
			}
			taken[one.label] = true
		}
	}
}

// title is how messages call a scope.
func (s *scope) title() string {
	switch {
	case s.parent == nil:
		return "a workflow"
	case s.branch == nil:
		return "an iteration of " + s.parent.title()
	}
	return fmt.Sprintf("branch %q", s.branch.Text)
}

// path names a scope from the outside in.
func (s *scope) path() string {
	if s.branch == nil {
		return s.parent.label
	}
	return s.parent.label + "/" + s.branch.Text
}

// filtered reports whether a state of the scope, but not one inside of it, selects a part of its data.
func (s *scope) filtered() bool {
	for _, one := range s.states {
		if one.input != nil && !one.input.Root || one.output != nil && !one.output.Root {
			return true
		}
	}
	return false
}
