package sim

// plant is a bug that is put into a copy of the source: in one package, the text old, which must
// stand there exactly once, becomes new.
type plant struct {
	name     string // what is wrong then, in words
	in       string // the package's folder, or a file that is not Go
	old, new string
	by       string // the package and the test that must find it; empty: the suites of its kind
	and      *plant // where two places keep it from happening: the other one, in another file
}

// plants are the bugs that the tests must find, see README.md for what finds each.
var plants = []plant{
	{
		name: "one retry too many", in: "internal/core",
		old: "if int(f.attempts[i]) >= policy.Max &&",
		new: "if int(f.attempts[i]) > policy.Max &&",
	},
	{
		name: "the multiplier counts from the first retry on", in: "internal/core",
		old: "m.delayed(in, p, at, retries)",
		new: "m.delayed(in, p, at, retries+1)",
	},
	{
		name: "a retry goes on with the data of the failed attempt", in: "internal/core",
		old: "f.data, f.node = f.input, r.Entry",
		new: "f.node = r.Entry",
	},
	{
		name: "branches go on while a retry waits", in: "internal/core",
		old: "	m.closeChildren(f)\n	m.forgetFan(f)\n",
		new: "",
	},
	{
		name: "losers of a join are not cancelled", in: "internal/core",
		old: "	m.closeChildren(f)\n	fan := f.fan\n",
		new: "	fan := f.fan\n",
	},
	{
		name: "a join needs one branch more than n", in: "internal/core",
		old: "if fan.ended < fan.need {",
		new: "if fan.ended <= fan.need && fan.ended < fan.total {",
	},
	{
		name: "branches merge in reverse order", in: "internal/core",
		old: "	for _, r := range results {\n		for _, v := range r.value.Items() {",
		new: "	for i := range results {\n		r := results[len(results)-1-i]\n		for _, v := range r.value.Items() {",
	},
	{
		name: "max of a foreach is ignored", in: "internal/core",
		old: "fan.limit = int32(min(most, int64(len(items))))",
		new: "fan.limit = int32(len(items))",
	},
	{
		name: "a failing item that nothing handles cancels the others", in: "internal/core",
		old: "if fault.Final || op.Join == ir.JoinLast ||",
		new: "if true || fault.Final || op.Join == ir.JoinLast ||",
	},
	{
		name: "a failing item that is handled waits for the others", in: "internal/core",
		old: "f.fan.limit == 1 || m.mayHandle(f, fault) {",
		new: "f.fan.limit == 1 {",
	},
	{
		name: "the error of a foreach is that of its last failed item", in: "internal/core",
		old: "fault := x.results[x.bad[0]].fault",
		new: "fault := x.results[x.bad[len(x.bad)-1]].fault",
	},
	{
		name: "an iteration sees only its item", in: "internal/core",
		old: "			under = lent\n",
		new: "			under = lent.Without(\"\").Append()\n",
	},
	{
		name: "a wildcard beats later specific errors", in: "internal/core",
		old: "		case ok:\n			wild = i\n",
		new: "		case ok:\n			return i, nil\n",
	},
	{
		name: "a contradicting error code is ignored", in: "internal/core",
		old: "return named && (coded || uncoded) || f.Name == FaultUnnamed && coded",
		new: "return named && (coded || uncoded || c.Code != \"\") || f.Name == FaultUnnamed && coded",
	},
	{
		name: "compensation runs oldest first", in: "internal/core",
		old: "	r := l.regions[n-1]\n	l.regions = l.regions[:n-1]\n",
		new: "	r := l.regions[0]\n	l.regions = l.regions[1:]\n",
	},
	{
		name: "data do not flow through compensation", in: "internal/core",
		old: "parent.data, parent.phase, parent.dirty = f.data, phaseRun, true",
		new: "parent.phase, parent.dirty = phaseRun, true",
	},
	{
		name: "the handler of an error gets the data of the failure", in: "internal/core",
		old: "parent.data, parent.dirty = f.input, true",
		new: "parent.data, parent.dirty = f.data, true",
	},
	{
		name: "correlation is never fixed", in: "internal/core",
		old: "fixed = m.s.fix(c.Attribute, v.Text()) || fixed",
		new: "fixed = v.Text() == \"\" && fixed",
	},
	{
		name: "a timeout takes the way of an event", in: "internal/core",
		old: "	m.goTo(f, op.OnTimeout)\n",
		new: "	if len(op.Arms) > 0 {\n		m.goTo(f, op.Arms[0].Next)\n		return\n	}\n	m.goTo(f, op.OnTimeout)\n",
	},
	{
		name: "events merge in the order of their arrival", in: "internal/core",
		old: "	slices.SortStableFunc(taken, func(a, b heard) int { return int(a.index - b.index) })\n",
		new: "",
	},
	{
		name: "a terminate does not leave its sub-flow", in: "internal/core",
		old: "if in.Terminate {",
		new: "if in.Terminate && in.None {",
	},
	{
		name: "the input filter of an action is ignored", in: "internal/core",
		old: "	return m.alone(f, v), nil\n",
		new: "	_ = v\n	return m.scope(f), nil\n",
	},
	{
		name: "a state filter wraps deep values too", in: "internal/dialect/sw05",
		old: "if p.Definite && p.Depth == 1 && p.Name != \"\" {",
		new: "if p.Definite && p.Name != \"\" {",
	},
	{
		name: "a single match of a results filter is wrapped", in: "internal/dialect/sw05",
		old: "	if !p.Definite {\n		pick.Wrap = ir.WrapMatches\n	}\n",
		new: "",
	},
	{
		name: "a transition's events come before its compensation", in: "internal/dialect/sw05",
		old: "		next := c.produce(at, t.produce, c.entries[t.to.index])\n		if t.compensate != nil {\n			next = c.Node(at, &ir.Undo{}, next)\n		}\n",
		new: "		next := c.entries[t.to.index]\n		if t.compensate != nil {\n			next = c.Node(at, &ir.Undo{}, next)\n		}\n		next = c.produce(at, t.produce, next)\n",
	},
	{
		name: "a transition's expression is ignored", in: "internal/dialect/sw05",
		old: "		if t.expression != nil || t.test != nil {\n",
		new: "		if t.expression != nil && t.to == nil {\n",
	},
	{
		name: "produced events come in reverse order", in: "internal/dialect/sw05",
		old: "for i := len(list) - 1; i >= 0; i-- {",
		new: "for i := range list {",
	},
	{
		name: "an event state that needs all events takes the first", in: "internal/dialect/sw05",
		old: "	await.Need = len(await.Arms)\n",
		new: "	await.Need = 1\n",
	},
	{
		name: "the timeout of an action is ignored", in: "internal/dialect/sw05",
		old: "	if a.timeout == nil {\n",
		new: "	if a.timeout == nil || a.call != nil {\n",
	},
	{
		name: "parallel actions run one after the other", in: "internal/dialect/sw05",
		old: "if !a.parallel || len(a.list) < 2 {",
		new: "if !a.parallel || len(a.list) < 9 {",
	},
	{
		name: "an instance consumes its own events", in: "internal/engine",
		old: "return !ok || s.Instance == d.row.Producer\n",
		new: "return !ok\n",
	},
	{
		name: "merging repeats equal items", in: "expr",
		old: "			if !m.contains(out, item) {",
		new: "			if !m.contains(out[:0], item) {",
	},
	{
		name: "a timer is set too early", in: "internal/core",
		old: "	return f.open(kind, brief, at)\n",
		new: "	return f.open(kind, brief, max(m.now, at-1_000_000))\n",
	},
}
