package callcheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/client"
)

// Ledger compares what was acknowledged with what there is.
type Ledger struct {
	Calls *Calls
	Steps map[string][]string // that an instance of a definition calls, in order

	acknowledged map[made]string // the instance, "" where it was not said
	found        map[made][]string
	verdict      Verdict
}

// made is what instances are made for.
type made struct{ definition, name string }

// Verdict is what a ledger gives.
type Verdict struct {
	Acknowledged int
	Lost         int // acknowledged, and not there
	Extra        int // there, and not acknowledged, or there twice
	Twice        int // transitions in a history, with those that are missing from it
	Calls        int // under a key of their own
	Again        int // under the same key
	OtherKeys    int // steps that were called under several keys
	Problems     []string
}

func (v Verdict) String() string {
	return fmt.Sprintf("%d acknowledged, %d lost, %d extra, %d duplicate or missing transitions, %d calls, %d repeated under the same key, %d steps under another key",
		v.Acknowledged, v.Lost, v.Extra, v.Twice, v.Calls, v.Again, v.OtherKeys)
}

func (l *Ledger) problem(count *int, format string, args ...any) {
	*count++
	l.verdict.Problems = append(l.verdict.Problems, fmt.Sprintf(format, args...))
}

// Acknowledged notes that an instance was promised; its id is "" where that was not said.
func (l *Ledger) Acknowledged(definition, name, id string) {
	if l.acknowledged == nil {
		l.acknowledged = map[made]string{}
	}
	l.acknowledged[made{definition, name}] = id
}

// Found takes an instance that is there, with its whole history.
func (l *Ledger) Found(in client.Instance, history []client.Record) {
	seen := map[string]int{}
	name, called := "", []string(nil)
	for i, rec := range history {
		if rec.Seq != int64(i+1) {
			l.problem(&l.verdict.Twice, "instance %s: record %d has the number %d", in.ID, i+1, rec.Seq)
		}
		what := rec.Type + " " + rec.Node
		if seen[what]++; seen[what] > 1 {
			l.problem(&l.verdict.Twice, "instance %s: %q happened %d times", in.ID, what, seen[what])
		}
		var s Step
		if rec.Type == "called" && json.Unmarshal(rec.Data, &s) == nil {
			name, called = s.Of, append(called, s.Step)
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

// Verdict compares, after everything was noted.
func (l *Ledger) Verdict() Verdict {
	v := &l.verdict
	v.Acknowledged = len(l.acknowledged)
	for of, id := range l.acknowledged {
		ids := l.found[of]
		if len(ids) == 0 || id != "" && !slices.Contains(ids, id) {
			l.problem(&v.Lost, "%s for %s, acknowledged as instance %q, is not there; there is %q", of.definition, of.name, id, ids)
		}
	}
	for of, ids := range l.found {
		if _, promised := l.acknowledged[of]; !promised || len(ids) > 1 {
			l.problem(&v.Extra, "%s for %s is there as %q; acknowledged: %t", of.definition, of.name, ids, promised)
		}
	}
	v.Calls, v.Again = l.Calls.Count()
	l.judgeCalls()
	slices.Sort(v.Problems)
	return *v
}

// judgeCalls sees that every step was called under one key, and nothing else was called.
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

// mostTold is how many problems are told: the first ones say enough.
const mostTold = 50

// Text tells the problems, one a line; "" if there are none.
func (v Verdict) Text() string {
	if rest := len(v.Problems) - mostTold; rest > 0 {
		return strings.Join(v.Problems[:mostTold], "\n") + fmt.Sprintf("\nand %d more", rest)
	}
	return strings.Join(v.Problems, "\n")
}
