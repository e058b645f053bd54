package query

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// readIs takes what an instance may be: a job.
func readIs(f *Filter, w *word, _ core.Time) (bool, error) {
	for _, v := range w.values {
		if v != "job" {
			return false, &Error{w.column, fmt.Sprintf("is: does not know %q", v), "write is:job"}
		}
	}
	w.match = isJob
	if w.not {
		return false, nil
	}
	f.Query.Jobs = true
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
