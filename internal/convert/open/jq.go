package open

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	jqlang "github.com/lockstep-workflows/lockstep/internal/expr/jq"
)

// Definitions whose expressions are jq already. There several results are a list and none is null; in 1.0 several are
// an error. A filter that gives nothing, or null, leaves the data as it is.

// source is an expression with what it asks for: 1.0 has neither constants nor $WORKFLOW.
func (w *writer) source(src string) string {
	src = strings.TrimSpace(src)
	for _, m := range secretName.FindAllStringSubmatch(src, -1) {
		if !slices.Contains(w.secrets, m[1]) {
			w.secrets = append(w.secrets, m[1])
			w.lose(dialect.Pos{Line: 1, Column: 1}, "the secret "+m[1]+", which is not declared", "an expression of 1.0 that asks for a secret which is not there fails", "provide it, or leave it out")
		}
	}
	if strings.Contains(src, "$CONST") {
		constants := w.o.Constants
		if constants.IsNull() {
			constants = expr.EmptyObject
		}
		src = fmt.Sprintf("%s as $CONST | %s", constants, src)
	}
	if strings.Contains(src, "$WORKFLOW") {
		src = fmt.Sprintf("{instanceId: $workflow.id, id: %s, name: %s, version: %s} as $WORKFLOW | %s", text(w.o.ID), text(w.o.Name), text(w.o.Version), src)
	}
	return src
}

var (
	simplePath = regexp.MustCompile(`^\$?\.?[A-Za-z_]?\w*(\.[A-Za-z_]\w*|\."[^"]*"|\[-?\d+\]|\["[^"]*"\])*$`)
	secretName = regexp.MustCompile(`\$secrets\.([A-Za-z_]\w*)`)
	compared   = regexp.MustCompile(`^[^|,]*[^|,<>=!]\s*(==|!=|<=|>=|<|>)\s*[^|,<>=]+$`)
	severals   = regexp.MustCompile(`\[\]|\.\.|\?|\b(select|empty|range|recurse|first|last|limit|until|while|repeat|paths|splits|match|scan|values|error)\b`)
	spread     = regexp.MustCompile(`\[\]|,|\.\.|\?|\b(select|empty|range|recurse|first|last|limit|until|while|repeat|inside|paths|splits|match|scan|values|error)\b`)
)

// built reports whether an expression makes an object or a list, so that it gives one value that is not null.
func built(src string) bool {
	if severals.MatchString(src) {
		return false
	}
	return (strings.HasPrefix(src, "{") && strings.HasSuffix(src, "}") || strings.HasPrefix(src, "[") && strings.HasSuffix(src, "]")) && balanced(src)
}

// balanced reports whether the first bracket is closed by the last one.
func balanced(src string) bool {
	depth, quoted := 0, false
	for i := range len(src) {
		switch c := src[i]; {
		case c == '\\':
		case c == '"' && (i == 0 || src[i-1] != '\\'):
			quoted = !quoted
		case quoted:
		case strings.IndexByte("{[(", c) >= 0:
			depth++
		case strings.IndexByte("}])", c) >= 0:
			if depth--; depth == 0 && i < len(src)-1 {
				return false
			}
		}
	}
	return true
}

// one reports whether an expression gives exactly one value.
func one(src string) bool {
	return built(src) || simplePath.MatchString(src) || !spread.MatchString(src)
}

// oneOf is an expression that gives one value, null for none and a list for several.
func (w *writer) oneOf(pos dialect.Pos, src string) string {
	if one(src) {
		return src
	}
	if !w.exact {
		w.assume(pos, fmt.Sprintf("%s gives one value", src))
		return src
	}
	return fmt.Sprintf("[%s] | if length > 1 then . else .[0] end", src)
}

