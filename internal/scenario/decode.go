package scenario

import (
	"math"
	"path/filepath"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// decoder turns a document into a File and reports every mistake on the way.
// A value that is reported is left zero, and decoding goes on.
type decoder struct {
	*dialect.Reader
	dir string // of the scenario file
}

// newDecoder returns a decoder for which names of blanks are names: states of jobs may
// have them.
func newDecoder(file string) *decoder {
	return &decoder{dir: filepath.Dir(file), Reader: &dialect.Reader{
		Reporter: &dialect.Reporter{File: file}, Strict: true, Blanks: true,
		Codes: dialect.FieldCodes{
			Type: codeKind, Missing: codeMissing, Empty: codeValue, Choice: codeValue, Number: codeKind,
			Unknown: codeUnknownKey, Both: codeConflict,
		},
	}}
}

func (d *decoder) file(out *File, root *dialect.Node) {
	f := d.Fields(root, "a scenario file")
	if f == nil {
		return
	}
	out.Workflows = d.workflows(f.Need("workflow"))
	list, given := f.List("scenarios")
	switch {
	case !given:
		f.Missing("scenarios")
	case f.Peek("scenarios").Is(expr.KindArray) && len(list) == 0:
		d.Errorf(f.Peek("scenarios"), codeMissing, "scenarios must not be empty: nothing would be tested")
	}
	f.Done()
	names := map[string]bool{}
	for _, item := range list {
		s := d.scenario(item)
		if s.Name != "" && names[s.Name] {
			d.Errorf(item.Get("name"), codeRepeated, "another scenario of this file is already called %q", s.Name)
		}
		names[s.Name] = true
		out.Scenarios = append(out.Scenarios, s)
	}
}

func (d *decoder) workflows(n *dialect.Node) []Workflow {
	if n == nil {
		return nil
	}
	items := []*dialect.Node{n}
	if n.Is(expr.KindArray) {
		items = n.Items
		if len(items) == 0 {
			d.Errorf(n, codeMissing, "workflow must not be empty").WithHint("name the definition to test")
		}
	}
	var out []Workflow
	for _, item := range items {
		name := d.Named(item, "the path of a definition")
		if name == nil {
			continue
		}
		path := name.Text
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.dir, filepath.FromSlash(path))
		}
		out = append(out, Workflow{Path: path, At: item.Span()})
	}
	return out
}

func (d *decoder) scenario(n *dialect.Node) Scenario {
	s := Scenario{Clock: defaultClock, At: n.Span()}
	f := d.Fields(n, "a scenario")
	if f == nil {
		return s
	}
	if name := f.Name("name"); name != nil {
		s.Name, s.At = name.Text, name.Span()
		f.Called(name)
	}
	s.Clock = d.instant(f.Str("clock"))
	s.Client = f.OptionalName("client").Literal()
	if input := f.Get("input"); input != nil {
		s.Input, s.HasInput = input.Value(), true
	}
	mocks := f.Typed("mocks", expr.KindObject)
	s.Mocks, s.mockAt = d.mocks(mocks), map[string]dialect.Span{}
	if mocks != nil {
		for _, m := range mocks.Members {
			s.mockAt[m.Name()] = m.KeySpan()
		}
	}
	events, _ := f.List("events")
	s.Events = d.events(events)
	for _, e := range s.Events {
		d.horizon(e.At, "event", e.After.AddTo(s.Clock))
	}
	takes, _ := f.List("takes")
	s.Takes = d.takes(takes, s.Clock)
	if until := f.Get("until"); until != nil {
		span := d.duration(until)
		s.Until = &span
		d.horizon(until, "end", span.AddTo(s.Clock))
	}
	s.Secrets = d.secrets(f.Typed("secrets", expr.KindObject))
	s.Expect = d.expect(f.Need("expect"))
	f.Done()
	return s
}

// secrets reads values by name.
func (d *decoder) secrets(n *dialect.Node) map[string]expr.Value {
	if n == nil {
		return nil
	}
	out := map[string]expr.Value{}
	for _, m := range n.Members {
		out[m.Name()] = m.Value()
	}
	return out
}

