package store

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
)

// What several stores do alike.

// Decide calls a router; a panic is its error. The methods of a View have no error to return: where one
// failed, *seen says so, and the router saw too little.
func Decide(route func() (Routing, error), seen *error) (out Routing, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("router: panic: %v\n%s", p, debug.Stack())
		}
	}()
	out, err = route()
	if *seen != nil {
		return Routing{}, *seen
	}
	return out, err
}

// SortSubscriptions puts subscriptions into the order in which a View lists them.
func SortSubscriptions(list []Subscription) {
	slices.SortFunc(list, func(a, b Subscription) int {
		return cmp.Or(cmp.Compare(a.InstanceSeq, b.InstanceSeq), cmp.Compare(a.Ticket, b.Ticket))
	})
}

// MaxProblems is how many problems one check tells ("check-problems").
const MaxProblems = 100

// Problems are what a check found.
type Problems []Problem

// Add notes a problem, unless there are many already.
func (p *Problems) Add(where, format string, args ...any) {
	if len(*p) < MaxProblems {
		*p = append(*p, Problem{Where: where, Text: fmt.Sprintf(format, args...)})
	}
}
