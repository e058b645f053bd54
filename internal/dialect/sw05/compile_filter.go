package sw05

import "github.com/lockstep-workflows/lockstep/internal/ir"

// The three rules by which a path shapes what it selects (semantics.md §Data filters
// 2, 4 and 8): 0.5's examples agree under no simpler one.

// statePick is the rule of state filters and of actionDataFilter.dataInputPath:
// a path of one name gives {name: value} unless the value is an array; every
// other path gives what it selects.
func (c *compiler) statePick(p *path) ir.Pick {
	if p == nil || p.Root {
		return ir.Pick{}
	}
	pick := ir.Pick{Expr: c.path(p)}
	if p.Definite && p.Depth == 1 && p.Name != "" {
		pick.Key, pick.Wrap = p.Name, ir.WrapSingle
	}
	return pick
}

// resultsPick is the rule of what is merged into the state data: always under
// the path's last name, but a single object that matches stands for itself.
func (c *compiler) resultsPick(p *path) ir.Pick {
	if p == nil || p.Root {
		return ir.Pick{}
	}
	pick := ir.Pick{Expr: c.path(p), Key: p.Name, Wrap: ir.WrapAlways}
	if !p.Definite {
		pick.Wrap = ir.WrapMatches
	}
	return pick
}

// eventPick is the results rule for events. A path applies to the whole event
// where it begins with an attribute the event has; $.data alone is the payload,
// which is what an event gives anyway.
func (c *compiler) eventPick(p *path) ir.Pick {
	if p == nil || len(p.Keys) == 1 && p.Keys[0] == "data" {
		return ir.Pick{}
	}
	pick := c.resultsPick(p)
	if pick.Expr != 0 {
		pick.First = p.First
	}
	return pick
}

// merge puts a picked value into the state data.
func merge(p ir.Pick) ir.Put { return ir.Put{Pick: p, Mode: ir.PutMerge, Warn: true} }

// replace makes a picked value the state data; without a filter nothing happens.
func replace(p ir.Pick) ir.Put {
	if p.Expr == 0 {
		return ir.Put{}
	}
	return ir.Put{Pick: p, Mode: ir.PutReplace}
}
