package core

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// TestAllowances gives the same inputs to the same random programs, once with all the
// allowances there are and once with next to none, stopping every step at every point
// where it asks: both must come to the same state, records and commands.
func TestAllowances(t *testing.T) {
	stops := 0
	for seed := range int64(*randomPrograms / 10) {
		whole, err := genProgram(seed)
		if err != nil {
			t.Fatal(err)
		}
		whole.Limits.Fuel = DefaultLimits.Fuel
		split, _ := genProgram(seed)
		split.Limits.Fuel, split.Limits.StepWork = 1+int(seed%4), 1+int(seed%3)*2000
		r := rand.New(rand.NewSource(seed))
		d := &twin{p: whole, now: 1e18, pages: map[pageKey][]byte{}, open: map[Ticket]WaitKind{}}
		parts := newHost(t, split)
		// So large that what tells it a few times asks whether to stop.
		bulk := expr.String(strings.Repeat("x", expr.StopEvery*bytesPerStep/4))
		inputs := []Input{Start{Data: value(`{"items":[{"a":1},{"a":2},{"a":3}],"order":1}`).With("bulk", bulk), Seed: uint64(seed)}}
		for i := range 20 {
			if i > 0 {
				inputs = d.randomInput(r)
			}
			parts.now = d.now
			for _, in := range inputs {
				want, errWant := stepAll(whole, func() *State { return d.mem }, d.now, in)
				got, n, errGot := stepInParts(parts, in)
				stops += n
				if fmt.Sprint(errWant) != fmt.Sprint(errGot) {
					t.Fatalf("seed %d: %T: errors differ: %v | %v", seed, in, errWant, errGot)
				}
				if errWant != nil || want.Stale {
					continue
				}
				d.mem = want.State
				if a, b := show(whole, want), show(whole, got); a != b {
					t.Fatalf("seed %d: %T: outcomes differ:\nat once:\n%.2000s\nin parts:\n%.2000s", seed, in, a, b)
				}
				if a, b := dump(d.mem), dump(parts.state()); a != b {
					t.Fatalf("seed %d: %T: states differ:\nat once:\n%.2000s\nin parts:\n%.2000s", seed, in, a, b)
				}
			}
		}
	}
	if stops < *randomPrograms/4 {
		t.Errorf("only %d steps were stopped: the test has lost something", stops)
	}
}

// stepAll gives an input, and what follows until there is no more.
func stepAll(p *Program, state func() *State, now Time, in Input) (Result, error) {
	r, err := Step(p, state(), now, in)
	for err == nil && r.More {
		var next Result
		if next, err = Step(p, r.State, now, Continue{}); err == nil {
			next.Commands, next.Records = append(r.Commands, next.Commands...), append(r.Records, next.Records...)
			r = next
		}
	}
	return r, err
}

// stepInParts does the same from stored pages, and stops each step wherever it asks,
// first at once, then a little later, until it is over. It counts the stops. A step that
// was told to stop says so, and nothing else: what it would have said is not known.
func stepInParts(h *host, in Input) (all Result, stops int, err error) {
	for {
		for at := 0; ; at++ {
			asked := 0
			r, err := StepFor(Host{Stop: func() bool { asked++; return asked > at }}, h.p, h.state(), h.now, in)
			if asked <= at {
				break
			}
			if !errors.Is(err, ErrStopped) {
				h.t.Fatalf("%T was stopped when it asked the %dth time, and says %v, stale: %v", in, at+1, err, r.Stale)
			}
			stops++
		}
		r, err := h.step(in)
		if err != nil || r.Stale {
			return r, stops, err
		}
		all.Commands, all.Records = append(all.Commands, r.Commands...), append(all.Records, r.Records...)
		all.State, all.More = h.state(), false
		if !r.More {
			return all, stops, nil
		}
		in = Continue{}
	}
}

// TestStoppedBeforeItRuns: what is looked at before an instance runs can be stopped too. Then
// an input is not refused, and an event not passed over.
func TestStoppedBeforeItRuns(t *testing.T) {
	list := value(`{"list":[` + strings.TrimSuffix(strings.Repeat("1,", 4*expr.StopEvery), ",") + `,7]}`)
	schema := newHost(t, mustAssemble(t, `
expr jsonpath $.list[?(@ > 7)]
schema 1 0
region main 1
node E eval`))
	if r, stops, err := stepInParts(schema, Start{Data: list}); err != nil || stops < 4 || r.State.Status() != Completed {
		t.Errorf("with a schema: %v after %d stops", err, stops)
	}
	event := newHost(t, mustAssemble(t, `
expr jsonpath $.list[?(@ == 7)]
event Paid shop paid order=1
region main 1
node S await {"arms":[{"event":0,"put":{"mode":"merge"}}],"need":1}`))
	r, _, err := stepInParts(event, Start{Data: list})
	if err != nil || len(r.Commands) != 1 {
		t.Fatal(err, r.Commands)
	}
	sub := r.Commands[0].(Subscribe)
	r, stops, err := stepInParts(event, Reply{Ticket: sub.Ticket, Value: value(`{"order":` + strconv.Quote(sub.Keys[0].Value) + `,"data":{}}`)})
	if err != nil || stops < 4 || r.Stale || r.State.Status() != Completed {
		t.Errorf("an event: %v after %d stops, stale: %v", err, stops, r.Stale)
	}
}