// jqFilter is an expression as a filter of a state.
func (w *writer) jqFilter(p *states.Path, in view) string {
	src := w.source(p.Src)
	if src == "." {
		return ""
	}
	if built(src) || !w.exact {
		if !built(src) {
			w.assume(p.Pos, fmt.Sprintf("%s gives one value, and not null", p.Src))
		}
		return in.jq(src)
	}
	return fmt.Sprintf("%s as $all | [$all | %s] | if . == [] or . == [null] then $all elif length == 1 then .[0] else . end", in.jq("."), src)
}

// jqCondition is an expression as a condition.
func (w *writer) jqCondition(p *states.Path, in view) string {
	src := w.source(p.Src)
	if one(src) && compared.MatchString(src) {
		return in.jq(src)
	}
	if !w.exact {
		w.assume(p.Pos, fmt.Sprintf("%s gives true, false or null", p.Src))
		return in.jq(src)
	}
	return in.jq(fmt.Sprintf(`[%s] | if . == [] or . == [null] then false elif length == 1 and (.[0] | type) == "boolean" then .[0] else error("a condition must be true or false") end`, src))
}

// jqText is a text of a template.
func (w *writer) jqText(t *states.Template, s string, in view) (src string, constant bool) {
	parts, err := jqlang.Parts(s)
	if err != nil {
		return s, true // it was checked
	}
	expressions := 0
	alone := ""
	for _, p := range parts {
		if p.Expr {
			expressions++
			alone = p.Src
		}
	}
	switch {
	case expressions == 0:
		return s, true
	case expressions == 1 && onlyBlanks(parts):
		return in.jq(w.oneOf(t.Pos, w.source(alone))), false
	}
	var b strings.Builder
	for _, p := range parts {
		if !p.Expr {
			b.WriteString(inner(p.Src))
			continue
		}
		src := in.jq(w.source(p.Src))
		if w.exact {
			fmt.Fprintf(&b, `\([%s] | if . == [] or . == [null] then "" elif length == 1 then .[0] else . end)`, src)
			continue
		}
		w.assume(t.Pos, strings.TrimSpace(p.Src)+" gives one value, and not null")
		fmt.Fprintf(&b, `\(%s)`, src)
	}
	return `"` + b.String() + `"`, false
}

func onlyBlanks(parts []jqlang.Part) bool {
	for _, p := range parts {
		if !p.Expr && strings.TrimSpace(p.Src) != "" {
			return false
		}
	}
	return true
}

// jq is an expression on what the view looks at.
func (v view) jq(src string) string {
	over := v.scope
	if over == "" {
		over = v.over
	}
	return view{over: over}.apply(src)
}

// placed is where results go: under names, or at the top.
type placed struct {
	to   []string
	wrap string // the name of what is no object
	drop bool
}

// put is what is merged of `.`: exact gives the values, plain is one object.
func (w *writer) put(p *states.Path, to placed, in view) (exact, plain string) {
	src := "."
	if p != nil {
		src = w.source(p.Src)
	}
	if p != nil && p.Lang != jqlang.Lang {
		t := w.path(p, view{})
		src = t.exact
		if t.list {
			src = "[" + src + "]"
		}
	}
	exact = fmt.Sprintf("[%s] | select(. != [] and . != [null]) | if length == 1 then .[0] else . end", src)
	if src == "." {
		exact = "values"
	} else if built(src) {
		exact = src
	}
	plain = src
	switch {
	case len(to.to) > 0:
		wrapped := "."
		for i := len(to.to) - 1; i >= 0; i-- {
			wrapped = fmt.Sprintf("{%s: %s}", key(to.to[i]), wrapped)
		}
		exact += " | " + wrapped
		plain = strings.Replace(wrapped, ": .}", ": "+operandIn(src)+"}", 1)
	case to.wrap != "":
		exact += fmt.Sprintf(" | if type == \"object\" then . else {%s: .} end", key(to.wrap))
	}
	return in.apply(exact), in.apply(plain)
}

// operandIn is an expression as a value of an object.
func operandIn(src string) string {
	if simplePath.MatchString(src) || built(src) {
		return src
	}
	return "(" + src + ")"
}
