package sim

import (
	"math/big"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// choose is the switch state: the first choice that holds, else the default.
func (s scope) choose(st, data expr.Value) (expr.Value, error) {
	w := s.in.w
	for _, c := range get(st, "choices").Items() {
		if w.holds(c, data) {
			w.saw("a choice")
			return s.state(word(c, "next-state").Str()), nil
		}
	}
	switch to := get(st, "default").Str(); {
	case to != "":
		w.saw("the default of a switch")
		return s.state(to), nil
	case get(st, "end").Bool():
		w.saw("the end of a switch")
		return expr.Null, nil
	}
	w.saw("a switch without a match")
	return expr.Null, &Fault{Name: "SYS.Fail"}
}

// holds evaluates a condition: a comparison, or a combination of conditions.
func (w *world) holds(c, data expr.Value) bool {
	for _, m := range c.Members() {
		all := m.Value.Items()
		if m.Value.IsObject() {
			all = []expr.Value{m.Value}
		}
		yes := 0
		for _, each := range all {
			if each.IsObject() && w.holds(each, data) {
				yes++
			}
		}
		switch op := strings.ToLower(m.Key); op {
		case "and", "single", "or", "not":
			w.saw("condition " + op)
			return op == "or" && yes > 0 || op == "not" && yes < len(all) || op != "or" && op != "not" && yes == len(all)
		}
	}
	return w.compares(strings.ToLower(str(c, "operator")), str(c, "path"), get(c, "value"), data)
}

// words01 are the operators in the words of the later drafts.
var words01 = map[string]string{
	"equals": "eq", "lessthan": "lt", "lessthanequals": "lteq", "greaterthan": "gt", "greaterthanequals": "gteq",
}

func (w *world) compares(op, path string, value, data expr.Value) bool {
	r := w.eval(path, data)
	missing := r.Missing
	if !describe(path).definite {
		missing = r.Value.Len() == 0
	}
	w.saw("operator " + op)
	if op == "exists" {
		return missing == (value.Str() == "false" || value.Kind() == expr.KindBool && !value.Bool())
	}
	if missing || r.Value.IsArray() || r.Value.IsObject() {
		return false
	}
	if short := words01[op]; short != "" {
		op = short
	}
	n := 0
	if short, ok := strings.CutPrefix(op, "str"); ok {
		if r.Value.IsNull() {
			return false
		}
		op, n = short, strings.Compare(literal01(r.Value), literal01(value))
	} else if want, isNumber := number01(value); isNumber {
		has, ok := number01(r.Value)
		if !ok {
			return false
		}
		n = has.Cmp(want)
	} else {
		if value.Kind() != expr.KindString || r.Value.Kind() != expr.KindString {
			return op == "eq" && (expr.Equal(value, r.Value) || value.Kind() == expr.KindString && value.Str() == literal01(r.Value))
		}
		n = strings.Compare(r.Value.Str(), value.Str())
	}
	switch op {
	case "eq":
		return n == 0
	case "lt":
		return n < 0
	case "lteq":
		return n <= 0
	case "gt":
		return n > 0
	default:
		return n >= 0
	}
}

// number01 is a value as a number, which may be written as text.
func number01(v expr.Value) (*big.Rat, bool) {
	if k := v.Kind(); k != expr.KindNumber && k != expr.KindString {
		return nil, false
	}
	return new(big.Rat).SetString(strings.TrimSpace(literal01(v)))
}

// literal01 is a value as text, without quotes.
func literal01(v expr.Value) string {
	if v.Kind() == expr.KindString {
		return v.Str()
	}
	return canonical(v)
}
