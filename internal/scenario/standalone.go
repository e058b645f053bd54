package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
)

// ReadMocks reads a file of mocks alone (`lockstep run --mock`): an object with
// the key mocks, as in a scenario, or that map itself.
func ReadMocks(file string, text []byte) (mock.Mocks, *dialect.Document, dialect.Diagnostics) {
	doc, found := dialect.Read(file, text)
	d := newDecoder(file)
	var mocks mock.Mocks
	if doc.Root.Get("scenarios") != nil && doc.Root.Get("workflow") != nil {
		d.Errorf(doc.Root.Pos(), codeMissing, "this is a scenario file, not a file of mocks; \"lockstep test\" runs it")
	} else if f := d.Fields(doc.Root, "a file of mocks"); f != nil {
		root := doc.Root
		if f.Peek("mocks") != nil {
			root = f.Typed("mocks", expr.KindObject)
			f.Done()
		}
		mocks = d.mocks(root)
	}
	return mocks, doc, d.all(found)
}

// ReadEvents reads a file of events alone (`lockstep run --events`): one
// CloudEvent, a list of them, or one a line as JSON. Each may stand as it is or
// as {at, event}, as in a scenario. Lines have no document in common: it is nil.
func ReadEvents(file string, text []byte) ([]Event, *dialect.Document, dialect.Diagnostics) {
	if lines := jsonLines(text); lines != nil && len(text) <= dialect.DefaultLimits.Bytes {
		out, found := readLines(file, lines)
		return out, nil, found
	}
	doc, found := dialect.Read(file, text)
	d := newDecoder(file)
	var out []Event
	switch {
	case doc.Root == nil:
	case doc.Root.Is(expr.KindArray):
		for i, item := range doc.Root.Items {
			out = append(out, d.eventOrTimed(item, i))
		}
	default:
		out = append(out, d.eventOrTimed(doc.Root, 0))
	}
	return out, doc, d.all(found)
}

// ReadTakes reads what actors of a job send, alone: a list of takes as in a scenario
// whose virtual time begins at clock.
func ReadTakes(file string, text []byte, clock time.Time) ([]Take, dialect.Diagnostics) {
	doc, found := dialect.Read(file, text)
	d := newDecoder(file)
	var out []Take
	if doc.Root != nil && d.Is(doc.Root, expr.KindArray, "takes") {
		out = d.takes(doc.Root.Items, clock)
	}
	return out, d.all(found)
}

// ReadEvent reads one line of a stream of events; number counts from 1.
func ReadEvent(file string, text []byte, number int) (Event, dialect.Diagnostics) {
	e, found := readEvent(file, text, number)
	e.At.Line += number - 1
	if len(found) == 0 {
		return e, nil
	}
	// Blank lines before it make every place that of the line in the stream. Only what
	// is wrong is worth them: all lines of a long file are longer than the file.
	return readEvent(file, slices.Concat(bytes.Repeat([]byte("\n"), number-1), text), number)
}

func readEvent(file string, text []byte, number int) (Event, dialect.Diagnostics) {
	doc, found := dialect.Read(file, text)
	d := newDecoder(file)
	var e Event
	if doc.Root != nil {
		e = d.eventOrTimed(doc.Root, number-1)
	}
	return e, d.all(found)
}

// maxBadLines is after how many mistakes a file of lines is not read any further.
const maxBadLines = 50

func readLines(file string, lines [][]byte) ([]Event, dialect.Diagnostics) {
	var out []Event
	var found dialect.Diagnostics
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, wrong := ReadEvent(file, line, i+1)
		if out, found = append(out, e), append(found, wrong...); len(found) >= maxBadLines {
			break
		}
	}
	return out, found
}

// jsonLines splits text with one JSON object a line, and gives nil for any other. The
// first line decides: behind a whole object a document has nothing more.
func jsonLines(text []byte) [][]byte {
	first, rest, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if len(bytes.TrimSpace(rest)) == 0 || !bytes.HasPrefix(first, []byte("{")) {
		return nil
	}
	if _, err := expr.ParseJSON(first); err != nil {
		return nil
	}
	return bytes.Split(text, []byte("\n"))
}

func (d *decoder) eventOrTimed(n *dialect.Node, index int) Event {
	e := Event{At: n.Span()}
	if inner := n.Get("event"); inner.Is(expr.KindObject) && n.Get("type") == nil {
		f := d.Fields(n, "an item of events")
		f.Allow("event")
		e.After = d.duration(f.Get("at"))
		f.Done()
		n = inner
	}
	e.Value = d.event(n, index)
	return e
}

// all joins what reading a document found with what decoding it did.
func (d *decoder) all(found dialect.Diagnostics) dialect.Diagnostics {
	all := append(slices.Clone(found), d.Diagnostics()...)
	all.Sort()
	return all
}

// Describe writes an event in few words.
func Describe(event expr.Value) string {
	get := func(key string) string { v, _ := event.Get(key); return v.Str() }
	return strings.TrimSpace(fmt.Sprintf("%s from %s (id %s)", get("type"), get("source"), get("id")))
}
