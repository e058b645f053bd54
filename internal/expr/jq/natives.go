package jq

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/lockstep-workflows/lockstep/internal/expr/cache"
)

// price says what a call costs beyond its instruction; it pays, or refuses.
type price func(m *meter, v any, args []any) error

// native is a function of the interpreter that is called through a wrapper.
type native struct {
	source string // how it is called, with its arguments in $a and $b
	price  price
}

// callWork is what a call takes beyond its price, because it is a run of the interpreter.
const callWork = 8

// harmless are functions that take no longer for one value than for another.
var harmless = split(`empty/0 error/0 error/1 type/0 range/3
	infinite/0 nan/0 isinfinite/0 isnan/0 isnormal/0 isfinite/0 abs/0 fabs/0 floor/0 ceil/0 round/0 trunc/0 rint/0 nearbyint/0
	sqrt/0 cbrt/0 exp/0 exp2/0 exp10/0 expm1/0 log/0 log2/0 log10/0 log1p/0 logb/0 significand/0
	gamma/0 tgamma/0 lgamma/0 erf/0 erfc/0 j0/0 j1/0 y0/0 y1/0
	sin/0 cos/0 tan/0 asin/0 acos/0 atan/0 sinh/0 cosh/0 tanh/0 asinh/0 acosh/0 atanh/0
	pow/2 atan2/2 fmin/2 fmax/2 fmod/2 fdim/2 hypot/2 copysign/2 ldexp/2 scalb/2 scalbln/2 nextafter/2 nexttoward/2 remainder/2 drem/2 fma/3
	mktime/0 toboolean/0`)

// natives are the others, by name and arity; operators and formats stand under their signs.
var natives = map[string]native{
	"+/2": {"$a + $b", payBreadth}, "-/2": {"$a - $b", paySubtract}, "*/2": {"$a * $b", payMultiply},
	"//2": {"$a / $b", payDivide}, "%/2": {"$a % $b", payBreadth},
	"==/2": {"$a == $b", payCompare}, "!=/2": {"$a != $b", payCompare}, "</2": {"$a < $b", payCompare},
	">/2": {"$a > $b", payCompare}, "<=/2": {"$a <= $b", payCompare}, ">=/2": {"$a >= $b", payCompare},

	"length/0": {"length", payBreadth}, "utf8bytelength/0": {"utf8bytelength", payBreadth}, "keys/0": {"keys", payBreadth}, "keys_unsorted/0": {"keys", payBreadth},
	"has/1": {"has($a)", payBreadth}, "contains/1": {"contains($a)", payProduct}, "add/0": {"add", payWhole}, "reverse/0": {"reverse", payBreadth},
	"startswith/1": {"startswith($a)", payBreadth}, "endswith/1": {"endswith($a)", payBreadth},
	"ltrimstr/1": {"ltrimstr($a)", payBreadth}, "rtrimstr/1": {"rtrimstr($a)", payBreadth}, "trimstr/1": {"trimstr($a)", payBreadth},
	"trim/0": {"trim", payBreadth}, "ltrim/0": {"ltrim", payBreadth}, "rtrim/0": {"rtrim", payBreadth},
	"ascii_downcase/0": {"ascii_downcase", payBreadth}, "ascii_upcase/0": {"ascii_upcase", payBreadth},
	"explode/0": {"explode", payLetters}, "implode/0": {"implode", payBreadth}, "split/1": {"split($a)", payLetters}, "join/1": {"join($a)", payJoin},
	"index/1": {"index($a)", payProduct}, "rindex/1": {"rindex($a)", payProduct}, "indices/1": {"indices($a)", payProduct},
	"tostring/0": {"tostring", payWhole}, "tojson/0": {"tojson", payWhole}, "fromjson/0": {"fromjson", payReading}, "tonumber/0": {"tonumber", payReading},
	"sort/0": {"sort", paySorting}, "unique/0": {"unique", paySorting}, "min/0": {"min", payWhole}, "max/0": {"max", payWhole},
	"_sort_by/1": {"_sort_by($a)", paySorting}, "_group_by/1": {"_group_by($a)", paySorting}, "_unique_by/1": {"_unique_by($a)", paySorting},
	"_min_by/1": {"_min_by($a)", payWhole}, "_max_by/1": {"_max_by($a)", payWhole},
	"flatten/0": {"flatten", payWhole}, "flatten/1": {"flatten($a)", payWhole}, "transpose/0": {"transpose", payTranspose}, "bsearch/1": {"bsearch($a)", payWhole},
	"setpath/2": {"setpath($a; $b)", paySetPath}, "delpaths/1": {"delpaths($a)", payWhole},
	"gmtime/0": {"gmtime", payBreadth}, "frexp/0": {"frexp", payBreadth}, "modf/0": {"modf", payBreadth}, "jn/2": {"jn($a; $b)", payOrder}, "yn/2": {"yn($a; $b)", payOrder},
	"strftime/1": {"strftime($a)", payFormat}, "strptime/1": {"strptime($a)", payFormat},

	"@text/0": {"@text", payWhole}, "@json/0": {"@json", payWhole}, "@html/0": {"@html", payWhole}, "@uri/0": {"@uri", payWhole}, "@urid/0": {"@urid", payWhole},
	"@csv/0": {"@csv", payWhole}, "@tsv/0": {"@tsv", payWhole}, "@sh/0": {"@sh", payWhole}, "@base64/0": {"@base64", payWhole}, "@base64d/0": {"@base64d", payWhole},
}

