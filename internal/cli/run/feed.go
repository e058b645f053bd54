package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// feed is the source of a run's events: a list sorted by time, and possibly a stream after it.
type feed struct {
	ctx     context.Context
	name    string
	start   time.Time
	pending []timedEvent // by time
	latest  []timedEvent // the last ones that were due
	stream  io.Reader    // nil: none, or used up
	app     *cli.App
}

type timedEvent struct {
	at    time.Time
	event event.Event
	place dialect.Pos
}

// openFeed reads the events of a file; events from stdin are read during the run.
func openFeed(a *cli.App, ctx context.Context, arg string, start time.Time) (*feed, error) {
	f := &feed{ctx: ctx, name: arg, start: start, app: a}
	switch arg {
	case "":
		return f, nil
	case "-":
		f.name, f.stream = "stdin", a.In
		return f, nil
	}
	text, err := cli.ReadFile(ctx, arg)
	if err != nil {
		return nil, err
	}
	events, doc, found := scenario.ReadEvents(arg, text)
	if found.HasErrors() {
		return nil, a.InvalidDocument("the events cannot be used", doc, found)
	}
	for _, e := range events {
		if err := f.add(e); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *feed) add(e scenario.Event) error {
	ev, err := event.FromValue(e.Value)
	if err != nil {
		return cli.Invalidf("%s: %v", e.At.Pos, err)
	}
	at := e.After.AddTo(f.start)
	if !scenario.Representable(at) {
		return cli.Invalidf("%s: the event is due at %s, after the year 2261 (limit timer-horizon)", e.At.Pos, at.Format(time.RFC3339))
	}
	behind := sort.Search(len(f.pending), func(i int) bool { return f.pending[i].at.After(at) })
	f.pending = slices.Insert(f.pending, behind, timedEvent{at, ev, e.At.Pos})
	return nil
}

// readAll reads the whole stream at once, for virtual time.
func (f *feed) readAll() error {
	lines := make(chan line)
	go f.read(f.ctx, lines)
	for {
		select {
		case l, open := <-lines:
			if !open {
				f.stream = nil
				return nil
			}
			if err := f.take(l); err != nil {
				return err
			}
		case <-f.ctx.Done(): // the goroutine stays blocked in its read: the process ends soon
			return f.ctx.Err()
		}
	}
}

// line is one of a stream, or the error that ended it.
type line struct {
	number int
	text   []byte
	err    error
}

// read sends the lines of the stream until it ends.
func (f *feed) read(ctx context.Context, to chan<- line) {
	defer close(to)
	scanner := bufio.NewScanner(f.stream)
	scanner.Buffer(nil, dialect.DefaultLimits.Bytes)
	send := func(l line) bool {
		select {
		case to <- l:
			return true
		case <-ctx.Done():
			return false
		}
	}
	n := 1
	for ; scanner.Scan(); n++ {
		text := bytes.TrimSpace(scanner.Bytes())
		if len(text) > 0 && !send(line{number: n, text: bytes.Clone(text)}) {
			return
		}
	}
	err := scanner.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = cli.Invalidf("%s:%d: the line has more than %d bytes (limit document-bytes)", f.name, n, dialect.DefaultLimits.Bytes)
	}
	if err != nil {
		send(line{err: err})
	}
}

// take adds the event of a line.
func (f *feed) take(l line) error {
	if l.err != nil {
		return l.err
	}
	e, found := scenario.ReadEvent(f.name, l.text, l.number)
	if found.HasErrors() {
		return f.app.InvalidDocument("the events cannot be used", nil, found)
	}
	return f.add(e)
}

// due takes the events that are due.
func (f *feed) due(now time.Time) []event.Event {
	var out []event.Event
	f.latest = nil
	for len(f.pending) > 0 && !f.pending[0].at.After(now) {
		out = append(out, f.pending[0].event)
		f.latest = append(f.latest, f.pending[0])
		f.pending = f.pending[1:]
	}
	return out
}

// refused reports that an event was refused, with its position.
func (f *feed) refused(ev event.Event, why error) {
	for _, e := range f.latest {
		if !f.app.Problems && expr.Equal(e.event.Value(), ev.Value()) {
			fmt.Fprintf(f.app.Err, "! %s: the event was refused: %s\n", e.place, cli.Plain(why.Error()))
			return
		}
	}
}

// over reports whether there are no more events.
func (f *feed) over() bool { return len(f.pending) == 0 && f.stream == nil }
