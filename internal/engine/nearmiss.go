package engine

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/lockstep-workflows/lockstep/event"
)

// Distances of an event from what an instance waits for.
const (
	distanceNone   = iota // all attributes match
	distanceSource        // the source differs
	distanceKey           // a correlation attribute is missing
	distanceValue         // its value resembles the one that is wanted
	distanceOther         // it has another value: the event is for another instance
)

// distance is how far an event is from a match.
func distance(ev event.Event, f event.Filter) int {
	if ok, _ := f.Match(ev); ok {
		return distanceNone
	}
	out := distanceSource
	for _, k := range f.Keys {
		if !k.Fixed {
			continue
		}
		switch have, there := k.Of(ev); {
		case !there:
			out = max(out, distanceKey)
		case have == k.Value:
		case resembles(have, k.Value):
			out = max(out, distanceValue)
		default:
			out = max(out, distanceOther)
		}
	}
	return out
}

// resembles reports whether two values differ only by case, spaces and punctuation, as a mistake would. Numbers
// that differ by a digit are those of two orders.
func resembles(a, b string) bool { return bare(a) == bare(b) }

func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// maxOthers is how many events for other instances are listed where no closer one is there: one of them may
// have a wrong key.
const maxOthers = 3

// closest sorts near misses, and leaves out those that are plainly for other instances.
func closest(list []NearMiss) (near []NearMiss, others int) {
	slices.SortStableFunc(list, func(a, b NearMiss) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(b.Event.Seq, a.Event.Seq))
	})
	near = list
	if i := slices.IndexFunc(list, func(m NearMiss) bool { return m.Distance == distanceOther }); i >= 0 {
		if i == 0 {
			i = min(len(list), maxOthers)
		}
		near, others = list[:i], len(list)-i
	}
	return near, others
}
