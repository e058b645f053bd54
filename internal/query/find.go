package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// find has stores search for a word's values, each put into a query by set.
func find(w *word, set func(q *store.Query, value string)) {
	list := make([]store.Query, len(w.values))
	for i, v := range w.values {
		set(&list[i], v)
	}
	w.match = func(in *store.Instance) bool {
		return slices.ContainsFunc(list, func(q store.Query) bool { return q.Selects(in) })
	}
}

// readPlain takes plain text: an id, a name, a key, or a label's value.
func readPlain(f *Filter, w *word, _ core.Time) (bool, error) {
	find(w, func(q *store.Query, v string) { q.Text = v })
	return take(w, &f.Query.Text), nil
}

func readName(f *Filter, w *word, _ core.Time) (bool, error) {
	find(w, func(q *store.Query, v string) { q.Name = v })
	return take(w, &f.Query.Name), nil
}

// readKey takes the key of a start, or the value of a correlation attribute.
func readKey(f *Filter, w *word, _ core.Time) (bool, error) {
	find(w, func(q *store.Query, v string) { q.Key = v })
	return take(w, &f.Query.Key), nil
}

// readOther takes a key that is none of the grammar: the name of a label.
func readOther(f *Filter, w *word, now core.Time) (bool, error) {
	if err := misspelt(w); err != nil {
		return false, err
	}
	for i, v := range w.values {
		w.values[i] = w.key + "=" + v
	}
	return readLabel(f, w, now)
}

// misspelt refuses a key that is almost one of the grammar: as a label it would find nothing, and say nothing.
func misspelt(w *word) error {
	near := dialect.Suggest(w.key, keyNames())
	if !strings.EqualFold(w.key, near) && (len(near) < len("error") || near == "state") { // as "stage" is
		return nil
	}
	return &Error{
		Column: w.column - len([]rune(w.key)) - 1, Msg: fmt.Sprintf("unknown key %q", w.key),
		Hint: fmt.Sprintf("did you mean %q? A label of that name is label:%s=%s", near, w.key, w.values[0]),
	}
}

// readLabel takes name=value, a name that must be there, or a value that any label has. The label "name" is the name.
func readLabel(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	for _, v := range values {
		if strings.HasPrefix(v, "=") {
			return false, &Error{w.column, fmt.Sprintf("%q lacks the name of the label before the =", v), "write label:name=value"}
		}
	}
	w.match = func(in *store.Instance) bool {
		return slices.ContainsFunc(values, func(v string) bool { return labelled(in, v) })
	}
	name, value, given := strings.Cut(values[0], "=")
	if w.not || len(values) != 1 || !given || name == ir.LabelName {
		return false, nil
	}
	f.Query.Labels = append(f.Query.Labels, store.Label{Name: name, Value: value})
	return true, nil
}

func labelled(in *store.Instance, want string) bool {
	name, value, given := strings.Cut(want, "=")
	if name == ir.LabelName && in.Name != "" {
		return !given || in.Name == value
	}
	for _, m := range in.Labels.Members() {
		texts := store.LabelTexts(m.Value)
		switch {
		case given && m.Key == name && slices.Contains(texts, value):
			return true
		case !given && (m.Key == want || slices.Contains(texts, want)):
			return true
		}
	}
	return false
}

// readText looks for a part of a text, in any case, where people would. No store has an index for that.
func readText(_ *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	w.match = func(in *store.Instance) bool {
		return slices.ContainsFunc(values, func(v string) bool { return contains(in, strings.ToLower(v)) })
	}
	return false, nil
}

func contains(in *store.Instance, want string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), want) }
	return has(in.ID) || has(in.Name) || has(in.Key) || has(in.Definition) || slices.ContainsFunc(in.Active, has) || has(in.Job.Client) || has(in.Job.State) ||
		in.Fault != nil && (has(in.Fault.Name) || has(in.Fault.Detail)) ||
		slices.ContainsFunc(in.Labels.Members(), func(m expr.Member) bool { return slices.ContainsFunc(store.LabelTexts(m.Value), has) })
}

// Browses reports whether a filter names nothing by which particular instances are found, so that a list of
// them may leave out what others spawned.
func (f *Filter) Browses() bool {
	return !slices.ContainsFunc(f.words, func(w word) bool {
		switch w.key {
		case "status", "def", "state", "error", "age", "idle", "created", "updated":
			return false
		}
		return true
	})
}
