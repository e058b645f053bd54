package open

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
)

// choices are the cases of a SWITCH.
func (f *flow01) choices(st *sw01.State) expr.Value {
	var cases []expr.Value
	sc := newScope()
	for _, k := range st.Choices {
		cases = append(cases, obj(sc.name(k.Next.Name), obj("when", str(f.e.holds(k.When, false)), "then", str(f.names[k.Next]))))
	}
	to := f.done
	switch {
	case st.Default != nil:
		to = f.names[st.Default]
	case !st.End:
		fail := f.add(&task{name: f.scope.name(words(st.Name, "matches nothing")), value: failure(sw01.SysFail)})
		to = fail.name
	}
	return expr.Array(append(cases, obj(sc.name("default"), obj("then", str(to))))...)
}

// holds is a condition.
func (e *early) holds(k *sw01.Condition, inside bool) string {
	switch k.Op {
	case choice.Not:
		return "(" + e.holds(k.Items[0], false) + " | not)"
	case choice.And, choice.Or:
		sign := " and "
		if k.Op == choice.Or {
			sign = " or "
		}
		parts := make([]string, len(k.Items))
		for i, item := range k.Items {
			parts[i] = e.holds(item, true)
		}
		out := strings.Join(parts, sign)
		if inside && len(parts) > 1 {
			out = "(" + out + ")"
		}
		return out
	}
	return e.compares(k)
}

var compareSigns = map[string]string{
	choice.Equal: "==", choice.Less: "<", choice.LessOrEqual: "<=", choice.Greater: ">", choice.GreaterOrEqual: ">=",
}

// compares is a comparison as package expr/choice makes it. A path that selects nothing compares false.
func (e *early) compares(k *sw01.Condition) string {
	p := e.path(path01(k.Path), view{})
	if k.Op == choice.Exists {
		is := fmt.Sprintf("any(%s; true)", p.exact)
		if k.HasValue && choice.IsFalse(k.Value) {
			return "(" + is + " | not)"
		}
		return is
	}
	stream := p.exact
	if p.list {
		stream = fmt.Sprintf("[%s] | select(length > 0)", p.exact)
	}
	sign := compareSigns[strings.TrimPrefix(k.Op, "text-")]
	written := k.Value.Str()
	if k.Value.Kind() != expr.KindString {
		written = k.Value.String()
	}
	plain := func(right string) string {
		if p.plain == "" || p.list || e.exact {
			return ""
		}
		e.assumeObject()
		return p.plain + " " + sign + " " + right
	}
	n, err := expr.Number(strings.TrimSpace(written))
	switch {
	case choice.IsText(k.Op):
		e.assume(k.Pos, fmt.Sprintf("%s is text where %s compares it, not a number or a boolean", k.Path.Src, sign))
		if out := plain(text(written)); out != "" {
			return out
		}
		return fmt.Sprintf("any(%s; type == \"string\" and . %s %s)", stream, sign, text(written))
	case err == nil:
		e.assume(k.Pos, fmt.Sprintf("%s is a number where it is compared with %s, not text that spells one", k.Path.Src, n))
		if out := plain(n.String()); out != "" {
			return out
		}
		return fmt.Sprintf("any(%s; type == \"number\" and . %s %s)", stream, sign, n)
	case sign != "==":
		if out := plain(text(written)); out != "" {
			e.assume(k.Pos, fmt.Sprintf("%s is text where %s compares it", k.Path.Src, sign))
			return out
		}
		return fmt.Sprintf("any(%s; type == \"string\" and . %s %s)", stream, sign, text(written))
	case written == "true" || written == "false" || written == "null":
		if k.Value.Kind() != expr.KindString {
			return fmt.Sprintf("any(%s; . == %s)", stream, written)
		}
		return fmt.Sprintf("any(%s; IN(%s, %s))", stream, written, text(written))
	}
	if out := plain(text(written)); out != "" {
		return out
	}
	return fmt.Sprintf("any(%s; . == %s)", stream, text(written))
}
