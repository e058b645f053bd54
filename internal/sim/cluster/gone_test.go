package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// drop deletes a job, or that of a client, in whatever state it is; some name the revision that they read.
func (c *client) drop(p *process) error {
	a, l := c.act, &c.w.ledger
	id := a.What
	if a.Actor != "" {
		jobs, err := p.engine.Jobs(p.ctx, store.Query{Client: a.Actor})
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return &notYet{"it has no job"}
		}
		id = jobs[0].ID
	} else if l.logs[id] == nil {
		return &notYet{"it is not created"}
	}
	rev := int64(0)
	if a.Since {
		job, err := p.engine.Job(p.ctx, id)
		if err != nil {
			return err
		}
		rev = job.Rev
	}
	l.deleting[id], l.dropping[a.Actor] = true, true
	err := p.engine.DeleteJob(p.ctx, id, rev)
	var stale *engine.RevisionError
	switch {
	case errors.As(err, &stale) && c.tries < patience:
		return &notYet{err.Error()}
	case err == nil && !p.dead:
		l.dropped(id, rev, a.Actor != "")
	}
	return err
}

// dropped: a job that was deleted at a revision was not changed since.
func (l *ledger) dropped(id string, rev int64, awaited bool) {
	me, n := life{}, 0
	for _, o := range l.lives {
		if o.id == id {
			me, n = o, n+1
		}
	}
	if n != 1 || l.w.disk != nil { // whoever comes up may find a commit that nobody heard of
		return
	}
	if !l.gone[me] {
		l.w.violate("the deletion of job %s is acknowledged, and nobody deleted it", id)
	}
	if rev == 0 || awaited { // who waits for it is told first
		return
	}
	if l.w.check(AtRevision); l.revs[me] != rev {
		l.w.violate("job %s was deleted at revision %d, and it was at %d", id, rev, l.revs[me])
	}
}

// goes: an instance is about to be deleted, as somebody wants, or because it is a job that has not changed for
// its time.
func (l *ledger) goes(row *store.Instance) {
	w := l.w
	if l.deleting[row.ID] {
		return
	}
	w.check(Swept)
	due, now := row.Updated+core.Time(w.c.Sweep), core.TimeOf(w.latest())
	if w.c.Sweep == 0 || row.Definition != "device" || due > now || !row.Status.Final() && row.Job.State != sweptState {
		w.violate("instance %s goes, which is %s, was changed at %s, and nobody wants that; it is %s", row.ID, row.Status, row.Updated, now)
	}
	l.deleting[row.ID] = true
}

// sweptState is one in which jobs do not stay for long where housekeeping is on.
const sweptState = "FETCHED"

// housekeeping is what the nodes of a case delete by themselves.
func (c *Case) housekeeping() []engine.JobRetention {
	if c.Sweep == 0 {
		return nil
	}
	return []engine.JobRetention{{Workflow: "device", After: c.Sweep}, {Workflow: "device", States: []string{sweptState}, After: c.Sweep}}
}

// delete deletes an instance for a node.
func (s *Session) delete(ctx context.Context, id string, d store.Deletion) error {
	row, missing := s.db.Store.Instance(ctx, id)
	if s.db.deletes != nil && missing == nil && (d.Rev == 0 || d.Rev == row.Rev) {
		s.db.deletes(&row)
	}
	err := s.db.Store.DeleteInstance(ctx, id, d)
	if err == nil && missing == nil && s.db.deleted != nil {
		s.db.deleted(life{id, row.Created})
	}
	return err
}

// stayGone: what was deleted does not come back.
func (w *world) stayGone(ctx context.Context) error {
	for _, me := range w.ledger.lives {
		if !w.ledger.gone[me] {
			continue
		}
		w.check(StaysGone)
		row, err := w.db.Store.Instance(ctx, me.id)
		switch {
		case err == nil && row.Created == me.created:
			return fmt.Errorf("instance %s was deleted, and is there", me.id)
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	return nil
}
