package mock

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

func TestAnswers(t *testing.T) {
	ok := expr.Object(expr.Member{Key: "ok", Value: expr.Bool(true)})
	mocks := Mocks{
		"charge":  {{Error: &effect.Failure{Name: "CardDeclined", Code: "402"}}, {Delay: 2 * time.Second, Result: ok, HasResult: true}},
		"echo":    {{Echo: true, Delay: 24*time.Hour + time.Second}},
		"named":   {{Error: &effect.Failure{Name: "Boom"}, Delay: time.Second}},
		"nothing": {{}},
		"null":    {{HasResult: true}},
		"*":       {{Result: expr.Int(1), HasResult: true}, {Result: expr.Int(2), HasResult: true}},
	}
	inv := New(mocks, nil)
	call := func(name string) effect.Outcome {
		return inv.Invoke(context.Background(), effect.Call{Function: name, Args: expr.String(name)})
	}
	for i, c := range []struct {
		function, value, name, code string
		none                        bool
		delay                       time.Duration
	}{
		{function: "charge", name: "CardDeclined", code: "402"},
		{function: "charge", value: `{"ok":true}`, delay: 2 * time.Second},
		{function: "charge", value: `{"ok":true}`, delay: 2 * time.Second}, // the last repeats
		{function: "echo", value: `"echo"`, delay: 24*time.Hour + time.Second},
		{function: "named", name: "Boom", delay: time.Second},
		{function: "nothing", value: `{}`, none: true},
		{function: "null", value: `null`},
		{function: "other", value: `1`},
		{function: "another", value: `2`}, // the list of * is used up together
		{function: "other", value: `2`},
	} {
		out := call(c.function)
		switch {
		case c.name != "":
			if out.Failure == nil || out.Failure.Name != c.name || out.Failure.Code != c.code {
				t.Errorf("%d: %s fails with %+v", i, c.function, out.Failure)
			}
		case out.Failure != nil || out.Value.String() != c.value || out.None != c.none:
			t.Errorf("%d: %s gives %+v", i, c.function, out)
		}
		if out.Delay != c.delay {
			t.Errorf("%d: %s takes %v, want %v", i, c.function, out.Delay, c.delay)
		}
	}
	if got := len(inv.Calls()); got != 10 {
		t.Errorf("%d calls recorded", got)
	}
	if inv.Calls()[3].Function != "echo" {
		t.Error("calls are not in order")
	}
}

func TestMissing(t *testing.T) {
	inv := New(Mocks{"a": {{Echo: true}}}, nil)
	for _, name := range []string{"a", "c", "b", "c"} {
		out := inv.Invoke(context.Background(), effect.Call{Function: name})
		if name != "a" && (out.Failure == nil || out.Failure.Name != Missing || !strings.Contains(out.Failure.Detail, name)) {
			t.Errorf("%s gives %+v", name, out)
		}
	}
	if got := inv.Missing(); !slices.Equal(got, []string{"c", "b"}) {
		t.Errorf("missing are %v", got)
	}
	next := effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Value: expr.Int(9)} })
	inv = New(nil, next)
	if out := inv.Invoke(context.Background(), effect.Call{Function: "real"}); out.Value.String() != "9" {
		t.Errorf("without a mock the next invoker does not answer: %+v", out)
	}
}

// TestLogCallsNeedNoMock: they have no result, and reach nothing but the log.
func TestLogCallsNeedNoMock(t *testing.T) {
	print := effect.Call{Function: "print", Operation: "call:log:INFO"}
	inv := New(Mocks{"other": {{}}}, nil)
	if out := inv.Invoke(t.Context(), print); out.Failure != nil || !out.None || len(inv.Missing()) > 0 || len(inv.Calls()) != 1 {
		t.Errorf("%+v, missing %v", out, inv.Missing())
	}
	logged := 0
	inv.Log(effect.Func(func(context.Context, effect.Call) effect.Outcome {
		logged++
		return effect.Outcome{None: true}
	}))
	inv.Invoke(t.Context(), print)
	if out := inv.Invoke(t.Context(), effect.Call{Function: "print"}); logged != 1 || out.Failure == nil || out.Failure.Name != Missing {
		t.Errorf("logged %d calls; one without an operation gives %+v", logged, out)
	}
	if out := New(Mocks{"print": {{Error: &effect.Failure{Name: "Full"}}}}, nil).Invoke(t.Context(), print); out.Failure == nil || out.Failure.Name != "Full" {
		t.Errorf("a mock is not asked: %+v", out)
	}
}
