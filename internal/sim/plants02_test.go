package sim

// plants02 are bugs in what is only there for Serverless Workflow 0.1 as released and 0.2. The conformance cases must find
// them, or the oracle.
var plants02 = []plant{
	{
		name: "an error definition of 0.2 takes every error", in: "internal/dialect/sw05",
		old: "return ir.Catch{Any: true, Only: &ir.ErrorFilter{When: c.test(e.test)}, Put: c.errorPut(e), Next: next}",
		new: "return ir.Catch{Any: true, Put: c.errorPut(e), Next: next}",
	},
	{
		name: "the error of 0.2 is not merged into the data", in: "internal/dialect/sw05",
		old: "Put: c.errorPut(e), Next: next}",
		new: "Next: next}",
	},
	{
		name: "a handler of 0.2 that ends a branch lets the error climb on", in: "internal/dialect/sw05",
		old: "	if next == 0 { // the end of a branch",
		new: "	if next < 0 { // the end of a branch",
	},
	{
		name: "retries of 0.2 hide the error definitions", in: "internal/dialect/sw05",
		old: "		if len(s.retries) > 0 && len(s.onErrors) > 0 {",
		new: "		if len(s.retries) > 9 && len(s.onErrors) > 0 {",
	},
	{
		name: "a result to try again for is taken", in: "internal/dialect/sw05",
		old: "if r.test == nil || r.test.error || r.maxAttempts == 0 {",
		new: "if r.test != nil || r.test.error || r.maxAttempts == 0 {",
	},
	{
		name: "the number of an interval is ignored", in: "internal/dialect/sw05",
		old: "	if times >= 0 {\n		r.maxAttempts = times\n	}\n",
		new: "",
	},
	{
		name: "filtered branches give what they added", in: "internal/dialect/sw05",
		old: "	if s.filtered() {",
		new: "	if s.filtered() && s.parent == nil {",
	},
	{
		name: "branches of 0.1 as released are waited for", in: "internal/dialect/sw05",
		old: "	b.detached = !wait\n",
		new: "	b.detached = !wait && wait\n",
	},
	{
		name: "the end of a branch ends the workflow", in: "internal/dialect/sw05",
		old: "if s.scope.parent == nil || e.end.terminate {",
		new: "if s.scope.parent == nil || e.end != nil {",
	},
	{
		name: "an iteration of states has its item only", in: "internal/core",
		old: "data = f.data.WithPath(op.Each.In, fan.items[slot])",
		new: "data = expr.Null.WithPath(op.Each.In, fan.items[slot])",
	},
	{
		name: "expressions do not see the error beside data that is no object", in: "internal/core",
		old: "in.Lent = m.overlay(lent, in.Lent); !in.Data.IsObject() {",
		new: "in.Lent = m.overlay(lent, in.Lent); in.Data.IsNull() {",
	},
	{
		name: "all values of an indefinite path must match", in: "internal/expr/choice",
		old: "if ok, err := n.compare(item, b); ok || err != nil {",
		new: "if ok, err := n.compare(item, b); !ok || err != nil {",
	},
	{
		name: "a pause between iterations does not hold them back", in: "internal/dialect/sw05",
		old: "	if b.pause != nil {\n		each.Max =",
		new: "	if b.pause != nil && b.max != nil {\n		each.Max =",
	},
}
