package sim

// plantsConvert are mistakes in the conversion of 0.1 to 0.5, and of earlier versions to 1.0. Each names the construct whose
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

	// To 1.0.
	{
		name: "results replace the data of 0.5", in: "internal/convert/open", by: "internal/convert/open TestConstructs/results_are_merged",
		old: "		w.assumeObject()\n		return \"$input * \" + operand(plain)\n	}\n	return w.fold(\"$input\", exact)\n}\n\n// fold",
		new: "		w.assumeObject()\n		return operand(plain)\n	}\n	return exact\n}\n\n// fold",
	},
	{
		name: "a retry of 1.0 has one attempt too many", in: "internal/convert/open", by: "internal/convert/open TestConstructs/one_error_definition_with_a_retry",
		old: "out = out.With(\"limit\", obj(\"attempt\", obj(\"count\", expr.Int(int64(r.Max)))))",
		new: "out = out.With(\"limit\", obj(\"attempt\", obj(\"count\", expr.Int(int64(r.Max+1)))))",
	},
	{
		name: "a wildcard is asked before what is named", in: "internal/convert/open", by: "internal/convert/open TestConstructs/several_error_definitions",
		old: "		case a.Any:\n			return 1\n		}\n		return -1\n",
		new: "		case a.Any:\n			return -1\n		}\n		return 1\n",
	},
	{
		name: "the output filter changes the data after an error", in: "internal/convert/open", by: "internal/convert/open TestConstructs/several_error_definitions",
		old: "	route.value = obj(\"switch\", expr.Array(cases...))\n	route.as(\".data\")\n	return c\n",
		new: "	route.value = obj(\"switch\", expr.Array(cases...))\n	route.as(\".data | {}\")\n	return c\n",
	},
	{
		name: "a timeout of an event does its actions", in: "internal/convert/open", by: "internal/convert/open TestConstructs/an_event_with_a_timeout",
		old: "	then := \"\"\n	if acts {\n		then = \"exit\"\n	}\n",
		new: "	then := \"\"\n",
	},
	{
		name: "what a branch gives hides what others gave", in: "internal/convert/open", by: "internal/convert/open TestConstructs/branches",
		old: "return w.gathered(name, b.Actions, jq(\"{data: ., results: []}\"), view{over: \".data\"}, \".results\")",
		new: "return w.gathered(name, b.Actions, jq(\"{data: ., results: []}\"), view{over: \".data\"}, \"[.data]\")",
	},
	{
		name: "the first that was done is undone first", in: "internal/convert/open", by: "internal/convert/open TestConstructs/compensation_in_the_catch",
		old: "	for _, one := range slices.Backward(w.undo.done(s, failed)) {",
		new: "	for _, one := range w.undo.done(s, failed) {",
	},
	{
		name: "what is not complete is undone", in: "internal/convert/open", by: "internal/convert/open TestConstructs/compensation_of_what_was_done",
		old: "	if s.CompensatedBy == nil || !w.compensates() || !w.undo.dynamic {",
		new: "	if s.CompensatedBy != nil || !w.compensates() || !w.undo.dynamic {",
	},
	{
		name: "a condition of an action is left out", in: "internal/convert/open", by: "internal/convert/open TestConstructs/0.8:_conditions,_sleeps_and_places_of_results",
		old: "		tasks[0].value = tasks[0].value.With(\"if\", str(w.condition(a.Condition, in)))\n",
		new: "		_ = w.condition(a.Condition, in)\n",
	},
	{
		name: "a state with a conditional action is skipped with its way out", in: "internal/convert/open", by: "internal/convert/open TestConstructs/0.8:_conditions,_sleeps_and_places_of_results",
		old: " && !inner[0].has(\"then\") && !inner[0].has(\"if\"):",
		new: " && !inner[0].has(\"then\"):",
	},
}
