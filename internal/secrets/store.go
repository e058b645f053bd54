package secrets

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/redact"
)

const (
	// MaxBytes is the limit secret-bytes: all secrets of one source.
	MaxBytes = 4 << 20
	// MaxCount is the limit secret-count: secrets in all.
	MaxCount = 1024
)

// lookAgain is how often files and folders are looked at.
const lookAgain = time.Second

// Store has the secrets of all sources. It is safe for concurrent use.
type Store struct {
	sources []Source
	now     func() time.Time
	// OnError is told why secrets that changed cannot be read: those from before still count. The
	// text never has a value in it.
	OnError func(error)

	mu      sync.Mutex
	looked  time.Time
	states  []string // of the sources, as they were read
	failed  string   // the error that was told last
	current *Snapshot
}

// Open reads the sources. If two have a secret of the same name, the later wins. The warnings are
// about what others could read.
func Open(sources ...Source) (s *Store, warnings []string, err error) {
	s = &Store{sources: sources, now: time.Now}
	s.looked = s.now()
	if s.states, err = s.look(); err != nil {
		return nil, nil, err
	}
	if s.current, warnings, err = s.read(); err != nil {
		return nil, nil, err
	}
	return s, warnings, nil
}

// look is what the sources look like: it changes when they do.
func (s *Store) look() ([]string, error) {
	out := make([]string, len(s.sources))
	for i, source := range s.sources {
		state, err := source.state()
		if err != nil {
			return nil, err
		}
		out[i] = state
	}
	return out, nil
}

func (s *Store) read() (*Snapshot, []string, error) {
	all := map[string]expr.Value{}
	var warnings []string
	for _, source := range s.sources {
		found, notes, err := source.read()
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, notes...)
		maps.Copy(all, found)
	}
	if len(all) > MaxCount {
		return nil, nil, fmt.Errorf("there are %d secrets, and at most %d can be used (limit secret-count)", len(all), MaxCount)
	}
	return newSnapshot(all), warnings, nil
}

// Snapshot is what the sources say now; of nil: nothing. A source that cannot be read counts as it
// was.
func (s *Store) Snapshot() *Snapshot {
	if s == nil {
		return none
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.looked) >= lookAgain {
		s.looked = now
		s.refresh()
	}
	return s.current
}

// refresh reads sources that changed.
func (s *Store) refresh() {
	states, err := s.look()
	if err == nil && slices.Equal(states, s.states) {
		return
	}
	var fresh *Snapshot
	if err == nil {
		fresh, _, err = s.read()
	}
	if err != nil {
		if s.OnError != nil && err.Error() != s.failed {
			s.OnError(fmt.Errorf("changed secrets cannot be read, those from before still count: %w", err))
		}
		s.states, s.failed = nil, err.Error() // to be tried again
		return
	}
	s.current, s.states, s.failed = fresh, states, ""
}

// Get returns a secret.
func (s *Store) Get(name string) (expr.Value, bool) { return s.Snapshot().Get(name) }

// Holds reports whether a value has a secret in it.
func (s *Store) Holds(v expr.Value) bool { return s.Redactor().Holds(v) }

// Redactor finds the values of the secrets.
func (s *Store) Redactor() *redact.Redactor { return s.Snapshot().Redactor() }

// Snapshot are secrets that do not change.
type Snapshot struct {
	all      map[string]expr.Value
	redactor func() *redact.Redactor // made when it is first used
}

var none = newSnapshot(nil)

func newSnapshot(all map[string]expr.Value) *Snapshot {
	s := &Snapshot{all: all}
	s.redactor = sync.OnceValue(func() *redact.Redactor { return redact.NewRedactor(all) })
	return s
}

// Of are the given secrets.
func Of(all map[string]expr.Value) (*Snapshot, error) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := checkName(name); err != nil {
			return nil, err
		}
	}
	return newSnapshot(maps.Clone(all)), nil
}

// Get returns a secret.
func (s *Snapshot) Get(name string) (expr.Value, bool) {
	v, ok := s.all[name]
	return v, ok
}

// Names lists the secrets, sorted.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.all)) }

// Redactor finds the values of these secrets.
func (s *Snapshot) Redactor() *redact.Redactor { return s.redactor() }

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,253}$`)

// checkName reports a name that a secret cannot have.
func checkName(name string) error {
	if name == "" {
		return errors.New("the name of a secret is empty")
	}
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%q cannot be the name of a secret: only letters, digits, _, - and . can stand in it, 253 at most", name)
	}
	return nil
}
