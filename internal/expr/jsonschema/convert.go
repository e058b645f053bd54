package jsonschema

import (
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// maxDigits bounds numbers. The library computes with fractions of whole numbers,
// for which 1e1000000 is a million digits long.
const maxDigits = 1 << 10

// place is where a value stands.
type place struct {
	parent *place
	token  string
}

func (p *place) pointer() string {
	if p == nil {
		return ""
	}
	return p.parent.pointer() + "/" + escaper.Replace(p.token)
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

func (p *place) show() string { return showPointer(p.pointer()) }

// toGo converts a value for the library and lists the numbers it must not see.
func toGo(v expr.Value, b *expr.Budget) (doc any, bad []*place) {
	var convert func(v expr.Value, at *place) any
	convert = func(v expr.Value, at *place) any {
		if b != nil {
			if err := b.Step(1); err != nil {
				panic(exhausted{err})
			}
		}
		switch v.Kind() {
		case expr.KindNumber:
			if text := v.NumberText(); tooLong(text) {
				bad = append(bad, at)
			}
		case expr.KindArray:
			out := make([]any, 0, v.Len())
			for i, it := range v.Items() {
				out = append(out, convert(it, &place{at, strconv.Itoa(i)}))
			}
			return out
		case expr.KindObject:
			out := make(map[string]any, v.Len())
			for _, m := range v.Members() {
				out[m.Key] = convert(m.Value, &place{at, m.Key})
			}
			return out
		}
		return v.ToGo()
	}
	doc = convert(v, nil)
	return doc, bad
}

func tooLong(text string) bool {
	if len(text) > maxDigits {
		return true
	}
	_, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	if !ok {
		return false
	}
	e, err := strconv.Atoi(exponent)
	return err != nil || e > maxDigits || e < -maxDigits
}
