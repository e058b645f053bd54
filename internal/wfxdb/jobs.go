package wfxdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

const (
	// MaxHistory is how many entries of a job's history are read, the newest ones ("import-history").
	MaxHistory = 8192
	// MaxHistoryBytes is how large they may be in all, if there is more than one ("import-history-bytes").
	MaxHistoryBytes = 8 << 20
)

// Job is a row of the table job, with its tags and its history.
type Job struct {
	ID, Client, Workflow string
	Created, Updated     time.Time // stime and mtime
	Status, Definition   expr.Value
	Tags                 []string
	History              []Entry // oldest first
	Cut                  int     // entries that are left out, because they are older than MaxHistory, MaxHistoryBytes or MaxRowBytes allow
	Err                  error   // why it cannot be read; else nil
}

// Entry is a row of the table history, which a change of a job wrote. One of a definition has both, one of tags neither.
type Entry struct {
	At         time.Time  // since when that held which it replaced
	Status     expr.Value // which it replaced, with the hash of its definition; null: it changed the tags
	Definition expr.Value // which it set, although the column is meant for the one before; null: it changed another part
	size       int
}

// Jobs calls each for every job, oldest first. Only one is in memory at a time: the rows of the three tables come in
// the same order, because the table history has no index by job.
func (db *DB) Jobs(ctx context.Context, each func(Job) error) error {
	const order = " ORDER BY j.stime, j.id"
	jobs, err := db.rows(ctx, "jobs", "SELECT j.id, j.stime, j.mtime, j.client_id, w.name, "+db.bounded("j.definition", "j.status")+" FROM job j LEFT JOIN workflow w ON w.id = j.workflow_jobs"+order)
	if err != nil {
		return notWFX(err)
	}
	defer jobs.close()
	tags, err := newMerge(ctx, db, "tags", "SELECT j.id, t.name FROM tag_jobs x JOIN job j ON j.id = x.job_id JOIN tag t ON t.id = x.tag_id"+order+", t.name")
	if err != nil {
		return err
	}
	defer tags.rows.close()
	history, err := newMerge(ctx, db, "past", "SELECT j.id, h.mtime, "+db.bounded("h.status", "h.definition")+" FROM history h JOIN job j ON j.id = h.job_history"+order+", h.id")
	if err != nil {
		return err
	}
	defer history.rows.close()
	for {
		r, err := jobs.next(ctx)
		if err != nil || r == nil {
			return err
		}
		j := newJob(r)
		if err := tags.of(ctx, j.ID, func(r []text) { j.Tags = append(j.Tags, r[1].s) }); err != nil {
			return err
		}
		size := 0
		if err := history.of(ctx, j.ID, func(r []text) { j.add(r, &size) }); err != nil {
			return err
		}
		if err := each(j); err != nil {
			return err
		}
	}
}

func newJob(r []text) Job {
	j := Job{ID: r[0].s, Client: r[3].s, Workflow: r[4].s}
	if err := r[7].tooLarge(); err != nil {
		j.Err = err
		return j
	}
	var errs [4]error
	j.Created, errs[0] = r[1].time()
	j.Updated, errs[1] = r[2].time()
	j.Definition, errs[2] = r[5].json()
	j.Status, errs[3] = r[6].json()
	for i, name := range []string{"stime", "mtime", "definition", "status"} {
		if errs[i] != nil && j.Err == nil {
			j.Err = fmt.Errorf("its %s cannot be read: %w", name, errs[i])
		}
	}
	switch {
	case j.Err != nil:
	case !r[4].valid:
		j.Err = errors.New("it has no workflow")
	case !j.Definition.IsNull() && !j.Definition.IsObject():
		j.Err = errors.New("its definition is not an object")
	}
	if j.Status.IsObject() {
		j.Status = j.Status.Without("definitionHash") // it is computed, because the definition is known
	}
	return j
}

// add adds a row of the history, and drops the oldest if there are too many. One that is too large goes with all
// that are older.
func (j *Job) add(r []text, size *int) {
	if r[4].tooLarge() != nil {
		j.Cut += len(j.History) + 1
		j.History, *size = nil, 0
		return
	}
	e := Entry{size: len(r[2].s) + len(r[3].s)}
	var err error
	if e.At, err = r[1].time(); err == nil {
		e.Status, err = r[2].json()
	}
	if err == nil {
		e.Definition, err = r[3].json()
	}
	if err != nil {
		if j.Err == nil {
			j.Err = fmt.Errorf("its history cannot be read: %w", err)
		}
		return
	}
	j.History = append(j.History, e)
	*size += e.size
	for len(j.History) > MaxHistory || *size > MaxHistoryBytes && len(j.History) > 1 {
		*size -= j.History[0].size
		j.History[0] = Entry{}
		j.History = j.History[1:]
		j.Cut++
	}
}

// merge reads rows that belong to jobs, in the order of the jobs.
type merge struct {
	rows cursor
	at   []text // the next row; nil: there is none
}

func newMerge(ctx context.Context, db *DB, name, query string) (*merge, error) {
	rows, err := db.rows(ctx, name, query)
	if err != nil {
		return nil, notWFX(err)
	}
	m := &merge{rows: rows}
	if m.at, err = rows.next(ctx); err != nil {
		rows.close()
		return nil, err
	}
	return m, nil
}

// of calls take for the rows of a job.
func (m *merge) of(ctx context.Context, job string, take func([]text)) (err error) {
	for m.at != nil && m.at[0].s == job {
		take(m.at)
		if m.at, err = m.rows.next(ctx); err != nil {
			return err
		}
	}
	return nil
}
