package sw08

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// target reads toStateData and outputCollection: a path of names, since what is missing there is created.
func (p *parser) target(n *dialect.Node) *target {
	if n == nil || !p.Is(n, expr.KindString, n.Name()) || p.NonEmpty(n, n.Name()) == nil {
		return nil
	}
	text := strings.TrimSpace(n.Text)
	if p.holdsExpression(n.Text) {
		one, ok := p.single(n.Text)
		if !ok {
			p.notOne(n)
			return nil
		}
		text = one.text
	}
	path, ok := namePath(text)
	if p.w.language == langJSONPath {
		shape, err := jsonpath.Describe(text)
		path, ok = shape.Keys, err == nil && shape.Keys != nil
	}
	if !ok {
		like := "${ .order.items }"
		if p.w.language == langJSONPath {
			like = "{{ $.order.items }}"
		}
		p.Errorf(n, codeTarget, "%s must be a path of names, as in %s", n.Name(), like)
		return nil
	}
	return &target{path}
}

// nameStep is one step of a path of names in jq: .name, ."a name" or ["a name"].
var nameStep = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z_0-9]*)|\.?\[\s*("(?:[^"\\]|\\.)*")\s*\]|\.("(?:[^"\\]|\\.)*"))`)

// namePath returns the names of a path in jq.
func namePath(text string) ([]string, bool) {
	if text == "." {
		return nil, true
	}
	if !strings.HasPrefix(text, ".") {
		return nil, false
	}
	var out []string
	for text != "" {
		m := nameStep.FindStringSubmatch(text)
		if m == nil {
			return nil, false
		}
		name := m[1]
		if quoted := m[2] + m[3]; quoted != "" {
			v, err := expr.ParseJSON([]byte(quoted))
			if err != nil { // also \( … )
				return nil, false
			}
			name = v.Str()
		}
		out = append(out, name)
		text = text[len(m[0]):]
	}
	return out, true
}

// duration reads an ISO 8601 duration, or an expression that gives one.
func (p *parser) duration(n *dialect.Node) *duration {
	if n == nil {
		return nil
	}
	if n.Kind != expr.KindString {
		p.Expected(n, n.Name(), "an ISO 8601 duration").WithHint(`as in "PT15M" for 15 minutes`)
		return nil
	}
	if p.holdsExpression(n.Text) {
		return &duration{node: n, expr: p.template(n)}
	}
	if bare, ok := p.bareExpression(n); ok {
		return &duration{node: n, expr: bare}
	}
	value, err := calendar.ParseDuration(n.Text)
	if err != nil {
		p.Malformed(n, 0, codeDuration, n.Name(), err)
		return nil
	}
	return &duration{node: n, value: value}
}

// bareExpression reads a text that cannot be a duration, and is an expression but for its braces, as an
// example of 0.9 has it.
func (p *parser) bareExpression(n *dialect.Node) (*expression, bool) {
	t := &templating{parser: p, e: &expression{node: n, lang: jq.TextLang, pos: n.IRPos()}, bare: p.w.language == langJQ}
	s, ok := t.without(n)
	if !ok {
		return nil, false
	}
	t.e.value = expr.String(t.piece(n, s))
	t.e.src, t.e.parts = t.e.value.String(), []ir.Pos{n.IRPos()}
	return t.e, true
}

// timeout is a duration that is not zero.
func (p *parser) timeout(n *dialect.Node) *duration {
	d := p.duration(n)
	if d != nil && d.expr == nil && d.value == (calendar.Duration{}) {
		p.Errorf(n, codeDuration, "%s must be positive", n.Name()).WithHint("without it there is no limit")
		return nil
	}
	return d
}

// quantity reads a whole number not below least: as a number, as text, or as an expression that gives one.
func (p *parser) quantity(n *dialect.Node, least int64) *quantity {
	if n == nil {
		return nil
	}
	if n.Is(expr.KindString) && p.holdsExpression(n.Text) {
		if _, ok := p.single(n.Text); !ok {
			p.notOne(n)
			return nil
		}
		return &quantity{node: n, expr: p.template(n)}
	}
	value, wrong := p.Whole(n, n.Name(), least, math.MaxInt64)
	if wrong != nil {
		return nil
	}
	return &quantity{node: n, value: value}
}

// flag reads a boolean that SonataFlow's users also write as text.
func (p *parser) flag(f *dialect.Fields, key string, otherwise bool) (bool, *dialect.Node) {
	n := f.Peek(key)
	if n.Is(expr.KindString) && (n.Text == "true" || n.Text == "false") {
		f.Allow(key)
		p.Warnf(n, codeQuoteIt, "%s must be a boolean; this text is read as %s", key, n.Text).WithHint("remove the quotes")
		return n.Text == "true", n
	}
	return f.Flag(key, otherwise)
}

// share reads a number from 0 to 1 as thousandths.
func (p *parser) share(n *dialect.Node) int64 {
	value, err := strconv.ParseFloat(strings.TrimSpace(n.Text), 64)
	if err != nil || !(value >= 0 && value <= 1) {
		p.Errorf(n, codeNumber, "jitter is a share of the delay from 0.0 to 1.0, not %s", n.Quoted()).
			WithHint(`an absolute bound is a duration, as in "PT1S"`)
		return 0
	}
	return int64(math.Round(value * 1000))
}
