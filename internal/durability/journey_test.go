package durability

// journey is all that waits in Open Workflow 1.0: a loop that carries its data, a try that is tried again, branches, a race that
// another call and a timer lose, a wait, and events, each of which is worked on, until there are enough, until one ends it, and of each kind.
var journey = &story{
	name: "journey", definitions: []string{journeyDefinition, heardDefinition},
	states: []string{"pack", "pay", "both", "race", "rest", "readings", "ticks", "papers", "tell"},
	input:  `{"order":"o1","items":["hat","scarf","glove"]}`,
	events: []message{
		{state: "pack", text: `{"specversion":"1.0","type":"reading","source":"meter","id":"0","order":"o2","data":{"n":0}}`}, // another's
		{state: "readings", text: `{"specversion":"1.0","type":"reading","source":"meter","id":"1","order":"o1","data":{"n":1}}`},
		{state: "readings", text: `{"specversion":"1.0","type":"reading","source":"meter","id":"2","order":"o1","data":{"n":2}}`},
		{state: "readings", text: `{"specversion":"1.0","type":"reading","source":"meter","id":"3","order":"o1","data":{"n":3}}`},
		{state: "ticks", text: `{"specversion":"1.0","type":"tick","source":"clock","id":"1","data":1}`},
		{state: "ticks", text: `{"specversion":"1.0","type":"tick","source":"clock","id":"2","data":2}`},
		{state: "ticks", text: `{"specversion":"1.0","type":"stop","source":"clock","id":"3"}`},
		{state: "papers", text: `{"specversion":"1.0","type":"invoice","source":"desk","id":"1","data":"I"}`},
		{state: "papers", text: `{"specversion":"1.0","type":"receipt","source":"desk","id":"2","data":"R"}`},
	},
	taken: 8, emitted: 2,
	output: `{"order":"o1","items":["hat","scarf","glove"],"parcels":["P-hat","P-scarf","P-glove"],"paid":3,"both":["left","right"],
		"race":"fast","readings":[2,4,6],"ticks":[1,2],"papers":["I","R"]}`,
	calls: []string{
		`POST /items {"before":0,"item":"hat"}`, `POST /items {"before":1,"item":"scarf"}`, `POST /items {"before":2,"item":"glove"}`,
		`POST /flaky {"order":"o1"}`, `POST /flaky {"order":"o1"}`, `POST /flaky {"order":"o1"}`,
		`POST /branches {"branch":"left"}`, `POST /branches {"branch":"right"}`,
		`POST /branches {"branch":"fast"}`, `POST /branches {"branch":"never"}`,
		`POST /readings {"n":1}`, `POST /readings {"n":2}`, `POST /readings {"n":3}`,
	},
	records: map[string]int{"called": 13, "returned": 12, "consumed": 8, "finished": 1, "produced": 2},
	commits: 20,
}

const journeyDefinition = `document: {dsl: 1.0.3, namespace: default, name: journey, version: 1.0.0}
do:
- pack:
    for: {each: item, in: .items}
    do:
    - one:
        call: http
        with: {method: post, endpoint: SERVICE/items, body: {item: "${ $item }", before: "${ .parcels | length }"}}
        output: {as: "$input + {parcels: (($input.parcels // []) + [.parcel])}"}
- pay:
    try:
    - charge:
        call: http
        with: {method: post, endpoint: SERVICE/flaky, body: {order: "${ .order }"}}
        output: {as: "$input + {paid: .attempt}"}
    catch:
      errors: {with: {status: 503}}
      retry: {delay: PT0.02S, limit: {attempt: {count: 5}}}
- both:
    fork:
      branches:
      - left: {call: http, with: {method: post, endpoint: SERVICE/branches, body: {branch: left}}, output: {as: .branch}}
      - right: {call: http, with: {method: post, endpoint: SERVICE/branches, body: {branch: right}}, output: {as: .branch}}
    output: {as: "$input + {both: .}"}
- race:
    fork:
      compete: true
      branches:
      - never: {call: http, with: {method: post, endpoint: SERVICE/branches, body: {branch: never}}}
      - late: {wait: PT1H}
      - fast: {call: http, with: {method: post, endpoint: SERVICE/branches, body: {branch: fast}}, output: {as: .branch}}
    output: {as: "$input + {race: .}"}
- rest: {wait: PT0.05S}
- readings:
    listen:
      to:
        any:
        - with: {type: reading}
          correlate: {order: {from: .order, expect: "${ .order }"}}
        until: length == 3
    foreach:
      item: reading
      do:
      - work: {call: http, with: {method: post, endpoint: SERVICE/readings, body: {n: "${ $reading.n }"}}}
      output: {as: .double}
    output: {as: "$input + {readings: .}"}
- ticks:
    listen: {to: {any: [{with: {type: tick}}], until: {one: {with: {type: stop}}}}}
    output: {as: "$input + {ticks: .}"}
- papers:
    listen: {to: {all: [{with: {type: invoice}}, {with: {type: receipt}}]}}
    output: {as: "$input + {papers: sort}"}
- tell:
    do:
    - first: {emit: {event: {with: {type: told, data: {order: "${ .order }"}}}}, output: {as: $input}}
    - second: {emit: {event: {with: {type: told, data: {order: "${ .order }"}}}}, output: {as: $input}}
`

// heardDefinition is started by each event that a journey emits.
const heardDefinition = `document: {dsl: 1.0.3, namespace: default, name: heard, version: 1.0.0}
schedule: {on: {one: {with: {type: told}}}}
do: [{rest: {wait: PT0.01S}}]
`
