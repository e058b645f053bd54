package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/query"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func viewChange(item *store.FeedItem) api.StreamChange {
	v := api.StreamChange{
		Instance: item.Instance, Definition: item.Definition, Status: api.Status(item.Status), Time: item.At.Std(),
		Records: []api.StreamRecord{},
	}
	for i := range item.Records {
		r := &item.Records[i]
		rec := api.StreamRecord{
			Time: r.Time.Std(), Type: string(r.Type), Node: r.Node, Depth: r.Depth, Name: verbOf(r), Attempt: r.Attempt,
			At: timeOf(r.At), Text: textOf(r), Status: api.Status(r.Status),
		}
		if r.Fault != nil {
			rec.Error = r.Fault.Name
		}
		v.Records = append(v.Records, rec)
	}
	return v
}

// follower is what one stream asked for.
type follower struct {
	s *Server

	instance, definition string
	filter               *query.Filter
}

// stream follows the feed from the last position of the client, or from now.
func (s *Server) stream(w http.ResponseWriter, r *request) error {
	place, err := r.visit.pools.streams.Take(r.visit.who, 1)
	if err != nil {
		return full(err)
	}
	defer place.Release()
	f := &follower{s: s, instance: r.query.Get("instance"), definition: r.query.Get("definition")}
	if f.filter, err = s.filter(r); err != nil {
		return err
	}
	after, err := lastEventID(r)
	if err != nil {
		return err
	}
	end, err := s.tail.Position(r.Context())
	if err != nil {
		return err
	}
	pos, first := after, api.StreamReady
	if after < 0 || after > end {
		pos = end
	}
	if after > end { // a position of another database
		first = api.StreamReset
	}
	feed.WriteHead(w)
	if r.Method == http.MethodHead {
		return nil
	}
	reader := feed.Reader{
		Tail: s.tail, Clock: s.cfg.Clock, Stopping: s.stopping,
		Heartbeat: s.limits.Heartbeat, Within: s.limits.WriteTimeout, Beat: "still here", Allowed: func() bool { return s.stillAllowed(r.route, r.who, r.Request) },
		Pos: pos, Frames: f.frames,
		Forgot: func(oldest int64) []byte { return frame(oldest, api.StreamReset, []byte(`{}`)) },
	}
	return reader.Run(r.Context(), w, frame(pos, first, []byte(`{}`)))
}

// lastEventID is the last position of the client, or -1.
func lastEventID(r *request) (int64, error) {
	name, text := "Last-Event-ID", r.Header.Get("Last-Event-ID")
	if text == "" {
		name, text = "last-event-id", r.query.Get("last-event-id")
	}
	if text == "" {
		return -1, nil
	}
	pos, err := strconv.ParseInt(text, 10, 64)
	if err != nil || pos < 0 {
		return 0, badParameter(name, "%.40q is not a position of the stream", text)
	}
	return pos, nil
}

// frames appends the event that the stream sends for an item.
func (f *follower) frames(ctx context.Context, to [][]byte, it *feed.Item) ([][]byte, error) {
	wanted, err := f.wants(ctx, it)
	if err != nil || !wanted {
		return to, err
	}
	return append(to, it.Frame), nil
}

// wants reports whether the client asked for a change.
func (f *follower) wants(ctx context.Context, it *feed.Item) (bool, error) {
	if f.instance != "" && it.Instance != f.instance || f.definition != "" && it.Definition != f.definition {
		return false, nil
	}
	if f.filter.Text == "" {
		return true, nil
	}
	row, err := f.s.engine.Get(ctx, it.Instance)
	if _, missing := errors.AsType[*engine.NotFoundError](err); missing {
		return false, nil
	}
	row.Status = it.Status // at the time of the change
	return f.filter.Selects(&row), err
}

// frame is one event of a stream. Its id is the position after it.
func frame(pos int64, name string, data []byte) []byte {
	return fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", pos, name, data)
}

// encodeChange is the event of an [api.StreamChange].
func encodeChange(item *store.FeedItem) ([]byte, error) {
	text, err := encode(viewChange(item))
	return frame(item.Pos, api.StreamChanged, bytes.TrimSpace(text)), err
}
