package convert

import (
	"cmp"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Notes gathers what cannot be kept, and what is assumed. Nothing is in it twice.
type Notes struct {
	lost    []Loss
	assumed []Assumption
}

// Lose notes a loss.
func (n *Notes) Lose(l Loss) {
	if !slices.Contains(n.lost, l) {
		n.lost = append(n.lost, l)
	}
}

// Assume notes an assumption. The zero position is the whole definition.
func (n *Notes) Assume(pos dialect.Pos, text string) {
	if one := (Assumption{pos, text}); !slices.Contains(n.assumed, one) {
		n.assumed = append(n.assumed, one)
	}
}

// Broken reports whether a state always behaves differently.
func (n *Notes) Broken(state string) bool {
	return slices.ContainsFunc(n.lost, func(l Loss) bool { return l.Broken && l.State == state })
}

// sorted returns all notes in order of position.
func (n *Notes) sorted() ([]Loss, []Assumption) {
	order := func(a, b dialect.Pos) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	}
	slices.SortStableFunc(n.lost, func(a, b Loss) int { return order(a.Pos, b.Pos) })
	slices.SortStableFunc(n.assumed, func(a, b Assumption) int { return order(a.Pos, b.Pos) })
	return n.lost, n.assumed
}

// Result is the notes with the documents that they are about.
func (n *Notes) Result(to string, calls Calls, list ...Definition) Result {
	lost, assumed := n.sorted()
	return Result{
		To: to, Definitions: list, Lost: lost, Assumed: assumed, Calls: calls, Answering: calls.Answering,
		Whole: calls.Whole, Named: map[string][]string{},
	}
}

// Calls says how the calls of a conversion differ from those of its source.
type Calls struct {
	Names     map[string]string // of functions in the source, by those in the conversion
	Inside    map[string]string // which member of the arguments has those of the source, by function of the conversion
	Codes     map[string]string // the code that an error always has, by its name
	Answering map[string]bool   // functions that are assumed to return a result
	NoSource  map[string]bool   // types of produced events whose source is not compared
	Workflows map[string]string // names of other workflows by their ids in the source
	Versions  map[string]string // of those that must have one, by their ids
	Whole     map[string]bool   // functions that receive one value, now as the argument "data"
	Unchecked map[string]bool   // functions whose arguments are not compared
	Alone     bool              // instances are assumed not to want the same events
}

// NewCalls returns calls that do not differ.
func NewCalls() Calls {
	return Calls{
		Names: map[string]string{}, Inside: map[string]string{}, Codes: map[string]string{}, Answering: map[string]bool{},
		NoSource: map[string]bool{}, Workflows: map[string]string{}, Versions: map[string]string{}, Whole: map[string]bool{}, Unchecked: map[string]bool{},
	}
}

// MergeJQ defines merge($new) in jq: as 0.5 and later versions merge what actions and events give. Objects merge
// deeply, lists without repeats, else the newcomer wins.
const MergeJQ = `def merge($new): if type == "object" and ($new | type) == "object" then ` +
	`reduce ($new | keys[]) as $k (.; .[$k] = if has($k) then .[$k] | merge($new[$k]) else $new[$k] end) ` +
	`elif type == "array" and ($new | type) == "array" then reduce $new[] as $i (.; if any(.[]; . == $i) then . else . + [$i] end) ` +
	`else $new end; `
