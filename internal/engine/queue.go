package engine

import (
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// callQueue holds the calls that have not begun. They begin in the order of their commits, but an
// endpoint that is at its limit of calls in flight does not hold up the others.
type callQueue struct {
	perEndpoint int
	lanes       map[string]*lane
	waiting     []*lane // those that have calls waiting
	size        int
}

// lane is what is known of one endpoint.
type lane struct {
	key    string
	calls  []*call
	flying int
}

func (q *callQueue) init(perEndpoint int) {
	q.perEndpoint, q.lanes = perEndpoint, map[string]*lane{}
}

func (q *callQueue) push(c *call) {
	if c.endpoint == "" {
		c.endpoint = endpoint(&c.row.Function, c.row.Args)
	}
	l := q.lanes[c.endpoint]
	if l == nil {
		l = &lane{key: c.endpoint}
		q.lanes[c.endpoint] = l
	}
	if len(l.calls) == 0 {
		q.waiting = append(q.waiting, l)
	}
	l.calls = append(l.calls, c)
	q.size++
}

// pop takes the oldest call whose endpoint is below its limit; live reports whether the answer is
// still waited for.
func (q *callQueue) pop(live func(*call) bool) *call {
	for {
		at := -1
		for i, l := range q.waiting {
			if l.flying < q.perEndpoint && (at < 0 || l.calls[0].n < q.waiting[at].calls[0].n) {
				at = i
			}
		}
		if at < 0 {
			return nil
		}
		l := q.waiting[at]
		c := l.calls[0]
		l.calls[0] = nil
		l.calls = l.calls[1:]
		q.size--
		if len(l.calls) == 0 {
			q.waiting = slices.Delete(q.waiting, at, at+1)
		}
		if live(c) {
			l.flying++
			return c
		}
		q.forget(l)
	}
}

// landed notes that a call which pop gave is not in flight any more.
func (q *callQueue) landed(c *call) {
	if l := q.lanes[c.endpoint]; l != nil {
		l.flying--
		q.forget(l)
	}
}

// ready reports whether pop would give something.
func (q *callQueue) ready(live func(*call) bool) bool {
	for _, l := range q.waiting {
		if l.flying >= q.perEndpoint {
			continue
		}
		for _, c := range l.calls {
			if live(c) {
				return true
			}
		}
	}
	return false
}

func (q *callQueue) forget(l *lane) {
	if l.flying == 0 && len(l.calls) == 0 {
		delete(q.lanes, l.key)
	}
}

// endpoint names what a function reaches: the host of a plain URL, the document of an
// operation, this machine, else the function itself, of which only the catalogue knows more.
func endpoint(f *ir.Function, args expr.Value) string {
	operation := f.Operation
	if b, ok := ir.BuiltinOf(operation); ok {
		if b.Exec {
			return "programs"
		}
		switch operation = b.Document; {
		case b.Kind == ir.RequestKind:
			r, _ := b.Request() // one that cannot be read reaches nothing
			operation = r.URI
		case b.Kind == ir.LogKind:
			operation = "" // its document is a level
		case operation == "" || b.Kind == "grpc":
			operation = described(args)
		}
	}
	document, _, _ := strings.Cut(operation, "#")
	switch {
	case document == "":
		return "name:" + f.Name
	case strings.Contains(document, "://"):
		if u, err := url.Parse(document); err == nil {
			return "host:" + strings.ToLower(u.Host)
		}
	}
	return "document:" + document
}

// addresses are where the arguments of calls that these describe say where a call goes.
var addresses = [][]string{{"endpoint"}, {"server"}, {"transport", "http", "endpoint"}, {"service", "host"}}

// described is the address of a call that its arguments describe.
func described(args expr.Value) string {
	for _, path := range addresses {
		at := args
		for _, key := range path {
			at, _ = at.Get(key)
		}
		if at.IsObject() {
			at, _ = at.Get("uri")
		}
		if text := at.Str(); strings.Contains(text, "://") {
			return text
		} else if text != "" {
			return "host://" + text
		}
	}
	return ""
}
