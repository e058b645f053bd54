// Package uritemplate is the expression language of addresses with {name} in them: the simple
// string expansion of RFC 6570 (§3.2.2), as Open Workflow 1.0 restricts it.
//
// A name is a top-level member of the data, verbatim: {a.b} is the member "a.b". {a,b} gives
// both values with a comma between. What is absent or null gives nothing. An object or a list is
// an error, and variables of the scope ($context, …) do not exist here. Operators ({+a}, {?a})
// and modifiers ({a*}, {a:3}) are refused.
package uritemplate

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Lang is the name of the language.
const Lang = "uritemplate"

// MaxSource is the limit expression-source, in bytes of one template.
const MaxSource = 32 << 10

// Compiler compiles templates.
type Compiler struct{}

var (
	_ expr.Compiler = Compiler{}
	_ expr.Program  = (*Template)(nil)
)

// Compile parses a template.
func (Compiler) Compile(src string) (expr.Program, error) { return Parse(src) }

// Template is a parsed template.
type Template struct{ parts []part }

// part is a piece of text, or the names between braces.
type part struct {
	text  string
	names []string
}

// Expand replaces the {name} of a template by members of the input.
func Expand(template string, input expr.Value) (string, error) {
	t, err := Parse(template)
	if err != nil {
		return "", err
	}
	b := expr.NewBudget()
	r, err := t.Eval(input, &b)
	return r.Value.Str(), err
}

// Parse parses a template. The error is an *[expr.SyntaxError].
func Parse(src string) (*Template, error) {
	if len(src) > MaxSource {
		return nil, &expr.SyntaxError{Msg: fmt.Sprintf("the template is longer than %d bytes (limit expression-source)", MaxSource)}
	}
	t := &Template{}
	for at := 0; at < len(src); {
		brace := strings.IndexAny(src[at:], "{}")
		if brace < 0 {
			t.literal(src[at:])
			break
		}
		t.literal(src[at : at+brace])
		at += brace
		if src[at] == '}' {
			return nil, &expr.SyntaxError{Offset: at, Msg: "this } has no {", Hint: "write %7D for a } of the address"}
		}
		end := strings.IndexAny(src[at+1:], "{}")
		if end < 0 || src[at+1+end] == '{' {
			return nil, &expr.SyntaxError{Offset: at, Msg: "this { has no }", Hint: "write %7B for a { of the address"}
		}
		names, err := parseNames(src[at+1:at+1+end], at+1)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, part{names: names})
		at += end + 2
	}
	return t, nil
}

// literal adds text; what cannot stand in an address is escaped (RFC 6570 §3.1).
func (t *Template) literal(text string) {
	if text != "" {
		t.parts = append(t.parts, part{text: escape(text, true)})
	}
}

// parseNames reads what stands between braces.
func parseNames(text string, at int) ([]string, error) {
	if text != "" && strings.ContainsRune("+#./;?&=,!@|", rune(text[0])) {
		return nil, &expr.SyntaxError{Offset: at, Msg: fmt.Sprintf("the operator %q is not supported", text[:1]), Hint: "only {name} is"}
	}
	names := strings.Split(text, ",")
	for _, name := range names {
		bad := strings.IndexFunc(name, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) || c == '*' || c == ':' })
		switch {
		case name == "":
			return nil, &expr.SyntaxError{Offset: at, Msg: "a name is missing", Hint: "write {name}"}
		case bad >= 0 && (name[bad] == '*' || name[bad] == ':'):
			return nil, &expr.SyntaxError{Offset: at + bad, Msg: fmt.Sprintf("the modifier %q is not supported", name[bad:]), Hint: "only {name} is"}
		case bad >= 0:
			return nil, &expr.SyntaxError{Offset: at + bad, Msg: "a name cannot have blanks", Hint: "only members of the data can stand here, not expressions"}
		}
		at += len(name) + 1
	}
	return names, nil
}

// Names lists the names of the template, in order.
func (t *Template) Names() []string {
	var out []string
	for _, p := range t.parts {
		out = append(out, p.names...)
	}
	return out
}

// FixedHost reports whether scheme, host and port are in the template's own text: data cannot
// choose them.
func (t *Template) FixedHost() bool {
	if len(t.parts) == 0 {
		return true
	}
	_, rest, ok := strings.Cut(t.parts[0].text, "://")
	return ok && strings.ContainsAny(rest, "/?#") || len(t.parts) == 1 && t.parts[0].names == nil
}

// Eval expands the template.
func (t *Template) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	var out strings.Builder
	for _, p := range t.parts {
		if p.names == nil {
			out.WriteString(p.text)
			continue
		}
		first := true
		for _, name := range p.names {
			if err := b.Step(1); err != nil {
				return expr.Result{}, err
			}
			v, _ := data.Get(name)
			if v.IsNull() {
				continue
			}
			if v.IsObject() || v.IsArray() {
				return expr.Result{}, fmt.Errorf("{%s} is %s; only text, numbers and booleans can stand in an address", name, v.Kind().WithArticle())
			}
			if !first {
				out.WriteByte(',')
			}
			first = false
			text := v.Text()
			if err := b.Step(len(text) / 16); err != nil {
				return expr.Result{}, err
			}
			if err := b.Emit(3 * len(text)); err != nil { // at most
				return expr.Result{}, err
			}
			out.WriteString(escape(text, false))
		}
	}
	return expr.Result{Value: expr.String(out.String())}, nil
}

// escape writes what is no unreserved character of an address as %XX. In a literal, reserved
// characters and what is escaped already stay, too.
func escape(text string, literal bool) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			out.WriteByte(c)
		case literal && (strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0 || c == '%' && isEscape(text[i:])):
			out.WriteByte(c)
		default:
			out.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return out.String()
}

// isEscape reports whether text begins with %XX.
func isEscape(text string) bool {
	const hex = "0123456789abcdefABCDEF"
	return len(text) > 2 && strings.IndexByte(hex, text[1]) >= 0 && strings.IndexByte(hex, text[2]) >= 0
}
