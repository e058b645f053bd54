package jq

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Inspection tells a front-end what an expression uses, without evaluating it.
type Inspection struct {
	// Uses are the variables that the expression does not bind itself, in the order in which they
	// first occur.
	Uses []Use
}

// Use is how an expression uses a variable.
type Use struct {
	Name string // without $
	// Offsets are where $NAME stands, in bytes of the source.
	Offsets []int
	// Members are the names in $NAME.member and $NAME["member"], sorted.
	Members []string
	// Whole says that the expression can see more of the variable than those members.
	Whole bool
	// Computed says that it selects a member by a name that it computes: $NAME[.x]. Whole is true
	// as well.
	Computed bool
}

// Of returns the use of a variable, and whether there is one.
func (in Inspection) Of(name string) (Use, bool) {
	i := slices.IndexFunc(in.Uses, func(u Use) bool { return u.Name == name })
	if i < 0 {
		return Use{Name: name}, false
	}
	return in.Uses[i], true
}

// Inspect checks an expression of the language [Lang], without `${ }` around it, and says what
// it uses. The error is a *[expr.SyntaxError], the same that compiling it gives.
func Inspect(src string) (Inspection, error) {
	c, err := check(src)
	if err != nil {
		return Inspection{}, err
	}
	var in Inspection
	all := words(src)
	for _, v := range c.vars {
		u := Use{Name: v.name, Members: v.need.names, Whole: v.need.whole, Computed: v.need.computed}
		for _, word := range all {
			if word.text == "$"+v.name {
				u.Offsets = append(u.Offsets, word.at)
			}
		}
		in.Uses = append(in.Uses, u)
	}
	slices.SortStableFunc(in.Uses, func(a, b Use) int { return cmp.Compare(first(a), first(b)) })
	return in, nil
}

func first(u Use) int {
	if len(u.Offsets) == 0 {
		return 0
	}
	return u.Offsets[0]
}

// Functions lists the names of the functions that an expression may call, sorted.
func Functions() []string {
	all := slices.Concat(harmless, slices.Sorted(maps.Keys(natives)), slices.Sorted(maps.Keys(own)))
	for _, p := range prelude {
		all = append(all, p.name)
	}
	var out []string
	for _, f := range all {
		if name, _, _ := strings.Cut(f, "/"); name != "" && isLetter(name[0]) && name[0] != '_' {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
