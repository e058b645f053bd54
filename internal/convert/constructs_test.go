package convert

var constructs = []construct{
	{name: "one call", src: `
name: one
states:
- {name: A, type: OPERATION, start: true, action-mode: SEQUENTIAL, actions: [{function: f}], next-state: E}
- {name: E, type: END}
`},
	{name: "calls one after the other", src: `
name: two
states:
- {name: A, type: OPERATION, start: true, actions: [{function: f}, {function: g}, {function: h}], next-state: E}
- {name: E, type: END, status: SUCCESS}
`},
	{name: "end: true", src: `
id: ends
name: ends
version: "1"
startsAt: A
states:
- {name: A, type: OPERATION, actionMode: SEQUENTIAL, actions: [{function: f}], end: true}
`},
	{name: "no next state", src: `
trigger-defs: []
states:
- {name: A, type: OPERATION, start: true, actions: [{function: f}]}
`},
	{name: "parameters", src: `
id: parameters
name: parameters
version: "1"
startsAt: A
states:
- name: A
  type: OPERATION
  actionMode: SEQUENTIAL
  actions:
  - function:
      name: x
      type: http
      parameters: {p: $.a, q: [$.b.c, "text {{ $.a }}", '\{{ x'], all: $, n: 5, money: $5}
  end: true
`},
	{name: "state filters", src: `
states:
- {name: A, type: OPERATION, start: true, InputPath: $.a, ResultPath: $.r.s, OutputPath: $.r, actions: [{function: f}], next-state: B}
- {name: B, type: OPERATION, InputPath: $.s, ResultPath: $.b.c, OutputPath: $.b.c.d, actions: [], next-state: C}
- {name: C, type: OPERATION, InputPath: "$.list[*].x", actions: [], OutputPath: $.a.b, next-state: E}
- {name: E, type: END}
`},
	{name: "filters that select lists and what is in them", src: `
states:
- {name: A, type: OPERATION, start: true, InputPath: "$..a", OutputPath: "$[0]", actions: [], next-state: B}
- {name: B, type: OPERATION, actions: [], OutputPath: "$.items[?(@.n == $.want)].n", next-state: E}
- {name: E, type: END, InputPath: "$['a','b']"}
`},
	{name: "action filters", src: `
states:
- name: A
  type: OPERATION
  start: true
  actions:
  - {function: f, filter: {input-path: $.a, result-path: $.r.s, output-path: $.r}}
  - {function: g, filter: {input-path: $.s, output-path: $.b}}
  next-state: E
- {name: E, type: END}
`},
	{name: "delay", src: `
id: delay
name: delay
version: "1"
startsAt: A
states:
- {name: A, type: DELAY, timeDelay: PT15M, filter: {inputPath: $.a, outputPath: $.b}, nextState: B}
- {name: B, type: DELAY, timeDelay: P1M, filter: {inputPath: $, resultPath: $.x}, end: true}
`},
	{name: "delay until an instant", lost: "not until an instant", src: `
id: delay
name: delay
version: "1"
startsAt: A
states:
- {name: A, type: DELAY, timeDelay: "2026-04-01T00:00:00Z", filter: {inputPath: $}, end: true}
`},
	{name: "switch", src: `
id: switch
name: switch
version: "1"
startsAt: S
states:
- name: S
  type: SWITCH
  filter: {inputPath: $.in}
  choices:
  - {single: [{path: $.age, value: "18", operator: GTEQ}, {path: $.name, value: Ada, operator: StrEQ}], nextState: A}
  - {or: [{path: $.age, value: "5", operator: LT}, {path: $.flag, value: "true", operator: EQ}], nextState: B}
  - {not: [{path: $.age, value: "7", operator: EQ}, {path: $.name, value: m, operator: StrLT}], nextState: C}
  - {and: [{path: $.name, value: "it's", operator: StrEQ}], nextState: B}
  default: D
- {name: A, type: OPERATION, actionMode: SEQUENTIAL, actions: [{function: f}], end: true}
- {name: B, type: OPERATION, actionMode: SEQUENTIAL, actions: [{function: g}], end: true}
- {name: C, type: OPERATION, actionMode: SEQUENTIAL, actions: [{function: h}], end: true}
- {name: D, type: OPERATION, actionMode: SEQUENTIAL, actions: [], end: true}
`},
	{name: "switch without a default", src: `
name: switch
states:
- name: S
  type: SWITCH
  start: true
  choices:
  - {path: $.a, operator: Exists, value: "true", next-state: A}
  - {path: $.b, operator: Exists, value: "false", next-state: E}
  - {path: $.b, operator: Equals, value: "null", next-state: E}
- {name: A, type: OPERATION, actions: [{function: f}], next-state: S2}
- name: S2
  type: SWITCH
  choices: [{path: $, operator: Equals, value: red, next-state: E}, {path: $.a.length(), operator: GreaterThan, value: 0, next-state: E}]
  default: E
- {name: E, type: END}
`},
	{name: "a circle", src: `
name: circle
states:
- {name: A, type: OPERATION, start: true, filter: {input-path: $.a}, actions: [{function: f}], next-state: W}
- {name: W, type: DELAY, time-delay: 60, next-state: S}
- {name: S, type: SWITCH, choices: [{path: $.b, value: 3, operator: EQ, next-state: A}], default: E}
- {name: E, type: END}
`},
	{name: "end with failure", lost: "has no output", src: `
name: failure
states:
- {name: S, type: SWITCH, start: true, choices: [{path: $.a, value: 3, operator: EQ, next-state: F}], default: E}
- {name: E, type: END}
- {name: F, type: END, status: FAILURE}
`},
	{name: "timeout", src: `
name: timeout
states:
- {name: A, type: OPERATION, start: true, actions: [{function: f, timeout: 30}], next-state: E}
- {name: E, type: END}
`},
	{name: "retry that fails in the end", src: `
name: retry
states:
- {name: A, type: OPERATION, start: true, actions: [{function: f, timeout: 30, retry: {match: SYS.Timeout, retry-interval: 5, max-retry: 3}}, {function: g}], next-state: B}
- {name: B, type: OPERATION, actions: [{function: h, retry: {match: "*", max-retry: 1}}], next-state: E}
- {name: E, type: END}
`},
	{name: "retry with a next state", src: `
name: retry
states:
- name: A
  type: OPERATION
  start: true
  filter: {input-path: $.a}
  actions:
  - {function: g}
  - {function: f, timeout: 30, retry: [{match: SYS.Timeout, retry-interval: 5, max-retry: 3, next-state: B}, {match: SYS.MatchAny, retry-interval: 1, max-retry: 1, next-state: C}]}
  next-state: E
- {name: B, type: OPERATION, actions: [{function: h}], next-state: E}
- {name: C, type: OPERATION, actions: [], filter: {output-path: $.b}, next-state: E}
- {name: E, type: END}
`},
	{name: "retry with a next state behind an input filter", src: `
name: retry
states:
- name: A
  type: OPERATION
  start: true
  actions:
  - {function: f, filter: {input-path: $.a}, retry: [{match: SYS.MatchAny, retry-interval: 1, max-retry: 1, next-state: C}]}
  next-state: E
- {name: C, type: OPERATION, actions: [], filter: {output-path: $.b}, next-state: E}
- {name: E, type: END}
`},
	{name: "retry for the kind SYS.Fail", lost: "no such group", src: `
name: retry
states:
- {name: A, type: OPERATION, start: true, actions: [{function: f, timeout: 30, retry: {match: SYS.Fail, retry-interval: 5, max-retry: 3}}], next-state: E}
- {name: E, type: END}
`},
	{name: "retry for an answer", lost: "only errors are retried", src: `
name: retry
states:
- {name: A, type: OPERATION, start: true, actions: [{function: f, retry: {match: busy, retry-interval: 5, max-retry: 3}}], next-state: E}
- {name: E, type: END}
`},
	{name: "retry for an error", src: `
name: retry
states:
- {name: A, type: OPERATION, start: true, actions: [{function: f, retry: {match: Overloaded, retry-interval: 5, max-retry: 3}}], next-state: B}
- {name: B, type: OPERATION, actions: [{function: g, retry: [{match: Overloaded, retry-interval: 5, max-retry: 3, next-state: E}, {match: Gone, next-state: F}]}], next-state: E}
- {name: F, type: OPERATION, actions: [{function: h}], next-state: E}
- {name: E, type: END}
`},
	{name: "retry for the kind SYS.Permission", lost: "the codes 401 and 403", src: `
name: retry
states:
- {name: A, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.Permission, retry-interval: 5, max-retry: 3, next-state: E}}], next-state: E}
- {name: E, type: END}
`},
	{name: "actions side by side", src: `
name: side
states:
- {name: A, type: OPERATION, start: true, action-mode: PARALLEL, filter: {input-path: $.a, result-path: $.x}, actions: [{function: f, timeout: 30}, {function: g, filter: {output-path: $.b}}], next-state: E}
- {name: E, type: END}
`},
	{name: "one action side by side", src: `
name: side
states:
- {name: A, type: OPERATION, start: true, action-mode: PARALLEL, actions: [{function: f}], next-state: E}
- {name: E, type: END}
`},
	{name: "branches", src: `
states:
- name: P
  type: PARALLEL
  start: true
  InputPath: $.a
  branches:
  - name: one
    states:
    - {name: A, type: OPERATION, start: true, actions: [{function: f}], next-state: B}
    - {name: B, type: DELAY, time-delay: 10}
  - name: two
    states:
    - {name: S, type: SWITCH, start: true, choices: [{path: $.b, value: 2, operator: GT, next-state: A}], default: B}
    - {name: A, type: OPERATION, actions: [{function: g, retry: [{match: SYS.MatchAny, max-retry: 1, next-state: B}]}]}
    - {name: B, type: OPERATION, actions: [{function: h}]}
  next-state: E
- {name: E, type: END}
`},
	{name: "branches inside of branches", src: `
name: nested
states:
- name: P
  type: PARALLEL
  start: true
  branches:
  - name: outer
    wait-for-completion: true
    states:
    - name: Q
      type: PARALLEL
      start: true
      branches:
      - {name: inner, wait-for-completion: true, states: [{name: A, type: OPERATION, start: true, actions: [{function: f}], next-state: F}, {name: F, type: END, status: FAILURE}]}
      - {name: other, wait-for-completion: true, states: [{name: B, type: OPERATION, start: true, actions: [{function: g}], next-state: X}, {name: X, type: END}]}
      next-state: Y
    - {name: Y, type: END}
  next-state: E
- {name: E, type: END}
`, missed: true},
	{name: "a branch nobody waits for", lost: "which is not waited for", src: `
name: detached
states:
- name: P
  type: PARALLEL
  start: true
  branches:
  - {name: a, wait-for-completion: true, states: [{name: A, type: OPERATION, start: true, actions: [{function: f}], next-state: X}, {name: X, type: END}]}
  - {name: b, wait-for-completion: false, states: [{name: B, type: OPERATION, start: true, actions: [{function: g}], next-state: Y}, {name: Y, type: END}]}
  next-state: E
- {name: E, type: END}
`},
	{name: "subflow", src: `
id: parent
name: parent
version: "1"
startsAt: A
states:
- {name: A, type: SUBFLOW, workflowId: child, waitForCompletion: true, filter: {inputPath: $.a, outputPath: $.b}, nextState: B}
- {name: B, type: OPERATION, actionMode: SEQUENTIAL, actions: [{function: f}], nextState: C}
- {name: C, type: SUBFLOW, workflowId: child, waitForCompletion: false, end: true}
`},
	{name: "start with an event", src: `
name: start
trigger-defs: [{name: in, source: shop, type: ordered}]
states:
- name: A
  type: EVENT
  start: true
  events: [{event-expression: in, actions: [{function: f}], next-state: B}]
- {name: B, type: OPERATION, actions: [{function: g}], next-state: E}
- {name: E, type: END}
`},
	{name: "start with one of several events, or all", src: `
name: start
trigger-defs: [{name: in, source: shop, type: ordered}, {name: out, source: shop, type: sent}]
states:
- name: A
  type: EVENT
  start: true
  filter: {output-path: $.a}
  events: [{event-expression: in and out, timeout: 60, filter: {input-path: $.data.b}, actions: [], next-state: B}]
- name: B
  type: EVENT
  events: [{event-expression: in or out, actions: [{function: f}], next-state: E}]
- {name: E, type: END}
`},
	{name: "start again", src: `
name: start
trigger-defs: [{name: in, source: shop, type: ordered}]
states:
- name: A
  type: EVENT
  start: true
  filter: {input-path: $.a}
  events: [{event-expression: in, actions: [{function: f, retry: {match: "*", next-state: E}}], next-state: S}]
- {name: S, type: SWITCH, choices: [{path: $.b, value: 2, operator: LT, next-state: A}], default: E}
- {name: E, type: END}
`, lost: "without the event"},
	{name: "start with several entries", lost: "which event came", src: `
name: start
trigger-defs: [{name: in, source: shop, type: ordered}, {name: out, source: shop, type: sent}]
states:
- name: A
  type: EVENT
  start: true
  events: [{event-expression: in, actions: [{function: f}], next-state: E}, {event-expression: out, actions: [{function: g}], next-state: E}]
- {name: E, type: END}
`},
	{name: "events with a timeout", src: `
name: wait
trigger-defs: [{name: in, source: shop, type: ordered}, {name: out, source: shop, type: sent}]
states:
- {name: F, type: OPERATION, start: true, actions: [{function: f}], next-state: A}
- name: A
  type: EVENT
  filter: {input-path: $.a, result-path: $.got}
  events:
  - {event-expression: in, timeout: 60, actions: [{function: g}], next-state: E}
  - {event-expression: out or in, timeout: 60, filter: {input-path: $.b}, actions: [{function: h}], next-state: B}
- {name: B, type: DELAY, time-delay: 1, next-state: E}
- {name: E, type: END}
`},
	{name: "events without a timeout", src: `
name: wait
trigger-defs: [{name: in, source: shop, type: ordered}, {name: out, source: shop, type: sent}]
states:
- name: F
  type: OPERATION
  start: true
  actions: [{function: f}]
  next-state: A
- name: A
  type: EVENT
  events:
  - {event-expression: in, actions: [{function: g}], next-state: E}
  - {event-expression: out, actions: [], next-state: B}
- {name: B, type: EVENT, events: [{event-expression: in and out, actions: [{function: h}], next-state: E}]}
- {name: E, type: END}
- {name: E2, type: END}
`, missed: true},
	{name: "lapse without an END state", lost: "SYS.Timeout", src: `
id: wait
name: wait
version: "1"
startsAt: F
triggerDefs: [{name: in, source: shop, type: ordered}]
states:
- {name: F, type: OPERATION, actionMode: SEQUENTIAL, actions: [{function: f}], nextState: A}
- {name: A, type: EVENT, events: [{eventExpression: in, timeout: PT60S, actions: [{function: g}], nextState: B}]}
- {name: B, type: DELAY, timeDelay: PT1S, end: true}
`},
	{name: "not", lost: "not to come", src: `
name: wait
trigger-defs: [{name: in, source: shop, type: ordered}, {name: out, source: shop, type: sent}]
states:
- {name: F, type: OPERATION, start: true, actions: [{function: f}], next-state: A}
- {name: A, type: EVENT, events: [{event-expression: in and not out, timeout: 60, actions: [{function: g}], next-state: E}]}
- {name: E, type: END}
`},
	{name: "only not", lost: "not to come", src: `
name: wait
trigger-defs: [{name: in, source: shop, type: ordered}, {name: out, source: shop, type: sent}]
states:
- {name: F, type: OPERATION, start: true, actions: [{function: f}], next-state: A}
- {name: A, type: EVENT, events: [{event-expression: not (in or out), timeout: 60, actions: [{function: g}], next-state: B}]}
- name: B
  type: EVENT
  events:
  - {event-expression: not in, timeout: 60, actions: [{function: g}], next-state: E}
  - {event-expression: out, timeout: 60, actions: [{function: h}], next-state: E}
- {name: E, type: END}
`},
	{name: "correlation by an attribute", src: `
name: order
trigger-defs: [{name: in, source: shop, type: ordered, correlation-token: $.subject}, {name: out, source: shop, type: sent, correlation-token: $.subject}]
states:
- {name: A, type: EVENT, start: true, events: [{event-expression: in, actions: [{function: f}], next-state: B}]}
- {name: B, type: EVENT, events: [{event-expression: out, actions: [{function: g}], next-state: E}]}
- {name: E, type: END}
`},
	{name: "correlation by what may be in the data", lost: "a field of its data", src: `
name: order
trigger-defs: [{name: in, source: shop, type: ordered, correlation-token: $.orderid}, {name: out, source: shop, type: sent, correlation-token: $.orderid}]
states:
- {name: A, type: EVENT, start: true, events: [{event-expression: in, actions: [{function: f}], next-state: B}]}
- {name: B, type: EVENT, events: [{event-expression: out, actions: [{function: g}], next-state: E}]}
- {name: E, type: END}
`},
	{name: "correlation by data", lost: "inside of the event's data", src: `
name: order
trigger-defs: [{name: in, source: shop, type: ordered, correlation-token: $.data.order}, {name: out, source: shop, type: sent, correlation-token: $.data.order}]
states:
- {name: A, type: EVENT, start: true, events: [{event-expression: in, actions: [{function: f}], next-state: B}]}
- {name: B, type: EVENT, events: [{event-expression: out, actions: [{function: g}], next-state: E}]}
- {name: E, type: END}
`},
	{name: "an event for a branch", lost: "before it has begun", src: `
name: branch
trigger-defs: [{name: in, source: shop, type: ordered}]
states:
- name: P
  type: PARALLEL
  start: true
  branches:
  - {name: b, wait-for-completion: true, states: [{name: B, type: EVENT, start: true, events: [{event-expression: in, actions: [{function: f}]}]}]}
  - {name: c, wait-for-completion: true, states: [{name: C, type: OPERATION, start: true, actions: [{function: g}]}]}
  next-state: E
- {name: E, type: END}
`},
	{name: "eventID", lost: "the type or the id", src: `
trigger-defs: [{name: in, source: shop, eventID: ordered}]
states:
- {name: A, type: EVENT, start: true, events: [{event-expression: in, actions: [{function: f}]}]}
`},
	{name: "data that is handed over", lost: "--parameters x=", src: `
name: whole
states:
- {name: A, type: OPERATION, start: true, actions: [{function: x}], next-state: E}
- {name: E, type: END}
`},
}
