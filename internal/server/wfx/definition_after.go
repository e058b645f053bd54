package wfx

import (
	"context"
	"errors"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// hashAfter is the hash of the definition that a job had right after an item of the feed. The item does not
// contain it, and a subscriber may read the item much later, when the job has another one. It is ""
// where it cannot be known: the job is deleted, and the tail of the feed has no later change of it.
func (v *View) hashAfter(ctx context.Context, item *store.FeedItem) (string, error) {
	j, err := v.engine.Job(ctx, item.Instance)
	_, gone := errors.AsType[*engine.NotFoundError](err)
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
	definition, err := v.engine.DefinitionAfter(ctx, item.Instance, item.Records[len(item.Records)-1])
	if _, gone := errors.AsType[*engine.NotFoundError](err); gone {
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
			definition, _ = r.Data.Get(jobdata.Replaced)
			return definition, true
		}
	}
	return expr.Null, false
}
