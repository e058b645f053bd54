package callcheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
)

// Ledger compares the acknowledged instances with those that exist.
type Ledger struct {
	Calls *Calls
	Steps map[string][]string // the steps of an instance, in order, by definition

	acknowledged map[made]string // the id of the instance, "" if unknown
	found        map[made][]string
	verdict      Verdict
}

// made identifies an instance by its definition and the name in its input.
type made struct{ definition, name string }

// Verdict is the result of a comparison.
type Verdict struct {
	Acknowledged int
	Lost         int // acknowledged, but do not exist
	Extra        int // not acknowledged, or exist twice
	Twice        int // transitions that are duplicate in a history, or missing from it
	Calls        int // different keys
	Again        int // calls that repeated a key
	OtherKeys    int // steps that were not called under exactly one key
	Problems     []string
}

func (v Verdict) String() string {
	return fmt.Sprintf("%d acknowledged, %d lost, %d extra, %d duplicate or missing transitions, %d calls, "+
		"%d repeated under the same key, %d steps under another key",
		v.Acknowledged, v.Lost, v.Extra, v.Twice, v.Calls, v.Again, v.OtherKeys)
}

func (l *Ledger) problem(count *int, format string, args ...any) {
	*count++
	l.verdict.Problems = append(l.verdict.Problems, fmt.Sprintf(format, args...))
}

// Acknowledged notes that the start of an instance was acknowledged; id is "" if unknown.
func (l *Ledger) Acknowledged(definition, name, id string) {
	if l.acknowledged == nil {
		l.acknowledged = map[made]string{}
	}
	l.acknowledged[made{definition, name}] = id
}

// Found notes an instance that exists, with its whole history.
func (l *Ledger) Found(in api.Instance, history []api.Record) {
	seen := map[string]int{}
	name := ""
	var called []string
	for i, rec := range history {
		if rec.Seq != int64(i+1) {
			l.problem(&l.verdict.Twice, "instance %s: record %d has the number %d", in.ID, i+1, rec.Seq)
		}
		what := rec.Type + " " + rec.Node
		seen[what]++
		if seen[what] > 1 {
			l.problem(&l.verdict.Twice, "instance %s: %q happened %d times", in.ID, what, seen[what])
		}
		var s Step
		if rec.Type == api.RecordCalled && json.Unmarshal(rec.Data, &s) == nil {
			name = s.Of
			called = append(called, s.Step)
		}
	}
	if want := l.Steps[in.Definition.ID]; !slices.Equal(called, want) {
		l.problem(&l.verdict.Twice, "instance %s of %s called %q, want %q", in.ID, in.Definition.ID, called, want)
	}
	if l.found == nil {
		l.found = map[made][]string{}
	}
	of := made{in.Definition.ID, name}
	l.found[of] = append(l.found[of], in.ID)
}

// Verdict compares, after all instances were noted.
func (l *Ledger) Verdict() Verdict {
	v := &l.verdict
	v.Acknowledged = len(l.acknowledged)
	for of, id := range l.acknowledged {
		ids := l.found[of]
		if len(ids) == 0 || id != "" && !slices.Contains(ids, id) {
			l.problem(&v.Lost, "%s for %s was acknowledged as instance %q, but exists as %q", of.definition, of.name, id, ids)
		}
	}
	for of, ids := range l.found {
		if _, promised := l.acknowledged[of]; !promised || len(ids) > 1 {
			l.problem(&v.Extra, "%s for %s exists as %q; acknowledged: %t", of.definition, of.name, ids, promised)
		}
	}
	v.Calls, v.Again = l.Calls.Count()
	l.judgeCalls()
	slices.Sort(v.Problems)
	return *v
}

// judgeCalls checks that every step was called under one key, and that nothing else was called.
func (l *Ledger) judgeCalls() {
	l.Calls.mu.Lock()
	defer l.Calls.mu.Unlock()
	expected := map[Step]bool{}
	for of := range l.found {
		for _, step := range l.Steps[of.definition] {
			s := Step{of.name, step}
			expected[s] = true
			if keys := l.Calls.times[s]; len(keys) != 1 {
				l.problem(&l.verdict.OtherKeys, "step %s of %s was called under the keys %v", step, of.name, keys)
			}
		}
	}
	for s := range l.Calls.times {
		if !expected[s] {
			l.problem(&l.verdict.Extra, "step %s of %s was called, and no instance was made for it", s.Step, s.Of)
		}
	}
}

// maxReported is how many problems are reported.
const maxReported = 50

// Text lists the problems, one a line; "" if there are none.
func (v Verdict) Text() string {
	if rest := len(v.Problems) - maxReported; rest > 0 {
		return strings.Join(v.Problems[:maxReported], "\n") + fmt.Sprintf("\nand %d more", rest)
	}
	return strings.Join(v.Problems, "\n")
}
