package expr

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestZeroValueIsNull(t *testing.T) {
	var v Value
	if v.Kind() != KindNull || !v.IsNull() || v.String() != "null" || v.Truthy() || !Equal(v, Null) {
		t.Fatalf("the zero Value is %s of kind %s", v, v.Kind())
	}
}

func TestKindsAndAccessors(t *testing.T) {
	for _, c := range []struct {
		v      Value
		kind   Kind
		text   string
		truthy bool
		length int
	}{
		{Null, KindNull, "null", false, 0},
		{Bool(false), KindBool, "false", false, 0},
		{Bool(true), KindBool, "true", true, 0},
		{Int(0), KindNumber, "0", true, 0}, // only false, null and emptiness are false
		{numberOf("0.0"), KindNumber, "0.0", true, 0},
		{String(""), KindString, `""`, false, 0},
		{String("false"), KindString, `"false"`, true, 5},
		{Array(), KindArray, "[]", false, 0},
		{Array(Null), KindArray, "[null]", true, 1},
		{EmptyObject, KindObject, "{}", false, 0},
		{Object(Member{"a", Null}), KindObject, `{"a":null}`, true, 1},
	} {
		if c.v.Kind() != c.kind || c.v.String() != c.text || c.v.Truthy() != c.truthy || c.v.Len() != c.length {
			t.Errorf("%s: kind %s, truthy %t, len %d", c.v, c.v.Kind(), c.v.Truthy(), c.v.Len())
		}
	}
	// Every accessor is silent about other kinds.
	for _, v := range shapes() {
		if v.Kind() != KindString && v.Str() != "" || v.Kind() != KindArray && v.Items() != nil ||
			v.Kind() != KindObject && v.Members() != nil || v.Kind() != KindBool && v.Bool() ||
			v.Kind() != KindNumber && (v.NumberText() != "" || v.Float() != 0) {
			t.Errorf("an accessor of another kind answers for %s", v)
		}
		if _, ok := v.Get("a"); ok != (v.Kind() == KindObject && v.Len() > 0) {
			t.Errorf("Get on %s: %t", v, ok)
		}
	}
}

func TestObjectSortsAndTheLastOfEqualKeysWins(t *testing.T) {
	v := Object(Member{"b", Int(1)}, Member{"a", Int(2)}, Member{"b", Int(3)}, Member{"", Int(4)}, Member{"a", Int(5)})
	if got := v.String(); got != `{"":4,"a":5,"b":3}` {
		t.Fatal(got)
	}
}

func TestWithAndWithoutLeaveTheOriginal(t *testing.T) {
	for _, n := range []int{0, 1, smallObject, smallObject + 1, 100} {
		v := wide(n)
		before := v.String()
		added := v.With("k50x", Int(-1)).With("", Null).With("zz", Bool(true))
		if got, ok := added.Get("k50x"); !ok || !Equal(got, Int(-1)) || added.Len() != n+3 {
			t.Fatalf("%d members: With gives %s", n, added)
		}
		changed := added.With("k50x", String("new"))
		if got, _ := changed.Get("k50x"); got.Str() != "new" || changed.Len() != n+3 {
			t.Fatalf("%d members: With of a known key gives %s", n, changed)
		}
		if got, _ := added.Get("k50x"); !Equal(got, Int(-1)) {
			t.Fatal("With changed its receiver")
		}
		if back := changed.Without("k50x").Without("").Without("zz").Without("never"); !Equal(back, v) {
			t.Fatalf("%d members: Without gives %s", n, back)
		}
		if v.String() != before {
			t.Fatal("the original changed")
		}
	}
}

func TestWithTakesWhatIsNoObjectAsEmpty(t *testing.T) {
	for _, v := range shapes() {
		if v.IsObject() {
			continue
		}
		if got := v.With("k", Int(1)).String(); got != `{"k":1}` {
			t.Errorf("%s with k: %s", v, got)
		}
	}
}

func TestWithPath(t *testing.T) {
	for _, c := range []struct {
		in   string
		path []string
		want string
	}{
		{`{"a":1}`, nil, `"new"`},
		{`{}`, []string{"ifttt", "value1"}, `{"ifttt":{"value1":"new"}}`}, // semantics.md §Data filters 1
		{`{"a":{"b":1,"c":2},"d":3}`, []string{"a", "b"}, `{"a":{"b":"new","c":2},"d":3}`},
		{`{"a":[1,2]}`, []string{"a", "b"}, `{"a":{"b":"new"}}`},
		{`null`, []string{""}, `{"":"new"}`},
		{`[1]`, []string{"a"}, `{"a":"new"}`},
	} {
		in := parse(t, c.in)
		got := in.WithPath(c.path, String("new"))
		if got.String() != c.want {
			t.Errorf("%s at %q: %s, want %s", c.in, c.path, got, c.want)
		}
		if back, ok := got.Lookup(c.path...); !ok || back.Str() != "new" {
			t.Errorf("%s at %q: Lookup gives %s, %t", c.in, c.path, back, ok)
		}
		if in.String() != c.in {
			t.Errorf("%s became %s", c.in, in)
		}
	}
	if _, ok := parse(t, `{"a":{"b":1}}`).Lookup("a", "x"); ok {
		t.Error("Lookup found what is not there")
	}
}

