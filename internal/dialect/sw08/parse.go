package sw08

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/resource"
)

// parser turns a document into a workflow and reports everything that can be checked one value at a
// time: kinds, required parameters, spelling, expressions. It does not stop at an error, so that one pass
// finds them all.
type parser struct {
	*dialect.Reader
	src  dialect.Source
	form form
	said bool // the document names its version: keys of other versions are reported
	nine bool // it says 0.9, whose new demands hold

	w         *workflow
	inspected map[string]inspected // by source
	named     map[string]*function // functions; the first of a name

	secretNames map[string]bool // of as many as were seen
	secretsSeen int
	reading     map[*function]bool // expression functions whose bodies are being read: one that comes again is a cycle
	prefixes    map[string]string  // of operations, by name: workflow-uri-definitions
	resources   resource.Reader
	params      []string      // the parameters of the iterations around
	iterated    []string      // the parameters of all iterations
	bare        *dialect.Node // the first expression without braces that SonataFlow's style allows
}

// fieldCodes are the codes of the reader's diagnostics.
var fieldCodes = dialect.FieldCodes{
	Type: codeType, Missing: codeMissing, Empty: codeEmpty, Choice: codeChoice, Number: codeNumber,
	Unknown: codeUnknownKey, Both: codeExclusive, Unquoted: codeQuoteIt,
}

func newParser(r *dialect.Reporter, src dialect.Source, f form) *parser {
	reader := &dialect.Reader{Reporter: r, Codes: fieldCodes, Closed: true}
	return &parser{
		Reader: reader, src: src, form: f,
		inspected: map[string]inspected{}, named: map[string]*function{}, secretNames: map[string]bool{}, reading: map[*function]bool{}, prefixes: map[string]string{},
		resources: resource.Reader{Reader: reader, Source: src, NotFetched: codeResource, BadSchema: codeSchema, Place: beside},
	}
}

// workflow reads the top level (0.8 §Workflow Definition Structure).
func (p *parser) workflow(root *dialect.Node) *workflow {
	w := &workflow{node: root, form: p.form, constants: expr.Null, absent: map[string]bool{}}
	p.w = w
	if !root.Is(expr.KindObject) {
		p.Errorf(root, codeNotObject, "a definition is an object with id and states")
		return w
	}
	f := p.Fields(root, "the workflow")
	p.specVersion(f)
	p.expressionLang(f)
	w.sonata = w.language == langJQ && sonataStyle(root)
	p.secrets(f)
	p.constants(f)
	w.extensions = f.Get("extensions")
	p.extensions(w.extensions)
	p.iterations(root)
	p.functions(f)
	p.identity(f)
	w.inputSchema = p.schema(f, "dataInputSchema")
	p.outputSchema(f)
	p.workflowTimeouts(f)
	p.definitions(f, "events", p.event)
	p.definitions(f, "retries", p.retryDefinition)
	p.errorDefinitions(f)
	p.definitions(f, "auth", p.auth)
	p.start(f)
	w.keepActive, _ = f.Flag("keepActive", false)
	w.autoRetries, _ = f.Flag("autoRetries", false)
	p.annotations(f)
	w.metadata = f.Get("metadata")
	p.labels(w)
	for _, n := range f.NeedList("states") {
		if s := p.state(n, len(w.states)); s != nil {
			w.states = append(w.states, s)
		}
	}
	p.era(f, form07, form08, "autoRetries")
	p.era(f, form07, form09, "constants", "secrets", "auth", "errors", "timeouts", "dataInputSchema", "annotations", "key")
	p.era(f, form06, form06, "execTimeout")
	p.topDone(f)
	if p.bare != nil {
		p.Warnf(p.bare, codeSonata, "texts like this one are taken for expressions, though they are not in ${ }").
			WithHint("write ${ %s }", strings.TrimSpace(p.bare.Text))
	}
	return w
}

// topDone reports unknown keys of the top level. From 0.7 on they are the author's own (§Additional
// Properties), unless one looks like a key that was meant.
func (p *parser) topDone(f *dialect.Fields) {
	if p.form == form06 {
		f.Done()
		return
	}
	if p.Visit != nil {
		p.Visit(f)
	}
	known := f.Keys()
	for _, m := range f.Node.Members {
		if slices.Contains(known, m.Name()) {
			continue
		}
		if near := p.Near(m.Name(), known); near != "" {
			p.Warnf(m.Key, codeUnknownKey, "%q is a key of your own, which does nothing", m.Name()).WithHint("did you mean %q?", near)
		}
	}
}

// versionText is a version of the specification with or without its patch level.
var versionText = regexp.MustCompile(`^v?(\d+\.\d+)(\.\d+)?$`)

// specVersion reads what the definition says of its version. It only warns: a version that is missing or odd says
// nothing of the rest (semantics.md §Detection).
func (p *parser) specVersion(f *dialect.Fields) {
	f.Literal("schemaVersion")
	n := f.Get("specVersion")
	switch {
	case n == nil && p.form == form06:
	case n == nil:
		p.Warnf(f.Node, codeExpected, "the definition has no \"specVersion\"; it is taken for %s", p.form).
			WithHint(`add specVersion: "%s"`, p.form)
	case n.Kind != expr.KindString && n.Kind != expr.KindNumber:
		p.Expected(n, "specVersion", "a string")
	default:
		f.Literal("specVersion")
		says := versionText.FindStringSubmatch(strings.TrimSpace(n.Literal()))
		if says == nil || says[1] != p.form.String() {
			p.Warnf(n, codeExpected, "specVersion is %q; the definition is read as %s", n.Literal(), p.form)
			break
		}
		p.said = true
		p.nine = p.form == form09
	}
}

