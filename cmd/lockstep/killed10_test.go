package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestKilledUnderLoadOf10 is TestKilledUnderLoad with workflows of Open Workflow 1.0, each of which waits in another way. Afterwards each instance is as
// one that nobody disturbed: its output, its history, its calls, and the instance that its event started.
func TestKilledUnderLoadOf10(t *testing.T) {
	l := &load10{workload: &workload{t: t}, calls: map[string][]call10{}, noted: make(chan struct{}), want: map[string]left10{}}
	l.one = l.send10
	texts := []string{head10("heard") + heard10}
	for _, d := range definitions10 {
		texts = append(texts, head10(d.name)+d.do)
	}
	l.deploy(l, texts...)
	for i, d := range definitions10 {
		if err := l.send10(l.client, i, "undisturbed-"+d.name); err != nil {
			t.Fatal(err)
		}
		l.want[d.name] = l.left(d.name, "undisturbed-"+d.name, l.starts["undisturbed-"+d.name])
	}
	l.starts, l.calls = map[string]string{}, map[string][]call10{}
	l.begin()
	for round := range *kills {
		l.up()
		l.work(1 + rand.IntN(60)) // the kill comes somewhere behind so many acknowledgements and calls
		l.down()
		if t.Failed() {
			t.Fatalf("in round %d", round+1)
		}
	}
	l.up()
	l.finish()
	l.check10()
	if code, err := l.server.stop(); code != 0 || err != nil {
		t.Errorf("the server ended with %d, %v:\n%s", code, err, l.server.stderr())
	}
	var out, told strings.Builder
	if code := lockstep([]string{"doctor", "--store", "sqlite:" + l.database}, strings.NewReader(""), &out, &told); code != cli.ExitOK {
		t.Errorf("doctor: %s%s", out.String(), told.String())
	}
}

// definitions10 are the workflows, each with the events that an instance gets, in order. NAME is the instance's.
var definitions10 = []struct {
	name, do string
	events   []string
}{
	{name: "retry", do: `
- ask:
    try:
    - first: {call: note, with: {n: "${ .n }", step: first}, output: {as: $input}}
    - flaky: {call: note, with: {n: "${ .n }", step: flaky}, output: {as: "$input + {attempt: .attempt}"}}
    catch: {errors: {with: {status: 503}}, retry: {delay: PT0.05S, backoff: {exponential: {}}, limit: {attempt: {count: 3}}}}
- last: {call: note, with: {n: "${ .n }", step: last}, output: {as: $input}}
`},
	{name: "caught", do: `
- ask:
    try:
    - refused: {call: note, with: {n: "${ .n }", step: refused}}
    catch:
      errors: {with: {status: 409}}
      retry: {delay: PT0.03S, limit: {attempt: {count: 1}}}
      do:
      - undo: {call: note, with: {n: "${ .n }", step: undo}, output: {as: "$input + {undone: true}"}}
`},
	{name: "fork", do: `
- both:
    fork:
      branches:
      - left: {do: [{one: {call: note, with: {n: "${ .n }", step: left, branch: l}, output: {as: $input}}}, {two: {call: note, with: {n: "${ .n }", step: after, branch: l}}}]}
      - right: {call: note, with: {n: "${ .n }", step: right, branch: r}}
    output: {as: "$input + {both: map(.step)}"}
- race:
    fork:
      compete: true
      branches:
      - never: {call: note, with: {n: "${ .n }", step: never, branch: n}}
      - late: {wait: PT1H}
      - fast: {call: note, with: {n: "${ .n }", step: fast, branch: f}, output: {as: .step}}
    output: {as: "$input + {race: .}"}
- tell: {emit: {event: {with: {type: told, data: {n: "${ .n }"}}}}, output: {as: $input}}
`},
	{name: "for", do: `
- each:
    for: {each: i, in: "[range(5)]"}
    do:
    - one: {call: note, with: {n: "${ .n }", step: '${ "item\($i)" }'}, output: {as: "$input + {done: (($input.done // []) + [.step])}"}}
`},
	{name: "wait", do: `
- first: {call: note, with: {n: "${ .n }", step: first}, output: {as: $input}}
- rest: {wait: PT0.1S}
- last: {call: note, with: {n: "${ .n }", step: last}, output: {as: $input}}
- again: {wait: {milliseconds: 20}}
`},
	{name: "each", do: `
- readings:
    listen: {to: {any: [{with: {type: reading}, correlate: {n: {from: .data.n, expect: "${ .n }"}}}], until: length == 3}}
    foreach:
      item: reading
      do: [{work: {call: note, with: {n: "${ $reading.n }", step: '${ "reading\($reading.i)" }'}}}]
      output: {as: .step}
    output: {as: "$input + {readings: .}"}
`, events: []string{`"type":"reading","data":{"n":"NAME","i":1}`, `"type":"reading","data":{"n":"NAME","i":2}`, `"type":"reading","data":{"n":"NAME","i":3}`}},
	{name: "until", do: `
- ticks:
    listen:
      to:
        any: [{with: {type: tick}, correlate: {n: {from: .data.n, expect: "${ .n }"}}}]
        until: {one: {with: {type: stop}, correlate: {n: {from: .data.n, expect: "${ .n }"}}}}
    output: {as: "$input + {ticks: map(.i)}"}
- last: {call: note, with: {n: "${ .n }", step: last}, output: {as: $input}}
`, events: []string{`"type":"tick","data":{"n":"NAME","i":1}`, `"type":"tick","data":{"n":"NAME","i":2}`, `"type":"stop","data":{"n":"NAME"}`}},
	{name: "all", do: `
- papers:
    listen:
      to:
        all:
        - {with: {type: invoice}, correlate: {n: {from: .data.n, expect: "${ .n }"}}}
        - {with: {type: receipt}, correlate: {n: {from: .data.n, expect: "${ .n }"}}}
    output: {as: "$input + {papers: map(.p)}"}
- last: {call: note, with: {n: "${ .n }", step: last}, output: {as: $input}}
`, events: []string{`"type":"receipt","data":{"n":"NAME","p":"R"}`, `"type":"invoice","data":{"n":"NAME","p":"I"}`}},
}

