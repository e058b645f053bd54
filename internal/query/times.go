package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func readCreated(f *Filter, w *word, _ core.Time) (bool, error) {
	return readInstant(w, &f.Query.CreatedFrom, &f.Query.CreatedTo, created)
}

func readUpdated(f *Filter, w *word, _ core.Time) (bool, error) {
	return readInstant(w, &f.Query.UpdatedFrom, &f.Query.UpdatedTo, updated)
}

// readInstant accepts >T (from then on), <T (before it), or a date alone, which is that day.
// So >2026-01-01 and <2026-02-01 together are January.
func readInstant(w *word, from, to *core.Time, at func(*store.Instance) core.Time) (bool, error) {
	if len(w.values) != 1 {
		return false, &Error{w.column, w.key + ": takes one value", ""}
	}
	text := w.values[0]
	rest := strings.TrimLeft(text[:1], "<>") + text[1:]
	limit, day, ok := instant(rest)
	if !ok || len(rest) == len(text) && !day {
		return false, &Error{
			w.column, fmt.Sprintf("%s: %q is not a time", w.key, text),
			fmt.Sprintf("write %[1]s:>2026-01-31 (from then on), %[1]s:<2026-01-31T12:00:00Z (before it) "+
				"or %[1]s:2026-01-31 (that day); dates are in UTC", w.key),
		}
	}
	if len(rest) < len(text) {
		return bound(w, limit, text[0] == '<', from, to, at), nil
	}
	end := limit + core.Time(24*time.Hour)
	if w.not {
		w.match = func(in *store.Instance) bool { return at(in) >= limit && at(in) < end }
		return false, nil
	}
	first := bound(w, limit, false, from, to, at)
	last := bound(w, end, true, from, to, at)
	w.match = func(in *store.Instance) bool { return at(in) >= limit && at(in) < end }
	return first && last, nil
}

// instant reads a time as in RFC 3339, or a date, which is its first instant in UTC.
func instant(text string) (at core.Time, day, ok bool) {
	t, err := time.Parse(time.DateOnly, text)
	day = err == nil
	if !day {
		t, err = time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return 0, false, false
		}
	}
	if t.Year() < 1700 || t.Year() > 2200 { // nanoseconds since 1970 can express no more
		return 0, false, false
	}
	return core.TimeOf(t), day, true
}