// TestStoppedBetweenExpressions: an operation that was stopped evaluates no more of its
// expressions, however many it has.
func TestStoppedBetweenExpressions(t *testing.T) {
	const cases = 100
	p := mustAssemble(t, `
expr jsonpath $.list[?(@ > 7)]
region main 1
node A branch {"cases":[`+strings.TrimSuffix(strings.Repeat(`{"when":1,"next":1},`, cases), ",")+`]}`)
	list := value(`{"list":[` + strings.TrimSuffix(strings.Repeat("1,", expr.StopEvery/4), ",") + `]}`)
	whole, err := Step(p, nil, 1, Start{Data: list})
	if err != nil || whole.Spent < 20*expr.StopEvery {
		t.Fatalf("%v, %d steps", err, whole.Spent)
	}
	for at := range 10 {
		asked := 0
		r, err := StepFor(Host{Stop: func() bool { asked++; return asked > at }}, p, nil, 1, Start{Data: list})
		if !errors.Is(err, ErrStopped) || r.Spent > (at+1)*2*expr.StopEvery {
			t.Errorf("stopped when it asked the %dth time: %v, %d steps", at+1, err, r.Spent)
		}
	}
}

// A definition of a few lines used to keep a processor busy for minutes inside one step.
func TestExpensiveLoop(t *testing.T) {
	p := mustAssemble(t, `
expr jsonpath $.s[?(@ =~ /.*a.{900}c/)]
region main 1
node A branch {"cases":[{"when":1,"next":1}]} -> 1`)
	p.Limits.Work = 10 * expr.MaxSteps
	data := value(`{"s":["` + strings.Repeat("a", 1000) + `"]}`)
	r, err := Step(p, nil, 1, Start{Data: data})
	steps := 1
	for ; err == nil && r.More; steps++ {
		if r.Spent > p.Limits.StepWork+expr.MaxSteps {
			t.Fatalf("step %d did the work of %d", steps, r.Spent)
		}
		r, err = Step(p, r.State, 1, Continue{})
	}
	if err != nil || r.State.PauseReason() != TooExpensive || steps < 8 || steps > 12 {
		t.Errorf("after %d steps: %v %s %q", steps, err, r.State.Status(), r.State.PauseReason())
	}
	if text := r.Records[len(r.Records)-1].Text; !strings.Contains(text, "work-without-waiting") {
		t.Errorf("the history says %q", text)
	}
	t.Logf("paused after %d steps: %s", steps, r.Records[len(r.Records)-1].Text)
}

// What no expression does costs by its size.
func TestWorkWithoutExpressions(t *testing.T) {
	large := value(`{"list":[` + strings.TrimSuffix(strings.Repeat("1234567,", 50_000), ",") + `]}`)
	for name, program := range map[string]string{
		"merge":        "expr template {\"k\":1}\nregion main 1\nnode L eval {\"from\":1,\"put\":{\"mode\":\"merge\"}} -> 2\nnode M eval {\"from\":2,\"put\":{\"mode\":\"merge\"}} -> 1\nexpr template {\"k\":2}",
		"merged lists": "expr jsonpath $\nexpr template {\"list\":[3]}\nregion main 1\nnode L eval {\"from\":2,\"put\":{\"mode\":\"merge\"}} -> 1",
		"history":      "region main 1\nnode @entered L eval -> 1",
		"fan":          "expr jsonpath $.list\nexpr template \"0\"\nregion main 1\nregion body 0\nnode L fan {\"each\":{\"over\":1,\"body\":1,\"var\":\"x\"},\"need\":2,\"join\":\"drop\"} -> 1",
	} {
		r, err := Step(mustAssemble(t, program), nil, 1, Start{Data: large})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.State.steps > 1000 || !r.More {
			t.Errorf("%s: a step ran %d operations over %d bytes of data, and is %s", name, r.State.steps, 400_000, r.State.Status())
		}
	}
}

// A state that was stored before work was counted is read, and so is one that counts.
func TestPagesBeforeWorkWasCounted(t *testing.T) {
	p := mustAssemble(t, "region main 1\nnode L await {\"timeout\":{\"set\":true,\"nanos\":1000000000}}")
	r, err := Step(p, nil, 1, Start{Data: value(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	r.State.work, r.State.costly, r.State.paused = 12345, true, true
	pages := r.State.TakeDirty(nil)
	s, err := DecodeState(p, pages, nil)
	if err != nil || s.work != 12345 || s.PauseReason() != TooExpensive {
		t.Fatalf("with it: %v %+v", err, s)
	}
	head := slices.IndexFunc(pages, func(p Page) bool { return p.Frame == 0 && p.Part == 0 })
	data := pages[head].Data
	pages[head].Data = data[:len(data)-3] // two bytes of a count, and a flag
	if s, err = DecodeState(p, pages, nil); err != nil || s.work != 0 || s.PauseReason() != "" || s.Status() != Paused {
		t.Fatalf("without it: %v %+v", err, s)
	}
	for _, cut := range []int{1, 2} {
		pages[head].Data = data[:len(data)-cut]
		if _, err := DecodeState(p, pages, nil); err == nil {
			t.Errorf("%d bytes are missing, and nobody sees it", cut)
		}
	}
}
