package format

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// jsonText writes JSON with one member or item a line. Scalars are as they are
// written.
func jsonText(root *dialect.Node, order *Order) string {
	p := jsonPrinter{order: order}
	p.value(root, order.rules(), "\n")
	p.WriteByte('\n')
	return p.String()
}

type jsonPrinter struct {
	strings.Builder
	order *Order
}

func (p *jsonPrinter) value(n *dialect.Node, rules []*dialect.Node, line string) {
	switch {
	case n.Is(expr.KindObject) && len(n.Members) > 0:
		p.WriteByte('{')
		for i, m := range sorted(n.Members, p.order.keys(n, rules), (*dialect.Node).Name) {
			if i > 0 {
				p.WriteByte(',')
			}
			p.WriteString(line + "  " + m.Key.Raw() + ": ")
			p.value(m, p.order.member(n, rules, m.Name()), line+"  ")
		}
		p.WriteString(line + "}")
	case n.Is(expr.KindArray) && len(n.Items) > 0:
		p.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				p.WriteByte(',')
			}
			p.WriteString(line + "  ")
			p.value(item, p.order.item(n, rules), line+"  ")
		}
		p.WriteString(line + "]")
	case n.Is(expr.KindObject):
		p.WriteString("{}")
	case n.Is(expr.KindArray):
		p.WriteString("[]")
	default:
		p.WriteString(n.Raw())
	}
}
