package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// What happens to jobs.
const (
	JobCreated           = "CREATE"
	JobDeleted           = "DELETE"
	JobStatusUpdated     = "UPDATE_STATUS"
	JobDefinitionUpdated = "UPDATE_DEFINITION"
	JobTagsAdded         = "ADD_TAGS"
	JobTagsDeleted       = "DELETE_TAGS"
)

// JobEventQuery says which jobs to follow: those that one of the three lists names, or all.
type JobEventQuery struct {
	ClientIDs, JobIDs, Workflows []string

	Actions  []string      // only these
	Tags     []string      // sent back with every event
	After    string        // the position to go on from; "": from now on
	Patience time.Duration // how long to try again while the server does not answer: a minute; negative: not at all
	Broke    func(error)   // called when the connection breaks and is tried again; nil: nobody is told
}

func (q JobEventQuery) values() url.Values {
	v := url.Values{}
	for name, list := range map[string][]string{"clientIds": q.ClientIDs, "jobIds": q.JobIDs, "workflows": q.Workflows, "actions": q.Actions, "tags": q.Tags} {
		if len(list) > 0 {
			v.Set(name, strings.Join(list, ","))
		}
	}
	return v
}

// JobEvent is something that happened to a job. The job has what the server sends with the
// action, not all of it.
type JobEvent struct {
	Kind     string `json:"-"` // StreamReady when a connection begins, else StreamChange
	Position string `json:"-"` // After, to go on from here
	Text     []byte `json:"-"` // as it came

	Action string    `json:"action"`
	Ctime  time.Time `json:"ctime"`
	Job    Job       `json:"job"`
	Tags   []string  `json:"tags"`
}

// JobEvents follows what happens to jobs. Where the connection breaks it goes on from the last
// position. It ends with an error, or when the caller stops or ctx ends.
func (j *Jobs) JobEvents(ctx context.Context, q JobEventQuery) iter.Seq2[JobEvent, error] {
	patience := q.Patience
	if patience == 0 {
		patience = time.Minute
	}
	return resume(ctx, j.c, q.After, retry{patience, q.Broke}, func(position string, to link[JobEvent]) error {
		r, err := j.request(JobsCall{Method: http.MethodGet, Path: []string{"jobs", "events"}, Query: q.values()})
		if err != nil {
			return err
		}
		return j.c.frames(ctx, r, position, func(f frame) (bool, error) {
			to.alive(f.id)
			switch {
			case f == (frame{}):
				return to.give(JobEvent{Kind: StreamReady, Position: position}), nil
			case f.data == "":
				return true, nil
			}
			e := JobEvent{Kind: StreamChange, Position: f.id, Text: []byte(f.data)}
			if err := json.Unmarshal(e.Text, &e); err != nil {
				return false, fmt.Errorf("%w: %w", errShape, err)
			}
			return to.give(e), nil
		})
	})
}
