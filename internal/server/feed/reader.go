package feed

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// pace is the minimum time between wake-ups of a reader: the first change after a pause is sent at once, and
// the following ones are batched, so that many readers do not wake up for each commit.
const pace = 25 * time.Millisecond

// Reader sends one event stream at the pace of its client: what a slow client has not read stays in the
// store. A client that does not read at all is disconnected after a while, and may resume from its position.
type Reader struct {
	Tail     *Tail
	Clock    engine.Clock
	Stopping <-chan struct{} // closed when the server stops

	Heartbeat time.Duration // of an idle stream
	Within    time.Duration // how long the client may take to read what was written
	Beat      string        // the comment that is the heartbeat

	Pos int64 // of the last item that was sent or skipped
	// Frames returns what is sent for an item, in slices that other readers may share; none: the stream does
	// not include it.
	Frames func(context.Context, *Item) ([][]byte, error)
	Forgot func(oldest int64) []byte // returns what is sent if items after Pos are no longer kept

	Allowed func() bool // whether the credential of the client is still valid; nil: there is none

	writer http.ResponseWriter
	woke   time.Time // when it last woke up for a change
	asked  time.Time // when Allowed was called last
}

// ErrGone says that the client disconnected, or that the server stops.
var ErrGone = errors.New("the client of the stream disconnected")

// Run sends first, then the feed from Pos on, and waits for more, until the client or the server ends it,
// which is not an error.
func (r *Reader) Run(ctx context.Context, w http.ResponseWriter, first []byte) error {
	r.writer = w
	err := r.write(first)
	if err == nil {
		err = r.follow(ctx)
	}
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

func (r *Reader) follow(ctx context.Context) error {
	r.asked = r.Clock.Now()
	force := false // read even if nothing changed here: another process may have written
	for {
		if !r.allowed() {
			return ErrGone // the client learns why when it comes back
		}
		changed := r.Tail.engine.Changes() // before reading, so that none is missed
		more, err := r.part(ctx, force)
		if err != nil {
			return err
		}
		if more {
			continue
		}
		if force, err = r.rest(ctx, changed); err != nil {
			return err
		}
	}
}

// allowed checks the credential of the client again, once in a heartbeat: it may have expired or been revoked.
func (r *Reader) allowed() bool {
	now := r.Clock.Now()
	if r.Allowed == nil || now.Sub(r.asked) < r.Heartbeat {
		return true
	}
	r.asked = now
	return r.Allowed()
}

// part reads and sends a part of the feed, and reports whether there is more.
func (r *Reader) part(ctx context.Context, force bool) (more bool, err error) {
	var place *replay
	p, kept, err := r.Tail.kept(ctx, r.Pos, force)
	if err == nil && !kept {
		var ok bool
		if place, ok = r.Tail.replays.enter(ctx, r.Stopping); !ok {
			return false, ErrGone // the client resumes from its position
		}
		defer place.done()
		p, err = r.Tail.Stored(ctx, r.Pos)
	}
	switch {
	case ctx.Err() != nil:
		return false, ErrGone
	case err != nil:
		return false, err
	case p.Oldest > r.Pos:
		r.Pos = p.Oldest
		return true, r.write(r.Forgot(p.Oldest))
	}
	out, err := r.frames(ctx, p.Items)
	if err != nil {
		return false, err
	}
	place.built(size(out))
	r.Pos = max(r.Pos, p.Next)
	more, p = p.More, Part{} // release the items before the write
	return more, r.write(out...)
}

// frames returns what is sent for items.
func (r *Reader) frames(ctx context.Context, items []*Item) (out [][]byte, err error) {
	for _, it := range items {
		r.Pos = it.Pos
		frames, err := r.Frames(ctx, it)
		if err != nil {
			return nil, err
		}
		out = append(out, frames...)
	}
	return out, nil
}

func size(list [][]byte) (bytes int) {
	for _, b := range list {
		bytes += len(b)
	}
	return bytes
}

// rest waits until there may be more, or until the heartbeat is due.
func (r *Reader) rest(ctx context.Context, changed <-chan struct{}) (beat bool, err error) {
	alarm, silence := r.Clock.After(r.Heartbeat)
	defer silence()
	select {
	case <-ctx.Done():
		return false, ErrGone
	case <-r.Stopping:
		return false, ErrGone // the client resumes from its position
	case <-alarm:
		return true, r.write([]byte(": " + r.Beat + "\n\n"))
	case <-changed:
	}
	defer func() { r.woke = r.Clock.Now() }()
	wait := pace - r.Clock.Now().Sub(r.woke)
	if wait <= 0 {
		return false, nil
	}
	gathered, stop := r.Clock.After(wait)
	defer stop()
	select {
	case <-ctx.Done():
		return false, ErrGone
	case <-r.Stopping: // read once more, for the last changes
	case <-gathered:
	}
	return false, nil
}

func (r *Reader) write(texts ...[]byte) error {
	if size(texts) == 0 {
		return nil
	}
	control := http.NewResponseController(r.writer)
	_ = control.SetWriteDeadline(time.Now().Add(r.Within))
	for _, text := range texts {
		if _, err := r.writer.Write(text); err != nil {
			return ErrGone
		}
	}
	if control.Flush() != nil {
		return ErrGone
	}
	return nil
}

// WriteHead begins the response of a stream.
func WriteHead(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
}
