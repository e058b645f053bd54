package core

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// CheckLabelValue says what is wrong with a label's value; "": nothing.
func CheckLabelValue(name string, v expr.Value) string {
	size, items := 0, []expr.Value{v}
	if v.Kind() == expr.KindArray {
		items = v.Items()
	}
	for _, it := range items {
		switch it.Kind() {
		case expr.KindString:
			size += len(it.Str())
		case expr.KindNumber, expr.KindBool:
			size += len(it.String())
		default:
			return fmt.Sprintf("label %q must be a text, a number, true or false, or a list of those, not %s", name, it.Kind().WithArticle())
		}
		size++ // an empty text counts, too
	}
	if size > ir.MaxLabelValue {
		return fmt.Sprintf("the value of label %q is larger than %d bytes (limit label-value)", name, ir.MaxLabelValue)
	}
	return ""
}

// label computes the labels of a new instance from its input, and puts those that it was given in their
// place. A label that cannot be computed is left out: it must not keep the instance from running.
func (m *machine) label(in Start) {
	for _, l := range m.p.Labels {
		if _, given := in.Labels.Get(l.Key); given {
			continue
		}
		r, fault := m.eval(l.Value, expr.Scope{Data: in.Data})
		v, problem := r.Value, ""
		switch {
		case fault != nil:
			problem = fmt.Sprintf("label %q: %s", l.Key, fault)
		case v.IsNull(): // the input does not have it
			continue
		case l.Key == ir.LabelName:
			v, problem = nameOf(v)
		default:
			problem = CheckLabelValue(l.Key, v)
		}
		if problem != "" {
			m.record(Record{Type: RecWarning, Text: problem + "; the instance runs without it", Pos: m.p.Exprs[l.Value].Pos})
			continue
		}
		m.s.labels = m.s.labels.With(l.Key, v)
	}
	if in.Labels.IsObject() {
		for _, l := range in.Labels.Members() {
			m.s.labels = m.s.labels.With(l.Key, l.Value)
		}
	}
}

// nameOf makes a name of a computed value: one line that is not too long.
func nameOf(v expr.Value) (name expr.Value, problem string) {
	text := v.String()
	switch v.Kind() {
	case expr.KindString:
		text = v.Str()
	case expr.KindNumber, expr.KindBool:
	default:
		return v, "the name must be a text, not " + v.Kind().WithArticle()
	}
	text = strings.ToValidUTF8(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text), "")
	if len(text) > ir.MaxName {
		end := ir.MaxName - len("…")
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return expr.String(text), ""
}
