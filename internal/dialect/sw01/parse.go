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
	*dialect.Reader
	form       form
	w          *workflow
	byEvent    map[string]bool // the names of events, once they are needed
	eventNames []string
}

// fieldCodes are the codes of the reader.
var fieldCodes = dialect.FieldCodes{
	Type: codeType, Missing: codeMissing, Empty: codeEmpty, Choice: codeChoice, Number: codeNumber,
	Unknown: codeUnknownKey, Both: codeExclusive, Twice: codeTwice, Unquoted: codeQuoteIt,
}

func newParser(r *dialect.Reporter, f form) *parser {
	return &parser{Reader: &dialect.Reader{Reporter: r, Codes: fieldCodes, Ways: f.ways}, form: f}
}

// workflow reads the top level (0.1 E §工作流规范, 0.1 K and 0.1 C §Workflow Definition).
func (p *parser) workflow(doc *dialect.Document) *workflow {
	w := &workflow{form: p.form, node: doc.Root, derivedID: idFromFile(doc.File)}
	p.w = w
	w.scope = &scope{node: doc.Root}
	if !doc.Root.Is(expr.KindObject) {
		p.Errorf(doc.Root, codeNotObject, "a definition is an object with states")
		return w
	}
	f := p.Fields(doc.Root, "the workflow")
	w.id = f.OptionalName("id")
	w.name = f.OptionalName("name")
	w.description = f.Str("description")
	w.version = f.Literal("version")
	f.Literal("schemaVersion")
	w.execStatus = p.execStatus(f)
	p.triggers(f)
	p.states(f, w.scope)
	w.metadata = f.Get("metadata")
	w.labels = p.Labels(w.metadata)
	for _, l := range w.labels {
		p.parameters(l.Value)
	}
	w.extensions = f.Get("extensions")
	f.Done()
	p.named()
	return w
}

// named warns of a definition that goes by the name of its file. The earliest draft
// has no names at all.
func (p *parser) named() {
	switch w := p.w; {
	case w.id != nil || w.name != nil || p.form == early:
	case p.form == kebab:
		p.Warnf(w.node, codeNoName, "the workflow has no \"name\"; it is called %q after its file", w.derivedID)
	default:
		p.Warnf(w.node, codeNoName, "the workflow has no \"id\"; it is called %q after its file", w.derivedID)
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
func (p *parser) execStatus(f *dialect.Fields) *dialect.Node {
	word, at := f.Choice("execStatus", statuses(p.form)...)
	if word == "" {
		return nil
	}
	return at
}

// triggers reads the events (0.1 E §触发器定义, 0.1 K and 0.1 C §Trigger Definition).
func (p *parser) triggers(f *dialect.Fields) {
	list, _ := f.List("triggerDefs")
	for _, n := range list {
		t := p.Fields(n, "a trigger")
		if t == nil {
			continue
		}
		one := &trigger{node: n, name: t.Name("name")}
		t.Called(one.name)
		one.source = t.OptionalName("source")
		one.typ = t.OptionalName("type")
		one.eventID = t.OptionalName("eventID")
		one.token = p.token(t)
		t.Done()
		if t.Peek("source") == nil {
			p.Warnf(n, codeAnyEvent, "%s has no \"source\": it matches events of any source", t.What)
		}
		if t.Peek("type") == nil && t.Peek("eventID") == nil {
			p.Warnf(n, codeAnyEvent, "%s has no %q: it matches events of any type", t.What, p.typeKey())
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
// attribute or of a field of its data (semantics.md §Functions, events, errors).
func (p *parser) token(f *dialect.Fields) *token {
	n := f.OptionalName("correlationToken")
	if n == nil {
		return nil
	}
	from := strings.TrimSpace(n.Text)
	if strings.HasPrefix(from, "$") {
		path := p.path(n)
		if path == nil {
			return nil
		}
		if !path.Definite || path.Root {
			p.Errorf(n, codeNotPath, "%s must select one value, and %s does not", n.Name(), from)
			return nil
		}
		from = path.src
	}
	return &token{node: n, from: from}
}

// states reads the states of the workflow or of a branch, and where they begin.
func (p *parser) states(f *dialect.Fields, s *scope) {
	s.startsAt = f.OptionalName("startsAt")
	for _, n := range f.NeedList("states") {
		one := p.state(n, s)
		if one != nil {
			s.states = append(s.states, one)
		}
	}
}