func split(names string) []string { return strings.Fields(names) }

// functions are what the rewritten filter calls, with the natives that it uses.
func (m *meter) functions(used map[string]bool) []gojq.CompilerOption {
	out := []gojq.CompilerOption{
		gojq.WithFunction(wrapped("pay"), 1, 1, m.payFixed),
		gojq.WithFunction(wrapped("breadth"), 0, 0, func(v any, _ []any) any { return m.passed(v, errors.Join(m.broad(v), m.allocGrown(v))) }),
		gojq.WithFunction(wrapped("list"), 0, 0, func(v any, _ []any) any { return m.passed(v, m.allocGrown(v)) }),
		gojq.WithFunction(wrapped("object"), 0, 0, func(v any, _ []any) any { return m.passed(v, m.allocValue(v, 1)) }),
		gojq.WithFunction(wrapped("copies"), 1, 1, m.payCopies),
		gojq.WithFunction(wrapped("whole"), 0, 0, func(v any, _ []any) any { return m.passed(v, m.whole(v)) }),
		gojq.WithFunction(wrapped("index"), 0, 0, func(v any, _ []any) any { return m.passed(v, m.index(v)) }),
		gojq.WithFunction(wrapped("path"), 0, 0, func(v any, _ []any) any { return m.passed(v, m.path(v)) }),
		gojq.WithFunction(wrapped("secret"), 1, 1, func(v any, args []any) any { return m.secret(v, args[0]) }),
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		call, arity := own[name], int(name[len(name)-1]-'0')
		out = append(out, gojq.WithFunction(wrapped(name), arity, arity, func(v any, args []any) any {
			return m.counted(name, v, args, call(m, v, args))
		}))
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		code, arity := nativeCode(name), int(name[len(name)-1]-'0')
		n := natives[name]
		out = append(out, gojq.WithFunction(wrapped(name), arity, arity, func(v any, args []any) any {
			if err := n.price(m, v, args); err != nil {
				return err
			}
			result, ok := usual(name, v, args)
			if !ok {
				m.budget.Work(callWork)
				result, _ = code.Run(v, args...).Next()
			}
			return m.counted(name, v, args, result)
		}))
	}
	return out
}

// nativeCodes are the compiled natives, which all filters share.
var nativeCodes = func() map[string]*cache.Handle[gojq.Code] {
	handles := map[string]*cache.Handle[gojq.Code]{}
	for _, name := range slices.Sorted(maps.Keys(natives)) {
		handles[name] = &cache.Handle[gojq.Code]{}
	}
	return handles
}()

// nativeBytes is what a compiled native takes at most.
const nativeBytes = 2 << 10

func nativeCode(name string) *gojq.Code {
	return nativeCodes[name].Get(cache.Key{Kind: "jq native", Text: name}, func() (*gojq.Code, int) {
		query, err := gojq.Parse(natives[name].source)
		if err != nil {
			panic(fmt.Sprintf("jq: %s: %v", name, err))
		}
		code, err := gojq.Compile(query, gojq.WithVariables([]string{"$a", "$b"}[:name[len(name)-1]-'0']))
		if err != nil {
			panic(fmt.Sprintf("jq: %s: %v", name, err))
		}
		return code, nativeBytes
	})
}

// wrapped is the name of a wrapper; no filter can write it.
func wrapped(name string) string { return "guard " + name }

func (m *meter) passed(v any, err error) any {
	if err != nil {
		return err
	}
	return v
}

// counted is the result of a function, if the run may have it.
func (m *meter) counted(name string, v any, args []any, result any) any {
	if _, failed := result.(error); failed {
		return result
	}
	return m.passed(result, m.allocResult(name, v, args, result))
}

// payCopies pays for what a change of some paths copies.
func (m *meter) payCopies(v any, args []any) any {
	paths, _ := args[0].([]any)
	return m.passed(v, m.allocCopies(v, paths))
}

func (m *meter) payFixed(v any, args []any) any {
	n, _ := args[0].(int)
	return m.passed(v, m.pay(n))
}

func payBreadth(m *meter, v any, args []any) error {
	if err := m.broad(v); err != nil {
		return err
	}
	return m.broad(args...)
}

func payWhole(m *meter, v any, args []any) error {
	if err := m.whole(v); err != nil {
		return err
	}
	return m.whole(args...)
}

// payCompare: a comparison goes on while both are equal, but never beyond the smaller.
func payCompare(m *meter, _ any, args []any) error {
	for i, v := range args {
		switch v.(type) {
		case []any, map[string]any:
		default:
			return m.pay(min(breadth(v), breadth(args[1-i])))
		}
	}
	return m.whole(args...)
}

