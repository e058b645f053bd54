package expr

import (
	"cmp"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDigitsSurviveEverything follows numbers of any size through every form
// (semantics.md §Expressions: integers keep their digits).
func TestDigitsSurviveEverything(t *testing.T) {
	long := strings.Repeat("1234567890", 50)
	for _, n := range append(numbers, long, "-"+long+"."+long+"e-77", "1e-9999999999") {
		doc := parse(t, `{"list":[`+n+`],"n":`+n+`}`)
		merged := Merge(parse(t, `{"list":[],"n":1,"other":true}`), doc)
		rest := append(merged.AppendBinary(nil), "tail"...)
		back, tail, err := DecodeBinary(rest)
		if err != nil || string(tail) != "tail" {
			t.Fatalf("%s: %q, %v", n, tail, err)
		}
		want := `{"list":[` + n + `],"n":` + n + `,"other":true}`
		if got := back.String(); got != want {
			t.Errorf("%s came out as %s", want, got)
		}
		if v, err := Number(n); err != nil || v.NumberText() != n {
			t.Errorf("Number(%s): %s, %v", n, v, err)
		}
	}
}

func TestNumberRefusesOtherGrammars(t *testing.T) {
	for _, s := range []string{"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1_000", "NaN", "Infinity", " 1", "1 ", "--1", "1.5.5", "１"} {
		if v, err := Number(s); err == nil {
			t.Errorf("%q became %s", s, v)
		}
	}
}

func TestNumbersCompareAsDecimals(t *testing.T) {
	// Each line ascends from left to right; numbers in one cell are equal.
	for _, line := range [][][]string{
		{
			{"-1e999999999999999999999"},
			{"-1e400"},
			{"-9223372036854775809"},
			{"-9223372036854775808", "-9.223372036854775808e18"},
			{"-2"},
			{"-1.5", "-15e-1", "-0.15e1"},
			{"-1e-400"},
			{"0", "-0", "0.0", "0e999999999999999999999", "-0.000e-5"},
			{"1e-99999999999999999999"},
			{"1e-400"},
			{"0.1", "0.10", "1e-1", "0.00001e4"},
			{"0.1000000000000000055511151231257827"},
			{"1", "1.0", "1e0", "10e-1", "0.1e1"},
			{"9007199254740992", "9007199254740992.0"},
			{"9007199254740993"},
			{"9223372036854775807"},
			{"9223372036854775808", "9223372036854775808.000"},
			{"12345678901234567890", "1234567890123456789e1"},
			{"12345678901234567891"},
			{"1e400", "10e399"},
			{"1e999999999"},
			{"1e1000000000"},
			{"1e999999999999999999999", "1e999999999999999999998"}, // beyond the cap
		},
	} {
		for i, left := range line {
			for j, right := range line {
				for _, a := range left {
					for _, b := range right {
						x, y := numberOf(a), numberOf(b)
						if c, ok := Compare(x, y); !ok || c != cmp.Compare(i, j) {
							t.Errorf("compare %s, %s: %d", a, b, c)
						}
						if Equal(x, y) != (i == j) {
							t.Errorf("%s == %s: %t", a, b, Equal(x, y))
						}
						same := string(appendCanonical(nil, x)) == string(appendCanonical(nil, y))
						if same != (i == j) {
							t.Errorf("%s and %s: one canonical form: %t", a, b, same)
						}
					}
				}
			}
		}
	}
}

func TestCompareAgreesWithFractions(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) string {
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if c, ok := Compare(numberOf(a), numberOf(b)); !ok || c != x.Cmp(y) {
			t.Fatalf("compare %s, %s: %d, want %d", a, b, c, x.Cmp(y))
		}
		if i, ok := numberOf(a).Int(); ok != (x.IsInt() && x.Num().IsInt64()) || ok && i != x.Num().Int64() {
			t.Fatalf("%s as an integer: %d, %t", a, i, ok)
		}
	})
}

func TestInt(t *testing.T) {
	for text, want := range map[string]int64{
		"2.0": 2, "2e0": 2, "20e-1": 2, "0e5": 0, "-0": 0, "1e18": 1e18,
		"-9223372036854775808": math.MinInt64, "-9223372036854775808.0": math.MinInt64, "9223372036854775807.000": math.MaxInt64,
	} {
		if i, ok := numberOf(text).Int(); !ok || i != want {
			t.Errorf("%s: %d, %t", text, i, ok)
		}
	}
	for _, text := range []string{"0.5", "1e-1", "9223372036854775808", "-9223372036854775809", "1e19", "1e999999999999999999"} {
		if i, ok := numberOf(text).Int(); ok {
			t.Errorf("%s became %d", text, i)
		}
	}
	if _, ok := String("1").Int(); ok {
		t.Error("a string is no integer")
	}
}

func TestFloat(t *testing.T) {
	for _, f := range []float64{0, 1, -1, 0.1, 1 << 53, 1<<53 + 2, 1e21, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		v := Float(f)
		if v.Float() != f {
			t.Errorf("%g became %s", f, v)
		}
		if _, err := Number(v.NumberText()); err != nil {
			t.Errorf("%g: %v", f, err)
		}
	}
	if !Float(math.Inf(1)).IsNull() || !Float(math.NaN()).IsNull() {
		t.Error("what JSON cannot write is null")
	}
	if Float(3).String() != "3" || Float(math.Copysign(0, -1)).String() != "0" {
		t.Error("whole numbers are written as such")
	}
}

func TestNothingIsCoerced(t *testing.T) {
	all := shapes()
	for i, a := range all {
		for j, b := range all {
			if Equal(a, b) != (i == j) {
				t.Errorf("%s == %s: %t", a, b, Equal(a, b))
			}
			if _, ok := Compare(a, b); ok != (a.Kind() == b.Kind() && (a.Kind() == KindNumber || a.Kind() == KindString)) {
				t.Errorf("%s and %s are ordered: %t", a, b, ok)
			}
		}
	}
	if Equal(String("1"), Int(1)) || Equal(String("true"), Bool(true)) || Equal(Null, Bool(false)) || Equal(Array(), EmptyObject) {
		t.Error("coerced")
	}
}
