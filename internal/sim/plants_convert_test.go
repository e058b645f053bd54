package sim

// plantsConvert are mistakes in the conversion of 0.1 to 0.5. Each names the construct whose
// comparison of both definitions must find it.
var plantsConvert = []plant{
	{
		name: "filters are not applied", in: "internal/convert", by: "internal/convert TestConstructs/state_filters",
		old: "	if p == nil || p.Root {\n		return\n	}\n	ch.narrow()\n",
		new: "	if p == nil || p.Root || p.Src != \"\" {\n		return\n	}\n	ch.narrow()\n",
	},
	{
		name: "a workflow ends with its data in an array", in: "internal/convert", by: "internal/convert TestConstructs/end:_true",
		old: "	ch.last().out = ch.last().bare\n	ch.emit(obj(\"end\"",
		new: "	ch.emit(obj(\"end\"",
	},
	{
		name: "the first of several results goes on", in: "internal/convert", by: "internal/convert TestConstructs/calls_one_after_the_other",
		old: "ch.last().out, ch.wide = ch.last().array, false\n",
		new: "ch.last().out, ch.wide = ch.last().array, false\nif ch.last().out == \"$.data[-1:]\" {\nch.last().out = \"$.data[0:1]\"\n}\n",
	},
	{
		name: "a call has no timeout", in: "internal/convert", by: "internal/convert TestConstructs/timeout",
		old: "	if a.Timeout != nil {\n		action = ",
		new: "	if a.Timeout != nil && false {\n		action = ",
	},
	{
		name: "parameters are taken from the wrong data", in: "internal/convert", by: "internal/convert TestConstructs/parameters",
		old: "return templated(*a.Parameters, data)",
		new: "return *a.Parameters",
	},
	{
		name: "a call is not retried", in: "internal/convert", by: "internal/convert TestConstructs/retry_with_a_next_state",
		old: "			if r.Max > 0 {\n				h = ",
		new: "			if r.Max < 0 {\n				h = ",
	},
	{
		name: "the next state of a retry has the data of the failed state", in: "internal/convert", by: "internal/convert TestConstructs/retry_with_a_next_state",
		old: "	case ch.st.Type != eventType:\n		state = state.With(\"stateDataFilter\", obj(\"dataInputPath\", text(\"$.data[0:1]\")))",
		new: "	case ch.st.Type != eventType:\n		state = state.With(\"stateDataFilter\", obj(\"dataInputPath\", text(\"$.data[-1:]\")))",
	},
	{
		name: "a retry that fails in the end has one attempt too many", in: "internal/convert", by: "internal/convert TestConstructs/retry_that_fails_in_the_end",
		old: "	if r.Max > 1 {\n		h = h.With(\"retryRef\", str(ch.sc.retry(r.Interval.String(), r.Max-1)))",
		new: "	if r.Max > 0 {\n		h = h.With(\"retryRef\", str(ch.sc.retry(r.Interval.String(), max(r.Max-1, 1))))",
	},
	{
		name: "every delay takes a second", in: "internal/convert", by: "internal/convert TestConstructs/delay",
		old: "	time := st.Delay.Value.String()\n",
		new: "	time := \"PT1S\"\n",
	},
	{
		name: "the first choice of a switch is left out", in: "internal/convert", by: "internal/convert TestConstructs/switch",
		old: "range st.Choices {\n		way :=",
		new: "range st.Choices[min(1, len(st.Choices)-1):] {\n		way :=",
	},
	{
		name: "greater or equal is greater", in: "internal/convert", by: "internal/convert TestConstructs/switch",
		old: "sign := signs[op]",
		new: "sign := strings.Replace(signs[op], \">=\", \">\", 1)",
	},
	{
		name: "an event that does not come is given up after a day", in: "internal/convert", by: "internal/convert TestConstructs/events_with_a_timeout",
		old: "timeout, otherwise = t.Value.String(), sc.name(",
		new: "timeout, otherwise = \"P1D\", sc.name(",
	},
	{
		name: "a start by several events has no timeout", in: "internal/convert", by: "internal/convert TestConstructs/start_with_one_of_several_events,_or_all",
		old: "	if all && e.Timeout != nil {",
		new: "	if all && e.Timeout != nil && false {",
	},
	{
		name: "any of several events is enough", in: "internal/convert", by: "internal/convert TestConstructs/start_with_one_of_several_events,_or_all",
		old: "return names, all && len(names) > 1, ok",
		new: "return names, all && len(names) > 9, ok",
	},
	{
		name: "events are not correlated", in: "internal/convert", by: "internal/convert TestConstructs/correlation_by_an_attribute",
		old: "		if t.Token != \"\" {\n			e = e.With(",
		new: "		if t.Token == \"-\" {\n			e = e.With(",
	},
	{
		name: "the results of branches are in another order", in: "internal/convert", by: "internal/convert TestConstructs/branches",
		old: "	ch.set(\"results\", expr.Array(results...))",
		new: "	ch.set(\"results\", expr.Array(append(results[1:], results[0])...))",
	},
}
