package sw05

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// How the forms before 0.5 write what 0.5 has, too. Every spelling of one form is taken in the other.

// word reads one of a few words: in upper case in 0.1, in lower case in 0.2, and either is taken in both.
func (p *parser) word(f *dialect.Fields, key string, among ...string) (word string, at *dialect.Node) {
	if !p.form.before05() {
		return f.Choice(key, among...)
	}
	word, at = f.Choice(key, p.spellings(among)...)
	return strings.ToLower(word), at
}

// spellings are words as the form writes them, then as the other one does.
func (p *parser) spellings(words []string) []string {
	var own, other []string
	for _, w := range words {
		upper := strings.ToUpper(w)
		if p.form.spell(w) == upper {
			own, other = append(own, upper), append(other, w)
		} else {
			own, other = append(own, w), append(other, upper)
		}
	}
	return append(own, other...)
}

// either knows two spellings of a key, and returns the one that is there: the first where neither is.
func (p *parser) either(f *dialect.Fields, first, second string) string {
	f.Allow(first, second)
	a, b := f.Peek(first), f.Peek(second)
	switch {
	case b == nil:
		return first
	case a != nil:
		f.Both(a, b)
	}
	return second
}

// own is the spelling of a key in the form, where it has one of its own.
func (p *parser) own(f *dialect.Fields, first, later string) string {
	if p.form == april {
		return p.either(f, first, later)
	}
	return p.either(f, later, first)
}

// relay is the name of 0.1 for inject states.
const relay = "relay"

func (p *parser) stateTypeBefore05(n *dialect.Node) string {
	names := p.spellings(append(slices.Clone(stateTypes), relay))
	typ := n.Text
	if !slices.Contains(names, typ) {
		typ = p.DidYouMean(p.Errorf(n, codeStateType, "unknown state type %q", n.Text), n.Text, names)
	}
	if typ = strings.ToLower(typ); typ == relay {
		return typeInject
	}
	return typ
}

// onEventsList returns what an event state does when events arrive: eventsActions, and onEvents in later drafts of 0.2.
func (p *parser) onEventsList(f *dialect.Fields) []*dialect.Node {
	if !p.form.before05() {
		return f.NeedList("onEvents")
	}
	return f.NeedList(p.either(f, "eventsActions", "onEvents"))
}

// resourceOf reads what a function is (0.1 and 0.2 §Function Definition). A resource that is an address is called
// as an operation of 0.5 is. Any other names something that only the operator knows: the catalogue has it under the
// function's name.
func (p *parser) resourceOf(fn *function, f *dialect.Fields) {
	resource := p.plain(f.Name("resource"), "resource", "it is resolved before any instance runs")
	fn.typ = f.Str("type")
	if resource != nil && isAddress(resource.Text) {
		fn.operation = resource
	}
}

// isAddress reports whether a resource says by itself how it is reached.
func isAddress(resource string) bool {
	for _, scheme := range []string{"http://", "https://", "job:", "file:"} {
		if strings.HasPrefix(strings.ToLower(resource), scheme) {
			return true
		}
	}
	return strings.Contains(resource, "#")
}

// correlationToken reads the context attribute that ties events to one another (0.1 §Event Definition).
func (p *parser) correlationToken(f *dialect.Fields, e *event) {
	if token := f.OptionalName("correlationToken"); token != nil {
		e.correlation = append(e.correlation, correlation{attribute: token})
	}
}

// produceKey is how the form calls the events of an end.
func (p *parser) produceKey() string {
	if p.form.before05() {
		return "produceEvent"
	}
	return "produceEvents"
}

// produceEvent reads the one event that a transition or an end of these forms produces.
func (p *parser) produceEvent(f *dialect.Fields) []*dialect.Node {
	n := f.Get("produceEvent")
	if n == nil || !p.Is(n, expr.KindObject, "produceEvent") {
		return nil
	}
	return []*dialect.Node{n}
}

// producedName reads the name of an event that is produced: nameRef in 0.1, eventRef later.
func (p *parser) producedName(f *dialect.Fields, ref string) *dialect.Node {
	if p.form.before05() && ref == "eventRef" {
		ref = p.own(f, "nameRef", ref)
	}
	return f.Name(ref)
}

func (p *parser) scheduleKeys() string {
	if p.form == april {
		return "interval"
	}
	return "interval or cron"
}

// guard reads the expression that restricts a transition.
func (p *parser) guard(f *dialect.Fields, t *transition) {
	n := f.Get("expression")
	if p.form.before05() {
		t.test = p.test(n, false)
		return
	}
	t.expression = p.path(n)
}

// templateBefore05 reads a value in which a string that is a path stands for what it selects (0.1 and 0.2
// §FunctionRef Definition). In 0.2 text may also hold paths in double braces.
func (p *parser) templateBefore05(n *dialect.Node) *template {
	return &template{node: n, value: p.rewritten(n, true)}
}

// static reads the data of an inject state, which is what it says; in 0.2 with paths in double braces.
func (p *parser) static(n *dialect.Node) *template {
	if n == nil {
		return nil
	}
	return &template{node: n, value: p.rewritten(n, false)}
}

// rewritten writes a value as a template of 0.5.
func (p *parser) rewritten(n *dialect.Node, paths bool) expr.Value {
	p.Budget.Spend(1 + len(n.Text))
	switch n.Kind {
	case expr.KindArray:
		items := make([]expr.Value, len(n.Items))
		for i, item := range n.Items {
			items[i] = p.rewritten(item, paths)
		}
		return expr.Array(items...)
	case expr.KindObject:
		members := make([]expr.Member, len(n.Members))
		for i, m := range n.Members {
			members[i] = expr.Member{Key: m.Name(), Value: p.rewritten(m, paths)}
		}
		return expr.Object(members...)
	case expr.KindString:
		return expr.String(p.rewrittenText(n, paths))
	}
	return n.Value()
}

func (p *parser) rewrittenText(n *dialect.Node, paths bool) string {
	text := n.Text
	switch trimmed := strings.TrimSpace(text); {
	case paths && isBarePath(trimmed):
		shape, err := jsonpath.Describe(trimmed)
		if err != nil {
			p.Malformed(n, 0, codeExpression, "expression", err)
			return ""
		}
		p.Budget.Weigh(n, shape.Weight)
		p.literals(n)
		return "{{ " + trimmed + " }}"
	case !p.form.braces():
		return jsonpath.Escape(text)
	}
	weight, err := jsonpath.WeighTemplateString(text)
	if err != nil {
		p.Malformed(n, 0, codeExpression, "expression", err)
		return ""
	}
	p.Budget.Weigh(n, weight)
	return text
}

// isBarePath tells a path from text that costs $5.
func isBarePath(s string) bool {
	return s == "$" || strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$[")
}
