package wfx

import (
	"context"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// The actions that events tell.
const (
	actionCreate = "CREATE"
	actionDelete = "DELETE"
	actionAdd    = "ADD_TAGS"
	actionRemove = "DELETE_TAGS"
	actionStatus = "UPDATE_STATUS"
	actionDefine = "UPDATE_DEFINITION"
)

var actions = []string{actionCreate, actionDelete, actionAdd, actionRemove, actionStatus, actionDefine}

// event is one thing that happened to a job, without what is a stream's own.
type event struct {
	action string
	head   []byte // the frame up to its tags
	hash   string // of the job's definition, then; "": not known
}

// events tells an item of the feed in wfx's events: one for each change that somebody
// made, or that time did. States that a job passes through on the way are not told. hash
// is that of the definition before the item, where it is known.
func (v *View) events(ctx context.Context, item *store.FeedItem, hash string) ([]event, error) {
	t := &teller{v: v, ctx: ctx, item: item, hash: hash}
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

// teller makes events of the records of one commit.
type teller struct {
	v    *View
	ctx  context.Context
	item *store.FeedItem
	next int // the record that is looked at
	out  []event

	action  string // of what is gathered; "": nothing is
	created expr.Value
	status  expr.Value
	hash    string // of the definition; "": not known
}

// record gathers a record. A status is told when something else begins: until then the
// job may go on to another state by itself.
func (t *teller) record(r *core.Record) error {
	switch r.Type {
	case core.RecStarted:
		if err := t.flush(); err != nil {
			return err
		}
		t.action, t.created = actionCreate, r.Data
		t.status, _ = r.Data.Get(core.JobStatus)
		t.define(r.Data)
	case core.RecTaken, core.RecTimedOut:
		if err := t.flush(); err != nil {
			return err
		}
		if r.Type == core.RecTaken && r.HasData {
			t.action, t.status = actionStatus, r.Data
		}
	case core.RecEntered:
		if t.action != actionCreate {
			t.action = actionStatus
		}
		t.status = r.Data
	case core.RecControl:
		return t.control(r)
	case core.RecDeleted:
		if err := t.flush(); err != nil {
			return err
		}
		t.add(actionDelete, t.job())
	}
	return nil
}

// control tells changes of the definition and of the tags.
func (t *teller) control(r *core.Record) error {
	if err := t.flush(); err != nil {
		return err
	}
	switch core.Verb(r.Name) {
	case core.VerbAmend:
		status := object("definitionHash", expr.String(t.define(r.Data)))
		if r.Node != "" {
			status = status.With("state", expr.String(r.Node))
		}
		definition, _ := r.Data.Get(core.JobDefinition)
		t.add(actionDefine, t.job("definition", nonNull(definition), "mtime", instant(t.item.At), "status", status))
	case core.VerbLabel:
		tags, _ := r.Data.Get(core.JobTags)
		for _, c := range []struct{ key, action string }{{core.JobAdded, actionAdd}, {core.JobRemoved, actionRemove}} {
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

// flush tells what was gathered.
func (t *teller) flush() error {
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
	if action == actionStatus {
		t.add(action, t.job("mtime", instant(t.item.At), "status", status))
		return nil
	}
	job := t.job("mtime", instant(t.item.At), "status", status, "stime", instant(t.item.At))
	if definition, _ := t.created.Get(core.JobDefinition); definition.Len() > 0 {
		job = job.With("definition", definition)
	}
	if tags, ok := t.created.Get(core.JobTags); ok && tags.Len() > 0 {
		job = job.With("tags", tags)
	}
	row, err := t.v.current(t.ctx, t.item.Definition)
	if err == nil {
		var workflow expr.Value
		if workflow, err = t.v.workflow(t.ctx, row.ID, row.Digest); err == nil {
			job = job.With("workflow", workflow)
		}
	}
	if _, missing := as[*engine.NotFoundError](err); err != nil && !missing {
		return err
	}
	t.add(action, job)
	return nil
}

// hashNow finds out which definition is in force before the record that is looked at: the
// one that the next change of it replaces, in the same commit or later.
func (t *teller) hashNow() (string, error) {
	if definition, ok := replaced(t.item.Records[t.next:]); ok {
		return definitionHash(definition), nil
	}
	return t.v.hashThen(t.ctx, t.item)
}

// define notes the definition that data has from now on.
func (t *teller) define(data expr.Value) string {
	definition, _ := data.Get(core.JobDefinition)
	t.hash = definitionHash(definition)
	return t.hash
}

// job is what every event says of its job, and more.
func (t *teller) job(pairs ...any) expr.Value {
	return object(append(slices.Clone(pairs),
		"clientId", expr.String(t.item.Client), "id", expr.String(t.item.Instance),
		"workflow", object("name", expr.String(t.item.Definition)))...)
}

// milliseconds is how wfx writes the time of an event.
const milliseconds = "2006-01-02T15:04:05.000Z"

func (t *teller) add(action string, job expr.Value) {
	head := append([]byte(`data: {"ctime":"`), t.item.At.Std().UTC().Truncate(time.Millisecond).Format(milliseconds)...)
	head = append(append(append(head, `","action":"`...), action...), `","job":`...)
	t.out = append(t.out, event{action, job.AppendJSON(head), t.hash})
}
