package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
)

// StreamQuery says what to follow.
type StreamQuery struct {
	Instance   string
	Definition string
	Filter     string
	After      string        // the position to continue from; empty: now
	Patience   time.Duration // how long to retry while the server does not answer; default: a minute
}

// Change is one item of a stream. Only [api.StreamChanged] has data.
type Change struct {
	Kind     string `json:"-"` // api.StreamReady, api.StreamChanged or api.StreamReset
	Position string `json:"-"` // the After with which to continue here
	api.StreamChange
}

const (
	// silence is how long a stream may send nothing, not even a heartbeat.
	silence = time.Minute
	// maxLine is how long a line of a stream may be (the limit stream-line-bytes).
	maxLine = 16 << 20
)

// Stream follows all changes, without a gap: when the connection breaks it continues from the last
// position. It ends with an error, or when the caller stops or ctx ends.
func (c *Client) Stream(ctx context.Context, q StreamQuery) iter.Seq2[Change, error] {
	q.Patience = cmp.Or(q.Patience, time.Minute)
	r := get("/api/v1/stream").with("instance", q.Instance).with("definition", q.Definition).with("q", q.Filter)
	return resume(ctx, c, q.After, retry{patience: q.Patience}, func(position string, to link[Change]) error {
		return c.frames(ctx, r, position, func(f frame) (bool, error) {
			ch := Change{Kind: f.kind, Position: f.id}
			switch f.kind {
			case "":
				return true, nil
			case api.StreamChanged:
				if err := json.Unmarshal([]byte(f.data), &ch); err != nil {
					return false, fmt.Errorf("%w: %w", errShape, err)
				}
			}
			to.alive(f.id)
			return to.give(ch), nil
		})
	})
}

// link receives what one connection reads.
type link[T any] struct {
	alive func(position string) // the server answers, and has come to this position, if any
	give  func(T) bool
}

// retry says what to do when a connection breaks.
type retry struct {
	patience time.Duration // how long to try to reconnect; negative: never
	broke    func(error)   // called once for each interruption; may be nil
}

// resume reads one connection after the other, each from where the last one ended, until the
// caller stops, ctx ends, or reconnecting fails for longer than patience.
func resume[T any](
	ctx context.Context, c *Client, position string, again retry, read func(position string, to link[T]) error,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		broken := time.Time{} // since when
		for attempt := 1; ; attempt++ {
			more := true
			err := read(position, link[T]{
				alive: func(at string) {
					broken, attempt = time.Time{}, 0
					if at != "" {
						position = at
					}
				},
				give: func(item T) bool {
					more = yield(item, nil)
					return more
				},
			})
			switch {
			case !more:
				return
			case ctx.Err() != nil:
				yield(zero, ctx.Err())
				return
			case !resumable(err) || again.patience < 0:
				yield(zero, err)
				return
			case broken.IsZero():
				broken = time.Now()
				if again.broke != nil {
					again.broke(err)
				}
			case time.Since(broken) > again.patience:
				yield(zero, err)
				return
			}
			if err := rest(ctx, c.pause(max(1, attempt))); err != nil {
				yield(zero, err)
				return
			}
		}
	}
}

// IsTemporary reports whether a request may succeed later: the server cannot be
// reached, is too busy, or stops.
func IsTemporary(err error) bool {
	if problem, ok := errors.AsType[*Problem](err); ok {
		return problem.Status == http.StatusTooManyRequests ||
			problem.Status > http.StatusInternalServerError && problem.Status <= http.StatusGatewayTimeout
	}
	var cut *UnreachableError
	return errors.As(err, &cut)
}

// resumable reports whether a stream that ended with an error may be resumed.
func resumable(err error) bool {
	if problem, ok := errors.AsType[*Problem](err); ok {
		return problem.Status == http.StatusTooManyRequests || problem.Status >= 500
	}
	var cut *UnreachableError
	return err == nil || errors.As(err, &cut)
}

// frames reads one connection until it ends. The first frame is empty: it says that the server
// answered.
func (c *Client) frames(ctx context.Context, r request, position string, each func(frame) (bool, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	resp, err := c.send(ctx, r.clone().withHeader("Last-Event-ID", position).withHeader("Accept", "text/event-stream"))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	events := &eventReader{lines: bufio.NewScanner(resp.Body), alive: func() { quiet.Reset(silence) }}
	events.lines.Buffer(nil, maxLine)
	for f := (frame{}); ; {
		more, err := each(f)
		if err != nil || !more {
			return err
		}
		f, err = events.next()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			return fmt.Errorf("a line of the stream has more than %d bytes (limit stream-line-bytes)", maxLine)
		case err != nil:
			return unreachable(c.shown, err)
		}
	}
}

var errShape = errors.New("the stream cannot be read")

// frame is one server-sent event. One without data moves the position only.
type frame struct{ kind, id, data string }

// eventReader reads server-sent events.
type eventReader struct {
	lines *bufio.Scanner
	alive func() // called with every line
}

// next reads one frame that is not empty.
func (r *eventReader) next() (frame, error) {
	var f frame
	var data []string
	for r.lines.Scan() {
		r.alive()
		line := strings.TrimSuffix(r.lines.Text(), "\r")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			f.data = strings.Join(data, "\n")
			if f != (frame{}) {
				return f, nil
			}
		case field == "event":
			f.kind = value
		case field == "id":
			f.id = value
		case field == "data":
			data = append(data, value)
		}
	}
	if err := r.lines.Err(); err != nil {
		return f, err
	}
	return f, io.ErrUnexpectedEOF // the server ended the stream, between two events or within one
}
