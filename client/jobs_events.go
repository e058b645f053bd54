package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
)

// JobEventQuery says which jobs to follow: those that one of the three lists names, or all.
type JobEventQuery struct {
	ClientIDs, JobIDs, Workflows []string

	Actions  []string      // only these
	Tags     []string      // sent back with every event
	After    string        // the position to continue from; empty: now
	Patience time.Duration // how long to retry while the server does not answer; default: a minute; negative: not at all
	Broke    func(error)   // called when the connection breaks and is retried; may be nil
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

// JobEvent is one item of a stream of jobs.
type JobEvent struct {
	Kind     string `json:"-"` // api.StreamReady when a connection begins, else api.StreamChanged
	Position string `json:"-"` // the After with which to continue here
	Text     []byte `json:"-"` // the event as the server sent it
	api.JobEvent
}

// JobEvents follows the changes of jobs. When the connection breaks it continues from the last
// position. It ends with an error, or when the caller stops or ctx ends.
func (j *Jobs) JobEvents(ctx context.Context, q JobEventQuery) iter.Seq2[JobEvent, error] {
	patience := q.Patience
	patience = cmp.Or(patience, time.Minute)
	return resume(ctx, j.c, q.After, retry{patience, q.Broke}, func(position string, to link[JobEvent]) error {
		r := j.request(JobsCall{Method: http.MethodGet, Path: []string{"jobs", "events"}, Query: q.values()})
		return j.c.frames(ctx, r, position, func(f frame) (bool, error) {
			to.alive(f.id)
			switch {
			case f == (frame{}):
				return to.give(JobEvent{Kind: api.StreamReady, Position: position}), nil
			case f.data == "":
				return true, nil
			}
			e := JobEvent{Kind: api.StreamChanged, Position: f.id, Text: []byte(f.data)}
			if err := json.Unmarshal(e.Text, &e); err != nil {
				return false, fmt.Errorf("%w: %w", errShape, err)
			}
			return to.give(e), nil
		})
	})
}
