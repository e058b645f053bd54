package main

import (
	"fmt"
	"strings"
)

// load is one kind of work.
type load struct {
	name       string
	definition string
	waitsFor   bool // an event is sent to each instance
	http       bool // it is started over HTTP, and waited for
	jobs       bool // instead: jobs over HTTP
	payload    int  // bytes of the input beside its key
	waiting    int  // instead: events among so many instances that wait
}

const head = `id: %s
version: "1.0"
name: %s
`

// loads returns all loads in the order of the table.
func loads() []load {
	return []load{
		{name: "W1", definition: calling("w1", 1)},
		{name: "W1/HTTP", definition: calling("w1", 1), http: true},
		{name: "W10", definition: calling("w10", 10)},
		{name: "P10", definition: pure("p10", 10)},
		{name: "events", definition: waiting("events"), waitsFor: true},
		{name: "timers", definition: sleeping("timers")},
		{name: "J", jobs: true},
	}
}

// tableLoads returns what the table measures: beside the loads large data, and events among many that wait.
func tableLoads() []load {
	return append(loads(),
		load{name: "W1 1MiB", definition: calling("w1", 1), payload: 1 << 20},
		load{name: "W10 1MiB", definition: calling("w10", 10), payload: 1 << 20},
		load{name: fewWaiting, waiting: few},
		load{name: manyWaiting, waiting: many})
}

// calling is a row of states that call a function each.
func calling(id string, states int) string {
	var b strings.Builder
	fmt.Fprintf(&b, head, id, id)
	b.WriteString("functions:\n- {name: f}\nstates:\n")
	for i := range states {
		fmt.Fprintf(&b, "- name: S%d\n  type: operation\n%s  actions:\n  - functionRef: {refName: f}\n%s", i, start(i), exit(i, states))
	}
	return b.String()
}

// pure is a row of states that only compute.
func pure(id string, states int) string {
	var b strings.Builder
	fmt.Fprintf(&b, head, id, id)
	b.WriteString("states:\n")
	for i := range states {
		fmt.Fprintf(&b, "- name: S%d\n  type: inject\n%s  data: {v%d: %d}\n%s", i, start(i), i, i, exit(i, states))
	}
	return b.String()
}

// waiting is an instance that goes on with the event that has its key.
func waiting(id string) string {
	return fmt.Sprintf(head, id, id) + `events:
- name: go
  source: bench
  type: go
  kind: consumed
  correlation:
  - {contextAttributeName: key, contextAttributeValue: "{{ $.key }}"}
states:
- name: Begin
  type: inject
  start: {kind: default}
  data: {waits: true}
  transition: {nextState: Wait}
- name: Wait
  type: event
  onEvents:
  - eventRefs: [go]
    actions: []
  end: {kind: default}
`
}

func sleeping(id string) string {
	return fmt.Sprintf(head, id, id) + `states:
- name: Sleep
  type: delay
  start: {kind: default}
  timeDelay: PT0.001S
  end: {kind: default}
`
}

func start(i int) string {
	if i > 0 {
		return ""
	}
	return "  start: {kind: default}\n"
}

func exit(i, states int) string {
	if i+1 == states {
		return "  end: {kind: default}\n"
	}
	return fmt.Sprintf("  transition: {nextState: S%d}\n", i+1)
}

// noise is text that does not get smaller when it is compressed.
func noise(size int) string {
	b := make([]byte, size)
	x := uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = 33 + byte(x%94)
	}
	return strings.ReplaceAll(string(b), `\`, "/")
}