func TestOverlay(t *testing.T) {
	for _, c := range []struct{ top, under, want string }{
		{`{"b":1,"d":2}`, `{"a":9,"b":9,"c":9,"e":9}`, `{"a":9,"b":1,"c":9,"d":2,"e":9}`},
		{`{}`, `{"a":1}`, `{"a":1}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"x":1}}`}, // shallow
		{`{"a":null}`, `{"a":2}`, `{"a":null}`},             // null is there
		{`{"a":1}`, `[1]`, `{"a":1}`},
		{`[1]`, `{"a":1}`, `[1]`},
		{`null`, `{"a":1}`, `null`},
	} {
		if got := Overlay(parse(t, c.top), parse(t, c.under)).String(); got != c.want {
			t.Errorf("%s over %s: %s, want %s", c.top, c.under, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		top, under := anyObject(2).Draw(t, "top"), anyObject(2).Draw(t, "under")
		got := Overlay(top, under)
		for _, k := range keys {
			want, inTop := top.Get(k)
			if !inTop {
				want, _ = under.Get(k)
			}
			if v, _ := got.Get(k); !v.Same(want) && !Equal(v, want) {
				t.Fatalf("key %q: %s, want %s", k, v, want)
			}
		}
		checkSorted(t, got)
	})
}

// checkSorted checks what every operation on objects relies on.
func checkSorted(t interface{ Fatalf(string, ...any) }, v Value) {
	m := v.Members()
	for i := 1; i < len(m); i++ {
		if m[i-1].Key >= m[i].Key {
			t.Fatalf("members out of order: %q before %q", m[i-1].Key, m[i].Key)
		}
	}
	for _, e := range m {
		checkSorted(t, e.Value)
	}
	for _, it := range v.Items() {
		checkSorted(t, it)
	}
}

func TestAppendSharesNothingWithItsReceiver(t *testing.T) {
	base := Array(slices.Grow([]Value{Int(1)}, 8)...) // room that a careless append would use
	a, b := base.Append(Int(2)), base.Append(Int(3))
	if a.String() != "[1,2]" || b.String() != "[1,3]" || base.String() != "[1]" {
		t.Fatal(a, b, base)
	}
	if got := Null.Append(Int(1)).String(); got != "[1]" {
		t.Fatal(got)
	}
}

func TestObjectsBehaveLikeMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, model := EmptyObject, map[string]Value{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			k := rapid.OneOf(rapid.SampledFrom(keys), rapid.StringMatching(`[a-f]{1,2}`)).Draw(t, "key")
			if rapid.Bool().Draw(t, "set") {
				e := anyValue(1).Draw(t, "value")
				v, model[k] = v.With(k, e), e
			} else {
				v = v.Without(k)
				delete(model, k)
			}
		}
		if v.Len() != len(model) {
			t.Fatalf("%d members, want %d", v.Len(), len(model))
		}
		for k, want := range model {
			if got, ok := v.Get(k); !ok || !Equal(got, want) {
				t.Fatalf("key %q: %s, want %s", k, got, want)
			}
		}
		checkSorted(t, v)
	})
}

func TestFromGoAndBack(t *testing.T) {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for _, c := range []struct {
		in   any
		want string
	}{
		{nil, "null"},
		{true, "true"},
		{"é\x00", `"é\u0000"`},
		{int(-1), "-1"},
		{int8(-8), "-8"},
		{int16(-16), "-16"},
		{int32(-32), "-32"},
		{int64(math.MinInt64), "-9223372036854775808"},
		{uint(7), "7"},
		{uint8(8), "8"},
		{uint16(16), "16"},
		{uint32(math.MaxUint32), "4294967295"},
		{uint64(math.MaxUint64), "18446744073709551615"},
		{huge, "123456789012345678901234567890"},
		{float32(0.1), "0.1"},
		{0.1, "0.1"},
		{1e21, "1e+21"},
		{math.NaN(), "null"},
		{math.Inf(-1), "null"},
		{json.Number("1.10"), "1.10"},
		{[]any{1, "x", nil}, `[1,"x",null]`},
		{map[string]any{"b": 1, "a": []any{}}, `{"a":[],"b":1}`},
		{Int(3), "3"},
	} {
		v, err := FromGo(c.in)
		if err != nil || v.String() != c.want {
			t.Errorf("%T %v: %s, %v; want %s", c.in, c.in, v, err, c.want)
		}
	}
	for _, bad := range []any{struct{}{}, json.Number("0x1"), []any{make(chan int)}, map[string]any{"a": func() {}}} {
		if v, err := FromGo(bad); err == nil {
			t.Errorf("%T became %s", bad, v)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "v")
		back, err := FromGo(v.ToGo())
		if err != nil || back.String() != v.String() {
			t.Fatalf("%s came back as %s, %v", v, back, err)
		}
	})
}

func TestValuesStandInStructs(t *testing.T) {
	var s struct {
		Data Value  `json:"data"`
		None *Value `json:"none,omitempty"`
	}
	in := `{"data":{"a":12345678901234567890}}`
	if err := json.Unmarshal([]byte(in), &s); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(s)
	if err != nil || string(out) != in {
		t.Fatal(string(out), err)
	}
	if err := json.Unmarshal([]byte(`{"data":[1,]}`), &s); err == nil {
		t.Fatal("accepted a trailing comma")
	}
}

func TestDepth(t *testing.T) {
	for text, want := range map[string]int{"1": 0, "[]": 0, "{}": 0, "[1]": 1, `{"a":[{"b":1}],"c":1}`: 3} {
		if got := parse(t, text).Depth(); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
