package sim

// plants10 are bugs in what Open Workflow 1.0 needs: its compiler, and what of the core only its programs use. The oracle must
// find them.
var plants10 = []plant{
	{
		name: "the first run counts as a retry", in: "internal/dialect/sw10",
		old: "&ir.Retry{Max: int(y.attempts),",
		new: "&ir.Retry{Max: max(0, int(y.attempts)-1),",
	},
	{
		name: "the n-th retry waits 2ⁿ times its delay", in: "internal/core",
		old: "math.Pow(p.Factor, float64(retries))",
		new: "math.Pow(p.Factor, float64(retries+1))",
	},
	{
		name: "a linear backoff is exponential", in: "internal/dialect/sw10",
		old: "		out.Add = out.Delay\n",
		new: "		out.Factor = 2\n",
	},
	{
		name: "a delay may end after the time for all attempts", in: "internal/core",
		old: "if at-f.began > within-m.now {",
		new: "if m.now-f.began > within-m.now {",
	},
	{
		name: "a catch with a type ignores its status", in: "internal/dialect/sw10",
		old: "		if f.status != nil {\n",
		new: "		if f.status != nil && f.typ == nil {\n",
	},
	{
		name: "a catch ignores the title of its errors", in: "internal/dialect/sw10",
		old: "			{Name: \"title\", Value: text(f.title, nil)},\n",
		new: "",
	},
	{
		name: "an older spelling of a type is another type", in: "internal/dialect/sw10",
		old: "Value: text(f.typ, errorType)",
		new: "Value: text(f.typ, nil)",
	},
	{
		name: "an error is swallowed after its retries", in: "internal/dialect/sw10",
		old: "	case c.retry.def == nil:\n		if out.Next",
		new: "	default:\n		if out.Next",
	},
	{
		name: "catch.then is ignored", in: "internal/dialect/sw10",
		old: "	if c.then.node != nil {\n		handled",
		new: "	if c.then.node != nil && c.do == nil {\n		handled",
	},
	{
		name: "the error of an inner catch stays", in: "internal/core",
		old: "		parent.bind(caughtError, ErrorObject(fault))\n",
		new: "		parent.bind(caughtError, ErrorObject(fault))\n		parent.bind(op.Takes, ErrorObject(fault))\n",
	},
	{
		name: "a retry begins with an empty context", in: "internal/core",
		old: "	f.phase, f.dirty = phaseRun, true\n	m.begin(f, r)\n",
		new: "	f.phase, f.dirty = phaseRun, true\n	m.s.context, m.s.headDirty = expr.EmptyObject, true\n	m.begin(f, r)\n",
	},
	{
		name: "a retry gives the task around it its whole time again", in: "internal/core",
		old: "	f.phase, f.dirty = phaseRun, true\n	m.begin(f, r)\n",
		new: "	f.phase, f.dirty = phaseRun, true\n	if p := m.s.frame(f.parent); p.kind == kindEnter {\n		m.closeWaits(p, func(w wait) bool { return w.kind == WaitDeadline })\n		m.arm(p, m.p.Regions[p.region].Timeout, WaitDeadline)\n	}\n	m.begin(f, r)\n",
	},
	{
		name: "each iteration begins with what the loop was given", in: "internal/core",
		old: "	case op.Join == ir.JoinLast:\n",
		new: "	case op.Join == ir.JoinLast && fan.ended+1 < fan.need:\n	case op.Join == ir.JoinLast:\n",
	},
	{
		name: "while is not asked before the first iteration", in: "internal/core",
		old: "	if each.While == 0 {\n",
		new: "	if each.While == 0 || slot == 0 {\n",
	},
	{
		name: "the index of a loop counts from one", in: "internal/core",
		old: "{each.At, expr.Int(int64(slot))}",
		new: "{each.At, expr.Int(int64(slot) + 1)}",
	},
	{
		name: "a race waits for every branch", in: "internal/core",
		old: "		fan.need = min(waited, 1)\n",
		new: "		fan.need = waited\n",
	},
	{
		name: "end inside of a task ends only its list", in: "internal/dialect/sw10",
		old: "	case flowEnd:\n		return k.finish\n",
		new: "	case flowEnd:\n		if k.l.prefix != \"\" {\n			return k.l.end\n		}\n		return k.finish\n",
	},
	{
		name: "exit ends the workflow", in: "internal/dialect/sw10",
		old: "			return k.Out(k.place, &ir.Eval{}, k.l.exit)\n		}\n		return k.l.end\n",
		new: "			return k.Out(k.place, &ir.Eval{}, k.l.exit)\n		}\n		return k.finish\n",
	},
	{
		name: "a task that is skipped is followed by its then", in: "internal/dialect/sw10",
		old: "		c.Fill(entry, &ir.Branch{Cases: []ir.Case{{When: c.expr(t.when), Next: first}}}, l.after(i))\n",
		new: "		c.Fill(entry, &ir.Branch{Cases: []ir.Case{{When: c.expr(t.when), Next: first}}}, k.then(t.then))\n",
	},
	{
		name: "if sees the transformed input", in: "internal/dialect/sw10",
		old: "		c.Fill(entry, &ir.Branch{Cases: []ir.Case{{When: c.expr(t.when), Next: first}}}, l.after(i))\n",
		new: "		c.Fill(entry, &ir.Eval{From: c.expr(t.input.value), Put: bound(\"lockstepInput\")}, k.node(&ir.Branch{Cases: []ir.Case{{When: c.Expr(langIf, \"$lockstepInput | \"+t.when.src, t.when.pos), Next: first}}}, l.after(i)))\n",
	},
	{
		name: "export sees the raw output", in: "internal/dialect/sw10",
		old: "	if t := k.t; t.export.node != nil {\n		last = k.exported(t.export)\n	} else if t.output.node != nil {\n		last = k.transform(t.output, true)\n	}\n	next = k.at(k.Leave(k.place, last, next), k.t.ref)\n	if t := k.t; t.export.node != nil {\n		next = k.replaced(t.export, next)\n		if t.export.value.asks(varOutput, \"\") {\n			next = k.node(&ir.Eval{Put: bound(varOutput)}, next)\n		}\n		if t.output.node != nil {\n			next = k.node(k.transform(t.output, true), next)\n		}\n	}\n",
		new: "	if t := k.t; t.output.node != nil {\n		last = k.transform(t.output, true)\n	}\n	next = k.at(k.Leave(k.place, last, next), k.t.ref)\n	if t := k.t; t.export.node != nil {\n		next = k.node(k.exported(t.export), next)\n		if t.export.value.asks(varOutput, \"\") {\n			next = k.node(&ir.Eval{Put: bound(varOutput)}, next)\n		}\n	}\n",
	},
	{
		name: "the default of a switch is taken where it stands", in: "internal/dialect/sw10",
		old: "	for _, one := range b.cases {\n		op.Cases = append(op.Cases, ir.Case{When: k.expr(one.when), Next: k.leave(k.then(one.then))})\n",
		new: "	for _, one := range b.cases {\n		if o := b.otherwise; o != nil && o.node.IRPos().Column < one.node.IRPos().Column {\n			break\n		}\n		op.Cases = append(op.Cases, ir.Case{When: k.expr(one.when), Next: k.leave(k.then(one.then))})\n",
	},
	{
		name: "the error of a child keeps its place in the child", in: "internal/core",
		old: "		fault.Instance = \"\" // it arises here, for this workflow\n",
		new: "",
	},
	{
		name: "one event serves two filters", in: "internal/core",
		old: "return o.kind == WaitFeed && o.arm == arm })",
		new: "return o.kind == WaitFeed && m.accepts(f, &m.p.Events[feedEvent(op, o.arm)], event) })",
	},
	{
		name: "until is tested before an event is taken", in: "internal/core",
		old: "			fan.need = fan.total\n		}\n	}\n	return nil\n",
		new: "			fan.need = fan.total + 1\n		}\n	}\n	return nil\n",
	},
	{
		name: "the first value of a correlation is not kept", in: "internal/core",
		old: "		f.bind(name, v)\n		fixed = true\n",
		new: "		fixed = v.IsNull()\n",
	},
	{
		name: "events are worked on side by side", in: "internal/core",
		old: "	if fan.live == 0 && fan.next < fan.total {\n",
		new: "	for fan.next < fan.total {\n",
	},
	{
		name: "what comes after a task is in the order of its extensions", in: "internal/dialect/sw10",
		old: "	next := to\n	for i, x := range k.exts {\n",
		new: "	next := to\n	for i, x := range slices.Backward(k.exts) {\n",
	},
	{
		name: "the element of a foreach is what its tasks gave", in: "internal/dialect/sw10",
		old: "	if f.output.value == nil {\n		element.From",
		new: "	if f.output.node == nil {\n		element.From",
	},
	{
		name: "before a task is done its output is what its definition says of it", in: "internal/dialect/sw10",
		old: "	if len(k.exts) > 0 {\n		src = literal(k.t.node.Value().Without(\"output\"))",
		new: "	{\n		src = literal(k.t.node.Value())",
	},
}
