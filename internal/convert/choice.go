package convert

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
)

// switchState makes each choice a filter over the one item of the data.
func (sc *scope) switchState(ch *chain) {
	st := ch.st
	ch.filter(st.Filter.Input)
	var conditions []expr.Value
	for _, k := range st.Choices {
		way := obj("transition", obj("nextState", str(sc.target(k.Next))))
		conditions = append(conditions, way.With("condition", text("$[?("+sc.condition(k.When)+")]")))
	}
	otherwise := obj("transition", obj("nextState", str(sc.otherwise(ch))))
	if len(st.Filter.Result) > 0 {
		sc.c.lose(st.Filter.ResultPos, ch.base, "the result path of a SWITCH", "a switch of 0.5 has no place for it", "put an inject state behind it")
	}
	l := ch.add("chooses", obj("type", str("switch"), "dataConditions", expr.Array(conditions...), "default", otherwise))
	l.fixed = true
	if out := st.Filter.Output; out != nil && !out.Root {
		if out.Definite && out.Function == "" {
			l.out = rebase(out.Src, "$[*]")
		} else {
			sc.c.lose(out.Pos, ch.base, "the output path of a SWITCH", "this path gives a list, for which 0.5 needs another state", "put it into the states that follow")
		}
	}
	ch.emit(expr.Value{})
}

// otherwise is where a SWITCH leads when nothing matches (semantics.md §Control flow).
func (sc *scope) otherwise(ch *chain) string {
	switch {
	case ch.st.Default != nil:
		return sc.target(ch.st.Default)
	case !ch.st.End:
		return sc.fail()
	}
	if name := sc.end(); name != "" {
		return name
	}
	name := sc.name(ch.base, "ends")
	sc.emitBeside(name, obj("type", str("inject"), "data", expr.EmptyObject, "end", obj("kind", str("default")),
		"stateDataFilter", obj("dataOutputPath", text("$[0]"))))
	return name
}

// condition writes a condition over @, the data.
func (sc *scope) condition(k *sw01.Condition) string {
	switch k.Op {
	case choice.Not:
		return "!(" + sc.condition(k.Items[0]) + ")"
	case choice.And, choice.Or:
		sign := " && "
		if k.Op == choice.Or {
			sign = " || "
		}
		parts := make([]string, len(k.Items))
		for i, item := range k.Items {
			parts[i] = sc.condition(item)
			if len(item.Items) > 1 && item.Op != choice.Not {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		return strings.Join(parts, sign)
	}
	return sc.comparison(k)
}

var signs = map[string]string{
	choice.Equal: "==", choice.Less: "<", choice.LessOrEqual: "<=", choice.Greater: ">", choice.GreaterOrEqual: ">=",
}

// comparison writes a comparison as package expr/choice makes it. A path that selects
// nothing compares false in both.
func (sc *scope) comparison(k *sw01.Condition) string {
	path := rebase(k.Path.Src, "@")
	if k.Op == choice.Exists {
		is := fmt.Sprintf("(%s || %s in [null, false])", path, path)
		if k.Path.Root {
			is = "true"
		}
		if k.HasValue && choice.IsFalse(k.Value) {
			return "!(" + is + ")"
		}
		return is
	}
	op := strings.TrimPrefix(k.Op, "text-")
	sign := signs[op]
	written := k.Value.Str()
	if k.Value.Kind() != expr.KindString {
		written = k.Value.String()
	}
	if choice.IsText(k.Op) {
		sc.c.assume(k.Pos, fmt.Sprintf("%s is text where %s compares it, not a number or a boolean", k.Path.Src, sign))
		return fmt.Sprintf("%s %s %s", path, sign, quoted(written))
	}
	if n, err := expr.Number(strings.TrimSpace(written)); err == nil {
		sc.c.assume(k.Pos, fmt.Sprintf("%s is a number where it is compared with %s, not text that spells one", k.Path.Src, n))
		return fmt.Sprintf("%s %s %s", path, sign, n)
	}
	if op != choice.Equal {
		return fmt.Sprintf("%s %s %s", path, sign, quoted(written))
	}
	switch written { // by schema the value is text
	case "true", "false", "null":
		if k.Value.Kind() != expr.KindString {
			return path + " == " + written
		}
		return fmt.Sprintf("%s in [%s, %s]", path, written, quoted(written))
	}
	return fmt.Sprintf("%s == %s", path, quoted(written))
}
