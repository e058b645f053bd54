package sw08

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/jqvar"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// source is one expression in a text: what it is in its language, and where it begins in the text.
type source struct {
	text  string
	begin int
}

// single returns the expression of a text that is one, in ${ } or, with jsonpath, in {{ }}, blanks aside.
func (p *parser) single(text string) (source, bool) {
	pieces, err := p.pieces(text)
	if err != nil || len(pieces) != 1 || !pieces[0].alone {
		return source{}, false
	}
	return pieces[0].source, true
}

// holdsExpression reports whether a text holds an expression in ${ } or, with jsonpath, in {{ }}.
func (p *parser) holdsExpression(text string) bool {
	return strings.Contains(text, "${") || p.w.language == langJSONPath && jsonpath.HasExpression(text)
}

// query reads a parameter that is always an expression, with or without braces.
func (p *parser) query(n *dialect.Node) *expression { return p.always(n, jq.SelectLang) }

// condition reads an expression that must give true or false.
func (p *parser) condition(n *dialect.Node) *expression { return p.always(n, jq.StrictLang) }

func (p *parser) always(n *dialect.Node, lang string) *expression {
	if n == nil || !p.Is(n, expr.KindString, n.Name()) || p.NonEmpty(n, n.Name()) == nil {
		return nil
	}
	if p.holdsExpression(n.Text) {
		if one, ok := p.single(n.Text); ok {
			return p.compiled(n, lang, one)
		}
		return p.notOne(n)
	}
	text := strings.TrimSpace(n.Text)
	return p.compiled(n, lang, source{text, strings.Index(n.Text, text)})
}

// notOne reports a text with expressions where one expression must stand.
func (p *parser) notOne(n *dialect.Node) *expression {
	if _, err := p.pieces(n.Text); err != nil {
		p.Malformed(n, 0, codeExpression, "expression", err)
		return nil
	}
	p.Errorf(n, codeExpression, "%s must be one expression, without text around it", n.Name()).
		WithHint("make all of it one expression in ${ }")
	return nil
}

// compiled reads an expression that stands by itself.
func (p *parser) compiled(n *dialect.Node, lang string, s source) *expression {
	at := n.ColumnIn(s.begin)
	e := &expression{node: n, lang: lang, pos: ir.Pos{Line: at.Line, Column: at.Column}}
	if p.w.language == langJSONPath {
		e.lang = jsonpath.Lang
	}
	if name, ok := functionName(s.text); ok {
		fn := p.expressionFunction(n, s, name)
		if fn == nil {
			return nil
		}
		p.src.Budget.Build(1 + len(fn.body.src)/16 + len(fn.body.vars)) // each use is a copy
		e.src, e.vars = fn.body.src, fn.body.vars
		return e
	}
	found, ok := p.inspect(n, s)
	if !ok {
		return nil
	}
	e.src, e.vars = found.src, found.vars
	return e
}

// functionName returns NAME of fn:NAME.
func functionName(src string) (string, bool) {
	name, ok := strings.CutPrefix(strings.TrimSpace(src), "fn:")
	name = strings.TrimSpace(name)
	return name, ok && name != "" && !strings.ContainsAny(name, " \t\r\n|()")
}

// expressionFunction finds the function that fn:NAME means (0.8 §Using Functions for Expression Evaluation).
func (p *parser) expressionFunction(n *dialect.Node, s source, name string) *function {
	at := n.SpanIn(s.begin, s.begin+len(s.text))
	f := p.named[name]
	if f == nil {
		d := p.Errorf(at, codeNoFunction, "no function is named %q", name)
		var names []string
		for _, other := range p.w.functions {
			names = append(names, other.name.Text)
		}
		p.DidYouMean(d, name, names)
		return nil
	}
	f.used = true
	if f.typ != typeExpression {
		p.Errorf(at, codeNoFunction, "function %q is of type %s; fn: takes one of type expression", name, f.typ)
		return nil
	}
	p.expressionBody(f)
	if f.body == nil || !p.inScope(f, at) {
		return nil // reported there
	}
	return f
}

// inspected is what is known of the source of an expression.
type inspected struct {
	src  string // as the program has it
	vars []use
	err  error
}

