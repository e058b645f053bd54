package expr

import (
	"errors"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// parse reads JSON that the test knows to be valid.
func parse(t testing.TB, text string) Value {
	t.Helper()
	v, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

// wantLimit checks that err names the limit.
func wantLimit(t testing.TB, err error, limit string) {
	t.Helper()
	var le *LimitError
	if !errors.As(err, &le) || le.Limit != limit {
		t.Fatalf("error %v, want the limit %s", err, limit)
	}
}

// keys are few, so that generated objects share some.
var keys = []string{"", "a", "b", "c", "key with blank", "ключ", "\U0001f600", "ab", "aa"}

// numbers are those that lose something in a float64 or an int64.
var numbers = []string{
	"0", "-0", "0.0", "-0.0", "1", "1.0", "1e0", "10e-1", "0.1", "0.10", "1.10", "-1", "9007199254740993",
	"9223372036854775807", "-9223372036854775808", "9223372036854775808", "12345678901234567890",
	"0.1000000000000000055511151231257827", "1e400", "-1e400", "1e-400", "1E+2", "100", "1e999999999999999999999",
}

// anyValue generates values of every kind, up to depth levels of containers.
func anyValue(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		top := 6
		if depth > 0 {
			top = 8
		}
		switch rapid.IntRange(0, top).Draw(t, "kind") {
		case 0:
			return Null
		case 1, 2:
			return Bool(rapid.Bool().Draw(t, "bool"))
		case 3:
			return Int(rapid.Int64().Draw(t, "int"))
		case 4:
			return numberOf(rapid.SampledFrom(numbers).Draw(t, "number"))
		case 5:
			return Int(rapid.Int64Range(-2, 2).Draw(t, "small"))
		case 6:
			return String(rapid.OneOf(rapid.SampledFrom(keys), rapid.String()).Draw(t, "string"))
		case 7:
			return Array(rapid.SliceOfN(anyValue(depth-1), 0, 5).Draw(t, "items")...)
		default:
			return anyObject(depth).Draw(t, "object")
		}
	})
}

func anyObject(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		members := make([]Member, rapid.IntRange(0, 6).Draw(t, "size"))
		for i := range members {
			members[i] = Member{rapid.SampledFrom(keys).Draw(t, "key"), anyValue(depth-1).Draw(t, "value")}
		}
		return Object(members...)
	})
}

// shapes lists values for tables of every kind.
func shapes() []Value {
	return []Value{
		Null, Bool(false), Bool(true), Int(0), Int(-1), numberOf("1.50"), String(""), String("x"),
		Array(), Array(Null), EmptyObject, Object(Member{"a", Int(1)}),
	}
}

// deep nests an empty array n levels deep.
func deep(n int) Value {
	v := Array()
	for range n {
		v = Array(v)
	}
	return v
}

// wide is an object of n members.
func wide(n int) Value {
	members := make([]Member, n)
	for i := range members {
		members[i] = Member{"k" + strconv.Itoa(i), Int(int64(i))}
	}
	return Object(members...)
}
