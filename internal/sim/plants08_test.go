package sim

// plants08 are bugs in what Serverless Workflow 0.6 to 0.9 need: their compiler, and what of the core only their programs
// use. The oracle must find them.
var plants08 = []plant{
	{
		name: "an error that must not be retried is", in: "internal/dialect/sw08",
		old: "out := ir.Catch{Except: k.uses(a.nonRetryable), Retry: k.retry(a.retry)}",
		new: "out := ir.Catch{Retry: k.retry(a.retry)}",
	},
	{
		name: "a handler takes what it excepts", in: "internal/dialect/sw08",
		old: "out := ir.Catch{When: k.matches(h.when), Except: k.matches(h.except)}",
		new: "out := ir.Catch{When: k.matches(h.when)}",
	},
	{
		name: "terminate in a child of 0.7 ends its parent", in: "internal/dialect/sw08",
		old: "&ir.End{Terminate: true, Own: c.w.form != form06}",
		new: "&ir.End{Terminate: true, Own: c.w.form > form07}",
	},
	{
		name: "events of an exit come before its compensation", in: "internal/dialect/sw08",
		old: "	for i := len(events) - 1; i >= 0; i-- {\n		next = c.emit(at, ref, events[i], nil, next)\n	}\n	if compensate {\n		next = c.Node(at, &ir.Undo{}, next)\n	}\n",
		new: "	if compensate {\n		next = c.Node(at, &ir.Undo{}, next)\n	}\n	for i := len(events) - 1; i >= 0; i-- {\n		next = c.emit(at, ref, events[i], nil, next)\n	}\n",
	},
	{
		name: "a batch begins before the last one is done", in: "internal/dialect/sw08",
		old: "Batch: b.batch && b.most != nil,",
		new: "Batch: false,",
	},
	{
		name: "batches are one item longer", in: "internal/core",
		old: "op.Each.Batch && slot == fan.next && slot%fan.limit == 0 {",
		new: "op.Each.Batch && fan.next > fan.limit && fan.next%fan.limit == 1 {",
	},
	{
		name: "a sequential foreach is none", in: "internal/dialect/sw08",
		old: "	if b.sequential {\n		each.Max",
		new: "	if b.sequential && b.keep {\n		each.Max",
	},
	{
		name: "a result of 0.9 has the key of 0.8", in: "internal/dialect/sw08",
		old: "		if k.w.form == form09 && a.name.Literal() != \"\" {\n			put.Pick.Key",
		new: "		if k.w.form > form09 && a.name.Literal() != \"\" {\n			put.Pick.Key",
	},
	{
		name: "the single part of a state's time is for nobody", in: "internal/dialect/sw08",
		old: "	return shorter(own, k.limit.single)\n",
		new: "	return own\n",
	},
	{
		name: "an action that waits for its event has no time of its own", in: "internal/dialect/sw08",
		old: "	case a.trigger != nil && a.trigger.timeout != nil:\n		own = a.trigger.timeout\n",
		new: "",
	},
	{
		name: "parallel actions see what the others merged", in: "internal/dialect/sw08",
		old: "	if !a.parallel || len(a.list) < 2 {\n",
		new: "	if !a.parallel || len(a.list) < 3 {\n",
	},
	{
		name: "an asynchronous child outlives its parent", in: "internal/dialect/sw08",
		old: "	case f.outlives:\n",
		new: "	case f.outlives || k.w.keepActive || f.async:\n",
	},
	{
		name: "an action is performed whatever its condition", in: "internal/dialect/sw08",
		old: "	if a.condition == nil {\n		return first\n	}\n",
		new: "	if a.condition == nil || a.to != nil {\n		return first\n	}\n",
	},
	{
		name: "a delay is made of the first one", in: "internal/core",
		old: "		if at, fault = m.delayed(in, p, m.now+f.delays[i], 1); fault == nil {\n",
		new: "		if at, fault = m.delayed(in, p, m.now+f.delays[i]*0, 1); fault == nil {\n",
	},
	{
		name: "the multiplier comes before the increment", in: "internal/core",
		old: "		if at, fault = m.delayed(in, p, m.now+f.delays[i], 1); fault == nil {\n			at, fault = m.multiplied(at, cmp.Or(p.Factor, 1))\n		}\n",
		new: "		if at, fault = m.multiplied(m.now+f.delays[i], cmp.Or(p.Factor, 1)); fault == nil {\n			at, fault = m.delayed(in, p, at, 1)\n		}\n",
	},
	{
		name: "maxDelay does not bound a delay", in: "internal/core",
		old: "	return min(at, most), fault\n}\n\n// jittered",
		new: "	return max(at, min(at, most)), fault\n}\n\n// jittered",
	},
	{
		name: "a whole event is its payload", in: "internal/dialect/sw08",
		old: "	case e.whole:\n		pick.First = \"id\"\n",
		new: "	case e.whole:\n		pick.First = \"nothing\"\n",
	},
	{
		name: "time that is over is noticed by the end alone", in: "internal/dialect/sw08",
		old: "		if !s.compensation { // a compensation that began is finished\n			next = c.onward(at, next)\n		}\n",
		new: "",
	},
	{
		name: "a wait for an event outlives its state's time", in: "internal/dialect/sw08",
		old: "	first := shorter(t.event, t.state)\n",
		new: "	first := shorter(t.event, nil)\n",
	},
}
