package open

// What 0.1 as released and 0.2 have of their own.
var constructsBefore05 = []construct{
	{name: "operators", has: []string{".age >= 18"}, src: `
id: x
name: X
states:
- name: Age
  type: SWITCH
  start: {kind: DEFAULT}
  choices:
  - and: [{path: $.age, operator: GreaterThanEquals, value: "18"}, {path: $.member, operator: Equals, value: "true"}]
    transition: {nextState: A}
  - or: [{path: $.kind, operator: NotEquals, value: "x"}, {path: $.kind, operator: "Null"}]
    transition: {nextState: B}
  - not: {path: $.age, operator: Exists, value: "true"}
    transition: {nextState: C}
  default: {nextState: D}
- {name: A, type: RELAY, inject: {way: a}, end: {kind: DEFAULT}}
- {name: B, type: RELAY, inject: {way: b}, end: {kind: DEFAULT}}
- {name: C, type: RELAY, inject: {way: c}, end: {kind: DEFAULT}}
- {name: D, type: RELAY, inject: {way: d}, end: {kind: DEFAULT}}
`},
	{name: "expressions", has: []string{".age < 10"}, src: `
id: x
name: X
version: "1"
states:
- name: Age
  type: SWITCH
  start: {kind: DEFAULT}
  choices:
  - {condition: "$.age < 10 and not ($.kind == 'x' or $.list[*].n == 3)", transition: {nextState: A}}
  default: {nextState: B}
- {name: A, type: RELAY, inject: {way: a}, transition: {nextState: B}}
- {name: B, type: RELAY, inject: {to: b}, end: {kind: DEFAULT}}
`},
	{name: "iterations of states one after the other", has: []string{"wait: PT5M", "$order"}, src: `
id: x
name: X
functions: [{name: f, resource: f}]
states:
- name: Each
  type: FOREACH
  start: {kind: DEFAULT}
  inputCollection: $.orders
  inputParameter: $.order
  outputCollection: $.done
  timeDelay: PT5M
  states:
  - name: Which
    type: SWITCH
    start: {kind: DEFAULT}
    choices: [{path: $.order.big, operator: Equals, value: "true", transition: {nextState: Big}}]
    default: {nextState: Small}
  - {name: Big, type: OPERATION, actions: [{functionRef: {refName: f, parameters: {o: $.order}}, actionDataFilter: {dataResultsPath: $.answer}}], end: {kind: DEFAULT}}
  - {name: Small, type: RELAY, inject: {small: yes}, transition: {nextState: Last}}
  - {name: Last, type: RELAY, inject: {last: yes}, end: {kind: DEFAULT}}
  end: {kind: DEFAULT}
`},
	{name: "branches with filters in branches", has: []string{"fork:"}, src: `
id: x
name: X
functions: [{name: f, resource: f}]
states:
- name: Both
  type: PARALLEL
  start: {kind: DEFAULT}
  branches:
  - name: A
    waitForCompletion: true
    states:
    - name: Inner
      type: PARALLEL
      start: {kind: DEFAULT}
      branches:
      - {name: C, waitForCompletion: true, states: [{name: X, type: RELAY, start: {kind: DEFAULT}, inject: {c: 1}, end: {kind: DEFAULT}}]}
      - {name: D, waitForCompletion: true, states: [{name: X, type: RELAY, start: {kind: DEFAULT}, inject: {d: 1}, end: {kind: DEFAULT}}]}
      stateDataFilter: {dataOutputPath: $.c}
      end: {kind: DEFAULT}
  - name: B
    waitForCompletion: true
    states:
    - {name: X, type: OPERATION, start: {kind: DEFAULT}, stateDataFilter: {dataInputPath: $.order}, actions: [{functionRef: {refName: f, parameters: {o: $.order}}}], end: {kind: DEFAULT}}
  end: {kind: DEFAULT}
`},
	{name: "a retry by the name of an error", has: []string{`$error.title == \"Busy\"`}, src: `
id: x
name: X
functions: [{name: f, resource: f}]
states:
- name: A
  type: OPERATION
  start: {kind: DEFAULT}
  actions: [{functionRef: {refName: f}}]
  retry: [{expression: {body: "$.error.name eq 'Busy' or name eq 'Closed'"}, interval: PT2M, maxAttempts: 2}]
  end: {kind: DEFAULT}
`},
	{name: "an error in the data", lost: "the error in the data of what follows", has: []string{`$error.title == \"Busy\"`}, src: `
id: x
name: X
functions: [{name: f, resource: f}]
states:
- name: A
  type: OPERATION
  start: {kind: DEFAULT}
  actions: [{functionRef: {refName: f}}]
  onError:
  - {expression: {body: "name eq 'Busy'"}, transition: {nextState: B}}
  - {expression: {body: "name ne 'Busy'"}, transition: {nextState: C}}
  end: {kind: DEFAULT}
- {name: B, type: RELAY, inject: {b: 1}, end: {kind: DEFAULT}}
- {name: C, type: RELAY, inject: {c: 1}, end: {kind: DEFAULT}}
`},
	{name: "a condition over the message of an error", lost: "as a condition over an error", src: `
id: x
name: X
functions: [{name: f, resource: f}]
states:
- name: A
  type: OPERATION
  start: {kind: DEFAULT}
  actions: [{functionRef: {refName: f}}]
  retry: [{expression: {body: "$.error.message eq 'Busy'"}, interval: PT2M}]
  end: {kind: DEFAULT}
`},
	{name: "a retry for a result", lost: "it looks at what the state gave", src: `
id: x
name: X
functions: [{name: f, resource: f}]
states:
- name: A
  type: OPERATION
  start: {kind: DEFAULT}
  actions: [{functionRef: {refName: f}}]
  retry: [{expression: {body: "$.status eq 'pending'"}, interval: PT2M}]
  end: {kind: DEFAULT}
`},
	{name: "a branch that nothing waits for", lost: "that nothing waits for the branch", src: `
id: x
name: X
states:
- name: Both
  type: PARALLEL
  start: {kind: DEFAULT}
  branches: [{name: A, waitForCompletion: false, states: [{name: X, type: DELAY, timeDelay: PT1H, start: {kind: DEFAULT}, end: {kind: DEFAULT}}]}]
  end: {kind: DEFAULT}
`},
}
