package sw01

import (
	"path/filepath"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parser turns a document into a workflow and reports everything that can be
// said of one value by itself: kinds, required parameters, spelling, expressions.
// It never stops at an error, so that one pass finds all.
type parser struct {
	r    *dialect.Reporter
	form form
	w    *workflow
	hinter
	byEvent    map[string]bool // the names of events, once they are needed
	eventNames []string
	asked      func(*fields) // where set, told of every object when it is done: for tests
}

// parse reads a document.
func parse(r *dialect.Reporter, f form, doc *dialect.Document) *workflow {
	p := &parser{r: r, form: f}
	return p.workflow(doc)
}

// workflow reads the top level (001 §工作流规范, 004 and 000 §Workflow Definition).
func (p *parser) workflow(doc *dialect.Document) *workflow {
	w := &workflow{form: p.form, node: doc.Root, derivedID: idFromFile(doc.File)}
	p.w = w
	w.scope = &scope{node: doc.Root}
	if !doc.Root.Is(expr.KindObject) {
		p.r.Errorf(doc.Root, codeNotObject, "a definition is an object with states")
		return w
	}
	f := p.fields(doc.Root, "the workflow")
	w.id = f.optionalName("id")
	w.name = f.optionalName("name")
	w.description = f.str("description")
	w.version = f.literal("version")
	f.literal("schemaVersion")
	w.execStatus = p.execStatus(f)
	p.triggers(f)
	p.states(f, w.scope)
	w.metadata = f.get("metadata")
	w.extensions = f.get("extensions")
	f.done()
	p.named()
	return w
}

// named warns of a definition that goes by the name of its file. The earliest draft
// has no names at all.
func (p *parser) named() {
	switch w := p.w; {
	case w.id != nil || w.name != nil || p.form == early:
	case p.form == kebab:
		p.r.Warnf(w.node, codeNoName, "the workflow has no \"name\"; it is called %q after its file", w.derivedID)
	default:
		p.r.Warnf(w.node, codeNoName, "the workflow has no \"id\"; it is called %q after its file", w.derivedID)
	}
}

// identity is what a definition is known by: C's id, else the name, else its file's name.
func (w *workflow) identity() string {
	switch {
	case w.id != nil:
		return w.id.Text
	case w.name != nil:
		return w.name.Text
	}
	return w.derivedID
}

// idFromFile makes an id of a file's name.
func idFromFile(file string) string {
	base := filepath.Base(file)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	id := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_' {
			return c
		}
		return '-'
	}, base)
	if id = strings.Trim(id, "-."); id == "" {
		return "workflow"
	}
	return id
}

// execStatus reads the status that a definition may bear: it is kept and shown.
func (p *parser) execStatus(f *fields) *dialect.Node {
	words := statuses(p.form)
	n := f.str("execStatus")
	if n == nil {
		return nil
	}
	for _, w := range words {
		if n.Text == w {
			return n
		}
	}
	p.oneOf(p.r.Errorf(n, codeChoice, "%s cannot be %q", f.spell("execStatus"), n.Text), n.Text, words)
	return nil
}

// triggers reads the events (001 §触发器定义, 004 and 000 §Trigger Definition).
func (p *parser) triggers(f *fields) {
	list, _ := f.list("triggerDefs")
	for _, n := range list {
		t := p.fields(n, "trigger")
		if t == nil {
			continue
		}
		one := &trigger{node: n, name: t.name("name")}
		if one.name != nil {
			t.what = "trigger " + quote(one.name.Text)
		}
		one.source = t.optionalName("source")
		one.typ = t.optionalName("type")
		one.eventID = t.optionalName("eventID")
		one.token = p.token(t)
		t.done()
		if t.peek("source") == nil {
			p.r.Warnf(n, codeAnyEvent, "%s has no \"source\": it matches events of any source", t.what)
		}
		if t.peek("type") == nil && t.peek("eventID") == nil {
			p.r.Warnf(n, codeAnyEvent, "%s has no %q: it matches events of any type", t.what, p.typeKey())
		}
		if one.name != nil {
			p.w.triggers = append(p.w.triggers, one)
		}
	}
}

// typeKey is what a form says an event is told by.
func (p *parser) typeKey() string {
	if p.form == early {
		return "eventID"
	}
	return "type"
}

// token reads the correlation token: a path into the event, or the name of an
// attribute or of a field of its data (SEMANTICS §Functions, events, errors).
func (p *parser) token(f *fields) *token {
	n := f.optionalName("correlationToken")
	if n == nil {
		return nil
	}
	from := strings.TrimSpace(n.Text)
	if strings.HasPrefix(from, "$") {
		path := p.path(n, f.spell("correlationToken"))
		if path == nil {
			return nil
		}
		if !path.Definite || path.Root {
			p.r.Errorf(n, codeNotPath, "%s must select one value, and %s does not", f.spell("correlationToken"), from)
			return nil
		}
		from = path.src
	}
	return &token{node: n, from: from}
}

// states reads the states of the workflow or of a branch, and where they begin.
func (p *parser) states(f *fields, s *scope) {
	s.startsAt = f.optionalName("startsAt")
	for _, n := range f.needList("states") {
		one := p.state(n, s)
		if one != nil {
			s.states = append(s.states, one)
		}
	}
}
