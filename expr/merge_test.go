package expr

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestMerge holds the rules of semantics.md §Data filters 5 and 9.
func TestMerge(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{"a":1,"c":{"x":1,"y":2}}`, `{"b":2,"c":{"y":3,"z":4}}`, `{"a":1,"b":2,"c":{"x":1,"y":3,"z":4}}`},
		{`{"l":[1,2]}`, `{"l":[2,3]}`, `{"l":[1,2,3]}`},
		{`[1,1]`, `[1,2,2]`, `[1,1,2]`}, // what was there stays, also repeated
		{`[1]`, `[1.0,1e0,"1"]`, `[1,"1"]`},
		{`[{"a":1,"b":2}]`, `[{"b":2,"a":1.0},{"a":1}]`, `[{"a":1,"b":2},{"a":1}]`},
		{`[[1,2]]`, `[[2,1],[1,2]]`, `[[1,2],[2,1]]`},
		{`[null]`, `[null,false]`, `[null,false]`},
		{`[]`, `[2,2]`, `[2]`},
		{`[1]`, `[]`, `[1]`},
		{`{}`, `{"a":1}`, `{"a":1}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{"a":1}`, `{"a":"x"}`, `{"a":"x"}`}, // scalars: the newcomer wins
		{`{"a":{"x":1}}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"a":[1]}`, `{"a":{"x":1}}`, `{"a":{"x":1}}`},
		{`{"a":{"x":1}}`, `{"a":null}`, `{"a":null}`},
		{`{"a":null}`, `{"a":{"x":1}}`, `{"a":{"x":1}}`},
		{`1`, `2`, `2`},
		{`{"a":1}`, `null`, `null`},
		{`null`, `{"a":1}`, `{"a":1}`},
	} {
		a, b := parse(t, c.a), parse(t, c.b)
		if got := Merge(a, b).String(); got != c.want {
			t.Errorf("merge %s, %s: %s, want %s", c.a, c.b, got, c.want)
		}
		if a.String() != c.a || b.String() != parse(t, c.b).String() {
			t.Errorf("merge changed its arguments: %s, %s", a, b)
		}
	}
}

// naiveMerge is the rule word by word.
func naiveMerge(a, b Value) Value {
	switch {
	case a.IsObject() && b.IsObject():
		for _, m := range b.Members() {
			v := m.Value
			if old, ok := a.Get(m.Key); ok {
				v = naiveMerge(old, v)
			}
			a = a.With(m.Key, v)
		}
		return a
	case a.IsArray() && b.IsArray():
		for _, it := range b.Items() {
			known := false
			for _, old := range a.Items() {
				known = known || Equal(old, it)
			}
			if !known {
				a = a.Append(it)
			}
		}
		return a
	}
	return b
}

func TestMergeAgreesWithTheNaiveRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue(4).Draw(t, "a"), anyValue(4).Draw(t, "b")
		got := Merge(a, b)
		if want := naiveMerge(a, b); got.String() != want.String() {
			t.Fatalf("merge %s, %s: %s, want %s", a, b, got, want)
		}
		checkSorted(t, got)
		if again := Merge(got, b); !Equal(again, got) {
			t.Fatalf("merging %s once more gives %s after %s", b, again, got)
		}
	})
}

// TestMergeOfLongArrays crosses the size from which items are hashed.
func TestMergeOfLongArrays(t *testing.T) {
	spellings := []string{"1", "1.0", "1e0", `"1"`, `[1]`, `[1.0]`, `{"a":1}`, `{"a":1e0}`, "null", "-0", "0", `""`, `"\u0000"`}
	rapid.Check(t, func(t *rapid.T) {
		list := func(name string) Value {
			var items []Value
			for range rapid.IntRange(0, 3*scanLimit).Draw(t, name) {
				v, _ := ParseJSON([]byte(rapid.SampledFrom(spellings).Draw(t, "item")))
				items = append(items, v)
			}
			return Array(items...)
		}
		a, b := list("a"), list("b")
		if got, want := Merge(a, b), naiveMerge(a, b); got.String() != want.String() {
			t.Fatalf("merge %s, %s: %s, want %s", a, b, got, want)
		}
	})
	// Text that is no UTF-8 is written alike but is not equal.
	var a []Value
	for i := range scanLimit {
		a = append(a, String(strconv.Itoa(i)))
	}
	a = append(a, String("\xff"))
	if got := Merge(Array(a...), Array(String("\ufffd"), String("\xff"))); got.Len() != len(a)+1 {
		t.Errorf("%d items, want %d", got.Len(), len(a)+1)
	}
}

func TestCanonicalBytesTellValuesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue(3).Draw(t, "a"), anyValue(3).Draw(t, "b")
		same := string(appendCanonical(nil, a)) == string(appendCanonical(nil, b))
		if same != Equal(a, b) {
			t.Fatalf("%s and %s: equal %t, one canonical form %t", a, b, Equal(a, b), same)
		}
	})
}

func TestMergeSharesWhatIsUntouched(t *testing.T) {
	a := parse(t, `{"big":{"x":[1,2,3]},"n":1}`)
	got := Merge(a, parse(t, `{"n":2}`))
	x, _ := a.Get("big")
	if y, _ := got.Get("big"); !x.Same(y) {
		t.Error("an untouched member was copied")
	}
	if !Merge(a, a).Same(a) {
		t.Error("merging with itself copies")
	}
}
