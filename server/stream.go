package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/query"
	"github.com/lockstep-workflows/lockstep/store"
)

// streamPace is how long changes are gathered, so that many streams do not wake up for
// each commit.
const streamPace = 25 * time.Millisecond

type changeView struct {
	Instance   string             `json:"instance"`
	Definition string             `json:"definition"`
	Status     core.Status        `json:"status"`
	Time       time.Time          `json:"time"`
	Records    []streamRecordView `json:"records"`
}

type streamRecordView struct {
	Time    time.Time  `json:"time"`
	Type    string     `json:"type"`
	Node    string     `json:"node,omitempty"`
	Depth   int        `json:"depth,omitempty"`
	Name    string     `json:"name,omitempty"`
	Attempt int        `json:"attempt,omitempty"`
	At      *time.Time `json:"at,omitempty"`
	Error   string     `json:"error,omitempty"`
	Text    string     `json:"text,omitempty"`
	Status  string     `json:"status,omitempty"`
}

func viewChange(item *store.FeedItem) changeView {
	v := changeView{item.Instance, item.Definition, item.Status, item.At.Std(), []streamRecordView{}}
	for i := range item.Records {
		r := &item.Records[i]
		rec := streamRecordView{
			Time: r.Time.Std(), Type: string(r.Type), Node: r.Node, Depth: r.Depth, Name: verbOf(r), Attempt: r.Attempt,
			At: timeOf(r.At), Text: r.Text, Status: string(r.Status),
		}
		if r.Fault != nil {
			rec.Error = r.Fault.Name
		}
		v.Records = append(v.Records, rec)
	}
	return v
}

// follower is one stream.
type follower struct {
	s       *Server
	w       http.ResponseWriter
	control *http.ResponseController
	pos     int64

	instance, definition string
	filter               *query.Filter
}

// stream follows the feed from the position that the client saw last, or from now. Each
// stream reads at its own pace; one that does not read is cut off after a while, and
// goes on from its position when it comes back.
func (s *Server) stream(w http.ResponseWriter, r *request) error {
	place := s.acquire(s.streams)
	if place == nil {
		return busy("open-streams")
	}
	defer place.release()
	f := &follower{s: s, w: w, control: http.NewResponseController(w)}
	f.instance, f.definition = r.query.Get("instance"), r.query.Get("definition")
	var err error
	if f.filter, err = s.filter(r); err != nil {
		return err
	}
	after, err := lastEventID(r)
	if err != nil {
		return err
	}
	end, err := s.tail.position(r.Context())
	if err != nil {
		return err
	}
	f.pos = after
	if after < 0 || after > end {
		f.pos = end
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	if after > end { // a position of another database
		err = f.send("reset", []byte(`{}`))
	} else {
		err = f.send("ready", []byte(`{}`))
	}
	if err == nil {
		err = f.follow(r.Context())
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// lastEventID is the position that the client saw last, -1 where there is none.
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

// errGone says that nobody reads a stream any more.
var errGone = errors.New("the reader of the stream is gone")

// follow sends what the feed has, and waits for more. It holds no more than a part of
// it: what a slow reader has not read stays in the store.
func (f *follower) follow(ctx context.Context) error {
	force := false // look even if nothing happened here: another process may write too
	for {
		changed := f.s.engine.Changes() // before reading, so that none is missed
		p, err := f.s.tail.after(ctx, f.pos, force)
		switch {
		case ctx.Err() != nil:
			return errGone
		case err != nil:
			return err
		case p.oldest > f.pos:
			f.pos = p.oldest
			if err := f.send("reset", []byte(`{}`)); err != nil {
				return err
			}
			continue
		}
		if err := f.changes(ctx, p); err != nil {
			return err
		}
		if len(p.changes) == tailBatch {
			continue
		}
		if force, err = f.rest(ctx, changed); err != nil {
			return err
		}
	}
}

// rest waits until there may be more, or until it is time to show that it lives.
func (f *follower) rest(ctx context.Context, changed <-chan struct{}) (beat bool, err error) {
	clock := f.s.cfg.Clock
	alarm, silence := clock.After(f.s.limits.Heartbeat)
	defer silence()
	select {
	case <-ctx.Done():
		return false, errGone
	case <-f.s.stopping:
		return false, errGone // the client comes back with its position
	case <-alarm:
		return true, f.write([]byte(": still here\n\n"))
	case <-changed:
	}
	pace, stop := clock.After(streamPace)
	defer stop()
	select {
	case <-ctx.Done():
		return false, errGone
	case <-f.s.stopping: // once more, for what came last
	case <-pace:
	}
	return false, nil
}

// changes sends a part of the feed, as far as it is asked for.
func (f *follower) changes(ctx context.Context, p part) error {
	var out []byte
	for i := range p.changes {
		c := &p.changes[i]
		f.pos = c.pos
		wanted, err := f.wants(ctx, c)
		if err != nil {
			return err
		}
		if wanted {
			out = f.append(out, "change", c.text)
		}
	}
	f.pos = max(f.pos, p.next)
	return f.write(out)
}

// wants reports whether a change is asked for.
func (f *follower) wants(ctx context.Context, c *change) (bool, error) {
	if f.instance != "" && c.instance != f.instance || f.definition != "" && c.definition != f.definition {
		return false, nil
	}
	if f.filter.Text == "" {
		return true, nil
	}
	row, err := f.s.engine.Get(ctx, c.instance)
	if _, missing := as[*engine.NotFoundError](err); missing {
		return false, nil
	}
	row.Status = c.status // as it was then
	return f.filter.Selects(&row), err
}

// send writes one event. Its id is the position that the reader has with it.
func (f *follower) send(name string, data []byte) error {
	return f.write(f.append(nil, name, data))
}

func (f *follower) append(to []byte, name string, data []byte) []byte {
	return fmt.Appendf(to, "id: %d\nevent: %s\ndata: %s\n\n", f.pos, name, data)
}

func (f *follower) write(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_ = f.control.SetWriteDeadline(time.Now().Add(f.s.limits.WriteTimeout))
	if _, err := f.w.Write(text); err != nil {
		return errGone
	}
	if f.control.Flush() != nil {
		return errGone
	}
	return nil
}