// paySubtract: every item of one list is compared with every one of the other.
func paySubtract(m *meter, v any, args []any) error {
	if _, list := args[0].([]any); list {
		return payProduct(m, args[0], args[1:])
	}
	return payBreadth(m, v, args)
}

// payDivide: text is taken apart.
func payDivide(m *meter, v any, args []any) error {
	if _, text := args[0].(string); text {
		return payLetters(m, args[0], args[1:])
	}
	return payBreadth(m, v, args)
}

// payProduct: everything in one may be compared with everything in the other.
func payProduct(m *meter, v any, args []any) error {
	a, err := m.weigh(v)
	if err != nil {
		return err
	}
	b, err := m.weigh(args...)
	if err != nil {
		return err
	}
	if text, ok := v.(string); ok { // it becomes a list of its letters
		a = len(text)
		if part, ok := args[0].(string); ok {
			b = 1 + len(part)/4
		}
	}
	return m.pay(times(a, b))
}

// payMultiply: text may be repeated, objects merged, and large numbers grow.
func payMultiply(m *meter, _ any, args []any) error {
	for i, v := range args {
		if text, ok := v.(string); ok {
			return m.pay(1 + times(len(text), count(args[1-i]))/bytesPerStep)
		}
	}
	bits := 0
	for _, v := range args {
		if n, ok := v.(*big.Int); ok {
			bits += n.BitLen()
		}
	}
	if bits > maxDigits*3 {
		return m.refuse("filter-digits", maxDigits)
	}
	return m.whole(args...)
}

// count is how often text is to be repeated, rounded up.
func count(v any) int {
	f := math.Inf(1)
	switch n := v.(type) {
	case int:
		return n
	case float64:
		f = n
	case json.Number:
		f, _ = n.Float64()
	}
	if f < 1<<30 {
		return int(math.Ceil(f))
	}
	return math.MaxInt
}

// payLetters: each letter becomes a value.
func payLetters(m *meter, v any, args []any) error {
	if text, ok := v.(string); ok {
		return m.pay(1 + len(text))
	}
	return payBreadth(m, v, args)
}

func payJoin(m *meter, v any, args []any) error {
	if err := m.whole(v); err != nil {
		return err
	}
	return m.pay(times(breadth(v), breadth(args[0])))
}

// payReading: text becomes values, and long numbers take long to read.
func payReading(m *meter, v any, args []any) error {
	text, ok := v.(string)
	if !ok {
		return payBreadth(m, v, args)
	}
	digits := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			digits = 0
		} else if digits++; digits > maxDigits {
			return m.refuse("filter-digits", maxDigits)
		}
	}
	return m.pay(1 + len(text))
}

func paySorting(m *meter, v any, args []any) error {
	weight, err := m.weigh(append([]any{v}, args...)...)
	if err != nil {
		return err
	}
	return m.pay(times(weight, bits.Len(uint(breadth(v))))/4 + 1)
}

// payTranspose: the shorter lists are filled up.
func payTranspose(m *meter, v any, _ []any) error {
	longest := 0
	rows, _ := v.([]any)
	for _, row := range rows {
		longest = max(longest, breadth(row))
	}
	return m.pay(times(len(rows), longest) + longest)
}

func paySetPath(m *meter, v any, args []any) error {
	if err := m.path(args[0]); err != nil {
		return err
	}
	return m.whole(v)
}

// payFormat: a width in a format of times may ask for any length of text.
func payFormat(m *meter, v any, args []any) error {
	format, _ := args[0].(string)
	if len(format) > 256 || strings.ContainsAny(format, "123456789") {
		return &Error{Msg: "a format of times has at most 256 letters and no widths"}
	}
	return payBreadth(m, v, args)
}

// payOrder: Bessel functions go up to their order one by one.
func payOrder(m *meter, _ any, args []any) error {
	order, _ := number64(args[0])
	return m.pay(1 + int(min(math.Abs(order), math.MaxInt32)))
}

// freeIndex is how far an index may go beyond the end of a list without a price.
const freeIndex = 64

// index pays for an index: an assignment makes a list that long.
func (m *meter) index(v any) error {
	var f float64
	switch x := v.(type) {
	case int:
		f = float64(x)
	case float64:
		f = x
	case json.Number:
		f, _ = x.Float64()
	case *big.Int:
		f = math.Inf(x.Sign())
	case []any:
		return &Error{Msg: "a list is not an index; indices(LIST) finds where it is"}
	default:
		return m.broad(v)
	}
	if f > freeIndex {
		return m.pay(int(min(f, math.MaxInt32)) / 4)
	}
	return nil
}

// path pays for every index of a path.
func (m *meter) path(v any) error {
	steps, ok := v.([]any)
	if !ok {
		return m.broad(v)
	}
	for _, step := range steps {
		if err := m.pay(1); err != nil {
			return err
		}
		if err := m.index(step); err != nil {
			return err
		}
	}
	return nil
}
