package durability

// order calls functions that a document describes, waits for an event that has its order,
// sleeps, fans out over a list, and takes back what it did.
var order = &story{
	name: "order", definitions: []string{orderDefinition},
	states: []string{"Reserve", "Pay", "Rest", "Pack", "Ship", "Release", "Close"},
	input:  `{"order":"o1","items":["hat","scarf","glove"]}`,
	events: []message{
		{state: "Reserve", text: `{"specversion":"1.0","type":"order.paid","source":"till","id":"2","order":"o2","data":{"amount":9}}`}, // another's
		{state: "Pay", text: `{"specversion":"1.0","type":"order.paid","source":"till","id":"1","order":"o1","data":{"amount":7}}`},
	},
	taken: 1,
	output: `{"amount":7,"closed":true,"items":["hat","scarf","glove"],"order":"o1",
		"parcels":[{"parcel":"P-hat"},{"parcel":"P-scarf"},{"parcel":"P-glove"}],"number":"R-o1","released":"R-o1"}`,
	calls: []string{
		`POST /reservations {"order":"o1"}`,
		`POST /parcels {"item":"hat"}`, `POST /parcels {"item":"scarf"}`, `POST /parcels {"item":"glove"}`,
		`POST /shipments {"parcels":[{"parcel":"P-hat"},{"parcel":"P-scarf"},{"parcel":"P-glove"}]}`,
		`DELETE /reservations/R-o1 `,
	},
	records: map[string]int{"called": 6, "returned": 6, "consumed": 1, "finished": 1},
	commits: 8, // start, reserved, paid, rested, packed, refused, released, and the wait's routing
}

const orderDefinition = `id: order
name: Order
version: "1"
functions:
- {name: reserve, operation: "SERVICE/openapi.yaml#reserve"}
- {name: release, operation: "SERVICE/openapi.yaml#release"}
- {name: pack, operation: "SERVICE/openapi.yaml#pack"}
- {name: ship, operation: "SERVICE/openapi.yaml#ship"}
events:
- name: Paid
  type: order.paid
  source: till
  kind: consumed
  correlation: [{contextAttributeName: order, contextAttributeValue: "{{ $.order }}"}]
states:
- name: Reserve
  type: operation
  start: {kind: default}
  actions:
  - functionRef: {refName: reserve, parameters: {order: "{{ $.order }}"}}
  compensatedBy: Release
  transition: {nextState: Pay}
- name: Pay
  type: event
  onEvents:
  - eventRefs: [Paid]
    eventDataFilter: {dataOutputPath: "{{ $.data }}"}
    actions: []
  transition: {nextState: Rest}
- {name: Rest, type: delay, timeDelay: PT0.05S, transition: {nextState: Pack}}
- name: Pack
  type: foreach
  inputCollection: "{{ $.items }}"
  iterationParam: item
  outputCollection: "{{ $.parcels }}"
  actions:
  - functionRef: {refName: pack, parameters: {item: "{{ $.item }}"}}
  transition: {nextState: Ship}
- name: Ship
  type: operation
  actions:
  - functionRef: {refName: ship, parameters: {parcels: "{{ $.parcels }}"}}
  onErrors:
  - {error: NotDeliverable, transition: {compensateBefore: true, nextState: Close}}
  end: {kind: default}
- {name: Close, type: inject, data: {closed: true}, end: {kind: default}}
- name: Release
  type: operation
  usedForCompensation: true
  actions:
  - functionRef: {refName: release, parameters: {number: "{{ $.number }}"}}
`