// expressionLang reads the language of all expressions.
func (p *parser) expressionLang(f *dialect.Fields) {
	n := f.OptionalName("expressionLang")
	if n == nil {
		return
	}
	switch strings.ToLower(n.Text) {
	case "jq":
	case "jsonpath":
		p.w.language = langJSONPath
	default:
		p.Errorf(n, codeLanguage, "expressions cannot be written in %q", n.Text).WithHint("the languages are jq and jsonpath")
	}
}

// identity reads how the workflow is known, and what people see of it.
func (p *parser) identity(f *dialect.Fields) {
	w := p.w
	id, key, name := f.OptionalName("id"), f.OptionalName("key"), f.OptionalName("name")
	switch {
	case id != nil && key != nil && p.form != form09:
		p.Warnf(dialect.Later(id, key).KeySpan(), codeExclusive, "the workflow has both \"id\" and \"key\"; the id counts")
	case p.nine && name == nil && f.Peek("name") == nil:
		f.Missing("name")
	case name == nil && p.form < form08 && f.Peek("name") == nil:
		p.Warnf(f.Node, codeExpected, "the workflow has no \"name\"")
	}
	w.id = id
	switch {
	case p.form == form09 && name != nil:
		w.id = name
	case w.id == nil && key != nil && p.form != form09:
		w.id = key
	case w.id == nil && name != nil:
		w.id = name
		p.Warnf(f.Node, codeExpected, "the workflow has no \"id\"; its name counts as one")
	}
	if w.id == nil && f.Peek("id") == nil && f.Peek("key") == nil && f.Peek("name") == nil {
		if p.form == form09 {
			f.Missing("name")
		} else {
			f.Missing("id")
		}
	}
	p.plain(w.id, "the id of a definition", "it cannot depend on the input")
	if p.nine {
		p.dnsName(name)
	}
	w.name = p.label(name)
	w.description = p.label(f.Str("description"))
	if w.version = f.Literal("version"); w.version == nil && f.Peek("version") == nil && p.form < form08 {
		p.Warnf(f.Node, codeExpected, "the workflow has no \"version\"")
	}
	if p.nine && w.version != nil && !semver.MatchString(w.version.Literal()) {
		p.Errorf(w.version, codeVersion, "version %q is not a semantic version", w.version.Literal()).WithHint("as in 1.0.0")
	}
}

var (
	semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	dns    = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*$`)
)

// dnsName checks a name of 0.9 (§Naming Convention).
func (p *parser) dnsName(n *dialect.Node) {
	if p.nine && n.Is(expr.KindString) && !dns.MatchString(n.Text) {
		p.Errorf(n, codeName, "%q is not a name of 0.9", n.Text).
			WithHint("names are lower-case letters, digits and single hyphens between them")
	}
}

func (p *parser) annotations(f *dialect.Fields) {
	list, _ := f.List("annotations")
	for _, n := range list {
		if text := p.Named(n, "an annotation"); text != nil {
			p.w.annotations = append(p.w.annotations, text.Text)
		}
	}
}

// era warns of keys that other versions have, where the definition names its own. A definition that says
// 0.8 may have the keys of 0.9: the pages of 0.9 say 0.8 (semantics.md §Detection).
func (p *parser) era(f *dialect.Fields, from, to form, keys ...string) {
	if f == nil || !p.said || p.form >= from && p.form <= to || p.form == form08 && from == form09 {
		return
	}
	for _, key := range keys {
		n := f.Peek(key)
		if n == nil {
			continue
		}
		which := from.String()
		switch to {
		case from:
		case form09:
			which += " and later"
		default:
			which += " to " + to.String()
		}
		p.Warnf(n.KeySpan(), codeOtherForm, "%q belongs to %s, and the definition says %s; it is read all the same", key, which, p.form)
	}
}

// plain reports an expression where none is allowed.
func (p *parser) plain(n *dialect.Node, what, why string) *dialect.Node {
	if n != nil && p.holdsExpression(n.Text) {
		p.Errorf(n, codeConstant, "%s cannot hold an expression: %s", what, why)
	}
	return n
}

// labels reads the labels of instances.
func (p *parser) labels(w *workflow) {
	for _, l := range p.Labels(w.metadata) {
		e := p.template(l.Value)
		for _, v := range e.vars {
			p.Errorf(l.Value, dialect.CodeLabel, "%s: the variable $%s is not there yet; labels have only the workflow input", l.Value.Name(), v.name)
		}
		w.labels = append(w.labels, label{l.Key, e})
	}
}

// label reads a text for people, which may hold expressions over the workflow's input.
func (p *parser) label(n *dialect.Node) *expression {
	if n == nil || !n.Is(expr.KindString) {
		return nil
	}
	return p.template(n)
}
