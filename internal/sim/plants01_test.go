package sim

// plants01 are bugs in what is only there for Serverless Workflow 0.1. The conformance
// cases must find them, or the oracle.
var plants01 = []plant{
	{
		name: "what a function returns is merged", in: "internal/dialect/sw01",
		old: "Args: c.parameters(a.function.parameters), Result: ir.Put{Mode: ir.PutReplace}}",
		new: "Args: c.parameters(a.function.parameters), Result: ir.Put{Mode: ir.PutMerge}}",
	},
	{
		name: "actions always run one after the other", in: "internal/dialect/sw01",
		old: "if !a.parallel || len(a.list) == 0 {",
		new: "if !a.parallel || len(a.list) >= 0 {",
	},
	{
		name: "the output path comes before the result path", in: "internal/dialect/sw01",
		old: "	if put := c.replace(f.output); put.Mode != ir.PutNone {\n		next = c.Node(at, &ir.Eval{Put: put}, next)\n	}\n	if len(f.result) > 0 {\n		next = c.Node(at, &ir.Eval{Put: ir.Put{Mode: ir.PutReplace, Path: f.result}}, next)\n	}\n",
		new: "	if len(f.result) > 0 {\n		next = c.Node(at, &ir.Eval{Put: ir.Put{Mode: ir.PutReplace, Path: f.result}}, next)\n	}\n	if put := c.replace(f.output); put.Mode != ir.PutNone {\n		next = c.Node(at, &ir.Eval{Put: put}, next)\n	}\n",
	},
	{
		name: "a result path makes one object", in: "internal/dialect/sw01",
		old: "Put{Mode: ir.PutReplace, Path: f.result}",
		new: "Put{Mode: ir.PutReplace, Path: f.result[:1]}",
	},
	{
		name: "the input path of an action is ignored", in: "internal/dialect/sw01",
		old: "if put := c.replace(a.filter.input); put.Mode != ir.PutNone {",
		new: "if put := c.replace(a.filter.input); put.Mode != ir.PutNone && put.Path != nil {",
	},
	{
		name: "branches are waited for in every form", in: "internal/dialect/sw01",
		old: "func (f form) waits() bool { return f == early }",
		new: "func (f form) waits() bool { return f <= camel }",
	},
	{
		name: "every branch is waited for", in: "internal/dialect/sw01",
		old: "Detached: !br.wait}",
		new: "Detached: false}",
	},
	{
		name: "a branch that ends with FAILURE has succeeded", in: "internal/dialect/sw01",
		old: "	case b.failure && inBranch:\n",
		new: "	case inBranch:\n	case b.failure && inBranch:\n",
	},
	{
		name: "END with FAILURE is a success", in: "internal/dialect/sw01",
		old: "end = c.Node(at, &ir.End{Fail: SysFail}, 0)",
		new: "end = c.Node(at, &ir.End{}, 0)",
	},
	{
		name: "end: true with a next state goes on", in: "internal/dialect/sw01",
		old: "	case to != nil && s.end == nil:\n",
		new: "	case to != nil:\n",
	},
	{
		name: "a switch without a match ends the workflow", in: "internal/dialect/sw01",
		old: "	case s.end != nil:\n		otherwise = c.finish(s, nil)\n	default:\n",
		new: "	case b.otherwise == nil:\n		otherwise = c.finish(s, nil)\n	default:\n",
	},
	{
		name: "the last choice is asked first", in: "internal/dialect/sw01",
		old: "		branch.Cases = append(branch.Cases, ir.Case{\n			When: c.condition(k.when.tree(), k.node.IRPos()),\n			Next: c.output(s, c.left(s, c.entries[k.next.to.index])),\n		})\n",
		new: "		branch.Cases = append([]ir.Case{{\n			When: c.condition(k.when.tree(), k.node.IRPos()),\n			Next: c.output(s, c.left(s, c.entries[k.next.to.index])),\n		}}, branch.Cases...)\n",
	},
	{
		name: "not of a list means none of it", in: "internal/dialect/sw01",
		old: "	if join == \"or\" {\n",
		new: "	if join == \"or\" || join == \"not\" {\n",
	},
	{
		name: "the case of an operator counts", in: "internal/dialect/sw01",
		old: "if strings.EqualFold(o.name, n.Text) {",
		new: "if o.name == n.Text {",
	},
	{
		name: "a lapse never leads to the END state", in: "internal/dialect/sw01",
		old: "	if ends := s.scope.ends; len(ends) == 1 {\n		return c.entries",
		new: "	if ends := s.scope.ends; len(ends) == 1 && s.scope.branch != nil {\n		return c.entries",
	},
	{
		name: "a lapse leads to the first of several END states", in: "internal/dialect/sw01",
		old: "	if ends := s.scope.ends; len(ends) == 1 {\n		return c.entries",
		new: "	if ends := s.scope.ends; len(ends) >= 1 {\n		return c.entries",
	},
	{
		name: "all entries have the time of the first", in: "internal/dialect/sw01",
		old: "return !e.expression.alternative() || span(e.timeout) != first",
		new: "return !e.expression.alternative() || first.Until != \"\"",
	},
	{
		name: "a state lapses with the shortest time", in: "internal/dialect/sw01",
		old: "e.timeout.value.AddTo(from).After(out.value.AddTo(from))",
		new: "out.value.AddTo(from).After(e.timeout.value.AddTo(from))",
	},
	{
		name: "or binds closer than and", in: "internal/dialect/sw01",
		old: "func (x *exprScanner) or() *eventExpr  { return x.list(\"or\", x.and, \"or\", \"||\") }\nfunc (x *exprScanner) and() *eventExpr { return x.list(\"and\", x.not, \"and\", \"&&\") }\n",
		new: "func (x *exprScanner) or() *eventExpr  { return x.list(\"and\", x.and, \"and\", \"&&\") }\nfunc (x *exprScanner) and() *eventExpr { return x.list(\"or\", x.not, \"or\", \"||\") }\n",
	},
	{
		name: "not of a group keeps its operator", in: "internal/dialect/sw01",
		old: "		op = map[string]string{\"and\": \"or\", \"or\": \"and\"}[op]\n",
		new: "",
	},
	{
		name: "a quoted name is a word of the language", in: "internal/dialect/sw01",
		old: "	if x.quoted {\n		return false\n	}\n",
		new: "",
	},
	{
		name: "not is satisfied by its event", in: "internal/dialect/sw01",
		old: "Arms: []ir.Arm{{Event: e.trigger.id, Next: g.never()}}, Need: 1,",
		new: "Arms: []ir.Arm{{Event: e.trigger.id, Next: next}}, Need: 1,",
	},
	{
		name: "half of an and starts an instance", in: "internal/dialect/sw01",
		old: "w.c.Program.Start.All, w.c.Program.Start.Window = true, span(e.timeout)",
		new: "w.c.Program.Start.All, w.c.Program.Start.Window = false, span(e.timeout)",
	},
	{
		name: "events that start an instance have all the time", in: "internal/dialect/sw01",
		old: "w.c.Program.Start.All, w.c.Program.Start.Window = true, span(e.timeout)",
		new: "w.c.Program.Start.All = true",
	},
	{
		name: "R5 is tried as often as maxRetry says", in: "internal/dialect/sw01",
		old: "r.max = min(r.max, times)",
		new: "r.max = max(r.max, 0)",
	},
	{
		name: "R5 without maxRetry is never tried again", in: "internal/dialect/sw01",
		old: "if r.max = max(times, 0); times < 0 && r.interval != nil {",
		new: "if r.max = min(times, 0); times < 0 && r.interval != nil {",
	},
	{
		name: "a later retry beats an earlier one for any error", in: "internal/dialect/sw01",
		old: "	case k.closed:\n	case k.rest == nil ||",
		new: "	case k.rest == nil || k.closed ||",
	},
	{
		name: "SYS.Fail takes every error", in: "internal/dialect/sw01",
		old: "if !k.whole && !k.handled[one.name] {",
		new: "if !k.whole && !k.handled[one.name] && one.name == \"\" {",
	},
	{
		name: "403 is no SYS.Permission", in: "internal/dialect/sw01",
		old: "permissionCodes = []string{\"401\", \"403\"}",
		new: "permissionCodes = []string{\"401\"}",
	},
	{
		name: "a code says more than a SYS name", in: "internal/dialect/sw01",
		old: "			k.named(name)\n		}\n	}\n",
		new: "			if other.name == one.name {\n				k.named(name)\n			}\n		}\n	}\n",
	},
	{
		name: "a call without an answer has the data as its result", in: "internal/dialect/sw01",
		old: "		call.Result.Path = []string{answerKey}\n		next = c.Node(at, unwanted, c.answered(at, next))\n",
		new: "		next = c.Node(at, &ir.Eval{Put: ir.Put{Mode: ir.PutReplace, Path: []string{answerKey}}}, c.Node(at, unwanted, c.answered(at, next)))\n",
	},
	{
		name: "$.data is no event filter", in: "internal/dialect/sw01",
		old: "return e.filter != nil && !e.filter.Root }",
		new: "return e.filter != nil && !e.filter.Root && e.filter.src != \"$.data\" }",
	},
	{
		name: "a result is never asked for again", in: "internal/dialect/sw01",
		old: "	if len(unwanted.Cases) > 0 {\n",
		new: "	if len(unwanted.Cases) > 0 && a.timeout != nil {\n",
	},
	{
		name: "the timeout of a call is ignored", in: "internal/dialect/sw01",
		old: "Timeout: span(a.timeout), Catch: c.catches(at, a)}",
		new: "Catch: c.catches(at, a)}",
	},
	{
		name: "seconds are minutes", in: "internal/dialect/sw01",
		old: "calendar.ParseDuration(\"PT\" + written + \"S\")",
		new: "calendar.ParseDuration(\"PT\" + written + \"M\")",
	},
	{
		name: "parameters may hold templates", in: "internal/dialect/sw01",
		old: "return expr.String(jsonpath.Escape(n.Text))",
		new: "return expr.String(n.Text)",
	},
	{
		name: "a call without parameters gets nothing", in: "internal/dialect/sw01",
		old: "call.Data = call.Args == 0",
		new: "call.Data = false",
	},
	{
		name: "a sub-workflow replaces the data", in: "internal/dialect/sw01",
		old: "op.Result = ir.Put{Mode: ir.PutMerge, Warn: true}",
		new: "op.Result = ir.Put{Mode: ir.PutReplace, Warn: true}",
	},
	{
		name: "ids of states lead nowhere", in: "internal/dialect/sw01",
		old: "	case byName == nil:\n		byName = byID\n",
		new: "",
	},
	{
		name: "a dangling reference takes the nearest state", in: "internal/dialect/sw01",
		old: "	if byName != nil {\n		ref.likely = byName\n		return byName\n	}\n",
		new: "	if byName == nil {\n		for _, s := range in.states {\n			byName = in.byName.Get(dialect.Suggest(n.Text, []string{s.name.Literal()}))\n		}\n	}\n	if byName != nil {\n		ref.likely = byName\n		return byName\n	}\n",
	},
	{
		name: "kebab keys are not looked for first", in: "internal/dialect/sw01",
		old: "	case m.kebab != \"\":\n",
		new: "	case m.kebab != \"\" && m.camel == \"\":\n",
	},
	{
		name: "at most is less than", in: "internal/expr/choice",
		old: "return c <= 0",
		new: "return c < 0",
	},
	{
		name: "a written number is a text", in: "internal/expr/choice",
		old: "if n, err := expr.Number(strings.TrimSpace(v.Str())); err == nil {",
		new: "if n, err := expr.Number(strings.TrimSpace(v.Str())); err != nil {",
	},
	{
		name: "a missing path compares with nothing", in: "internal/expr/choice",
		old: "	if r.Missing { // every comparison with a missing value is false\n		return false, nil\n	}\n",
		new: "	if r.Missing {\n		r.Value = expr.String(\"\")\n	}\n",
	},
	{
		name: "Exists does not look at its value", in: "internal/expr/choice",
		old: "return r.Missing == IsFalse(n.value), nil",
		new: "return !r.Missing, nil",
	},
	{
		name: "or needs all", in: "internal/expr/choice",
		old: "err != nil || ok == (n.op == Or) {",
		new: "err != nil || !ok {",
	},
	{
		name: "eventID is only the type", in: "event",
		old: "if f.Either != \"\" && e.Type != f.Either && e.ID != f.Either {",
		new: "if f.Either != \"\" && e.Type != f.Either {",
	},
	{
		name: "a token is never a field of the data", in: "event",
		old: "v, ok = e.Data.Get(place)",
		new: "v, ok = e.Data.Get(\"\\x00\" + place)",
	},
	{
		name: "a field of the data hides the attribute of its name", in: "event",
		old: "		if value, ok := e.Attribute(place); ok {\n			return value, true\n		}\n		v, ok = e.Data.Get(place)\n",
		new: "		if v, ok = e.Data.Get(place); !ok {\n			return e.Attribute(place)\n		}\n",
	},
	{
		name: "correlation looks at one place for all events", in: "internal/engine",
		old: "				key.From = c.From\n",
		new: "				key.From = \"\"\n",
	},
	{
		name: "what one alternative leaves is lost", in: "internal/engine",
		old: "left = left || g.Events[slot] != 0",
		new: "left = left && g.Events[slot] != 0",
	},
	{
		name: "an event of two alternatives starts two instances", in: "internal/engine",
		old: "		if slices.Contains(used, seq) {\n",
		new: "		if slices.Contains(used, seq) && slot == 0 {\n",
	},
}
