package open

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// choice is a condition of 0.1 as released or 0.2: comparisons as package expr/choice makes them.
func (w *writer) choice(pos dialect.Pos, c choice.Condition, in view, inside bool) string {
	switch c.Op {
	case choice.Not:
		return "(" + w.choice(pos, c.Items[0], in, false) + " | not)"
	case choice.And, choice.Or:
		parts := make([]string, len(c.Items))
		for i, item := range c.Items {
			parts[i] = w.choice(pos, item, in, true)
		}
		out := strings.Join(parts, " "+c.Op+" ")
		if inside && len(parts) > 1 {
			out = "(" + out + ")"
		}
		return out
	}
	shape, _ := jsonpath.Describe(c.Path) // it was checked
	p := &states.Path{Pos: pos, Lang: jsonpath.Lang, Src: c.Path, Shape: shape}
	switch c.Op {
	case choice.Holds:
		return "(" + w.condition(p, in) + ")"
	case choice.Matches:
		return w.matching05(p, c, in)
	}
	t := w.path(p, in)
	if c.Op == choice.Exists {
		is := fmt.Sprintf("any(%s; true)", t.exact)
		if choice.IsFalse(c.Value) {
			return "(" + is + " | not)"
		}
		return is
	}
	if t.list && !c.Some {
		return "false" // a list has no order, and equals nothing
	}
	return w.comparison(p, t, c)
}

// spelled gives the number that a value is, or spells.
const spelled = `(numbers, (strings | select(test("^\\s*-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?\\s*$")) | tonumber))`

// comparison compares what a path selects with a constant. What it does not select compares false.
func (w *writer) comparison(p *states.Path, t translated, c choice.Condition) string {
	sign, written := compareSigns[c.Op], c.Value.Text()
	plain := t.plain != "" && !t.list && !w.exact
	if n, err := expr.Number(strings.TrimSpace(written)); err == nil && c.Value.Kind() != expr.KindBool {
		if plain {
			w.assume(p.Pos, fmt.Sprintf("%s is a number where it is compared with %s", p.Src, n))
			w.assumeObject()
			return t.plain + " " + sign + " " + n.String()
		}
		return fmt.Sprintf("any(%s | %s; . %s %s)", t.exact, spelled, sign, n)
	}
	switch {
	case c.Value.Kind() == expr.KindBool:
		if c.Op != choice.Equal {
			return "false"
		}
		return fmt.Sprintf("any(%s; . == %s)", t.exact, written)
	case c.Op == choice.Equal && (c.Value.IsNull() || written == "null"):
		return fmt.Sprintf(`any(%s; IN(null, "null"))`, t.exact)
	case c.Op == choice.Equal && (written == "true" || written == "false"):
		return fmt.Sprintf("any(%s; IN(%s, %s))", t.exact, written, text(written))
	case plain:
		if w.assumeObject(); c.Op != choice.Equal {
			w.assume(p.Pos, fmt.Sprintf("%s is text where it is compared with %s", p.Src, quote(written)))
		}
		return t.plain + " " + sign + " " + text(written)
	}
	return fmt.Sprintf("any(%s | strings; . %s %s)", t.exact, sign, text(written))
}

// sameEverywhere is a regular expression that all notations read in the same way.
var sameEverywhere = regexp.MustCompile(`^[\w @:/,-]*([.][*+])?[\w @:/,-]*$`)

// matching05 compares what a path selects with a regular expression, which is for the whole text.
func (w *writer) matching05(p *states.Path, c choice.Condition, in view) string {
	pattern := c.Value.Text()
	if !sameEverywhere.MatchString(pattern) {
		w.lose(p.Pos, "the regular expression "+pattern, "regular expressions of jq are others; here nothing matches", "write it with test()")
		return "false"
	}
	w.assume(p.Pos, p.Src+" has no line breaks where it is matched")
	return fmt.Sprintf("any(%s | (strings, ((numbers, booleans) | tostring)); test(%s))", w.path(p, in).exact, text("^(?:"+pattern+")$"))
}
