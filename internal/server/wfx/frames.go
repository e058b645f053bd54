package wfx

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// actions are those of an [api.JobEvent].
var actions = []string{
	api.JobCreated, api.JobDeleted, api.JobTagsAdded, api.JobTagsDeleted, api.JobStatusUpdated, api.JobDefinitionUpdated,
}

// event is one change of a job.
type event struct {
	action string
	frame  []byte // for streams without tags
	tags   int    // where noTags is in the frame
	hash   string // of the job's definition at that time; "": not known
}

// events converts an item of the feed to events of wfx: one for each change by an actor or a timeout.
// States that a job only passes through have no event. hash is the hash of the definition before the item,
// if it is known.
func (v *View) events(ctx context.Context, item *store.FeedItem, hash string) ([]event, error) {
	t := &converter{v: v, ctx: ctx, item: item, hash: hash}
	for i := range item.Records {
		t.next = i
		if err := t.record(&item.Records[i]); err != nil {
			return nil, err
		}
	}
	t.next = len(item.Records)
	err := t.flush()
	return t.out, err
}

// converter makes events of the records of one commit.
type converter struct {
	v    *View
	ctx  context.Context
	item *store.FeedItem
	next int // the current record
	out  []event

	action  string // of the event in progress; "": none
	created expr.Value
	status  expr.Value
	hash    string // of the definition; "": not known
}

// record processes a record. A status becomes an event when something else begins: until then the job may
// still move to another state immediately.
func (t *converter) record(r *core.Record) error {
	switch r.Type {
	case core.RecStarted:
		if err := t.flush(); err != nil {
			return err
		}
		t.action, t.created = api.JobCreated, r.Data
		t.status, _ = r.Data.Get(jobdata.Status)
		t.define(r.Data)
	case core.RecTaken, core.RecTimedOut:
		if err := t.flush(); err != nil {
			return err
		}
		if r.Type == core.RecTaken && r.HasData {
			t.action, t.status = api.JobStatusUpdated, r.Data
		}
	case core.RecEntered:
		if t.action != api.JobCreated {
			t.action = api.JobStatusUpdated
		}
		t.status = r.Data
	case core.RecControl:
		return t.control(r)
	case core.RecDeleted:
		if err := t.flush(); err != nil {
			return err
		}
		t.add(api.JobDeleted, t.job())
	}
	return nil
}

// control makes events of changes of the definition and of the tags.
func (t *converter) control(r *core.Record) error {
	if err := t.flush(); err != nil {
		return err
	}
	switch core.Verb(r.Name) {
	case core.VerbAmend:
		status := object("definitionHash", expr.String(t.define(r.Data)))
		if r.Node != "" {
			status = status.With("state", expr.String(r.Node))
		}
		definition, _ := r.Data.Get(jobdata.Definition)
		t.add(api.JobDefinitionUpdated, t.job("definition", nonNull(definition), "mtime", instant(t.item.At), "status", status))
	case core.VerbLabel:
		tags, _ := r.Data.Get(jobdata.Tags)
		for _, c := range []struct{ key, action string }{{jobdata.Added, api.JobTagsAdded}, {jobdata.Removed, api.JobTagsDeleted}} {
			if list, ok := r.Data.Get(c.key); ok && list.Len() > 0 {
				t.add(c.action, t.job("mtime", instant(t.item.At), "tags", tags))
			}
		}
	}
	return nil
}

func nonNull(v expr.Value) expr.Value {
	if v.IsNull() {
		return expr.EmptyObject
	}
	return v
}

// flush adds the event in progress.
func (t *converter) flush() error {
	action := t.action
	if t.action = ""; action == "" {
		return nil
	}
	if t.hash == "" {
		var err error
		if t.hash, err = t.hashNow(); err != nil {
			return err
		}
	}
	status := statusWith(t.status, t.hash)
	if action == api.JobStatusUpdated {
		t.add(action, t.job("mtime", instant(t.item.At), "status", status))
		return nil
	}
	job := t.job("mtime", instant(t.item.At), "status", status, "stime", instant(t.item.At))
	if definition, _ := t.created.Get(jobdata.Definition); definition.Len() > 0 {
		job = job.With("definition", definition)
	}
	if tags, ok := t.created.Get(jobdata.Tags); ok && tags.Len() > 0 {
		job = job.With("tags", tags)
	}
	row, err := t.v.current(t.ctx, t.item.Definition)
	if err == nil {
		var workflow expr.Value
		if workflow, err = t.v.workflow(t.ctx, row.ID, row.Digest); err == nil {
			job = job.With("workflow", workflow)
		}
	}
	if _, missing := errors.AsType[*engine.NotFoundError](err); err != nil && !missing {
		return err
	}
	t.add(action, job)
	return nil
}

// hashNow returns the hash of the definition before the current record: the one that the next change
// replaces, in the same commit or later.
func (t *converter) hashNow() (string, error) {
	if definition, ok := replaced(t.item.Records[t.next:]); ok {
		return definitionHash(definition), nil
	}
	return t.v.hashAfter(t.ctx, t.item)
}

// define sets the definition from now on to that of data.
func (t *converter) define(data expr.Value) string {
	definition, _ := data.Get(jobdata.Definition)
	t.hash = definitionHash(definition)
	return t.hash
}

// job is the job of an event: what every event has, and more.
func (t *converter) job(pairs ...any) expr.Value {
	return object(append(slices.Clone(pairs),
		"clientId", expr.String(t.item.Client), "id", expr.String(t.item.Instance),
		"workflow", object("name", expr.String(t.item.Definition)))...)
}

// milliseconds is wfx's format of an event's time.
const milliseconds = "2006-01-02T15:04:05.000Z"

func (t *converter) add(action string, job expr.Value) {
	head := append([]byte(`data: {"ctime":"`), t.item.At.Std().UTC().Truncate(time.Millisecond).Format(milliseconds)...)
	head = append(append(append(head, `","action":"`...), action...), `","job":`...)
	head = append(job.AppendJSON(head), `,"tags":`...)
	frame := append(append(head, noTags...), "}\nid: "...)
	frame = strconv.AppendInt(frame, t.item.Pos<<eventBits|int64(min(len(t.out)+1, eventMask)), 10)
	t.out = append(t.out, event{action, append(frame, "\n\n"...), len(head), t.hash})
}

// noTags is what the events of a stream without tags have for them.
const noTags = "[]"
