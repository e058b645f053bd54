package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/scenario"
)

// feed is where the events of a run come from: a list in order of time, and maybe a
// stream behind it.
type feed struct {
	name    string
	start   time.Time
	pending []timedEvent // by time
	stream  io.Reader    // nil: none, or used up
	app     *app
}

type timedEvent struct {
	at    time.Time
	event event.Event
}

// openFeed reads the events of a file; those of stdin are read while the run goes on.
func (a *app) openFeed(arg string, start time.Time) (*feed, error) {
	f := &feed{name: arg, start: start, app: a}
	switch arg {
	case "":
		return f, nil
	case "-":
		f.name, f.stream = "stdin", a.in
		return f, nil
	}
	text, err := readFile(arg)
	if err != nil {
		return nil, err
	}
	events, doc, found := scenario.ReadEvents(arg, text)
	if found.HasErrors() {
		return nil, a.invalidDocument("the events cannot be used", doc, found)
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
		wrong := invalidf("%s: %v", e.At.Pos, err)
		return wrong
	}
	f.pending = append(f.pending, timedEvent{e.After.AddTo(f.start), ev})
	slices.SortStableFunc(f.pending, func(a, b timedEvent) int { return a.at.Compare(b.at) })
	return nil
}

// readAll takes the whole stream at once, for runs that skip time.
func (f *feed) readAll() error {
	lines := make(chan line)
	go f.read(context.Background(), lines)
	for l := range lines {
		if err := f.take(l); err != nil {
			return err
		}
	}
	f.stream = nil
	return nil
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
	for n := 1; scanner.Scan(); n++ {
		text := bytes.TrimSpace(scanner.Bytes())
		if len(text) > 0 && !send(line{number: n, text: bytes.Clone(text)}) {
			return
		}
	}
	if err := scanner.Err(); err != nil {
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
		return f.app.invalidDocument("the events cannot be used", nil, found)
	}
	return f.add(e)
}

// due takes the events whose time has come.
func (f *feed) due(now time.Time) []event.Event {
	var out []event.Event
	for len(f.pending) > 0 && !f.pending[0].at.After(now) {
		out = append(out, f.pending[0].event)
		f.pending = f.pending[1:]
	}
	return out
}

// next is when the next known event comes.
func (f *feed) next() (time.Time, bool) {
	if len(f.pending) == 0 {
		return time.Time{}, false
	}
	return f.pending[0].at, true
}

// over reports whether no event can come any more.
func (f *feed) over() bool { return len(f.pending) == 0 && f.stream == nil }
