package sim

// plantsWFX are bugs in job workflows. The oracle must find them.
var plantsWFX = []plant{
	{
		name: "an operator's transition does not wait", in: "internal/dialect/wfx",
		old: "		case t.immediate():\n			return leave(t.target)\n",
		new: "		case t.immediate() || t.eligible == Operator:\n			return leave(t.target)\n",
	},
	{
		name: "an immediate transition waits for the operator", in: "internal/dialect/wfx",
		old: "		case t.immediate():\n			return leave(t.target)\n		case t.waits():\n",
		new: "		case t.immediate(), t.waits():\n",
	},
	{
		name: "whoever asks may take a transition", in: "internal/core",
		old: "if o.Offer.Actor == in.Actor && o.Offer.Choice == in.Choice {",
		new: "if o.Offer.Choice == in.Choice {",
	},
	{
		name: "a chain of immediate transitions ends after the first", in: "internal/dialect/wfx",
		old: "			return leave(t.target)\n",
		new: "			if len(t.target.out) == 1 && t.target.out[0].immediate() && t.target.out[0].target.final() {\n				return leave(t.target.out[0].target)\n			}\n			return leave(t.target)\n",
	},
	{
		name: "a stale revision is taken", in: "internal/engine",
		old: "	case a.rev != 0:\n		return f.isAt(a.rev)\n",
		new: "	case a.rev != 0:\n		return nil\n",
	},
	{
		name: "the group of the state before stays", in: "internal/engine",
		old: "if out.State == before.State && before.Group != \"\" {",
		new: "if before.Group != \"\" {",
	},
	{
		name: "a final state takes no news", in: "internal/dialect/wfx",
		old: "c.Node(placeOf(s), &ir.End{Offers: selfOffers(s)}, 0)",
		new: "c.Node(placeOf(s), &ir.End{}, 0)",
	},
	{
		name: "a final state is left", in: "internal/dialect/wfx",
		old: "	if s.final() {\n		return c.Node(placeOf(s), &ir.End",
		new: "	if s.final() && s != c.d.states[0] {\n		return c.Node(placeOf(s), &ir.End",
	},
	{
		name: "the output is the status of when it ended", in: "internal/core",
		old: "			m.s.output = m.p.Model.Output(f.data)\n",
		new: "			_ = m.p.Model.Output(f.data)\n",
	},
	{
		name: "only devices tell news of a state", in: "internal/dialect/wfx",
		old: "for _, actor := range []string{Client, Operator} {",
		new: "for _, actor := range []string{Client} {",
	},
	{
		name: "news of a state give it more time", in: "internal/core",
		old: "		if m.s.status.Final() {\n			m.s.output = m.p.Model.Output(f.data)\n		}\n",
		new: "		if m.s.status.Final() {\n			m.s.output = m.p.Model.Output(f.data)\n		} else {\n			m.closeWaits(f, func(w wait) bool { return w.kind == WaitTimer || w.kind == WaitOffer })\n			m.goTo(f, f.node)\n		}\n",
	},
	{
		name: "what was sent is merged into the status", in: "internal/dialect/wfx",
		old: "Offer: &ir.Offer{Actor: t.eligible, Choice: t.target.title()}, Put: set(jobdata.Status), Next",
		new: "Offer: &ir.Offer{Actor: t.eligible, Choice: t.target.title()}, Put: ir.Put{Pick: ir.Pick{Key: jobdata.Status, Wrap: ir.WrapAlways}, Mode: ir.PutMerge}, Next",
	},
	{
		name: "a job is every client's", in: "internal/engine",
		old: "a.client != \"\" && a.client != ",
		new: "a.client == \"\\x00\" && a.client != ",
	},
	{
		name: "a definition that is replaced is not told", in: "internal/jobdata",
		old: "		change = change.With(Replaced, before)\n",
		new: "		_ = before\n",
	},
}
