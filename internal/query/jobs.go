package query

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// readIs takes what an instance may be: a job, or one that no other spawned.
func readIs(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	for _, v := range values {
		if v != "job" && v != "root" {
			return false, &Error{w.column, fmt.Sprintf("is: does not know %q", v), "write is:root or is:job"}
		}
	}
	w.match = func(in *store.Instance) bool {
		return slices.ContainsFunc(values, func(v string) bool { return v == "job" && isJob(in) || v == "root" && in.Parent == "" })
	}
	if w.not || len(values) != 1 {
		return false, nil
	}
	f.Query.Jobs = f.Query.Jobs || values[0] == "job"
	f.Query.Root = f.Query.Root || values[0] == "root"
	return true, nil
}

func isJob(in *store.Instance) bool { return in.Job.State != "" }

// readClient takes the client that a job is for.
func readClient(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	w.match = func(in *store.Instance) bool { return isJob(in) && slices.Contains(values, in.Job.Client) }
	if !w.not {
		f.Query.Jobs = true
	}
	return take(w, &f.Query.Client), nil
}

// readGroup takes groups of states.
func readGroup(f *Filter, w *word, _ core.Time) (bool, error) {
	values := w.values
	w.match = func(in *store.Instance) bool { return isJob(in) && slices.Contains(values, in.Job.Group) }
	if w.not {
		return false, nil
	}
	f.Query.Jobs = true
	if f.Query.Groups != nil {
		return false, nil
	}
	f.Query.Groups = values
	return true, nil
}