func (d *decoder) expect(n *dialect.Node) Expect {
	e := Expect{At: n.KeySpan()}
	f := d.Fields(n, "expect")
	if f == nil {
		return e
	}
	if len(n.Members) == 0 {
		d.Errorf(n, codeMissing, "expect must not be empty: nothing would be tested").
			WithHint("write at least `status: completed`")
	}
	e.Status, _ = f.Choice("status", statuses...)
	if output := f.Get("output"); output != nil {
		v := output.Value()
		e.Output = &v
	}
	e.Error = d.expectError(n, f.Get("error"))
	if path := f.Typed("path", expr.KindArray); path != nil {
		names := []string{}
		for _, item := range path.Items {
			names = append(names, d.Named(item, "a state in path").Literal())
		}
		e.Path = &names
	}
	e.Calls = d.expectCalls(f.Typed("calls", expr.KindArray))
	e.Produced = d.expectEvents(f.Typed("produced", expr.KindArray), "a produced event")
	e.Lifecycle = d.expectEvents(f.Typed("lifecycle", expr.KindArray), "a lifecycle event")
	e.State = f.OptionalName("state").Literal()
	if elapsed := f.Get("elapsed"); elapsed != nil {
		span := d.duration(elapsed)
		e.Elapsed = &span
	}
	if count := f.Get("instances"); count != nil {
		if n, wrong := d.Whole(count, "instances", 0, math.MaxInt64); wrong == nil {
			e.Instances = &n
		}
	}
	f.Done()
	return e
}

// expectEvents reads a list of objects; nil: there is none.
func (d *decoder) expectEvents(n *dialect.Node, what string) *[]expr.Value {
	if n == nil {
		return nil
	}
	events := []expr.Value{}
	for _, item := range n.Items {
		if d.Is(item, expr.KindObject, what) {
			events = append(events, item.Value())
		}
	}
	return &events
}

// expectError reads the error of an expectation; it only goes with an instance
// that failed, or with a start that was refused.
func (d *decoder) expectError(expect, fault *dialect.Node) *expr.Value {
	f := d.Fields(fault, "error")
	if f == nil {
		return nil
	}
	f.Allow("name", "code", "status", "title", "type", "detail", "instance", "data", "node")
	f.Done()
	if status, ok := expect.Get("status").Str(); ok && status != StatusFailed && status != StatusNone {
		d.Errorf(fault.KeySpan(), codeConflict, "error is given, but status is %q", status).
			WithHint("write `status: failed`")
	}
	members := []expr.Member{}
	for _, m := range fault.Members {
		v := m.Value()
		if m.Is(expr.KindNumber) && (m.Name() == "code" || m.Name() == "status") { // code: 402 is the text "402"
			v = expr.String(v.NumberText())
		}
		members = append(members, expr.Member{Key: m.Name(), Value: v})
	}
	v := expr.Object(members...)
	return &v
}

func (d *decoder) expectCalls(n *dialect.Node) *[]ExpectCall {
	if n == nil {
		return nil
	}
	calls := []ExpectCall{}
	for _, item := range n.Items {
		f := d.Fields(item, "an expected call")
		if f == nil {
			continue
		}
		call := ExpectCall{Function: f.Name("function").Literal()}
		if args := f.Get("arguments"); args != nil {
			v := args.Value()
			call.Arguments = &v
		}
		f.Done()
		calls = append(calls, call)
	}
	return &calls
}

// duration reads an ISO 8601 duration, zero if n is absent.
func (d *decoder) duration(n *dialect.Node) calendar.Duration {
	if n == nil || !d.Is(n, expr.KindString, n.Name()) {
		return calendar.Duration{}
	}
	span, err := calendar.ParseDuration(n.Text)
	if err != nil {
		d.Malformed(n, 0, codeValue, "duration", err)
	}
	return span
}

func (d *decoder) instant(n *dialect.Node) time.Time {
	if n == nil {
		return defaultClock
	}
	at, err := calendar.ParseInstant(n.Text)
	switch {
	case err != nil:
		d.Malformed(n, 0, codeValue, "clock", err)
		return defaultClock
	case !Representable(at):
		d.Errorf(n, codeValue, "clock is %s; time goes from 1678 to 2261 (limit timer-horizon)", n.Text)
		return defaultClock
	}
	return at
}

// horizon reports what comes later than the engine can count.
func (d *decoder) horizon(at dialect.Place, what string, when time.Time) {
	if !Representable(when) {
		d.Errorf(at, codeValue, "the %s comes at %s, beyond the year 2261 (limit timer-horizon)",
			what, when.Format(time.RFC3339))
	}
}

// Representable reports whether an instant is one that the engine can count with:
// 64 bits of nanoseconds around 1970, in whole years.
func Representable(at time.Time) bool {
	year := at.UTC().Year()
	return 1678 <= year && year <= 2261
}