// use is a variable of an expression with its place.
type use struct {
	variable
	written string // without $
	offset  int
}

// read is an expression that compiles.
type read struct {
	src  string
	vars []variable
}

// inspect checks that an expression compiles and that its variables are there.
func (p *parser) inspect(n *dialect.Node, s source) (read, bool) {
	if p.w.language == langJSONPath {
		return p.inspectPath(n, s)
	}
	known, ok := p.inspected[s.text]
	if !ok {
		p.Budget.Spend(len(s.text))
		known = inspectJQ(s.text)
		p.inspected[s.text] = known
	}
	if known.err != nil {
		p.Malformed(n, s.begin, codeExpression, "expression", known.err)
		return read{}, false
	}
	out, fine := read{src: known.src}, true
	for _, u := range known.vars {
		fine = p.variable(n, s, u) && fine
		if u.written == varSecrets && !p.declares(u.member) {
			u.member = "" // null, not missing
		}
		out.vars = append(out.vars, u.variable)
	}
	return out, fine
}

// The variables of the runtime. SECRET is SonataFlow's, which need not be declared.
const (
	varConst    = "CONST"
	varSecrets  = "SECRETS"
	varSecret   = "SECRET"
	varWorkflow = "WORKFLOW"
)

// inspectJQ finds the variables of an expression, and renames those with secrets to what programs call them.
func inspectJQ(src string) inspected {
	found, err := jqvar.Find(src)
	if err != nil {
		return inspected{err: err}
	}
	out := inspected{src: src}
	var secret []use
	for _, v := range found {
		u := use{variable{v.Name, v.Member}, v.Name, v.Offset}
		if v.Name == varSecret || v.Name == varSecrets {
			u.name = varSecrets
			if len(secret) == 0 || secret[len(secret)-1].offset != u.offset {
				secret = append(secret, u)
			}
		}
		out.vars = append(out.vars, u)
	}
	for _, u := range slices.Backward(secret) {
		out.src = out.src[:u.offset] + "$secrets" + out.src[u.offset+1+len(u.written):]
	}
	return out
}

// variable reports a variable that is not there.
func (p *parser) variable(n *dialect.Node, s source, u use) bool {
	at := n.SpanIn(s.begin+u.offset, s.begin+u.offset+1+len(u.written))
	switch u.written {
	case varWorkflow, varSecret:
	case varConst:
		if p.w.constantsNode == nil {
			p.Warnf(at, codeVariable, "the definition has no constants: $CONST is empty")
		}
	case varSecrets:
		if u.member != "" && !p.declares(u.member) {
			d := p.Warnf(at, codeSecret, "secret %q is not declared: it is null", u.member)
			if p.DidYouMean(d, u.member, texts(p.w.secrets)) == "" {
				d.WithHint("add it to secrets")
			}
		}
	default:
		if slices.Contains(p.params, u.written) && !reserved(u.written) {
			return true
		}
		there := append([]string{varConst, varSecrets, varWorkflow}, p.params...)
		d := p.Errorf(at, codeVariable, "there is no variable $%s here", u.written)
		if near := p.Near(u.written, there); near != "" {
			d.WithHint("did you mean $%s?", near)
		} else {
			d.WithHint("there are $%s", strings.Join(there, ", $"))
		}
		return false
	}
	return true
}

// reserved reports whether a name is that of a variable of programs: an item of that name is a member of the data, and no
// variable.
func reserved(name string) bool {
	switch name {
	case varConst, varSecrets, varSecret, varWorkflow, "secrets", "runtime", "context", "workflow", "now", "authorization":
		return true
	}
	return strings.HasPrefix(name, "lockstep")
}

// declares reports whether the definition lists a secret.
func (p *parser) declares(secret string) bool {
	for ; p.secretsSeen < len(p.w.secrets); p.secretsSeen++ {
		p.secretNames[p.w.secrets[p.secretsSeen].Text] = true
	}
	return p.secretNames[secret]
}

func texts(list []*dialect.Node) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n.Text
	}
	return out
}

