package engine

import (
	"context"
	"math"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
)

// maxJobHistory is how many changes of a job are returned at most ("job-history").
const maxJobHistory = 8192

// JobChange is what a change of a job replaced: a status or a definition.
type JobChange struct {
	At       core.Time  // the change before this one: wfx shows this time
	Replaced core.Time  // this change
	Actor    string     // who replaced a status; empty: the workflow itself
	Status   expr.Value // the replaced one, where HasStatus
	// Content is the definition in force with the status or, without HasStatus, the replaced one.
	// Null: there was none.
	Content   expr.Value
	HasStatus bool
}

// JobWithHistory reads a job and what was replaced in it, newest first: at most so many changes of about
// so many bytes, as text, though always the newest. cut reports that older changes are left out. Both are
// of one revision unless the job changes all the time. The cost depends on the changes that are returned,
// not on all that there are.
func (e *Engine) JobWithHistory(ctx context.Context, id string, limit, bytes int) (job Job, list []JobChange, cut bool, err error) {
	limit = max(0, min(limit, maxJobHistory))
	for range maxConflicts {
		if job, err = e.Job(ctx, id); err != nil {
			return Job{}, nil, false, err
		}
		if list, cut, err = e.jobChanges(ctx, job, limit, bytes); err != nil {
			return Job{}, nil, false, noJob(err, id)
		}
		again, err := e.jobRow(ctx, id)
		if err != nil {
			return Job{}, nil, false, err
		}
		if again.Rev == job.Rev && again.Created == job.Created {
			break
		}
	}
	return job, list, cut, nil
}

// DefinitionAfter is the definition that a job had right after a record of its history.
func (e *Engine) DefinitionAfter(ctx context.Context, id string, then core.Record) (expr.Value, error) {
	job, err := e.Job(ctx, id) // before the records, so that they have all that it shows
	if err != nil {
		return expr.Null, err
	}
	content := job.Content
	err = e.recordsBack(ctx, &job, func(r *core.Record, _ int) bool {
		if r.Time < then.Time || sameRecord(r, &then) {
			return false
		}
		if r.Type == core.RecControl && r.Name == string(core.VerbAmend) {
			content, _ = r.Data.Get(jobdata.Replaced)
		}
		return true
	})
	return content, noJob(err, id)
}

func sameRecord(a, b *core.Record) bool {
	return a.Time == b.Time && a.Type == b.Type && a.Node == b.Node && a.Name == b.Name && a.Text == b.Text &&
		a.Frame == b.Frame && a.Ticket == b.Ticket && expr.Equal(a.Data, b.Data)
}

// historyPart is about how many bytes of records are read at a time.
const historyPart = 256 << 10

// recordsBack calls f with the records of a job, the newest first, and about how many bytes
// each takes, until it returns false. They are read in parts that are small at first: one
// record may be large.
func (e *Engine) recordsBack(ctx context.Context, job *Job, f func(r *core.Record, bytes int) bool) error {
	end := job.Records
	for part := int64(1); end > 0; {
		from := max(0, end-part)
		records, err := e.store.Records(ctx, job.ID, from, int(end-from))
		if err != nil {
			return notFound(err, job.ID)
		}
		end = from
		total := 0
		for i := len(records) - 1; i >= 0; i-- {
			bytes, _, _ := expr.Measure(records[i].Data, math.MaxInt, expr.MaxDepth)
			if total += bytes; !f(&records[i], bytes) {
				return nil
			}
		}
		part = max(1, min(4*part, int64(historyPart*len(records)/max(total, 1)), 1024))
	}
	return nil
}

// change is something that happened to a job, as its records tell it.
type change struct {
	kind     changeKind
	at       core.Time
	actor    string
	status   expr.Value // as it became
	content  expr.Value // as it became
	replaced expr.Value // the content before; Null: there was none
}

type changeKind uint8

const (
	changeStatus changeKind = iota
	changeContent
	changeTags
)

// hasEntry reports whether the change has an entry, if something was there before.
func (c *change) hasEntry() bool {
	return c.kind == changeStatus || c.kind == changeContent && !c.replaced.IsNull()
}

// jobChanges reads the history of a job backwards until there is enough for limit entries,
// or for so many bytes. It reports whether there are older ones.
func (e *Engine) jobChanges(ctx context.Context, job Job, limit, bytes int) (out []JobChange, cut bool, err error) {
	if limit == 0 {
		return nil, false, nil
	}
	var list []change
	count, size, full := 0, 0, false
	err = e.recordsBack(ctx, &job, func(r *core.Record, n int) bool {
		had := len(list)
		if list = noteChange(list, r); len(list) == had {
			return true
		}
		c := &list[had]
		// With limit+1 entries, and the status before the last of them, it is known that some are left out.
		if count > limit && c.kind == changeStatus {
			return false
		}
		if had > 0 { // the newest is in force, and has no entry
			size += n
		}
		if c.hasEntry() {
			count++
		}
		full = size > bytes && count > 1
		return !full
	})
	if err != nil {
		return nil, false, err
	}
	out = entries(list, job.Content, limit+1)
	if len(out) > limit {
		return out[:limit], true, nil
	}
	return out, full, nil
}

// noteChange adds what a record tells to the changes that came after it.
func noteChange(list []change, r *core.Record) []change {
	switch {
	case r.Type == core.RecEntered:
		return append(list, change{kind: changeStatus, at: r.Time, status: r.Data})
	case r.Type == core.RecTaken && r.Text == r.Node: // the state stays, and is not entered
		return append(list, change{kind: changeStatus, at: r.Time, status: r.Data, actor: r.Name})
	case r.Type == core.RecTaken && len(list) > 0:
		list[len(list)-1].actor = r.Name // of the state that was entered with it
	case r.Type == core.RecControl && r.Name == string(core.VerbAmend):
		c := change{kind: changeContent, at: r.Time}
		c.replaced, _ = r.Data.Get(jobdata.Replaced)
		if !slices.ContainsFunc(list, func(c change) bool { return c.kind == changeContent }) {
			c.content, _ = r.Data.Get(jobdata.Definition) // of others the next one tells
		}
		return append(list, c)
	case r.Type == core.RecControl && r.Name == string(core.VerbLabel):
		return append(list, change{kind: changeTags, at: r.Time})
	}
	return list
}

// entries tells what the changes replaced. They are given newest first; content is the
// definition in force now.
func entries(list []change, content expr.Value, limit int) []JobChange {
	if i := slices.IndexFunc(list, func(c change) bool { return c.kind == changeContent }); i >= 0 {
		content = list[i].content
	}
	var out []JobChange
	for i := range list {
		c := &list[i]
		if len(out) == limit || i+1 == len(list) {
			break
		}
		entry := JobChange{At: list[i+1].at, Replaced: c.at, Actor: c.actor, Content: content}
		switch c.kind {
		case changeStatus:
			before := slices.IndexFunc(list[i+1:], func(c change) bool { return c.kind == changeStatus })
			if before < 0 {
				continue
			}
			entry.Status, entry.HasStatus = list[i+1+before].status, true
		case changeContent:
			content = c.replaced
			if entry.Content = content; content.IsNull() {
				continue
			}
		default:
			continue
		}
		out = append(out, entry)
	}
	return out
}
