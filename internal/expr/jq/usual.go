package jq

import (
	"math"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// usual carries out the usual case of the natives that filters call most, which need no run of
// the interpreter then. It reports false for every other call.
func usual(name string, v any, args []any) (any, bool) {
	switch name {
	case "==/2":
		return gojq.Compare(args[0], args[1]) == 0, true
	case "!=/2":
		return gojq.Compare(args[0], args[1]) != 0, true
	case "</2":
		return gojq.Compare(args[0], args[1]) < 0, true
	case "<=/2":
		return gojq.Compare(args[0], args[1]) <= 0, true
	case ">/2":
		return gojq.Compare(args[0], args[1]) > 0, true
	case ">=/2":
		return gojq.Compare(args[0], args[1]) >= 0, true
	case "+/2", "-/2", "*/2":
		return usualSum(name, args[0], args[1])
	case "length/0":
		switch x := v.(type) {
		case nil:
			return 0, true
		case string:
			return utf8.RuneCountInString(x), true
		case []any:
			return len(x), true
		case map[string]any:
			return len(x), true
		}
	case "tostring/0":
		text, ok := v.(string)
		return text, ok
	}
	return nil, false
}

// usualSum computes with whole numbers that are too small to overflow, and joins text.
func usualSum(name string, a, b any) (any, bool) {
	switch x := a.(type) {
	case int:
		y, ok := b.(int)
		if !ok || x > math.MaxInt32 || x < math.MinInt32 || y > math.MaxInt32 || y < math.MinInt32 {
			return nil, false
		}
		switch name {
		case "+/2":
			return x + y, true
		case "-/2":
			return x - y, true
		}
		return x * y, true
	case string:
		y, ok := b.(string)
		if !ok || name != "+/2" {
			return nil, false
		}
		return x + y, true
	}
	return nil, false
}