func (p *parser) inspectPath(n *dialect.Node, s source) (read, bool) {
	p.Budget.Spend(len(s.text))
	shape, err := jsonpath.Describe(s.text)
	if err != nil {
		p.Malformed(n, s.begin, codeExpression, "expression", err)
		return read{}, false
	}
	p.Budget.Weigh(n, shape.Weight)
	return read{src: s.text}, true
}

// template reads a value whose texts may hold expressions.
func (p *parser) template(n *dialect.Node) *expression { return p.filled(n, false) }

// argument is a template in which SonataFlow's style knows expressions without braces.
func (p *parser) argument(n *dialect.Node) *expression { return p.filled(n, p.w.sonata) }

func (p *parser) filled(n *dialect.Node, bare bool) *expression {
	if n == nil {
		return nil
	}
	value := n.Value()
	e := &expression{node: n, lang: jq.TextLang, pos: n.IRPos()}
	if p.w.language == langJSONPath {
		e.lang = jsonpath.TemplateLang
	}
	t := &templating{parser: p, e: e, bare: bare}
	e.value = t.value(n, value)
	e.src = e.value.String()
	p.Budget.Spend(len(e.src))
	return e
}

// templating reads the texts of a template in the order in which it is filled: keys are sorted.
type templating struct {
	*parser
	e    *expression
	bare bool
}

// value returns the value as the program has it.
func (t *templating) value(n *dialect.Node, v expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindArray:
		items := make([]expr.Value, 0, len(n.Items))
		for i, item := range v.Items() {
			items = append(items, t.value(n.Items[i], item))
		}
		return expr.Array(items...)
	case expr.KindObject:
		var members []expr.Member
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: m.Key, Value: t.value(n.Get(m.Key), m.Value)})
		}
		return expr.Object(members...)
	case expr.KindString:
		return expr.String(t.text(n))
	}
	return v
}

// text returns a text as the program has it: with the sources of functions in the place of fn:NAME, and the
// program's names of variables.
func (t *templating) text(n *dialect.Node) string {
	pieces, err := t.pieces(n.Text)
	if err != nil {
		t.Malformed(n, 0, codeExpression, "expression", err)
		return n.Text
	}
	if len(pieces) == 0 {
		if s, ok := t.without(n); ok {
			t.e.parts = append(t.e.parts, n.IRPos())
			return t.piece(n, s)
		}
		return n.Text
	}
	t.e.parts = append(t.e.parts, n.IRPos())
	var b strings.Builder
	at := 0
	for _, one := range pieces {
		b.WriteString(n.Text[at:one.from])
		b.WriteString(t.piece(n, one.source))
		at = one.to
	}
	return b.String() + n.Text[at:]
}

// piece is one expression of a text in braces.
func (t *templating) piece(n *dialect.Node, s source) string {
	src := s.text
	if e := t.compiled(n, jq.SelectLang, s); e != nil {
		src = e.src
		t.e.vars = append(t.e.vars, e.vars...)
	}
	if t.w.language == langJSONPath {
		return fmt.Sprintf("{{ %s }}", src)
	}
	return fmt.Sprintf("${ %s }", ended(src))
}

// ended is a source that something can follow: a comment ends with its line.
func ended(src string) string {
	if strings.Contains(src, "#") {
		return src + "\n"
	}
	return src
}

// without returns a text that is an expression without braces in SonataFlow's style.
func (t *templating) without(n *dialect.Node) (source, bool) {
	if !t.bare || !looksBare(n.Text) {
		return source{}, false
	}
	text := strings.TrimSpace(n.Text)
	if inspectJQ(text).err != nil {
		return source{}, false
	}
	if t.parser.bare == nil {
		t.parser.bare = n
	}
	return source{text, strings.Index(n.Text, text)}, true
}

// content reads the data of an event, or of the workflow that continueAs starts: a text that is one expression gives
// the value itself, everything else is a template.
func (p *parser) content(n *dialect.Node) *expression {
	if n == nil || n.Kind != expr.KindString {
		return p.argument(n)
	}
	if s, ok := p.single(n.Text); ok {
		return p.compiled(n, jq.SelectLang, s)
	}
	t := &templating{parser: p, bare: p.w.sonata}
	if s, ok := t.without(n); ok {
		return p.compiled(n, jq.SelectLang, s)
	}
	return p.argument(n)
}
