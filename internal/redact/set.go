package redact

import (
	"strings"
	"sync"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Set is the secrets of one definition: what its expressions see, and the redactor that keeps it
// out of all that is stored.
type Set struct {
	*Redactor
	Values expr.Value // an object
}

// byName are the secrets of a set; of nil: none.
func (s *Set) byName() map[string]expr.Value {
	all := map[string]expr.Value{}
	if s != nil {
		for _, m := range s.Values.Members() {
			all[m.Key] = m.Value
		}
	}
	return all
}

// Find returns a secret by its name.
type Find func(name string) (expr.Value, bool)

// Object has the named secrets as members. What does not exist is left out.
func (find Find) Object(names []string) expr.Value {
	var members []expr.Member
	for _, name := range names {
		if v, ok := find(name); ok {
			members = append(members, expr.Member{Key: name, Value: v})
		}
	}
	return expr.Object(members...)
}

// Sets makes the sets of definitions. It is safe for concurrent use.
type Sets struct {
	find  Find
	plain bool
	mu    sync.Mutex
	made  map[string]*Set // by names
}

// maxSets is how many sets are remembered. Beyond that they are made anew, which costs time alone.
const maxSets = 256

// NewSets makes sets of the secrets that find returns.
func NewSets(find Find) *Sets { return &Sets{find: find, made: map[string]*Set{}} }

// PlainSets makes sets that redact nothing, for tests of definitions: whoever reads the outcome wrote
// the secrets.
func PlainSets(find Find) *Sets { return &Sets{find: find, plain: true, made: map[string]*Set{}} }

// Get returns a secret.
func (s *Sets) Get(name string) (expr.Value, bool) { return s.find(name) }

// Holds reports whether a value has a secret of a definition in it.
func (s *Sets) Holds(v expr.Value) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, made := range s.made {
		if made.Holds(v) {
			return true
		}
	}
	return false
}

// For is the set of the named secrets. It is the same one as long as none of them changes.
func (s *Sets) For(names []string) *Set {
	key, values := strings.Join(names, "\n"), s.find.Object(names)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.made[key]
	if before != nil && expr.Equal(before.Values, values) {
		return before
	}
	if len(s.made) >= maxSets {
		clear(s.made)
	}
	made := &Set{Values: values}
	if !s.plain {
		made.Redactor = newRedactor(made.byName(), before.byName())
	}
	s.made[key] = made
	return made
}
