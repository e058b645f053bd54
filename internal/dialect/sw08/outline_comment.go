package sw08

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
)

// uncommented is a template whose expressions have no comments: those would swallow what a tool writes behind them.
func uncommented(v expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindString:
		parts, err := jq.Parts(v.Str())
		if err != nil || !strings.Contains(v.Str(), "#") {
			return v
		}
		var b strings.Builder
		for _, part := range parts {
			if part.Expr {
				b.WriteString("${ " + jq.Uncommented(part.Src) + " }")
			} else {
				b.WriteString(part.Src)
			}
		}
		return expr.String(b.String())
	case expr.KindArray:
		items := make([]expr.Value, 0, v.Len())
		for _, item := range v.Items() {
			items = append(items, uncommented(item))
		}
		return expr.Array(items...)
	case expr.KindObject:
		members := make([]expr.Member, 0, v.Len())
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: m.Key, Value: uncommented(m.Value)})
		}
		return expr.Object(members...)
	}
	return v
}
