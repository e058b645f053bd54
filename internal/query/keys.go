package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Statuses are the values of status, in the order of an instance's life.
var Statuses = []core.Status{
	core.Running, core.Waiting, core.Paused, core.Completed, core.Failed, core.Cancelled, core.Terminated,
}

// key is something that a word may ask for. Its read sets match, and narrows the query
// where a store can answer that: then it returns true.
type key struct {
	name string
	read func(f *Filter, w *word, now core.Time) (bool, error)
}

var keys = []key{
	{"status", readStatus},
	{"def", readDefinition},
	{"state", readState},
	{"error", readError},
	{"age", readAge},
	{"idle", readIdle},
	{"created", readCreated},
	{"updated", readUpdated},
	{"label", readLabel},
	{"tag", readLabel}, // as jobs call their labels
	{"name", readName},
	{"key", readKey},
	{"text", readText},
	{"id", readID},
	{"parent", readParent},
	{"is", readIs},
	{"client", readClient},
	{"group", readGroup},
}

func keyNames() []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.name
	}
	return out
}

// add takes a word into the filter.
func (f *Filter) add(w word, now core.Time) error {
	read := readPlain
	if w.key != "" {
		read = readOther
		if i := slices.IndexFunc(keys, func(k key) bool { return k.name == w.key }); i >= 0 {
			read = keys[i].read
		}
	}
	stored, err := read(f, &w, now)
	if err != nil {
		return err
	}
	f.Exact = f.Exact && stored
	f.words = append(f.words, w)
	return nil
}

// take sets a field of the query to a word's only value, unless it is set already.
func take(w *word, field *string) bool {
	if w.not || len(w.values) != 1 || *field != "" {
		return false
	}
	*field = w.values[0]
	return true
}

func readStatus(f *Filter, w *word, _ core.Time) (bool, error) {
	var list []core.Status
	for _, v := range w.values {
		if !slices.Contains(Statuses, core.Status(v)) {
			return false, badStatus(w, v)
		}
		list = append(list, core.Status(v))
	}
	w.match = func(in *store.Instance) bool { return slices.Contains(list, in.Status) }
	allowed := f.Query.Status
	if allowed == nil {
		allowed = Statuses
	}
	var left []core.Status
	for _, s := range allowed {
		if slices.Contains(list, s) != w.not {
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		return false, nil // no instance fits; Selects says so
	}
	f.Query.Status = left
	return true, nil
}

func badStatus(w *word, v string) error {
	names := make([]string, len(Statuses))
	for i, s := range Statuses {
		names[i] = string(s)
	}
	e := &Error{Column: w.column, Msg: fmt.Sprintf("there is no status %q", v), Hint: "the statuses are " + strings.Join(names, ", ")}
	if near := dialect.Suggest(v, names); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e
}

// readDefinition takes id or id@version.
func readDefinition(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	for _, v := range values {
		if _, version, pinned := cutLast(v); pinned && version == "" {
			return false, &Error{Column: w.column, Msg: fmt.Sprintf("%q has no version after the @", v), Hint: "write id or id@version"}
		}
	}
	w.match = func(in *store.Instance) bool {
		return slices.ContainsFunc(values, func(v string) bool {
			id, version, pinned := cutLast(v)
			return in.Definition == id && (!pinned || in.Version == version) || in.Definition == v
		})
	}
	if w.not || len(values) != 1 || f.Query.Definition != "" {
		return false, nil
	}
	id, version, pinned := cutLast(values[0])
	switch {
	case !pinned:
		f.Query.Definition = id
		return true, nil
	case version != "" && !strings.Contains(id, "@"):
		f.Query.Definition, f.Query.Version = id, version
		return true, nil
	}
	return false, nil
}

// cutLast takes id@version apart.
func cutLast(v string) (id, version string, pinned bool) {
	if i := strings.LastIndexByte(v, '@'); i > 0 {
		return v[:i], v[i+1:], true
	}
	return v, "", false
}

func readState(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	w.match = func(in *store.Instance) bool {
		return slices.ContainsFunc(values, in.InState)
	}
	return take(w, &f.Query.State), nil
}

func readError(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	w.match = func(in *store.Instance) bool { return in.Fault != nil && slices.Contains(values, in.Fault.Name) }
	return take(w, &f.Query.Error), nil
}

func readParent(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	w.match = func(in *store.Instance) bool { return slices.Contains(values, in.Parent) }
	return take(w, &f.Query.Parent), nil
}

// readID compares the beginning of ids.
func readID(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	take(w, &f.Query.Prefix)
	w.match = func(in *store.Instance) bool {
		return slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(in.ID, v) })
	}
	return false, nil
}

func created(in *store.Instance) core.Time { return in.Created }
func updated(in *store.Instance) core.Time { return in.Updated }

func readAge(f *Filter, w *word, now core.Time) (bool, error) {
	return readSince(w, now, &f.Query.CreatedFrom, &f.Query.CreatedTo, created)
}

func readIdle(f *Filter, w *word, now core.Time) (bool, error) {
	return readSince(w, now, &f.Query.UpdatedFrom, &f.Query.UpdatedTo, updated)
}

// readSince takes >1h (longer ago than an hour) or <1h.
func readSince(w *word, now core.Time, from, to *core.Time, at func(*store.Instance) core.Time) (bool, error) {
	if len(w.values) != 1 {
		return false, &Error{w.column, w.key + ": takes one value", ""}
	}
	text := w.values[0]
	older := strings.HasPrefix(text, ">")
	d, err := Age(strings.TrimLeft(text[:1], "<>") + text[1:])
	if err != nil || !older && !strings.HasPrefix(text, "<") {
		return false, &Error{w.column, fmt.Sprintf("%s: %q is not an age", w.key, text), fmt.Sprintf("write %s:>1h or %s:<30m; units are s, m, h, d and w", w.key, w.key)}
	}
	return bound(w, now-core.Time(d), older, from, to, at), nil
}

// bound has an instant be before a limit, or not before it.
func bound(w *word, limit core.Time, before bool, from, to *core.Time, at func(*store.Instance) core.Time) bool {
	w.match = func(in *store.Instance) bool { return (at(in) < limit) == before }
	switch {
	case w.not != before && (*to == 0 || limit < *to):
		*to = limit
	case w.not == before && (*from == 0 || limit > *from):
		*from = limit
	}
	return limit != 0 // 0 means open to a store
}

// Age reads 90s, 1h30m, 2d, 1w.
func Age(text string) (time.Duration, error) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	var sum time.Duration
	for text != "" {
		n := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if n <= 0 {
			return 0, fmt.Errorf("%q is not a number with a unit", text)
		}
		amount, err := strconv.ParseInt(text[:n], 10, 64)
		unit := units[text[n]]
		if err != nil || unit == 0 || amount > (math.MaxInt64-int64(sum))/int64(unit) {
			return 0, fmt.Errorf("%q is not a number with a unit", text)
		}
		sum += time.Duration(amount) * unit
		text = text[n+1:]
	}
	if sum == 0 {
		return 0, fmt.Errorf("it is empty")
	}
	return sum, nil
}
