package wfx

import (
	"context"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// hashThen is the hash of the definition that a job had after an item of the feed, which does
// not tell it: events are told a little later, or much later, and the definition may be
// another by then. It is "" where it cannot be known: the job is deleted, and nothing that
// the tail has of it tells.
func (v *View) hashThen(ctx context.Context, item *store.FeedItem) (string, error) {
	j, err := v.engine.Job(ctx, item.Instance)
	_, gone := as[*engine.NotFoundError](err)
	if err != nil && !gone {
		return "", err
	}
	later, whole, err := v.cfg.Tail.Later(ctx, item.Pos) // after the job, so that it has all that the job shows
	if err != nil {
		return "", err
	}
	if definition, ok := replacedLater(later, item.Instance); whole && ok {
		return definitionHash(definition), nil
	}
	switch {
	case gone:
		return "", nil
	case whole:
		return definitionHash(j.Content), nil
	}
	definition, err := v.engine.DefinitionThen(ctx, item.Instance, item.Records[len(item.Records)-1])
	if _, gone := as[*engine.NotFoundError](err); gone {
		return "", nil
	}
	return definitionHash(definition), err
}

// replacedLater is the definition that the next change of a job's definition replaced.
func replacedLater(items []*feed.Item, id string) (definition expr.Value, ok bool) {
	for _, it := range items {
		if it.Instance != id {
			continue
		}
		if definition, ok = replaced(it.Records); ok {
			return definition, true
		}
	}
	return expr.Null, false
}

// replaced is the definition that the first change of it among records replaced.
func replaced(records []core.Record) (definition expr.Value, ok bool) {
	for i := range records {
		if r := &records[i]; r.Type == core.RecControl && core.Verb(r.Name) == core.VerbAmend {
			definition, _ = r.Data.Get(core.JobReplaced)
			return definition, true
		}
	}
	return expr.Null, false
}
