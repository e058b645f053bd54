package expr

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBudgetEndsWithTheNamedLimit(t *testing.T) {
	b := Budget{Steps: 2, Depth: 1, Output: 3}
	for i, c := range []struct {
		err   error
		limit string
	}{
		{b.Step(2), ""},
		{b.Step(1), "expression-steps"},
		{b.Emit(3), ""},
		{b.Emit(1), "expression-output"},
		{b.Enter(), ""},
		{b.Enter(), "expression-depth"},
	} {
		if c.limit == "" {
			if c.err != nil {
				t.Errorf("%d: %v", i, c.err)
			}
			continue
		}
		wantLimit(t, c.err, c.limit)
		if !strings.Contains(c.err.Error(), c.limit) {
			t.Errorf("%q does not name %s", c.err, c.limit)
		}
	}
	b.Leave()
	b.Leave()
	if err := b.Enter(); err != nil {
		t.Errorf("after leaving: %v", err)
	}
}

// TestStopIsAskedForEverySteps: who may stop an evaluation is asked once for every StopEvery
// steps, however many are taken at once, and before they are.
func TestStopIsAskedForEverySteps(t *testing.T) {
	for _, part := range []int{1, 100, StopEvery, StopEvery + 1, 10 * StopEvery, 50*StopEvery - 7} {
		asked := 0
		stop := func() bool { asked++; return asked == 60 }
		b := NewBudget()
		b.Until(&stop)
		taken := 0
		for ; taken < 100*StopEvery; taken += part {
			if err := b.Step(part); err != nil {
				if !errors.Is(err, ErrStopped) {
					t.Fatal(err)
				}
				break
			}
			if done := taken + part; asked < done/StopEvery-1 || asked > done/StopEvery+1 {
				t.Fatalf("%d at a time: asked %d times after %d steps", part, asked, done)
			}
		}
		if asked != 60 || taken > 61*StopEvery {
			t.Errorf("%d at a time: asked %d times after %d steps", part, asked, taken)
		}
	}
}

func TestPaidComparisonAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := anyValue(3).Draw(t, "x"), anyValue(3).Draw(t, "y")
		b := NewBudget()
		if eq, err := b.Equal(x, y); err != nil || eq != Equal(x, y) {
			t.Fatalf("%s == %s: %t, %v", x, y, eq, err)
		}
		c, ok, err := b.Compare(x, y)
		if wc, wok := Compare(x, y); err != nil || c != wc || ok != wok {
			t.Fatalf("compare %s, %s: %d, %t, %v", x, y, c, ok, err)
		}
		if b.Steps == MaxSteps {
			t.Fatal("comparing was free")
		}
		if eq, err := b.Equal(x, x); err != nil || !eq {
			t.Fatalf("%s is not itself: %v", x, err)
		}
	})
}

func TestComparingLargeValuesEnds(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	digits := strings.Repeat("1", 1<<20)
	nested := func() Value { // small in memory, 2^30 values long
		v := Array(Int(1))
		for range 30 {
			v = Array(v, v)
		}
		return v
	}
	for name, pair := range map[string][2]Value{
		"text":    {String(long + "a"), String(long + "b")},
		"numbers": {numberOf(digits + "1"), Int(1)},
		"shared":  {nested(), nested()},
	} {
		b := NewBudget()
		var err error
		for i := 0; err == nil && i < MaxSteps; i++ {
			_, err = b.Equal(pair[0], pair[1])
		}
		if err == nil {
			t.Errorf("%s: a million comparisons were paid for", name)
			continue
		}
		wantLimit(t, err, "expression-steps")
	}
}

func TestWritingSharedValuesEnds(t *testing.T) {
	v := Object(Member{"k", String("text")})
	for range 60 {
		v = Object(Member{"a", v}, Member{"b", v})
	}
	b := NewBudget()
	_, err := b.AppendJSON(nil, v)
	wantLimit(t, err, "expression-output")
	b = NewBudget()
	wantLimit(t, b.EmitValue(v, 0), "expression-output")
	b = NewBudget()
	wantLimit(t, b.EmitValue(deep(MaxDepth+1), 0), "value-depth")
	b = NewBudget()
	wantLimit(t, b.EmitValue(deep(MaxDepth-5), 6), "value-depth")
	b = NewBudget()
	if err := b.EmitValue(parse(t, `{"ab":["c",1,null]}`), 0); err != nil || MaxOutput-b.Output != 5+3 {
		t.Errorf("costs %d, %v", MaxOutput-b.Output, err)
	}
}

func TestResultTrue(t *testing.T) {
	for _, v := range shapes() {
		if got := (Result{Value: v}).True(); got != v.Truthy() {
			t.Errorf("%s: %t", v, got)
		}
		if (Result{Value: v, Missing: true}).True() {
			t.Errorf("%s is missing and true", v)
		}
	}
	if !(Result{Value: Array(Bool(false)), List: true}).True() {
		t.Error("a list with a match is true, whatever the match")
	}
}

func TestSyntaxErrorCountsColumnsFromOne(t *testing.T) {
	var err error = &SyntaxError{Offset: 4, Msg: "odd", Hint: "even"}
	if err.Error() != "at column 5: odd" {
		t.Error(err)
	}
	var se *SyntaxError
	if !errors.As(err, &se) || se.Hint != "even" {
		t.Error(se)
	}
}
