package jq

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/itchyny/timefmt-go"

	"github.com/lockstep-workflows/lockstep/expr"
)

// own are functions that the interpreter has too, but that look at the world there, or at more
// functions than a filter may call. Here they know what the host said of the run.
var own = map[string]func(m *meter, v any, args []any) any{
	"match/2":         func(m *meter, v any, args []any) any { return m.match(v, args[0], args[1]) },
	"test/2":          func(m *meter, v any, args []any) any { return m.test(v, args[0], args[1]) },
	"now/0":           func(m *meter, _ any, _ []any) any { return m.now() },
	"localtime/0":     func(m *meter, v any, _ []any) any { return m.localTime(v) },
	"strflocaltime/1": func(m *meter, v any, args []any) any { return m.formatLocal(v, args[0]) },
	"builtins/0":      func(m *meter, _ any, _ []any) any { return m.builtins() },
}

// secret is the name of a secret that is there; nothing in the expression catches that another is not.
func (m *meter) secret(name, all any) any {
	text, ok := name.(string)
	if !ok {
		return name // which is no name: the index fails
	}
	if secrets, ok := all.(map[string]any); ok {
		if _, ok := secrets[text]; ok {
			return name
		}
	}
	return m.end(&expr.NoSecretError{Name: text})
}

func (m *meter) now() any {
	t, err := m.clock()
	if err != nil {
		return err
	}
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

// localTime is a time taken apart, in the zone of the run's time.
func (m *meter) localTime(v any) any {
	t, ok := m.instant(v)
	if !ok {
		return &Error{Msg: "localtime needs a number"}
	}
	return []any{
		t.Year(), int(t.Month()) - 1, t.Day(), t.Hour(), t.Minute(),
		float64(t.Second()) + float64(t.Nanosecond())/1e9, int(t.Weekday()), t.YearDay() - 1,
	}
}

// instant is the time that a number stands for.
func (m *meter) instant(v any) (time.Time, bool) {
	f, ok := number64(v)
	if !ok || math.IsNaN(f) || math.Abs(f) > 1<<40 { // far beyond the year 9999
		return time.Time{}, false
	}
	whole := math.Floor(f)
	return time.Unix(int64(whole), int64((f-whole)*1e9)).In(m.zone), true
}

func number64(v any) (float64, bool) {
	switch x := v.(type) {
	case int:
		return float64(x), true
	case float64:
		return x, true
	case json.Number:
		f, err := x.Float64()
		return f, err == nil
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		return f, true
	}
	return 0, false
}

// formatLocal writes a time, or one that was taken apart, in the zone of the run's time.
func (m *meter) formatLocal(v, format any) any {
	if err := payFormat(m, v, []any{format}); err != nil {
		return err
	}
	text, isText := format.(string)
	t, ok := m.instant(v)
	if list, isList := v.([]any); isList && len(list) >= 6 {
		var parts [6]float64
		ok = true
		for i := range parts {
			f, isNumber := number64(list[i])
			ok = ok && isNumber && math.Abs(f) < 1<<31
			parts[i] = f
		}
		whole, fraction := math.Modf(parts[5])
		if ok {
			t = time.Date(int(parts[0]), time.Month(int(parts[1])+1), int(parts[2]), int(parts[3]), int(parts[4]), int(whole), int(fraction*1e9), m.zone)
		}
	}
	if !ok || !isText {
		return &Error{Msg: "strflocaltime needs a time, and a format that is text"}
	}
	return timefmt.Format(t, text)
}

// known are all functions that a filter may call, name/arity.
func known() []string {
	out := slices.Sorted(maps.Keys(natives))
	for i := range prelude {
		out = append(out, prelude[i].name)
	}
	out = append(append(out, harmless...), split("path/1 getpath/1 match/2 test/2 now/0 localtime/0 strflocaltime/1 builtins/0")...)
	out = slices.DeleteFunc(out, func(name string) bool { // operators, formats, and what is the prelude's alone
		return !strings.ContainsAny(name[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	})
	slices.Sort(out)
	return slices.Compact(out)
}

func (m *meter) builtins() any {
	names := known()
	if err := m.pay(times(len(names), 4)); err != nil {
		return err
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}
