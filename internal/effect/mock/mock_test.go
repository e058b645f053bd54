package mock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

func parse(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAnswers(t *testing.T) {
	mocks, err := Decode(parse(t, `{
		"charge": [{"error": {"name": "CardDeclined", "code": 402}}, {"delay": "PT2S", "result": {"ok": true}}],
		"echo": {"echo": true, "delay": "P1DT1S"},
		"named": {"error": "Boom", "delay": "PT1S"},
		"nothing": {},
		"null": {"result": null},
		"*": [{"result": 1}, {"result": 2}]
	}`))
	if err != nil {
		t.Fatal(err)
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

// TestDecodeErrors: every error names its path.
func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ text, path, says string }{
		{`[]`, "mocks", "map"},
		{`{"f": 1}`, "mocks.f", "an answer is"},
		{`{"f": []}`, "mocks.f", "empty"},
		{`{"f": [{}, 1]}`, "mocks.f[1]", "not number"},
		{`{"f": {"reslut": 1}}`, "mocks.f.reslut", "unknown key"},
		{`{"f": {"result": 1, "error": "x"}}`, "mocks.f", "more than one"},
		{`{"f": {"result": 1, "echo": true}}`, "mocks.f", "more than one"},
		{`{"f": {"echo": "yes"}}`, "mocks.f.echo", "true or false"},
		{`{"f": {"delay": 2}}`, "mocks.f.delay", "ISO 8601"},
		{`{"f": {"delay": "2s"}}`, "mocks.f.delay", ""},
		{`{"f": {"delay": "P1M"}}`, "mocks.f.delay", "write days"},
		{`{"f": {"error": 1}}`, "mocks.f.error", "must be a name"},
		{`{"f": {"error": {"nam": "x"}}}`, "mocks.f.error.nam", "unknown key"},
		{`{"f": {"error": {"code": []}}}`, "mocks.f.error.code", "must be a string"},
	} {
		_, err := Decode(parse(t, c.text))
		var bad *DecodeError
		if !errors.As(err, &bad) || bad.Path != c.path || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Decode(%s) gives %v, want one at %s that says %q", c.text, err, c.path, c.says)
		}
	}
	if m, err := Decode(expr.Null); err != nil || m != nil {
		t.Errorf("no mocks: %v, %v", m, err)
	}
}
