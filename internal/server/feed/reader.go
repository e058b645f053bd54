package feed

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// A change after a pause is sent at once. Those that follow are gathered, longer the more readers there are, so that
// waking them for each commit does not take a processor from those who make the changes: readerPause is what a wake-up costs,
// roughly, and longestPause the most that a change waits.
const (
	readerPause  = 10 * time.Microsecond
	longestPause = 25 * time.Millisecond
)

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
	// Frames appends what is sent for an item, in slices that other readers may share; nothing: the stream does
	// not include it.
	Frames func(ctx context.Context, to [][]byte, it *Item) ([][]byte, error)
	Forgot func(oldest int64) []byte // returns what is sent if items after Pos are no longer kept

	Allowed func() bool // whether the credential of the client is still valid; nil: there is none

	writer  http.ResponseWriter
	out     [][]byte  // what is being sent
	woke    time.Time // when it last woke up for a change
	written time.Time // when it last sent something
	asked   time.Time // when Allowed was called last

	alarm   <-chan time.Time // when the heartbeat may be due
	silence func()
}

// ErrGone says that the client disconnected, or that the server stops.
var ErrGone = errors.New("the client of the stream disconnected")

// Run sends first, then the feed from Pos on, and waits for more, until the client or the server ends it,
// which is not an error.
func (r *Reader) Run(ctx context.Context, w http.ResponseWriter, first []byte) error {
	r.Tail.readers.Add(1)
	defer r.Tail.readers.Add(-1)
	r.writer = w
	r.alarm, r.silence = r.Clock.After(r.Heartbeat)
	defer func() { r.silence() }()
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
	defer func() {
		clear(r.out) // a reader that waits holds no frames
		r.out = r.out[:0]
	}()
	for _, it := range p.Items {
		r.Pos = it.Pos
		if r.out, err = r.Frames(ctx, r.out, it); err != nil {
			return false, err
		}
	}
	place.built(size(r.out))
	r.Pos = max(r.Pos, p.Next)
	more, p = p.More, Part{} // release the items before the write
	return more, r.write(r.out...)
}

func size(list [][]byte) (bytes int) {
	for _, b := range list {
		bytes += len(b)
	}
	return bytes
}

// rest waits until there may be more, or until the heartbeat is due.
func (r *Reader) rest(ctx context.Context, changed <-chan struct{}) (beat bool, err error) {
	select {
	case <-ctx.Done():
		return false, ErrGone
	case <-r.Stopping:
		return false, ErrGone // the client resumes from its position
	case <-r.alarm:
		return r.beat()
	case <-changed:
	}
	defer func() { r.woke = r.Clock.Now() }()
	wait := r.Tail.pause() - r.Clock.Now().Sub(r.woke)
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

// beat sends the heartbeat, if the stream was idle for so long, and sets the alarm for the next one.
func (r *Reader) beat() (beat bool, err error) {
	left := r.Heartbeat - r.Clock.Now().Sub(r.written)
	if beat = left <= 0; beat {
		left = r.Heartbeat
		err = r.write([]byte(": " + r.Beat + "\n\n"))
	}
	r.silence()
	r.alarm, r.silence = r.Clock.After(left)
	return beat, err
}

func (r *Reader) write(texts ...[]byte) error {
	if size(texts) == 0 {
		return nil
	}
	r.written = r.Clock.Now()
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