func head10(name string) string {
	return `document: {dsl: 1.0.3, namespace: default, name: ` + name + `, version: 1.0.0}
use: {functions: {note: {call: http, with: {method: post, endpoint: SERVICE/note, body: "${ . }"}}}}
do:`
}

// heard10 is started by what a fork tells. Its calls are by another name.
const heard10 = `
- take: {call: note, with: {n: '${ "heard " + .[0].n }', step: take}, output: {as: "$input[0]"}}
schedule: {on: {one: {with: {type: told}}}}
`

// load10 is the workload, and the service that its instances call.
type load10 struct {
	*workload
	mu    sync.Mutex
	calls map[string][]call10 // by instance's name, in the order in which their keys came first
	again int
	noted chan struct{}     // closed with the next call
	want  map[string]left10 // of an instance that nobody disturbed, by definition
}

// call10 is a call. Those of different branches may be under way together.
type call10 struct{ key, step, branch string }

// left10 is what an instance leaves.
type left10 struct {
	output         any
	history, calls []string
}

func (l *load10) send10(c *client.Client, n int, name string) error {
	d := definitions10[n%len(definitions10)]
	in, err := c.StartInstance(l.t.Context(), d.name, client.Start{Key: name, Input: api.Data(fmt.Sprintf(`{"n":%q}`, name))})
	if err != nil {
		return err
	}
	for i, text := range d.events {
		text = fmt.Sprintf(`{"specversion":"1.0","source":"test","id":"%s-%d",%s}`, name, i, strings.ReplaceAll(text, "NAME", name))
		got, err := c.SendEvents(l.t.Context(), api.Data(text))
		if err != nil {
			return err
		}
		if got.Accepted+got.Duplicates != 1 {
			l.t.Errorf("event %s: %+v", text, got)
		}
	}
	l.workload.mu.Lock()
	defer l.workload.mu.Unlock()
	l.starts[name] = in.ID
	return nil
}

// ServeHTTP notes a call. It answers the same to the same.
func (l *load10) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in struct{ N, Step, Branch string }
	key := r.Header.Get("Idempotency-Key")
	if json.Unmarshal(body, &in) != nil || key == "" {
		http.Error(w, "a call without a key or arguments", http.StatusBadRequest)
		return
	}
	attempt := l.note(in.N, call10{key, in.Step, in.Branch})
	select {
	case l.acks <- struct{}{}: // whoever kills may do it now
	default:
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case in.Step == "never":
		<-r.Context().Done()
		return
	case in.Step == "flaky" && attempt < 3:
		w.WriteHeader(http.StatusServiceUnavailable)
	case in.Step == "refused":
		w.WriteHeader(http.StatusConflict)
	}
	fmt.Fprintf(w, `{"step":%q,"attempt":%d}`, in.Step, attempt)
}

// note keeps a call, and tells which key of its step it has. One that comes again must not come after
// another that shows that its answer was stored.
func (l *load10) note(name string, c call10) (attempt int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.calls[name]
	n := slices.Index(all, c)
	if n < 0 {
		if slices.ContainsFunc(all, func(o call10) bool { return o.key == c.key }) {
			l.t.Errorf("%s of %s has the key of another call", c.step, name)
		}
		n, all = len(all), append(all, c)
		l.calls[name] = all
		close(l.noted)
		l.noted = make(chan struct{})
	} else {
		l.again++
		for _, later := range all[n+1:] {
			if later.branch == "" || c.branch == "" || later.branch == c.branch {
				l.t.Errorf("%s of %s came again, though %s came after its answer", c.step, name, later.step)
			}
		}
	}
	for _, o := range all[:n+1] {
		if o.step == c.step {
			attempt++
		}
	}
	return attempt
}

