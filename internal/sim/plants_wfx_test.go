package sim

// plantsWFX are bugs in job workflows. The oracle must find them.
var plantsWFX = []plant{
	{
		name: "an operator's transition does not wait", in: "dialect/wfx",
		old: "		case t.immediate():\n			c.p.Nodes[entry].Next = leave(t.target)\n",
		new: "		case t.immediate() || t.eligible == Operator:\n			c.p.Nodes[entry].Next = leave(t.target)\n",
	},
	{
		name: "an immediate transition waits for the operator", in: "dialect/wfx",
		old: "		case t.immediate():\n			c.p.Nodes[entry].Next = leave(t.target)\n			return\n		case t.waits():\n",
		new: "		case t.immediate(), t.waits():\n",
	},
	{
		name: "whoever asks may take a transition", in: "core",
		old: "if o.Offer.Actor == in.Actor && o.Offer.Choice == in.Choice {",
		new: "if o.Offer.Choice == in.Choice {",
	},
	{
		name: "a chain of immediate transitions ends after the first", in: "dialect/wfx",
		old: "			c.p.Nodes[entry].Next = leave(t.target)\n			return\n",
		new: "			c.p.Nodes[entry].Next = leave(t.target)\n			if len(t.target.out) == 1 && t.target.out[0].immediate() && t.target.out[0].target.final() {\n				c.p.Nodes[entry].Next = leave(t.target.out[0].target)\n			}\n			return\n",
	},
	{
		name: "a stale revision is taken", in: "engine",
		old: "	case a.rev != 0:\n		return f.isAt(a.rev)\n",
		new: "	case a.rev != 0:\n		return nil\n",
	},
	{
		name: "the group of the state before stays", in: "engine",
		old: "if out.State == before.State && before.Group != \"\" {",
		new: "if before.Group != \"\" {",
	},
	{
		name: "a final state takes no news", in: "dialect/wfx",
		old: "c.node(s, &ir.End{Offers: selfOffers(s)}, 0)",
		new: "c.node(s, &ir.End{}, 0)",
	},
	{
		name: "a final state is left", in: "dialect/wfx",
		old: "	if s.final() {\n		end := c.node(s, &ir.End{Offers: selfOffers(s)}, 0)\n",
		new: "	if s.final() && s != c.d.states[0] {\n		end := c.node(s, &ir.End{Offers: selfOffers(s)}, 0)\n",
	},
	{
		name: "the output is the status of when it ended", in: "core",
		old: "			m.s.output = jobStatus(f.data)\n",
		new: "			_ = jobStatus(f.data)\n",
	},
	{
		name: "only devices tell news of a state", in: "dialect/wfx",
		old: "for _, actor := range []string{Client, Operator} {",
		new: "for _, actor := range []string{Client} {",
	},
	{
		name: "news of a state give it more time", in: "core",
		old: "		if m.s.status.Final() {\n			m.s.output = jobStatus(f.data)\n		}\n",
		new: "		if m.s.status.Final() {\n			m.s.output = jobStatus(f.data)\n		} else {\n			m.closeWaits(f, func(w wait) bool { return w.kind == WaitTimer || w.kind == WaitOffer })\n			m.goTo(f, f.node)\n		}\n",
	},
	{
		name: "what was sent is merged into the status", in: "dialect/wfx",
		old: "Offer: &ir.Offer{Actor: t.eligible, Choice: t.target.title()}, Put: set(\"status\"), Next",
		new: "Offer: &ir.Offer{Actor: t.eligible, Choice: t.target.title()}, Put: ir.Put{Pick: ir.Pick{Key: \"status\", Wrap: ir.WrapAlways}, Mode: ir.PutMerge}, Next",
	},
	{
		name: "a job is every client's", in: "engine",
		old: "a.client != \"\" && a.client != ",
		new: "a.client == \"\\x00\" && a.client != ",
	},
	{
		name: "a definition that is replaced is not told", in: "core",
		old: "		told = told.With(JobReplaced, before)\n",
		new: "		_ = before\n",
	},
}
