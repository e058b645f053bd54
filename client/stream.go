package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

// StreamQuery says what to follow.
type StreamQuery struct {
	Instance   string
	Definition string
	Filter     string
	After      string        // the position to go on from; "": from now on
	Patience   time.Duration // how long to try again while the server does not answer: a minute
}

// Kinds of what a stream gives.
const (
	StreamReady  = "ready"  // the stream begins; also after it broke off
	StreamChange = "change" // something happened
	StreamReset  = "reset"  // something is missing: read again what you show
)

// Change is one item of a stream.
type Change struct {
	Kind     string `json:"-"`
	Position string `json:"-"` // After, to go on from here

	Instance   string         `json:"instance"`
	Definition string         `json:"definition"`
	Status     Status         `json:"status"`
	Time       time.Time      `json:"time"`
	Records    []StreamRecord `json:"records"`
}

// StreamRecord is a record without its data, which the history has.
type StreamRecord struct {
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Node    string    `json:"node,omitempty"`
	Depth   int       `json:"depth,omitempty"`
	Name    string    `json:"name,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Error   string    `json:"error,omitempty"` // the fault's name
	Text    string    `json:"text,omitempty"`
	Status  Status    `json:"status,omitempty"`
}

const (
	// silence is how long a stream may say nothing, not even that it lives.
	silence = time.Minute
	// maxLine is how long a line of a stream may be (the limit stream-line-bytes).
	maxLine = 16 << 20
)

// Stream follows what happens, without a gap: where the connection breaks it goes on from
// the last position. It ends with an error, or when the caller stops or ctx ends.
func (c *Client) Stream(ctx context.Context, q StreamQuery) iter.Seq2[Change, error] {
	if q.Patience == 0 {
		q.Patience = time.Minute
	}
	return func(yield func(Change, error) bool) {
		position := q.After
		broken := time.Time{} // since when
		for attempt := 1; ; attempt++ {
			more := true
			err := c.follow(ctx, q, position, func(ch Change) bool {
				broken, attempt = time.Time{}, 0
				if ch.Position != "" {
					position = ch.Position
				}
				more = yield(ch, nil)
				return more
			})
			switch {
			case !more:
				return
			case ctx.Err() != nil:
				yield(Change{}, ctx.Err())
				return
			case !passing(err):
				yield(Change{}, err)
				return
			case broken.IsZero():
				broken = time.Now()
			case time.Since(broken) > q.Patience:
				yield(Change{}, err)
				return
			}
			if err := rest(ctx, c.pause(max(1, attempt))); err != nil {
				yield(Change{}, err)
				return
			}
		}
	}
}

// Passing reports whether an error is likely to pass by itself: the server cannot be
// reached, is too busy, or stops.
func Passing(err error) bool {
	var problem *Problem
	if errors.As(err, &problem) {
		return problem.Status == http.StatusTooManyRequests || problem.Status > http.StatusInternalServerError && problem.Status <= http.StatusGatewayTimeout
	}
	var cut *UnreachableError
	return errors.As(err, &cut)
}

// passing reports whether a stream that ended so may be asked for again.
func passing(err error) bool {
	var problem *Problem
	if errors.As(err, &problem) {
		return problem.Status == http.StatusTooManyRequests || problem.Status >= 500
	}
	var cut *UnreachableError
	return err == nil || errors.As(err, &cut)
}

// follow reads one connection until it ends.
func (c *Client) follow(ctx context.Context, q StreamQuery, position string, each func(Change) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	r := get("/api/v1/stream").with("instance", q.Instance).with("definition", q.Definition).with("q", q.Filter)
	resp, err := c.send(ctx, r.withHeader("Last-Event-ID", position).withHeader("Accept", "text/event-stream"))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	events := &eventReader{lines: bufio.NewScanner(resp.Body)}
	events.lines.Buffer(nil, maxLine)
	for {
		ch, err := events.next(func() { quiet.Reset(silence) })
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			return fmt.Errorf("a line of the stream has more than %d bytes (limit stream-line-bytes)", maxLine)
		case errors.Is(err, errShape):
			return err
		case err != nil:
			return unreachable(c.base, err)
		case !each(ch):
			return nil
		}
	}
}

var errShape = errors.New("the stream cannot be read")

// eventReader reads server-sent events.
type eventReader struct{ lines *bufio.Scanner }

// next reads one event that has a name. alive is called with every line.
func (r *eventReader) next(alive func()) (Change, error) {
	var ch Change
	var data []string
	for r.lines.Scan() {
		alive()
		line := strings.TrimSuffix(r.lines.Text(), "\r")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && ch.Kind != "":
			if ch.Kind == StreamChange {
				if err := json.Unmarshal([]byte(strings.Join(data, "\n")), &ch); err != nil {
					return ch, fmt.Errorf("%w: %w", errShape, err)
				}
			}
			return ch, nil
		case line == "":
			ch, data = Change{}, nil
		case field == "event":
			ch.Kind = value
		case field == "id":
			ch.Position = value
		case field == "data":
			data = append(data, value)
		}
	}
	if err := r.lines.Err(); err != nil {
		return ch, err
	}
	return ch, io.ErrUnexpectedEOF // the server ended the stream, between two events or within one
}
