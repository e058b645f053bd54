package wfx

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// The id of an event is one integer: the position of its commit in the feed, and the number of the event
// within the commit, so that a stream can resume after any event.
const (
	eventBits = 16
	eventMask = 1<<eventBits - 1
)

// follower is one stream.
type follower struct {
	v                        *View
	client                   string // only events of this client; "": all
	clients, jobs, workflows []string
	actions                  []string
	tags                     []byte // of the stream, which every frame has; nil: none

	resume int64 // the position of a commit that was sent in part
	seen   int   // how many of its events were sent

	// hashes are the definition hashes of jobs whose events were sent. A stream sees all events of a job or
	// none, so they are up to date.
	hashes map[string]string
}

// maxHashes is how many hashes a stream keeps ("wfx-stream-jobs"); others are looked up.
const maxHashes = 10_000

// followJobs streams the events of jobs. Filters for clients, jobs and workflows are alternatives; actions
// narrow the result.
func (v *View) followJobs(w http.ResponseWriter, r *request) error {
	release, allowed, err := v.cfg.Stream(r.Context())
	if err != nil {
		return err
	}
	defer release()
	f := &follower{v: v, client: r.client, clients: r.names("clientIds"), jobs: r.names("jobIds"), workflows: r.names("workflows"), hashes: map[string]string{}}
	for _, action := range r.names("actions") {
		if action = strings.ToUpper(action); !slices.Contains(actions, action) {
			return refuse(http.StatusBadRequest, invalidRequest, "'%.40s' is not an action; they are %s", action, strings.Join(actions, ", "))
		}
		f.actions = append(f.actions, action)
	}
	if tags := r.names("tags"); len(tags) > 0 {
		f.tags = texts(tags).AppendJSON(nil)
	}
	end, err := v.cfg.Tail.Position(r.Context())
	if err != nil {
		return err
	}
	pos, err := f.begin(r, end)
	if err != nil {
		return err
	}
	feed.WriteHead(w)
	if r.Method == http.MethodHead {
		return nil
	}
	reader := feed.Reader{
		Tail: v.cfg.Tail, Clock: v.cfg.Clock, Stopping: v.cfg.Stopping,
		Heartbeat: v.limits.Heartbeat, Within: v.limits.WriteTimeout, Beat: "keepalive", Allowed: allowed,
		Pos: pos, Frames: f.frames,
		Forgot: func(int64) []byte {
			clear(f.hashes) // definitions may have changed in the skipped events
			return []byte(": older events are not kept any more\n\n")
		},
	}
	return reader.Run(r.Context(), w, []byte(": keepalive\n\n")) // so that the client knows that the stream has begun
}

// names reads a comma-separated list without empty names.
func (r *request) names(param string) []string {
	return slices.DeleteFunc(strings.Split(r.query.Get(param), ","), func(s string) bool { return s == "" })
}

// begin returns the position to read from: the end of the feed, or after the last event that the client saw.
func (f *follower) begin(r *request, end int64) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		return end, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 {
		return 0, malformed("the header Last-Event-ID must be the id of an event, not %.40q", text)
	}
	pos, seen := id>>eventBits, int(id&eventMask)
	switch {
	case pos > end: // from another database
		return end, nil
	case seen == 0 || pos == 0:
		return pos, nil
	}
	f.resume, f.seen = pos, seen
	return pos - 1, nil
}

// frames appends what the stream sends for an item.
func (f *follower) frames(ctx context.Context, to [][]byte, it *feed.Item) ([][]byte, error) {
	if it.Client == "" || !f.wants(&it.FeedItem) {
		return to, nil
	}
	view, err := it.View(func(item *store.FeedItem) (any, int, error) {
		events, err := f.v.events(context.WithoutCancel(ctx), item, f.hashes[item.Instance])
		bytes := 0
		for i := range events {
			bytes += len(events[i].frame)
		}
		return events, bytes, err
	})
	if err != nil {
		return to, err
	}
	events, _ := view.([]event)
	f.remember(it.Instance, events)
	for i, e := range events {
		if it.Pos == f.resume && i < f.seen || len(f.actions) > 0 && !slices.Contains(f.actions, e.action) {
			continue
		}
		if f.tags == nil {
			to = append(to, e.frame)
		} else {
			to = append(to, e.frame[:e.tags], f.tags, e.frame[e.tags+len(noTags):])
		}
	}
	return to, nil
}

// remember keeps the definition hash of a job after its events.
func (f *follower) remember(job string, events []event) {
	if len(events) == 0 {
		return
	}
	last := events[len(events)-1]
	delete(f.hashes, job)
	if last.action == api.JobDeleted || last.hash == "" {
		return
	}
	if len(f.hashes) >= maxHashes {
		clear(f.hashes)
	}
	f.hashes[job] = last.hash
}

// wants reports whether the stream includes the events of a job.
func (f *follower) wants(item *store.FeedItem) bool {
	if f.client != "" && item.Client != f.client {
		return false
	}
	if len(f.clients)+len(f.jobs)+len(f.workflows) == 0 {
		return true
	}
	return slices.Contains(f.clients, item.Client) || slices.Contains(f.jobs, item.Instance) || slices.Contains(f.workflows, item.Definition)
}
