package sw08

import (
	"fmt"
	"regexp"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// eventPut is what becomes of the data of an event (0.8 §Event data filters).
func (c *compiler) eventPut(e *event, f eventFilter) ir.Put {
	if f.drop {
		return ir.Put{}
	}
	put := ir.Put{Mode: ir.PutMerge, Warn: true, Pick: c.eventPick(e, ir.Pick{Expr: c.expr(f.data)})}
	if f.to != nil {
		put.Path = f.to.path
	}
	return put
}

// eventPick selects from an event: from its payload, or with dataOnly false from the whole of it, which every
// event has an id in. 0.6 has no such choice: there a path applies to the whole event where it begins with
// an attribute that the event has and its payload has not (docs/semantics.md).
func (c *compiler) eventPick(e *event, pick ir.Pick) ir.Pick {
	switch {
	case e.whole:
		pick.First = "id"
	case c.w.form == form06 && pick.Expr != 0:
		e := c.Program.Exprs[pick.Expr]
		m := firstName.FindStringSubmatch(e.Src)
		switch {
		case m == nil:
		case e.Lang == jq.SelectLang:
			name := expr.String(m[1]).String()
			pick.First = "id"
			pick.Expr = c.Expr(e.Lang, fmt.Sprintf(`(if has(%s) and (.data | type != "object" or (has(%[1]s) | not)) then . else .data end) | (%s)`, name, ended(e.Src)), e.Pos)
			c.Program.Exprs[pick.Expr].Secrets = e.Secrets
		default:
			pick.First = m[1]
		}
	}
	return pick
}

// firstName finds the name that a path of jq or JSONPath begins with.
var firstName = regexp.MustCompile(`^\s*\$?\.([A-Za-z_]\w*)`)
