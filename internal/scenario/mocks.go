package scenario

import (
	"math"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
)

// mocks reads answers by function name: each is one answer or a list of them.
func (d *decoder) mocks(n *dialect.Node) mock.Mocks {
	if n == nil {
		return nil
	}
	out := mock.Mocks{}
	for _, m := range n.Members {
		answers := []*dialect.Node{m}
		if m.Is(expr.KindArray) {
			answers = m.Items
			if len(answers) == 0 {
				d.Errorf(m, codeMissing, "the mock of %q must not be empty: it has no answer", m.Name())
			}
		}
		for _, answer := range answers {
			out[m.Name()] = append(out[m.Name()], d.answer(answer))
		}
	}
	return out
}

// answer reads one answer of a mock.
func (d *decoder) answer(n *dialect.Node) mock.Answer {
	var a mock.Answer
	f := d.Fields(n, "a mock's answer")
	if f == nil {
		return a
	}
	var given *dialect.Node
	for _, key := range []string{"result", "error", "echo"} {
		m := f.Get(key)
		if m == nil {
			continue
		}
		if given != nil {
			f.Both(given, m)
		}
		given = m
	}
	if result := n.Get("result"); result != nil {
		a.Result, a.HasResult = result.Value(), true
	}
	if fault := n.Get("error"); fault != nil {
		a.Error = d.failure(fault)
	}
	if echo := n.Get("echo"); echo != nil && d.Is(echo, expr.KindBool, "echo") {
		a.Echo, _ = echo.Bool()
		if !a.Echo {
			d.Errorf(echo, codeValue, "echo can only be true")
		}
	}
	a.Delay = d.delay(f.Get("delay"))
	f.Done()
	return a
}

// delay reads how long an answer takes.
func (d *decoder) delay(n *dialect.Node) time.Duration {
	const (
		day  = 24 * time.Hour
		most = int64(math.MaxInt64/day) - 1
	)
	span := d.duration(n)
	switch {
	case span.Months != 0:
		d.Errorf(n, codeValue, "a delay has no months or years, whose length is not fixed").WithHint("write days")
		return 0
	case span.Days > most:
		d.Errorf(n, codeValue, "delay %q is too long", n.Text)
		return 0
	}
	return time.Duration(span.Days)*day + time.Duration(span.Nanos)
}

// failure reads the error of an answer: its name, or an object.
func (d *decoder) failure(n *dialect.Node) *effect.Failure {
	if n.Is(expr.KindString) {
		return &effect.Failure{Name: n.Text}
	}
	out := &effect.Failure{Name: effect.Unnamed}
	f := d.Fields(n, "a mock's error")
	for _, one := range []struct {
		key  string
		into *string
	}{
		{"name", &out.Name},
		{"code", &out.Code},
		{"status", &out.Status},
		{"title", &out.Title},
		{"type", &out.Type},
		{"detail", &out.Detail},
		{"message", &out.Detail},
	} {
		switch m := f.Get(one.key); {
		case m.Is(expr.KindNumber): // code: 402 is the text "402"
			*one.into = m.Text
		case m != nil:
			*one.into = d.Named(m, one.key).Literal()
		}
	}
	if data := f.Get("data"); data != nil {
		out.Data = data.Value()
	}
	f.Done()
	return out
}
