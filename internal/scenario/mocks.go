package scenario

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
)

func (d *decoder) mocks(n *dialect.Node) mock.Mocks {
	if n == nil || !d.kind(n, expr.KindObject, "mocks") {
		return nil
	}
	before := len(d.report.Diagnostics())
	for _, m := range n.Members {
		answers := []*dialect.Node{m}
		if m.Is(expr.KindArray) {
			answers = m.Items
			if len(answers) == 0 {
				d.report.Errorf(m, codeMissing, "the mock of %q is an empty list: it has no answer", m.Name())
			}
		}
		for _, answer := range answers {
			d.answer(answer)
		}
	}
	mocks, err := mock.Decode(n.Value())
	if err != nil && len(d.report.Diagnostics()) == before {
		d.report.Errorf(n.KeySpan(), codeValue, "%v", err) // a rule of mocks that answer does not know
	}
	return mocks
}

// answer checks one answer of a mock.
func (d *decoder) answer(n *dialect.Node) {
	if !d.object(n, "a mock's answer", "result", "error", "echo", "delay") {
		return
	}
	var given *dialect.Node
	for _, key := range []string{"result", "error", "echo"} {
		m := n.Get(key)
		if m == nil {
			continue
		}
		if given != nil {
			d.report.Errorf(m.KeySpan(), codeConflict, "a mock's answer has both %q and %q", given.Name(), m.Name())
		}
		given = m
	}
	if fault := n.Get("error"); fault != nil && !fault.Is(expr.KindString) {
		d.mockError(fault)
	}
	if echo := n.Get("echo"); echo != nil && d.kind(echo, expr.KindBool, "echo") {
		if on, _ := echo.Bool(); !on {
			d.report.Errorf(echo, codeValue, "echo can only be true")
		}
	}
	if delay := n.Get("delay"); delay != nil {
		if span := d.duration(delay, "delay"); span.Months != 0 {
			d.report.Errorf(delay, codeValue, "a delay has no months or years, whose length is not fixed").WithHint("write days")
		}
	}
}

// mockError checks the error of an answer that is more than a name.
func (d *decoder) mockError(n *dialect.Node) {
	if !d.object(n, "a mock's error", "name", "code", "status", "title", "type", "detail", "message", "data") {
		return
	}
	for _, m := range n.Members {
		if m.Name() != "data" && !m.Is(expr.KindNumber) { // code: 402 is the text "402"
			d.text(m, "an error's "+m.Name())
		}
	}
}
