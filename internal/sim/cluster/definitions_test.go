package cluster

import (
	"fmt"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// fixed are definitions that every world has. What comes of them is checked by rules of their own.
var fixed = map[string]string{
	// Two events of one order: the first starts it.
	"pair": `
id: pair
name: pair
version: "1"
events: [{name: Message, type: message, source: sim, correlation: [{contextAttributeName: order}]}]
states:
- {name: First, type: event, start: {kind: default}, onEvents: [{eventRefs: [Message]}], transition: {nextState: Second}}
- {name: Second, type: event, onEvents: [{eventRefs: [Message]}], end: {kind: default}}
`,
	// A wait that is given up after a second, and another for the same event.
	"nudged": `
id: nudged
name: nudged
version: "1"
events: [{name: Nudge, type: nudge, source: sim, correlation: [{contextAttributeName: order, contextAttributeValue: "{{ $.order }}"}]}]
states:
- {name: Start, type: inject, data: {}, start: {kind: default}, transition: {nextState: Hurry}}
- name: Hurry
  type: switch
  eventConditions: [{eventRef: Nudge, end: {kind: default}}]
  eventTimeout: PT1S
  default: {transition: {nextState: Rest}}
- {name: Rest, type: event, onEvents: [{eventRefs: [Nudge]}], end: {kind: default}}
`,
	// A start that needs both events.
	"gather": `
id: gather
name: gather
version: "1"
events:
- {name: Paid, type: paid, source: sim, correlation: [{contextAttributeName: order}]}
- {name: Packed, type: packed, source: sim, correlation: [{contextAttributeName: order}]}
states:
- {name: Both, type: event, exclusive: false, start: {kind: default}, onEvents: [{eventRefs: [Paid, Packed]}], end: {kind: default}}
`,
	// A wait, a call, a produced event.
	"timer": `
id: timer
name: timer
version: "1"
functions: [{name: timer.f}]
events: [{name: Rung, type: rung, source: sim, kind: produced}]
states:
- {name: Wait, type: delay, start: {kind: default}, timeDelay: PT5S, transition: {nextState: Act}}
- {name: Act, type: operation, actions: [{functionRef: {refName: timer.f}}], end: {kind: event, produceEvents: [{eventRef: Rung}]}}
`,
	// A function that fails at first.
	"retry": `
id: retry
name: retry
version: "1"
functions: [{name: retry.f}]
retries: [{name: twice, delay: PT2S, maxAttempts: 5}]
states:
- name: Try
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: retry.f}}]
  onErrors: [{error: Busy, retryRef: twice, end: {kind: default}}]
  end: {kind: default}
`,
	// Two children, of which one is waited for.
	"parent": `
id: parent
name: parent
version: "1"
states:
- {name: Wait, type: subflow, start: {kind: default}, workflowId: timer, transition: {nextState: Leave}}
- {name: Leave, type: subflow, workflowId: retry, waitForCompletion: false, end: {kind: default}}
`,
	// A call that fails twice, and nothing that handles it.
	"fragile": `
id: fragile
name: fragile
version: "1"
functions: [{name: fragile.f}]
states:
- {name: Begin, type: inject, data: {begun: true}, start: {kind: default}, transition: {nextState: Try}}
- {name: Try, type: operation, actions: [{functionRef: {refName: fragile.f}}], transition: {nextState: Rest}}
- {name: Rest, type: delay, timeDelay: PT1S, end: {kind: default}}
`,
	// A call that a person answers.
	"question": `
id: question
name: question
version: "1"
functions: [{name: question.f}]
states:
- {name: Ask, type: operation, start: {kind: default}, actions: [{functionRef: {refName: question.f}}], end: {kind: default}}
`,
	// A call that takes its time.
	"slow": `
id: slow
name: slow
version: "1"
functions: [{name: slow.f}]
states:
- {name: Act, type: operation, start: {kind: default}, actions: [{functionRef: {refName: slow.f}}], end: {kind: default}}
`,
	// Three events, the second after a while.
	"bells": `
id: bells
name: bells
version: "1"
events:
- {name: One, type: one, source: sim, kind: produced}
- {name: Two, type: two, source: sim, kind: produced}
- {name: Three, type: three, source: sim, kind: produced}
states:
- {name: Ding, type: inject, data: {}, start: {kind: default}, transition: {produceEvents: [{eventRef: One}], nextState: Wait}}
- {name: Wait, type: delay, timeDelay: PT1S, transition: {produceEvents: [{eventRef: Two}], nextState: Dong}}
- {name: Dong, type: inject, data: {}, end: {kind: event, produceEvents: [{eventRef: Three}]}}
`,
	// A job for each of several devices.
	"campaign": `
id: campaign
name: campaign
version: "1"
functions: [{name: roll, operation: "job:device"}]
states:
- name: Roll
  type: foreach
  start: {kind: default}
  inputCollection: "{{ $.devices }}"
  iterationParam: device
  outputCollection: "{{ $.updates }}"
  actions: [{functionRef: {refName: roll, parameters: {client: "{{ $.device }}"}}}]
  end: {kind: default}
`,
	// Over at once; it is deployed, and it is not.
	"brief": `
id: brief
name: brief
version: "1"
states:
- {name: Only, type: inject, data: {}, start: {kind: default}, end: {kind: default}}
`,
	// A start every twenty seconds, and none.
	"cron": `
id: cron
name: cron
version: "1"
states:
- {name: Tick, type: inject, data: {}, start: {kind: scheduled, schedule: {cron: "*/20 * * * * *", directInvoke: deny}}, end: {kind: default}}
`,
	"uncron": `
id: cron
name: cron
version: "2"
states:
- {name: Tick, type: inject, data: {}, start: {kind: default}, end: {kind: default}}
`,
	// A start every twenty seconds, while the one before is not over.
	"rounds": `
id: rounds
name: rounds
version: "1"
states:
- {name: Walk, type: delay, start: {kind: scheduled, schedule: {cron: "*/20 * * * * *", directInvoke: deny}}, timeDelay: PT30S, end: {kind: default}}
`,
	// A job that a device and an operator advance.
	"device": `
name: device
states: [{name: CREATED}, {name: FETCHING, timeout: {after: PT10S, to: BROKEN}}, {name: FETCHED}, {name: APPROVED}, {name: DONE}, {name: BROKEN}]
transitions:
- {from: CREATED, to: FETCHING, eligible: CLIENT}
- {from: FETCHING, to: FETCHED, eligible: CLIENT}
- {from: FETCHING, to: BROKEN, eligible: CLIENT}
- {from: FETCHING, to: BROKEN, eligible: WFX}
- {from: FETCHED, to: APPROVED, eligible: WFX}
- {from: APPROVED, to: DONE, eligible: CLIENT}
`,
}

// order is that in which they are deployed at first: children first.
var order = []string{"pair", "nudged", "gather", "timer", "retry", "parent", "device", "fragile", "question", "bells", "campaign", "brief", "slow"}

// programs are compiled once.
var programs = sync.OnceValue(func() map[string]*ir.Program {
	out := map[string]*ir.Program{}
	registry := dialect.NewRegistry(sw05.FrontEnd{}, wfx.FrontEnd{})
	for name, text := range fixed {
		options := dialect.Options{Dialect: "sw05"}
		if name == "device" {
			options.Dialect = "wfx"
		}
		compiled, found := registry.Compile(name+".yaml", []byte(text), nil, options)
		if found.HasErrors() {
			panic(fmt.Sprintf("%s: %s", name, found.Error()))
		}
		out[name] = compiled.Program
	}
	return out
})