// varies is what differs from instance to instance in the events that they emit, besides their ids.
var varies = regexp.MustCompile(`"time":"[^"]*",`)

// left waits for an instance, and reads what it leaves. Its name becomes NAME, and its id with when it was created, with which the ids of its events begin, ID.
func (l *load10) left(definition, name, id string) (out left10) {
	t := l.t
	t.Helper()
	in, err := l.client.GetInstance(t.Context(), id, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if in.Status != api.Completed || in.Definition.ID != definition {
		t.Errorf("%s of %s is %s: %+v", name, in.Definition.ID, in.Status, in.Error)
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(in.Output), `"`+name+`"`, `"NAME"`)), &out.output); err != nil {
		t.Errorf("the output of %s is %s: %v", name, in.Output, err)
	}
	history, err := l.client.GetHistory(t.Context(), id, client.Paging{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`"id":"` + regexp.QuoteMeta(id) + `~[0-9a-z]+/`)
	for i, rec := range history.Items {
		if rec.Seq != int64(i+1) {
			t.Errorf("%s: record %d has the number %d", name, i+1, rec.Seq)
		}
		line := strings.ReplaceAll(fmt.Sprintf("%s %s %s %d %s", rec.Type, rec.Node, rec.Name, rec.Attempt, rec.Data), `"`+name, `"NAME`)
		out.history = append(out.history, varies.ReplaceAllString(made.ReplaceAllString(line, `"id":"ID/`), ""))
	}
	slices.Sort(out.history) // branches may pass one another
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls[name] {
		if c.step != "never" { // the race may be over before it is made
			out.calls = append(out.calls, c.step)
		}
	}
	slices.Sort(out.calls)
	return out
}

// heard waits until what an instance told is heard.
func (l *load10) heard(name string) {
	for {
		l.mu.Lock()
		calls, noted := l.calls["heard "+name], l.noted
		l.mu.Unlock()
		if len(calls) > 0 {
			return
		}
		select {
		case <-noted:
		case <-time.After(time.Minute):
			l.t.Fatalf("what %s told was not heard", name)
		}
	}
}

// instances are those of definitions, with the names in their outputs, once they are over.
func (l *load10) instances(definition ...string) (out []api.Instance, names []string) {
	t := l.t
	for in, err := range client.All(func(after string) (api.Page[api.Instance], error) {
		return l.client.ListInstances(t.Context(), client.InstanceQuery{Paging: client.Paging{Limit: 1000, After: after}})
	}) {
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(definition, in.Definition.ID) {
			continue
		}
		if in, err = l.client.GetInstance(t.Context(), in.ID, time.Minute); err != nil {
			t.Fatal(err)
		}
		var output struct{ N string }
		if err := json.Unmarshal(in.Output, &output); err != nil || in.Status != api.Completed {
			t.Errorf("%s of %s is %s with the output %s: %+v", in.ID, in.Definition.ID, in.Status, in.Output, in.Error)
		}
		if !strings.HasPrefix(output.N, "undisturbed-") {
			out, names = append(out, in), append(names, output.N)
		}
	}
	return out, names
}

// check10 compares all instances with those that nobody disturbed.
func (l *load10) check10() {
	t := l.t
	found, counts := map[string]string{}, map[string]int{}
	var told, all []string
	for _, d := range definitions10 {
		all = append(all, d.name)
	}
	instances, names := l.instances(all...)
	for i, in := range instances {
		name, definition := names[i], in.Definition.ID
		if found[name] != "" {
			t.Errorf("%s is there twice, as %s and %s", name, found[name], in.ID)
		}
		found[name] = in.ID
		counts[definition]++
		want := l.want[definition]
		if got := l.left(definition, name, in.ID); !reflect.DeepEqual(got, want) {
			t.Errorf("%s of %s left\n%v\n%s\n%s\nwant\n%v\n%s\n%s", name, definition, got.output, got.calls, strings.Join(got.history, "\n"),
				want.output, want.calls, strings.Join(want.history, "\n"))
		}
		if definition == "fork" {
			told = append(told, name)
			l.heard(name)
		}
	}
	for name, id := range l.starts {
		if found[name] != id {
			t.Errorf("%s was acknowledged as %s, and is there as %q", name, id, found[name])
		}
	}
	_, heard := l.instances("heard")
	slices.Sort(told)
	if slices.Sort(heard); !slices.Equal(told, heard) {
		t.Errorf("told was %q, heard %q", told, heard)
	}
	t.Logf("%d kills; instances: %v; %d calls came again", *kills, counts, l.again)
}
