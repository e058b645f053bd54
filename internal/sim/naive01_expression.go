package sim

import (
	"slices"
	"strings"
)

// eventTree is an event expression. Negations stand before names only.
type eventTree struct {
	op   string // and, or, not (before a name); "": the name
	name string
	list []*eventTree
}

// parse01 reads an event expression: not binds most, or least.
func parse01(text string) *eventTree {
	p := &eventParser{rest: text}
	return p.or()
}

type eventParser struct{ rest string }

// take takes the word off the front if it is one of these.
func (p *eventParser) take(words ...string) bool {
	p.rest = strings.TrimSpace(p.rest)
	for _, word := range words {
		n := len(word)
		if len(p.rest) < n || !strings.EqualFold(p.rest[:n], word) {
			continue
		}
		if letter := word[0] >= 'a' && word[0] <= 'z'; letter && len(p.rest) > n && !strings.ContainsAny(p.rest[n:n+1], " ()!&|\"'") {
			continue
		}
		p.rest = p.rest[n:]
		return true
	}
	return false
}

func (p *eventParser) or() *eventTree {
	out := &eventTree{op: "or", list: []*eventTree{p.and()}}
	for p.take("or", "||") {
		out.list = append(out.list, p.and())
	}
	return out
}

func (p *eventParser) and() *eventTree {
	out := &eventTree{op: "and", list: []*eventTree{p.not()}}
	for p.take("and", "&&") {
		out.list = append(out.list, p.not())
	}
	return out
}

func (p *eventParser) not() *eventTree {
	if p.take("not", "!") {
		return p.not().negated()
	}
	if p.take("(") {
		out := p.or()
		p.take(")")
		return out
	}
	p.rest = strings.TrimSpace(p.rest)
	if quote := p.rest[0]; quote == '"' || quote == '\'' {
		name, rest, _ := strings.Cut(p.rest[1:], string(quote))
		p.rest = rest
		return &eventTree{name: name}
	}
	end := strings.IndexAny(p.rest, " ()!&|")
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return &eventTree{name: name}
}

func (e *eventTree) negated() *eventTree {
	out := &eventTree{op: map[string]string{"": "not", "not": "", "and": "or", "or": "and"}[e.op], name: e.name}
	for _, x := range e.list {
		out.list = append(out.list, x.negated())
	}
	return out
}

// ways lists the sets of events any of which makes the expression hold, as far as events
// must come.
func (e *eventTree) ways() (out [][]string) {
	switch e.op {
	case "":
		return [][]string{{e.name}}
	case "not":
		return [][]string{nil}
	case "or":
		for _, x := range e.list {
			out = append(out, x.ways()...)
		}
		return out
	}
	out = [][]string{nil}
	for _, x := range e.list {
		var longer [][]string
		for _, way := range out {
			for _, more := range x.ways() {
				longer = append(longer, slices.Concat(way, more))
			}
		}
		out = longer
	}
	return out
}

// atEnd is when something holds because the time is over.
const atEnd = 1 << 30

// holds reports when an expression came to hold, counted in events, and by which of them.
// last: its time is over, so that what did not come never will.
func (e *eventTree) holds(came map[string]int, last bool) (when int, by []string, ok bool) {
	n, here := came[e.name]
	switch e.op {
	case "":
		return n, []string{e.name}, here
	case "not":
		return atEnd, nil, last && !here
	}
	when = -1
	for _, x := range e.list {
		at, names, ok := x.holds(came, last)
		switch {
		case e.op == "and" && !ok:
			return 0, nil, false
		case e.op == "and":
			when, by = max(when, at), append(by, names...)
		case ok && (when < 0 || at < when): // of an or the first that held
			when, by = at, names
		}
	}
	return when, by, when >= 0
}

// wants lists the events that may still matter.
func (e *eventTree) wants(came map[string]int) (out []string) {
	if _, _, ok := e.holds(came, false); ok {
		return nil
	}
	if e.name != "" {
		if _, here := came[e.name]; here {
			return nil
		}
		return []string{e.name}
	}
	for _, x := range e.list {
		out = append(out, x.wants(came)...)
	}
	return out
}
