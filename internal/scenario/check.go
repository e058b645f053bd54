package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// check compares an outcome with what was expected.
func check(e Expect, o Outcome) []Failure {
	c := checker{o: o}
	c.status(e)
	if e.Output != nil {
		c.output(*e.Output)
	}
	if e.Error != nil {
		c.fault(*e.Error)
	}
	if e.Path != nil && !slices.Equal(*e.Path, o.Path) {
		c.differ("path", "the states entered differ", strings.Join(*e.Path, "\n"), strings.Join(o.Path, "\n"))
	}
	if e.State != "" && e.State != o.State {
		c.fail("state", "expected %s, got %s", e.State, cmp.Or(o.State, "none: there is no job"))
	}
	if e.Calls != nil {
		c.calls(*e.Calls)
	}
	if e.Produced != nil {
		c.produced(*e.Produced)
	}
	if e.Lifecycle != nil {
		c.lifecycle(*e.Lifecycle)
	}
	if e.Elapsed != nil {
		c.elapsed(e)
	}
	if e.Instances != nil && *e.Instances != int64(o.Instances) {
		c.fail("instances", "expected %d, got %d", *e.Instances, o.Instances)
	}
	return c.failures
}

type checker struct {
	o        Outcome
	failures []Failure
}

func (c *checker) fail(field, format string, args ...any) {
	c.failures = append(c.failures, Failure{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) differ(field, message, expected, got string) {
	c.failures = append(c.failures, Failure{Field: field, Message: message, Diff: Diff(expected, got)})
}

func (c *checker) status(e Expect) {
	want := e.Status
	if want == "" && e.Error != nil {
		want = StatusFailed
	}
	switch got := c.o.Status; {
	case want == "" && got == StatusFailed:
		c.fail("status", "the instance failed, which the scenario does not expect")
	case want != "" && want != got:
		c.fail("status", "expected %s, got %s", want, got)
	}
}

func (c *checker) output(want expr.Value) {
	switch {
	case !c.o.HasOutput:
		c.fail("output", "there is none: the status is %s", c.o.Status)
	case !expr.Equal(want, c.o.Output):
		c.differ("output", "the output differs", Pretty(want), Pretty(c.o.Output))
	}
}

func (c *checker) fault(want expr.Value) {
	switch {
	case c.o.Fault == nil:
		c.fail("error", "there is none: the status is %s", c.o.Status)
	case !subset(want, c.o.Fault.Value):
		c.differ("error", "the error differs", Pretty(want), Pretty(project(c.o.Fault.Value, want)))
	}
}

func (c *checker) elapsed(e Expect) {
	if c.o.Created.IsZero() {
		c.fail("elapsed", "there is no instance")
		return
	}
	if !e.Elapsed.AddTo(c.o.Created).Equal(c.o.Ended) {
		c.fail("elapsed", "expected %s, got %s", e.Elapsed, c.o.elapsed())
	}
}

// calls compares function by function; arguments only where they are given.
func (c *checker) calls(want []ExpectCall) {
	same := len(want) == len(c.o.Calls)
	var expected, got []string
	for i, w := range want {
		if w.Arguments == nil {
			expected = append(expected, w.Function)
		} else {
			expected = append(expected, w.Function+" "+string(spaced(nil, *w.Arguments)))
		}
		same = same && c.o.Calls[i].Function == w.Function &&
			(w.Arguments == nil || expr.Equal(*w.Arguments, c.o.Calls[i].Arguments))
	}
	if same {
		return
	}
	for i, call := range c.o.Calls {
		if i < len(want) && want[i].Function == call.Function && want[i].Arguments == nil {
			got = append(got, call.Function)
		} else {
			got = append(got, call.Function+" "+string(spaced(nil, call.Arguments)))
		}
	}
	c.differ("calls", "the calls differ", strings.Join(expected, "\n"), strings.Join(got, "\n"))
}

func (c *checker) produced(want []expr.Value) {
	same := len(want) == len(c.o.Produced)
	got := make([]expr.Value, len(c.o.Produced))
	for i, event := range c.o.Produced {
		shape := event.Without("id").Without("time").Without("specversion")
		if i < len(want) {
			shape = want[i]
			same = same && subset(want[i], event)
		}
		got[i] = project(event, shape)
	}
	if !same {
		c.differ("produced", "the events produced differ", Pretty(expr.Array(want...)), Pretty(expr.Array(got...)))
	}
}

// lifecycle looks for events in this order; others may lie between.
func (c *checker) lifecycle(want []expr.Value) {
	found := 0
	var got []string
	for _, event := range c.o.Lifecycle {
		if found < len(want) && subset(want[found], event) {
			found++
		}
		typ, _ := event.Get("type")
		data, _ := event.Get("data")
		got = append(got, typ.Str()+" "+string(spaced(nil, data)))
	}
	if found == len(want) {
		return
	}
	c.failures = append(c.failures, Failure{
		Field:   "lifecycle",
		Message: fmt.Sprintf("event %d of %d did not occur, or not after those before it: %s", found+1, len(want), spaced(nil, want[found])),
		Diff:    prefixed("+ ", got),
	})
}

// subset reports whether got has everything that want has: objects may hold more
// members, everything else must be equal.
func subset(want, got expr.Value) bool {
	if !want.IsObject() {
		if !want.IsArray() || !got.IsArray() || want.Len() != got.Len() {
			return expr.Equal(want, got)
		}
		for i, item := range want.Items() {
			if !subset(item, got.Items()[i]) {
				return false
			}
		}
		return true
	}
	if !got.IsObject() {
		return false
	}
	for _, m := range want.Members() {
		v, ok := got.Get(m.Key)
		if !ok || !subset(m.Value, v) {
			return false
		}
	}
	return true
}

// project keeps of got the members that shape has, so that a difference shows
// nothing that was not asked for.
func project(got, shape expr.Value) expr.Value {
	if !got.IsObject() || !shape.IsObject() {
		return got
	}
	var out []expr.Member
	for _, m := range shape.Members() {
		if v, ok := got.Get(m.Key); ok {
			out = append(out, expr.Member{Key: m.Key, Value: project(v, m.Value)})
		}
	}
	return expr.Object(out...)
}
